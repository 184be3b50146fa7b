//! Daily and weekly rules compared with a plain calendar, day by day for three years.

use chrono::{Datelike as _, Days, NaiveDate, NaiveTime, Weekday};
use proptest::prelude::*;

use super::*;

const ZONES: [&str; 5] =
    ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Santiago"];
const DAYS: [(Weekday, &str); 7] = [
    (Weekday::Mon, "MO"),
    (Weekday::Tue, "TU"),
    (Weekday::Wed, "WE"),
    (Weekday::Thu, "TH"),
    (Weekday::Fri, "FR"),
    (Weekday::Sat, "SA"),
    (Weekday::Sun, "SU"),
];
const THREE_YEARS: u64 = 3 * 365;

/// The instant of a wall time, found by trying each minute: the first instant at which clocks show it. A time that clocks
/// skip is read an hour (or half an hour) later, which equals the offset before the gap.
fn instant(zone: IanaZone, wall: NaiveDateTime) -> Timestamp {
    let guess = Timestamp::from_ms(wall.and_utc().timestamp_millis());
    let minutes = (-15 * 60..=15 * 60).map(|minutes| guess.plus_ms(minutes * 60_000));
    let shown = minutes.clone().find(|at| zone.wall(*at) == Some(wall));
    shown.unwrap_or_else(|| {
        let gap = |at: &Timestamp| zone.wall(*at).is_some_and(|shown| shown > wall);
        let end = minutes.clone().find(gap).unwrap();
        let begin = end.plus_ms(-1);
        let offset = zone.wall(begin).unwrap().and_utc().timestamp_millis() - begin.ms();
        guess.plus_ms(-offset)
    })
}

/// The days on which a rule falls, found by testing each day.
fn days(first: NaiveDate, matches: impl Fn(NaiveDate) -> bool) -> Vec<NaiveDate> {
    let all = (0..THREE_YEARS).filter_map(|day| first.checked_add_days(Days::new(day)));
    all.filter(|day| matches(*day)).collect()
}

fn check(rule: &str, zone: &str, (days, time): (&[NaiveDate], NaiveTime)) {
    let zone: IanaZone = zone.parse().unwrap();
    let first = days[0].and_time(time);
    let recurrence = Recurrence { rule: rule.parse().unwrap(), zone, first, length: TimeDelta::minutes(40) };
    let expected: Vec<Timestamp> = days.iter().map(|day| instant(zone, day.and_time(time))).collect();
    let found: Vec<Timestamp> =
        recurrence.upcoming(Timestamp::from_ms(0)).take(expected.len()).map(|window| window.start).collect();
    assert_eq!(found, expected, "{rule} {}", zone.name());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The test runner prints failures with their seed.
    #[test]
    fn daily_rules_fall_on_the_days_of_the_calendar(
        (zone, begin, minute, interval) in (prop::sample::select(ZONES.to_vec()), 0..2_000_u64, 0..1_440_u32, 1..20_u64),
    ) {
        let first = NaiveDate::from_ymd_opt(2024, 1, 1).unwrap() + Days::new(begin);
        let time = NaiveTime::from_hms_opt(minute / 60, minute % 60, 0).unwrap();
        let days = days(first, |day| (day - first).num_days().unsigned_abs().is_multiple_of(interval));
        check(&format!("FREQ=DAILY;INTERVAL={interval}"), zone, (&days, time));
    }

    #[test]
    fn weekly_rules_fall_on_the_days_of_the_calendar(
        (zone, begin, minute, interval) in (prop::sample::select(ZONES.to_vec()), 0..2_000_u64, 0..1_440_u32, 1..6_i64),
        chosen in prop::sample::subsequence(DAYS.to_vec(), 1..=7),
    ) {
        let begin = NaiveDate::from_ymd_opt(2024, 1, 1).unwrap() + Days::new(begin);
        let is_chosen = |day: NaiveDate| chosen.iter().any(|(weekday, _)| *weekday == day.weekday());
        let first = (0..7).map(|day| begin + Days::new(day)).find(|day| is_chosen(*day)).unwrap();
        let time = NaiveTime::from_hms_opt(minute / 60, minute % 60, 0).unwrap();
        let monday = |day: NaiveDate| day - Days::new(u64::from(day.weekday().num_days_from_monday()));
        let days = days(first, |day| {
            is_chosen(day) && (monday(day) - monday(first)).num_weeks() % interval == 0
        });
        let names: Vec<&str> = chosen.iter().map(|(_, name)| *name).collect();
        check(&format!("FREQ=WEEKLY;INTERVAL={interval};BYDAY={}", names.join(",")), zone, (&days, time));
    }
}
