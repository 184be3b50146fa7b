//! Windows that recur: a rule, a time zone, and the first window, in wall time.
//!
//! Both ends of a window are wall times: from 02:00 to 04:00 stays so on both sides of a change to daylight saving
//! time, and lasts an hour less or more in the night of the change. Rules are in `rule`, the conversion of wall times
//! in `zone`.

pub mod rule;
pub mod zone;

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, TimeDelta};

use crate::clock::{DAY_MS, Timestamp};
use crate::model::recurrence::rule::{RecurrenceRule, RuleProblem};
use crate::model::recurrence::zone::IanaZone;

/// Maximum number of windows that start within [`CROWD_MS`].
pub const CROWD_MAX: usize = 100;
/// The period in which at most [`CROWD_MAX`] windows start, in milliseconds.
pub const CROWD_MS: i64 = 30 * DAY_MS;
/// The time after the first window for which a rule is judged.
const JUDGED_MS: i64 = 3 * 366 * DAY_MS;
/// Occurrences of a rule, counted from its first one: 80 years of the densest rule.
const OCCURRENCES_MAX: usize = 100_000;
/// The year with which every rule ends, as the times of the API do.
const YEAR_END: i32 = 2200;

/// A window that comes again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recurrence {
    /// The rule that names the starts.
    pub rule: RecurrenceRule,
    /// The zone of its clocks.
    pub zone: IanaZone,
    first: NaiveDateTime,
    length: TimeDelta,
}

/// A window of a series. Its start is its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Planned start.
    pub start: Timestamp,
    /// Planned end, later than the start.
    pub end: Timestamp,
}

/// A window as clocks show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallWindow {
    /// Its start, in milliseconds as if the clock showed UTC.
    pub first_ms: i64,
    /// The difference between the wall times at its end and at its start, in milliseconds.
    pub length_ms: i64,
}

/// The reason for which a rule does not fit its window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecurrenceProblem {
    /// The window does not end later than it starts, in wall time.
    #[error("This time must be later than scheduled_start, also on the clocks of the time zone.")]
    Backwards,
    /// The rule cannot be used from this start.
    #[error(transparent)]
    Rule(#[from] RuleProblem),
    /// The rule names no time at all from this start.
    #[error("This rule never occurs.")]
    Never,
    /// The window of the client is not the first one.
    #[error("The first occurrence of the rule is {0}; begin there.")]
    NotFirst(Timestamp),
    /// Clocks show the end twice, and it is the second time.
    #[error("Clocks of the time zone show this time twice; a window ends the first time, at {0}.")]
    Twice(Timestamp),
    /// Windows of the rule overlap.
    #[error("A window would begin before the one before it has ended.")]
    Overlap,
    /// The rule names too many windows.
    #[error("At most {CROWD_MAX} windows may begin within 30 days.")]
    Crowd,
    /// All windows are over.
    #[error("This rule has no future occurrence.")]
    Over,
}

impl Recurrence {
    /// The recurrence of this window. A wall time that occurs twice means the first one, so a window that starts or
    /// ends at the second cannot be the first of a series.
    ///
    /// # Errors
    /// [`RecurrenceProblem::Backwards`], [`RecurrenceProblem::NotFirst`], [`RecurrenceProblem::Twice`]; whether the
    /// rule fits is decided by [`Recurrence::judge`].
    pub fn new(rule: RecurrenceRule, zone: IanaZone, window: Occurrence) -> Result<Self, RecurrenceProblem> {
        let walls = zone.wall(window.start).zip(zone.wall(window.end));
        let (first, last) = walls.ok_or(RecurrenceProblem::Backwards)?;
        let length = last - first;
        if length <= TimeDelta::zero() {
            return Err(RecurrenceProblem::Backwards);
        }
        let recurrence = Self { rule, zone, first, length };
        let meant = recurrence.window();
        if meant.start != window.start {
            return Err(RecurrenceProblem::NotFirst(meant.start));
        }
        if meant.end == window.end { Ok(recurrence) } else { Err(RecurrenceProblem::Twice(meant.end)) }
    }

    /// The recurrence with these [`Recurrence::parts`].
    ///
    /// # Errors
    /// [`RecurrenceProblem::Backwards`].
    pub fn of(rule: RecurrenceRule, zone: IanaZone, parts: WallWindow) -> Result<Self, RecurrenceProblem> {
        let first = DateTime::from_timestamp_millis(parts.first_ms).ok_or(RecurrenceProblem::Backwards)?;
        let length = TimeDelta::milliseconds(parts.length_ms);
        if length <= TimeDelta::zero() {
            return Err(RecurrenceProblem::Backwards);
        }
        Ok(Self { rule, zone, first: first.naive_utc(), length })
    }

