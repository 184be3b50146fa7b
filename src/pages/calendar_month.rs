//! A calendar month (UTC), by which the past of a page is divided.

use std::fmt;
use std::str::FromStr;

use chrono::{Datelike as _, NaiveDate};

use crate::clock::{DAY_MS, Timestamp};
use crate::model::time_range::TimeRange;

/// A month, written `2026-11`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CalendarMonth {
    /// Months since January of the year 0.
    months: i32,
}

/// A text that is not a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InvalidMonth;

impl CalendarMonth {
    /// Returns the month of a time.
    pub(super) fn of(at: Timestamp) -> Self {
        let day = i32::try_from(at.ms().div_euclid(DAY_MS)).ok().and_then(NaiveDate::from_epoch_days);
        let day = day.unwrap_or(NaiveDate::MAX);
        Self { months: day.year() * 12 + day.month0().cast_signed() }
    }

    pub(super) const fn year(self) -> i32 {
        self.months.div_euclid(12)
    }

    /// Returns the number of the month in its year, from 1.
    pub(super) const fn number(self) -> i32 {
        self.months.rem_euclid(12) + 1
    }

    pub(super) const fn previous(self) -> Self {
        Self { months: self.months - 1 }
    }

    pub(super) const fn next(self) -> Self {
        Self { months: self.months + 1 }
    }

    /// Returns the time of the month.
    pub(super) fn range(self) -> TimeRange {
        TimeRange { from: self.start(), to: self.next().start() }
    }

    fn start(self) -> Timestamp {
        let first = NaiveDate::from_ymd_opt(self.year(), self.number().cast_unsigned(), 1);
        let days = first.unwrap_or(NaiveDate::MAX).to_epoch_days();
        Timestamp::from_ms(i64::from(days) * DAY_MS)
    }
}

impl fmt::Display for CalendarMonth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year(), self.number())
    }
}

impl FromStr for CalendarMonth {
    type Err = InvalidMonth;

    /// Reads the only spelling: four digits, a hyphen, two digits.
    fn from_str(text: &str) -> Result<Self, InvalidMonth> {
        let (year, month) = text.split_once('-').ok_or(InvalidMonth)?;
        let number = |digits: &str, length: usize| {
            let is_valid = digits.len() == length && digits.bytes().all(|digit| digit.is_ascii_digit());
            digits.parse::<i32>().ok().filter(|_| is_valid).ok_or(InvalidMonth)
        };
        let (year, month) = (number(year, 4)?, number(month, 2)?);
        if (1..=12).contains(&month) { Ok(Self { months: year * 12 + month - 1 }) } else { Err(InvalidMonth) }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("2026-11", "2026-11-01", "2026-12-01")]
    #[case("2026-12", "2026-12-01", "2027-01-01")]
    #[case("2024-02", "2024-02-01", "2024-03-01")]
    fn a_month_has_a_start_and_an_end(#[case] text: &str, #[case] from: &str, #[case] to: &str) {
        let month: CalendarMonth = text.parse().unwrap();
        let TimeRange { from: start, to: end } = month.range();
        assert_eq!((start.date(), end.date(), month.to_string()), (from.into(), to.into(), text.into()));
        assert_eq!(CalendarMonth::of(start), month);
        assert_eq!(CalendarMonth::of(end.plus_ms(-1)), month);
        assert_eq!((month.next().previous(), CalendarMonth::of(end)), (month, month.next()));
    }

    #[rstest]
    #[case("2026-13")]
    #[case("2026-00")]
    #[case("2026-1")]
    #[case("26-11")]
    #[case("2026-11-01")]
    #[case("+026-11")]
    #[case("2026")]
    #[case("")]
    fn other_texts_are_refused(#[case] text: &str) {
        assert_eq!(text.parse::<CalendarMonth>(), Err(InvalidMonth));
    }
}
