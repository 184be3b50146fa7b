//! A month of a calendar, and what falls on each of its days.

use std::fmt;

use chrono::{Datelike as _, Days, Months, NaiveDate, NaiveTime};

use crate::clock::Timestamp;
use crate::model::recurrence::zone::IanaZone;
use crate::model::sla::business_hours::DayOfWeek;
use crate::model::time_range::TimeRange;

/// A month, shown as `2026-11`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::console) struct ZonedMonth {
    first: NaiveDate,
}

/// A day of a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::console) struct ZonedDay(NaiveDate);

impl fmt::Display for ZonedMonth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first.format("%Y-%m"))
    }
}

impl fmt::Display for ZonedDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl ZonedMonth {
    /// The month in the form `2026-11`, from 1971 to 2199; that of `now` in UTC if the text is none.
    pub(in crate::console) fn read(text: &str, now: Timestamp) -> Self {
        let day =
            |text: &str| text.parse::<NaiveDate>().ok().filter(|day| (1971..2200).contains(&day.year()));
        let entered = (text.len() == "2026-11".len()).then(|| day(&format!("{text}-01"))).flatten();
        let first = entered.or_else(|| day(&format!("{}-01", now.format("%Y-%m"))));
        Self { first: first.unwrap_or_default() }
    }

    /// The month before this one.
    pub(in crate::console) fn previous(self) -> Self {
        Self { first: self.first.checked_sub_months(Months::new(1)).unwrap_or(self.first) }
    }

    /// The month after this one.
    pub(in crate::console) fn next(self) -> Self {
        Self { first: self.first.checked_add_months(Months::new(1)).unwrap_or(self.first) }
    }

    /// The days, in their order.
    pub(in crate::console) fn days(self) -> impl Iterator<Item = ZonedDay> {
        let month = self.first.month();
        self.first.iter_days().take_while(move |day| day.month() == month).map(ZonedDay)
    }

    /// The time from the first midnight to the last one, in this zone.
    pub(in crate::console) fn range(self, zone: IanaZone) -> TimeRange {
        TimeRange { from: midnight(self.first, zone), to: midnight(self.next().first, zone) }
    }
}

impl ZonedDay {
    /// The time from midnight to midnight, in this zone.
    pub(in crate::console) fn range(self, zone: IanaZone) -> TimeRange {
        let next = self.0.checked_add_days(Days::new(1)).unwrap_or(self.0);
        TimeRange { from: midnight(self.0, zone), to: midnight(next, zone) }
    }

    /// The day of the week.
    pub(in crate::console) fn weekday(self) -> &'static str {
        DayOfWeek::WORDS[self.0.weekday().num_days_from_monday() as usize]
    }
}

fn midnight(day: NaiveDate, zone: IanaZone) -> Timestamp {
    zone.instant(day.and_time(NaiveTime::MIN))
}

/// Returns the part of a time that falls into a range as `09:00–24:00`, in this zone; empty if it fills the range. `None` if
/// nothing falls into it.
pub(in crate::console) fn part_of(time: TimeRange, range: TimeRange, zone: IanaZone) -> Option<String> {
    let part = TimeRange { from: time.from.max(range.from), to: time.to.min(range.to) }.if_not_empty()?;
    if part == range {
        return Some(String::new());
    }
    let clock =
        |at: Timestamp| zone.wall(at).map(|wall| wall.format("%H:%M").to_string()).unwrap_or_default();
    let end = if part.to == range.to { "24:00".to_owned() } else { clock(part.to) };
    Some(format!("{}–{end}", clock(part.from)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// 28 November 2026, 06:00.
    const NOW: Timestamp = Timestamp::from_ms(1_795_845_600_000);

    #[rstest]
    #[case("2026-11", "2026-10 2026-11 2026-12 30")]
    #[case("2027-02", "2027-01 2027-02 2027-03 28")]
    #[case("2026-1", "2026-10 2026-11 2026-12 30")]
    #[case("9999-01", "2026-10 2026-11 2026-12 30")]
    #[case("", "2026-10 2026-11 2026-12 30")]
    fn a_month_is_read(#[case] text: &str, #[case] expected: &str) {
        let month = ZonedMonth::read(text, NOW);
        let shown = format!("{} {month} {} {}", month.previous(), month.next(), month.days().count());
        assert_eq!(shown, expected);
    }

    /// The day on which clocks are set back has 25 hours.
    #[test]
    fn a_day_is_that_of_a_zone() {
        let zone: IanaZone = "Europe/Berlin".parse().unwrap();
        let day = ZonedMonth::read("2026-10", NOW).days().nth(24).unwrap();
        let range = day.range(zone);
        assert_eq!((day.to_string().as_str(), day.weekday()), ("2026-10-25", "sun"));
        assert_eq!(range.to.ms_since(range.from), 25 * 3_600_000);
        let from_nine = TimeRange { from: range.from.plus_ms(10 * 3_600_000), to: range.to.plus_ms(1) };
        assert_eq!(part_of(from_nine, range, zone).as_deref(), Some("09:00–24:00"));
        assert_eq!(part_of(range, range, zone).as_deref(), Some(""));
        assert_eq!(part_of(TimeRange { from: range.to, to: range.to.plus_ms(1) }, range, zone), None);
    }
}
