//! Business hours: times of day on days of the week, in wall time.
//!
//! A moment is within business hours if clocks in the zone show such a time. So an hour that clocks skip is missing, and an
//! hour that they show twice counts twice, as it does for people who work by these clocks.

use std::fmt;
use std::str::FromStr;

use crate::clock::{DAY_MS, Timestamp};
use crate::model::recurrence::zone::IanaZone;
use crate::model::time_range::TimeRange;
use crate::model::word_enum::words;

/// Maximum number of entries of business hours.
pub const ENTRIES_MAX: usize = 21;
const MINUTE_MS: i64 = 60_000;
const DAY_MINUTES: u16 = 24 * 60;
/// Size of the steps in the search for a change of the clocks, in milliseconds. No zone has ever changed its clocks twice
/// within this time.
const STEP_MS: i64 = 6 * 60 * MINUTE_MS;

words! {
    /// A day of the week.
    pub enum DayOfWeek {
        /// Monday.
        Mon,
        /// Tuesday.
        Tue,
        /// Wednesday.
        Wed,
        /// Thursday.
        Thu,
        /// Friday.
        Fri,
        /// Saturday.
        Sat,
        /// Sunday.
        Sun,
    }
}

/// A time of day in minutes, from 00:00 to 24:00.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClockTime(u16);

/// The text is not a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Enter a time as HH:MM, from 00:00 to 24:00.")]
pub struct InvalidClockTime;

impl FromStr for ClockTime {
    type Err = InvalidClockTime;

    fn from_str(text: &str) -> Result<Self, InvalidClockTime> {
        let digits = |text: &str| {
            let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse::<u16>().ok()).flatten()
        };
        let (hours, minutes) = text.split_once(':').ok_or(InvalidClockTime)?;
        let (hours, minutes) =
            (digits(hours).ok_or(InvalidClockTime)?, digits(minutes).ok_or(InvalidClockTime)?);
        let time = hours * 60 + minutes;
        if minutes < 60 && time <= DAY_MINUTES { Ok(Self(time)) } else { Err(InvalidClockTime) }
    }
}

impl ClockTime {
    /// Minutes since midnight.
    #[must_use]
    pub const fn minutes(self) -> i64 {
        self.0 as i64
    }
}

impl fmt::Display for ClockTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

/// A time span on some days of the week.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeeklyHours {
    /// The days, at least one.
    pub days: Vec<DayOfWeek>,
    /// Start, inclusive.
    pub from: ClockTime,
    /// End, exclusive; later than the start.
    pub to: ClockTime,
}

/// Business hours as a list of entries. Time in several entries counts once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusinessHours(pub Vec<WeeklyHours>);

/// The text is not in the form in which [`BusinessHours`] are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these business hours cannot be read")]
pub struct BusinessHoursError;

/// The form in which the database stores business hours: `mon,tue 09:00-17:00;sat 10:00-12:00`.
impl fmt::Display for BusinessHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, WeeklyHours { days, from, to }) in self.0.iter().enumerate() {
            let days: Vec<&str> = days.iter().map(|day| day.as_str()).collect();
            write!(f, "{}{} {from}-{to}", if index > 0 { ";" } else { "" }, days.join(","))?;
        }
        Ok(())
    }
}

impl FromStr for BusinessHours {
    type Err = BusinessHoursError;

    fn from_str(text: &str) -> Result<Self, BusinessHoursError> {
        let entry = |text: &str| {
            let (days, times) = text.split_once(' ')?;
            let (from, to) = times.split_once('-')?;
            let days = days.split(',').map(|day| day.parse().ok()).collect::<Option<_>>()?;
            Some(WeeklyHours { days, from: from.parse().ok()?, to: to.parse().ok()? })
        };
        text.split(';').map(entry).collect::<Option<_>>().map(Self).ok_or(BusinessHoursError)
    }
}

