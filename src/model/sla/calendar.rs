//! The period of a target: a calendar month, quarter or year in its time zone, or a rolling number of days.
//!
//! A calendar period starts at the first midnight of its first day in the zone. If clocks skip that midnight, it starts at
//! the moment of the skip. A day of a rolling period has 24 hours even when clocks change.

use std::ops::RangeInclusive;

use chrono::{Datelike as _, NaiveDate, NaiveTime};

use crate::clock::{DAY_MS, Timestamp};
use crate::model::recurrence::zone::IanaZone;
use crate::model::time_range::TimeRange;
use crate::model::word_enum::words;

/// Permitted number of days of a rolling period.
pub const ROLLING_DAYS: RangeInclusive<u16> = 1..=366;

words! {
    /// The kind of a period.
    pub enum PeriodKind {
        /// A calendar month.
        Month,
        /// A calendar quarter.
        Quarter,
        /// A calendar year.
        Year,
        /// A number of days up to now.
        Rolling,
    }
}

/// The period for which a target is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlaPeriod {
    /// A calendar month.
    Month,
    /// A calendar quarter.
    Quarter,
    /// A calendar year.
    Year,
    /// A rolling period of this number of times 24 hours.
    Rolling(u16),
}

impl SlaPeriod {
    /// The period of a kind; `None` unless `rolling_days` is given for a rolling period, and only for that.
    #[must_use]
    pub const fn new(kind: PeriodKind, rolling_days: Option<u16>) -> Option<Self> {
        match (kind, rolling_days) {
            (PeriodKind::Month, None) => Some(Self::Month),
            (PeriodKind::Quarter, None) => Some(Self::Quarter),
            (PeriodKind::Year, None) => Some(Self::Year),
            (PeriodKind::Rolling, Some(days)) => Some(Self::Rolling(days)),
            _ => None,
        }
    }

    /// Returns the kind of period.
    #[must_use]
    pub const fn kind(self) -> PeriodKind {
        match self {
            Self::Month => PeriodKind::Month,
            Self::Quarter => PeriodKind::Quarter,
            Self::Year => PeriodKind::Year,
            Self::Rolling(_) => PeriodKind::Rolling,
        }
    }

    /// Number of days of a rolling period; `None` for calendar periods.
    #[must_use]
    pub const fn rolling_days(self) -> Option<u16> {
        match self {
            Self::Rolling(days) => Some(days),
            Self::Month | Self::Quarter | Self::Year => None,
        }
    }

    /// The calendar period that contains `now`, or the rolling period that ends at `now`.
    #[must_use]
    pub fn current(self, zone: IanaZone, now: Timestamp) -> TimeRange {
        match self.months() {
            Some(months) => around(zone, date_at(zone, now), months),
            None => self.until(now),
        }
    }

    /// The period before the current one.
    #[must_use]
    pub fn previous(self, zone: IanaZone, now: Timestamp) -> TimeRange {
        let current = self.current(zone, now);
        match self.months() {
            Some(months) => around(zone, date_at(zone, current.from.plus_ms(-1)), months),
            None => self.until(current.from),
        }
    }

    /// The calendar period that contains a day, or the rolling period that ends with that day or now, whichever is earlier.
    /// `None` if the day is in the future.
    #[must_use]
    pub fn on(self, zone: IanaZone, date: NaiveDate, now: Timestamp) -> Option<TimeRange> {
        if start_of(zone, date) > now {
            return None;
        }
        Some(match self.months() {
            Some(months) => around(zone, date, months),
            None => self.until(start_of(zone, date.succ_opt()?).min(now)),
        })
    }

    /// Number of months of a calendar period; `None` for rolling periods.
    const fn months(self) -> Option<u32> {
        match self {
            Self::Month => Some(1),
            Self::Quarter => Some(3),
            Self::Year => Some(12),
            Self::Rolling(_) => None,
        }
    }

    fn until(self, to: Timestamp) -> TimeRange {
        let days = i64::from(self.rolling_days().unwrap_or_default());
        TimeRange { from: to.plus_ms(-days * DAY_MS), to }
    }
}

/// The period of `months` months that contains a day, counted from the start of the year.
fn around(zone: IanaZone, date: NaiveDate, months: u32) -> TimeRange {
    let first = date.month0() / months * months;
    let month = |month0: u32| {
        let year = date.year() + i32::from(month0 >= 12);
        NaiveDate::from_ymd_opt(year, month0 % 12 + 1, 1).unwrap_or(date)
    };
    TimeRange { from: start_of(zone, month(first)), to: start_of(zone, month(first + months)) }
}

fn start_of(zone: IanaZone, date: NaiveDate) -> Timestamp {
    zone.instant(date.and_time(NaiveTime::MIN))
}

fn date_at(zone: IanaZone, at: Timestamp) -> NaiveDate {
    zone.wall(at).map(|wall| wall.date()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
