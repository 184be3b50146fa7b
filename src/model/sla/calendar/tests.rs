//! Periods at unusual dates: changes of clocks, leap days, zones on both sides of the date line.

use rstest::rstest;

use super::*;

const MONTH: SlaPeriod = SlaPeriod::Month;
const QUARTER: SlaPeriod = SlaPeriod::Quarter;
const YEAR: SlaPeriod = SlaPeriod::Year;

fn zone(name: &str) -> IanaZone {
    name.parse().unwrap()
}

fn at(text: &str) -> Timestamp {
    let moment: chrono::DateTime<chrono::Utc> = text.parse().unwrap();
    Timestamp::from_ms(moment.timestamp_millis())
}

fn ends(range: TimeRange) -> (String, String) {
    (range.from.to_string(), range.to.to_string())
}

#[rstest]
#[case(MONTH, "UTC", "2026-11-24T12:00:00Z", "2026-11-01T00:00:00.000Z", "2026-12-01T00:00:00.000Z")]
#[case(MONTH, "UTC", "2026-12-31T23:59:59Z", "2026-12-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z")]
#[case(MONTH, "UTC", "2028-02-29T00:00:00Z", "2028-02-01T00:00:00.000Z", "2028-03-01T00:00:00.000Z")]
// March has an hour less, October one more.
#[case(
    MONTH,
    "Europe/Berlin",
    "2026-03-10T00:00:00Z",
    "2026-02-28T23:00:00.000Z",
    "2026-03-31T22:00:00.000Z"
)]
#[case(
    MONTH,
    "Europe/Berlin",
    "2026-10-10T00:00:00Z",
    "2026-09-30T22:00:00.000Z",
    "2026-10-31T23:00:00.000Z"
)]
// In Berlin this is the first day of the month, in UTC the last day of the month before.
#[case(
    MONTH,
    "Europe/Berlin",
    "2026-06-30T22:00:00Z",
    "2026-06-30T22:00:00.000Z",
    "2026-07-31T22:00:00.000Z"
)]
#[case(
    MONTH,
    "Pacific/Kiritimati",
    "2026-06-30T10:00:00Z",
    "2026-06-30T10:00:00.000Z",
    "2026-07-31T10:00:00.000Z"
)]
#[case(
    MONTH,
    "America/New_York",
    "2026-11-01T03:59:59Z",
    "2026-10-01T04:00:00.000Z",
    "2026-11-01T04:00:00.000Z"
)]
#[case(
    QUARTER,
    "Europe/Berlin",
    "2026-05-10T00:00:00Z",
    "2026-03-31T22:00:00.000Z",
    "2026-06-30T22:00:00.000Z"
)]
#[case(QUARTER, "UTC", "2026-12-10T00:00:00Z", "2026-10-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z")]
#[case(
    YEAR,
    "America/Santiago",
    "2026-07-01T00:00:00Z",
    "2026-01-01T03:00:00.000Z",
    "2027-01-01T03:00:00.000Z"
)]
#[case(
    SlaPeriod::Rolling(30),
    "Europe/Berlin",
    "2026-04-10T12:00:00Z",
    "2026-03-11T12:00:00.000Z",
    "2026-04-10T12:00:00.000Z"
)]
fn the_current_period(
    #[case] period: SlaPeriod,
    #[case] name: &str,
    #[case] now: &str,
    #[case] from: &str,
    #[case] to: &str,
) {
    assert_eq!(ends(period.current(zone(name), at(now))), (from.to_owned(), to.to_owned()));
}

/// Clocks in Paraguay skipped the first midnight of October 2017, from 23:59:59 to 01:00. Clocks in Cuba show one midnight
/// of November 2026 twice.
#[rstest]
#[case("America/Asuncion", "2017-10-15T00:00:00Z", "2017-10-01T04:00:00.000Z")]
#[case("America/Havana", "2026-11-15T00:00:00Z", "2026-11-01T04:00:00.000Z")]
fn a_skipped_or_repeated_midnight_starts_a_period_once(
    #[case] name: &str,
    #[case] now: &str,
    #[case] from: &str,
) {
    let current = MONTH.current(zone(name), at(now));
    assert_eq!(current.from.to_string(), from);
    assert_eq!(MONTH.previous(zone(name), at(now)).to, current.from);
}

#[rstest]
#[case(MONTH, "2026-02-28T23:00:00.000Z", "2026-03-31T22:00:00.000Z")]
#[case(QUARTER, "2025-12-31T23:00:00.000Z", "2026-03-31T22:00:00.000Z")]
#[case(YEAR, "2024-12-31T23:00:00.000Z", "2025-12-31T23:00:00.000Z")]
#[case(SlaPeriod::Rolling(7), "2026-03-27T12:00:00.000Z", "2026-04-03T12:00:00.000Z")]
fn the_previous_period(#[case] period: SlaPeriod, #[case] from: &str, #[case] to: &str) {
    let previous = period.previous(zone("Europe/Berlin"), at("2026-04-10T12:00:00Z"));
    assert_eq!(ends(previous), (from.to_owned(), to.to_owned()));
}

#[rstest]
#[case(MONTH, "2026-02-11", Some(("2026-01-31T23:00:00.000Z", "2026-02-28T23:00:00.000Z")))]
#[case(MONTH, "2026-04-10", Some(("2026-03-31T22:00:00.000Z", "2026-04-30T22:00:00.000Z")))]
#[case(MONTH, "2026-04-11", None)]
#[case(SlaPeriod::Rolling(2), "2026-03-29", Some(("2026-03-27T22:00:00.000Z", "2026-03-29T22:00:00.000Z")))]
#[case(SlaPeriod::Rolling(2), "2026-04-10", Some(("2026-04-08T12:00:00.000Z", "2026-04-10T12:00:00.000Z")))]
fn the_period_of_a_day(
    #[case] period: SlaPeriod,
    #[case] date: &str,
    #[case] expected: Option<(&str, &str)>,
) {
    let now = at("2026-04-10T12:00:00Z");
    let found = period.on(zone("Europe/Berlin"), date.parse().unwrap(), now).map(ends);
    assert_eq!(found, expected.map(|(from, to)| (from.to_owned(), to.to_owned())));
}

/// In each zone, periods of each kind adjoin, so each moment is in exactly one of them.
#[rstest]
fn consecutive_periods_have_no_gap(#[values(MONTH, QUARTER, YEAR)] period: SlaPeriod) {
    for tz in chrono_tz::TZ_VARIANTS {
        let zone = zone(tz.name());
        let mut now = at("2012-01-01T00:00:00Z");
        while now < at("2027-01-01T00:00:00Z") {
            let current = period.current(zone, now);
            assert!(current.contains(now), "{} {now}", tz.name());
            assert_eq!(period.previous(zone, now).to, current.from, "{} {now}", tz.name());
            now = current.to;
        }
    }
}