    /// The first window in wall time. The instants of [`Recurrence::window`] are not equivalent: clocks may leave out
    /// the time at which it should start or end.
    #[must_use]
    pub fn parts(&self) -> WallWindow {
        let first_ms = self.first.and_utc().timestamp_millis();
        WallWindow { first_ms, length_ms: self.length.num_milliseconds() }
    }

    /// Returns the first window of the series.
    #[must_use]
    pub fn window(&self) -> Occurrence {
        window(self.zone, self.first, self.length)
    }

    /// The same windows by another rule and by clocks of another zone: from the first time on that the rule names.
    ///
    /// # Errors
    /// [`RecurrenceProblem::Never`], [`RecurrenceProblem::Rule`].
    pub fn following(&self, rule: RecurrenceRule, zone: IanaZone) -> Result<Self, RecurrenceProblem> {
        let first = rule.walls(self.first, zone)?.next().ok_or(RecurrenceProblem::Never)?;
        Ok(Self { rule, zone, first, length: self.length })
    }

    /// Windows of the same length by another rule and in another zone, starting at this instant.
    ///
    /// # Errors
    ///
    /// [`RecurrenceProblem::Never`] for an instant beyond the calendar; [`RecurrenceProblem::NotFirst`] for the second
    /// occurrence of a wall time that occurs twice.
    pub fn starting(
        &self,
        rule: RecurrenceRule,
        zone: IanaZone,
        start: Timestamp,
    ) -> Result<Self, RecurrenceProblem> {
        let first = zone.wall(start).ok_or(RecurrenceProblem::Never)?;
        let meant = zone.instant(first);
        if meant != start {
            return Err(RecurrenceProblem::NotFirst(meant));
        }
        Ok(Self { rule, zone, first, length: self.length })
    }

    /// Checks that the first window is one of the rule, that some window is not over, and that windows are neither
    /// too many nor overlap. The rule is checked for three years.
    pub fn judge(&self, now: Timestamp) -> Result<(), RecurrenceProblem> {
        let named = self.window();
        let mut judged: Vec<Occurrence> = Vec::new();
        for occurrence in self.checked()? {
            if judged.is_empty() && occurrence.start != named.start {
                return Err(RecurrenceProblem::NotFirst(occurrence.start));
            }
            if judged.last().is_some_and(|before| occurrence.start < before.end) {
                return Err(RecurrenceProblem::Overlap);
            }
            judged.push(occurrence);
            let crowd = judged.len().checked_sub(CROWD_MAX + 1).and_then(|index| judged.get(index));
            if crowd.is_some_and(|first| occurrence.start.ms_since(first.start) < CROWD_MS) {
                return Err(RecurrenceProblem::Crowd);
            }
            if occurrence.start.ms_since(named.start) > JUDGED_MS {
                break;
            }
        }
        if judged.is_empty() {
            return Err(RecurrenceProblem::Never);
        }
        if self.upcoming(now).next().is_none() { Err(RecurrenceProblem::Over) } else { Ok(()) }
    }

    /// The windows that are not over at `now`, in order: also the one that runs.
    pub fn upcoming(&self, now: Timestamp) -> impl Iterator<Item = Occurrence> + use<> {
        let all = self.checked().ok().into_iter().flatten();
        all.skip_while(move |occurrence| occurrence.end <= now)
    }

    /// The day on which a window starts, in the calendar of the zone.
    #[must_use]
    pub fn day(&self, start: Timestamp) -> Option<NaiveDate> {
        self.zone.wall(start).map(|wall| wall.date())
    }

    /// Two wall times may be one instant, when a clock was set ahead over the first of them: that is one window.
    fn checked(&self) -> Result<impl Iterator<Item = Occurrence> + use<>, RuleProblem> {
        let (zone, length) = (self.zone, self.length);
        let walls = self.rule.walls(self.first, zone)?;
        let mut last = None;
        Ok(walls
            .take(OCCURRENCES_MAX)
            .take_while(|wall| wall.year() < YEAR_END)
            .map(move |wall| window(zone, wall, length))
            .filter(move |occurrence| {
                last.replace(occurrence.start).is_none_or(|last| last < occurrence.start)
            }))
    }
}

/// The window that starts at this wall time. An end that a change of the clocks moves before the start comes after
/// the window's length instead.
fn window(zone: IanaZone, wall: NaiveDateTime, length: TimeDelta) -> Occurrence {
    let start = zone.instant(wall);
    let end = wall.checked_add_signed(length).map(|end| zone.instant(end)).filter(|end| *end > start);
    Occurrence { start, end: end.unwrap_or_else(|| start.plus_ms(length.num_milliseconds())) }
}

#[cfg(test)]
mod tests;