impl BusinessHours {
    /// The parts of a range within business hours, in order. Adjoining parts are merged.
    #[must_use]
    pub fn open(&self, zone: IanaZone, range: TimeRange) -> Vec<TimeRange> {
        let mut found: Vec<TimeRange> = Vec::new();
        for (stretch, offset_ms) in steady(zone, range) {
            found.extend(self.open_at(stretch, offset_ms));
        }
        found.sort_unstable();
        let mut merged: Vec<TimeRange> = Vec::with_capacity(found.len());
        for next in found {
            match merged.last_mut().filter(|last| next.from <= last.to) {
                Some(last) => last.to = last.to.max(next.to),
                None => merged.push(next),
            }
        }
        merged
    }

    /// The parts of a range outside of business hours, in order.
    #[must_use]
    pub fn closed(&self, zone: IanaZone, range: TimeRange) -> Vec<TimeRange> {
        let open = self.open(zone, range);
        let begins = [range.from].into_iter().chain(open.iter().map(|open| open.to));
        let ends = open.iter().map(|open| open.from).chain([range.to]);
        begins.zip(ends).filter_map(|(from, to)| TimeRange { from, to }.if_not_empty()).collect()
    }

    /// The business hours within a range in which clocks are `offset_ms` milliseconds ahead of UTC.
    fn open_at(&self, stretch: TimeRange, offset_ms: i64) -> impl Iterator<Item = TimeRange> {
        let (first, last) = (stretch.from.plus_ms(offset_ms).day(), stretch.to.plus_ms(offset_ms - 1).day());
        (first..=last).flat_map(move |day| {
            let clock = move |time: ClockTime| {
                Timestamp::from_ms(day * DAY_MS + i64::from(time.0) * MINUTE_MS - offset_ms)
            };
            let today = self.0.iter().filter(move |hours| hours.days.contains(&weekday(day)));
            today.filter_map(move |hours| {
                let (from, to) = (clock(hours.from).max(stretch.from), clock(hours.to).min(stretch.to));
                TimeRange { from, to }.if_not_empty()
            })
        })
    }
}

/// The day of the week of a day, numbered since 1970-01-01.
fn weekday(day: i64) -> DayOfWeek {
    // 1 January 1970 was a Thursday.
    let index = usize::try_from((day + 3).rem_euclid(7)).unwrap_or_default();
    DayOfWeek::ALL[index]
}

/// Splits a range where its offset from UTC changes. Returns each part with its offset in milliseconds.
fn steady(zone: IanaZone, range: TimeRange) -> Vec<(TimeRange, i64)> {
    let mut stretches: Vec<(TimeRange, i64)> = Vec::new();
    let mut from = range.from;
    let mut at = from;
    while at < range.to {
        let offset_ms = ahead_ms(zone, at);
        let step = TimeRange { from: at, to: at.plus_ms(STEP_MS).min(range.to) };
        let is_changed = ahead_ms(zone, step.to) != offset_ms;
        at = if is_changed { first_unlike(zone, offset_ms, step) } else { step.to };
        if is_changed || at == range.to {
            stretches.push((TimeRange { from, to: at }, offset_ms));
            from = at;
        }
    }
    stretches
}

/// The first moment in a range with another offset than at the start; the offset at the end must differ.
fn first_unlike(zone: IanaZone, offset_ms: i64, range: TimeRange) -> Timestamp {
    let (mut like, mut unlike) = (range.from.ms(), range.to.ms());
    while unlike - like > 1 {
        let middle = like.midpoint(unlike);
        if ahead_ms(zone, Timestamp::from_ms(middle)) == offset_ms { like = middle } else { unlike = middle }
    }
    Timestamp::from_ms(unlike)
}

fn ahead_ms(zone: IanaZone, at: Timestamp) -> i64 {
    zone.wall(at).map_or(0, |wall| wall.and_utc().timestamp_millis() - at.ms())
}

#[cfg(test)]
mod tests;
