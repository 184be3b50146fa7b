//! Recurring windows: a rule, a time zone, and the first window in wall time.
//!
//! Both ends of a window are wall times. A window from 02:00 to 04:00 keeps these times after a change of the clocks, and
//! is an hour longer or shorter in the night of the change. Rules are in `rule`, the conversion of wall times in `zone`.

pub mod rule;
pub mod zone;

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, TimeDelta};

use crate::clock::{DAY_MS, Timestamp};
use crate::model::recurrence::rule::{RecurrenceRule, RuleProblem};
use crate::model::recurrence::zone::IanaZone;
use crate::model::time_range::TimeRange;

/// Maximum number of windows that start within [`CROWD_MS`].
pub const CROWD_MAX: usize = 100;
/// The period in which at most [`CROWD_MAX`] windows start, in milliseconds.
pub const CROWD_MS: i64 = 30 * DAY_MS;
/// How far after the first window a rule is checked, in milliseconds: three years.
const JUDGED_MS: i64 = 3 * 366 * DAY_MS;
/// Maximum number of occurrences that are computed, from the first one on: 80 years of the densest rule.
const OCCURRENCES_MAX: usize = 100_000;
/// The year in which all rules end; the API accepts no later times either.
const YEAR_END: i32 = 2200;

/// A window that recurs by a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recurrence {
    /// The rule that gives the starts of the windows.
    pub rule: RecurrenceRule,
    /// The zone in which the wall times are read.
    pub zone: IanaZone,
    first: NaiveDateTime,
    length: TimeDelta,
}

/// A window of a recurrence, identified by its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Planned start.
    pub start: Timestamp,
    /// Planned end, later than the start.
    pub end: Timestamp,
}

/// The first window in wall time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallWindow {
    /// Wall time of its start, in milliseconds as if the clock showed UTC.
    pub first_ms: i64,
    /// The difference between the wall times at its end and at its start, in milliseconds.
    pub length_ms: i64,
}

/// The reason why a rule does not fit its first window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecurrenceProblem {
    /// The window does not end later than it starts, by the clocks of the zone.
    #[error("This time must be later than scheduled_start, also on the clocks of the time zone.")]
    Backwards,
    /// The rule cannot be used from this start.
    #[error(transparent)]
    Rule(#[from] RuleProblem),
    /// The rule has no occurrence from this start on.
    #[error("This rule never occurs.")]
    Never,
    /// The given window is not the first occurrence of the rule.
    #[error("The first occurrence of the rule is {0}; begin there.")]
    NotFirst(Timestamp),
    /// The end is a time that clocks show twice, and the second one was given.
    #[error("Clocks of the time zone show this time twice; a window ends the first time, at {0}.")]
    Twice(Timestamp),
    /// Windows of the rule overlap.
    #[error("A window would begin before the one before it has ended.")]
    Overlap,
    /// Too many windows start within 30 days.
    #[error("At most {CROWD_MAX} windows may begin within 30 days.")]
    Crowd,
    /// All windows of the rule have ended.
    #[error("This rule has no future occurrence.")]
    Over,
}

impl Recurrence {
    /// The recurrence whose first window is `window`. A wall time that clocks show twice is read as the first one, so a
    /// window that starts or ends at the second one is refused.
    ///
    /// # Errors
    /// [`RecurrenceProblem::Backwards`], [`RecurrenceProblem::NotFirst`], [`RecurrenceProblem::Twice`]. Whether the rule
    /// fits the window is checked by [`Recurrence::judge`].
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

    /// Restores a recurrence from the result of [`Recurrence::parts`].
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

    /// The first window in wall time, to be stored. The instants of [`Recurrence::window`] would not do, because clocks may
    /// skip the time at which it should start or end.
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

    /// Windows of the same length and wall time by another rule and in another zone, from the first time of the new rule
    /// on.
    ///
    /// # Errors
    /// [`RecurrenceProblem::Never`], [`RecurrenceProblem::Rule`].
    pub fn following(&self, rule: RecurrenceRule, zone: IanaZone) -> Result<Self, RecurrenceProblem> {
        let first = rule.walls(self.first, zone)?.next().ok_or(RecurrenceProblem::Never)?;
        Ok(Self { rule, zone, first, length: self.length })
    }

    /// Windows of the same length by another rule and in another zone. The first one starts at `start`.
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

    /// Checks for three years that the first window is an occurrence of the rule, and that windows neither overlap nor are
    /// too many. Also checks that at least one window has not ended.
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

    /// The windows that end after `now`, in order, including the one that is running.
    pub fn upcoming(&self, now: Timestamp) -> impl Iterator<Item = Occurrence> + use<> {
        let all = self.checked().ok().into_iter().flatten();
        all.skip_while(move |occurrence| occurrence.end <= now)
    }

    /// The windows that end after `now` and of which a part is in `range`, in order. The work grows with the time from the
    /// first window to the end of the range.
    pub fn coming(&self, range: TimeRange, now: Timestamp) -> impl Iterator<Item = Occurrence> + use<> {
        self.upcoming(now.max(range.from)).take_while(move |occurrence| occurrence.start < range.to)
    }

    /// The day on which a window starts, in the calendar of the zone.
    #[must_use]
    pub fn day(&self, start: Timestamp) -> Option<NaiveDate> {
        self.zone.wall(start).map(|wall| wall.date())
    }

    /// The windows of the rule, in order. Two wall times can be the same instant if clocks skip the first one: that is one
    /// window.
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

/// The window that starts at this wall time. If a change of the clocks would move the end before the start, the window has
/// its usual length in elapsed time instead.
fn window(zone: IanaZone, wall: NaiveDateTime, length: TimeDelta) -> Occurrence {
    let start = zone.instant(wall);
    let end = wall.checked_add_signed(length).map(|end| zone.instant(end)).filter(|end| *end > start);
    Occurrence { start, end: end.unwrap_or_else(|| start.plus_ms(length.num_milliseconds())) }
}

#[cfg(test)]
mod tests;
