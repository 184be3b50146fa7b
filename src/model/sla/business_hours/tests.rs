//! Business hours compared with a clock that is read every quarter of an hour, and around changes of the clocks.

use chrono::{Datelike as _, Timelike as _};
use proptest::prelude::*;
use rstest::rstest;

use super::*;

const QUARTER_MS: i64 = 15 * MINUTE_MS;

fn at(text: &str) -> Timestamp {
    let moment: chrono::DateTime<chrono::Utc> = text.parse().unwrap();
    Timestamp::from_ms(moment.timestamp_millis())
}

fn minutes(hours: &str, zone: &str, from: &str, to: &str) -> i64 {
    let hours: BusinessHours = hours.parse().unwrap();
    let open = hours.open(zone.parse().unwrap(), TimeRange { from: at(from), to: at(to) });
    open.iter().map(|open| open.to.ms_since(open.from)).sum::<i64>() / MINUTE_MS
}

#[rstest]
#[case::a_week("mon,tue,wed,thu,fri 09:00-17:00", "Europe/Berlin", "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z", 5 * 480)]
#[case::all_day("sun 00:00-24:00", "UTC", "2026-11-21T00:00:00Z", "2026-11-24T00:00:00Z", 1_440)]
#[case::overlapping(
    "mon 09:00-12:00;mon 11:00-13:00;mon 13:00-14:00",
    "UTC",
    "2026-11-23T00:00:00Z",
    "2026-11-24T00:00:00Z",
    300
)]
#[case::cut_off("mon 09:00-17:00", "UTC", "2026-11-23T10:30:00Z", "2026-11-23T11:00:00Z", 30)]
#[case::a_day_of_23_hours("sun 00:00-24:00", "Europe/Berlin", "2026-03-28T00:00:00Z", "2026-03-31T00:00:00Z", 23 * 60)]
#[case::a_day_of_25_hours("sun 00:00-24:00", "Europe/Berlin", "2026-10-24T00:00:00Z", "2026-10-27T00:00:00Z", 25 * 60)]
#[case::left_out("sun 02:00-03:00", "Europe/Berlin", "2026-03-28T00:00:00Z", "2026-03-31T00:00:00Z", 0)]
#[case::partly_left_out(
    "sun 02:30-03:30",
    "Europe/Berlin",
    "2026-03-28T00:00:00Z",
    "2026-03-31T00:00:00Z",
    30
)]
#[case::twice("sun 02:00-03:00", "Europe/Berlin", "2026-10-24T00:00:00Z", "2026-10-27T00:00:00Z", 120)]
#[case::partly_twice("sun 02:30-03:30", "Europe/Berlin", "2026-10-24T00:00:00Z", "2026-10-27T00:00:00Z", 90)]
#[case::half_an_hour_twice(
    "sun 01:30-02:00",
    "Australia/Lord_Howe",
    "2026-04-03T00:00:00Z",
    "2026-04-06T00:00:00Z",
    60
)]
#[case::nine_to_five_in_both("sun 09:00-17:00", "Europe/Berlin", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", 5 * 480)]
#[case::far_east(
    "mon 09:00-17:00",
    "Pacific/Kiritimati",
    "2026-11-22T12:00:00Z",
    "2026-11-23T12:00:00Z",
    480
)]
fn business_hours_follow_wall_clocks(
    #[case] hours: &str,
    #[case] zone: &str,
    #[case] from: &str,
    #[case] to: &str,
    #[case] expected: i64,
) {
    assert_eq!(minutes(hours, zone, from, to), expected);
}

#[rstest]
#[case("mon 09:00-17:00", true)]
#[case("mon,sun 00:00-24:00;tue 10:15-10:16", true)]
#[case("", false)]
#[case("mon", false)]
#[case("mon 09:00", false)]
#[case("mon 9:00-17:00", false)]
#[case("mon 09:00-24:01", false)]
#[case("mon 09:60-17:00", false)]
#[case("may 09:00-17:00", false)]
fn the_stored_text_is_read_back(#[case] text: &str, #[case] is_readable: bool) {
    let read: Result<BusinessHours, _> = text.parse();
    let expected = if is_readable { Ok(text.to_owned()) } else { Err(BusinessHoursError) };
    assert_eq!(read.map(|hours| hours.to_string()), expected);
}

fn entry() -> impl Strategy<Value = WeeklyHours> {
    let days = prop::collection::vec(prop::sample::select(DayOfWeek::ALL.to_vec()), 1..4);
    (days, 0_u16..96, 1_u16..97).prop_filter_map("from before to", |(days, from, to)| {
        (from < to).then_some(WeeklyHours { days, from: ClockTime(from * 15), to: ClockTime(to * 15) })
    })
}

const ZONES: [&str; 7] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "America/Santiago",
    "Africa/Casablanca",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    /// For up to 30 days anywhere in a year, the same quarter hours are open as those in which clocks show business hours.
    #[test]
    fn business_hours_equal_a_minute_by_minute_count(
        zone in prop::sample::select(ZONES.to_vec()),
        entries in prop::collection::vec(entry(), 1..4),
        (first, length) in (0_i64..365 * 96, 0_i64..30 * 96),
    ) {
        let zone: IanaZone = zone.parse().unwrap();
        let hours = BusinessHours(entries);
        let from = at("2026-01-01T00:00:00Z").plus_ms(first * QUARTER_MS);
        let range = TimeRange { from, to: from.plus_ms(length * QUARTER_MS) };
        let (open, closed) = (hours.open(zone, range), hours.closed(zone, range));
        prop_assert!(open.is_sorted_by(|left, right| left.to < right.from));
        for moment in (0..length).map(|quarter| from.plus_ms(quarter * QUARTER_MS)) {
            let wall = zone.wall(moment).unwrap();
            let today = DayOfWeek::ALL[wall.weekday().num_days_from_monday() as usize];
            let shown = ClockTime(u16::try_from(wall.hour() * 60 + wall.minute()).unwrap());
            let is_open = hours.0.iter().any(|hours| {
                hours.days.contains(&today) && hours.from <= shown && shown < hours.to
            });
            prop_assert_eq!(open.iter().any(|open| open.contains(moment)), is_open, "{}", moment);
            prop_assert_eq!(closed.iter().any(|closed| closed.contains(moment)), !is_open, "{}", moment);
        }
    }
}
