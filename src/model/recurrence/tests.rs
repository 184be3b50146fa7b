//! Tests of recurring windows: tables of unusual days, hostile rules, and a comparison with a plain calendar.

mod calendar;
mod hostile;

use rstest::rstest;

use super::*;

pub(super) fn at(text: &str) -> Timestamp {
    let at = chrono::DateTime::parse_from_rfc3339(text).unwrap();
    Timestamp::from_ms(at.timestamp_millis())
}

/// A recurrence whose first window is between these two instants.
pub(super) fn recurrence(rule: &str, zone: &str, (start, end): (&str, &str)) -> Recurrence {
    let window = Occurrence { start: at(start), end: at(end) };
    Recurrence::new(rule.parse().unwrap(), zone.parse().unwrap(), window).unwrap()
}

/// The first `count` windows: start in wall time, and length in minutes.
fn shown(recurrence: &Recurrence, count: usize) -> Vec<String> {
    let zone = recurrence.zone;
    let windows = recurrence.upcoming(Timestamp::from_ms(0)).take(count);
    let wall = |at| zone.wall(at).unwrap().format("%Y-%m-%d %H:%M").to_string();
    let minutes = |window: Occurrence| window.end.ms_since(window.start) / 60_000;
    windows.map(|window| format!("{} {}", wall(window.start), minutes(window))).collect()
}

/// Cases: rule, zone, first window; the windows with their local start and their length in minutes.
#[rstest]
#[case::summer_ends("FREQ=WEEKLY;BYDAY=SU", "Europe/Berlin", ("2026-10-18T02:00:00+02:00", "2026-10-18T04:00:00+02:00"),
    &["2026-10-18 02:00 120", "2026-10-25 02:00 180", "2026-11-01 02:00 120"])]
#[case::summer_begins("FREQ=WEEKLY;BYDAY=SU", "Europe/Berlin", ("2026-03-22T02:00:00+01:00", "2026-03-22T04:00:00+01:00"),
    &["2026-03-22 02:00 120", "2026-03-29 03:00 60", "2026-04-05 02:00 120"])]
#[case::half_past_two("FREQ=DAILY", "Europe/Berlin", ("2026-03-28T02:30:00+01:00", "2026-03-28T03:00:00+01:00"),
    &["2026-03-28 02:30 30", "2026-03-29 03:30 30", "2026-03-30 02:30 30"])]
#[case::new_york_spring("FREQ=DAILY", "America/New_York", ("2026-03-07T02:30:00-05:00", "2026-03-07T05:30:00-05:00"),
    &["2026-03-07 02:30 180", "2026-03-08 03:30 120", "2026-03-09 02:30 180"])]
#[case::new_york_autumn("FREQ=DAILY", "America/New_York", ("2026-10-31T01:30:00-04:00", "2026-10-31T02:30:00-04:00"),
    &["2026-10-31 01:30 60", "2026-11-01 01:30 120", "2026-11-02 01:30 60"])]
#[case::lord_howe("FREQ=DAILY", "Australia/Lord_Howe", ("2026-04-04T01:00:00+11:00", "2026-04-04T03:00:00+11:00"),
    &["2026-04-04 01:00 120", "2026-04-05 01:00 150", "2026-04-06 01:00 120"])]
#[case::kathmandu("FREQ=DAILY;INTERVAL=2", "Asia/Kathmandu", ("2026-04-04T00:00:00+05:45", "2026-04-05T00:00:00+05:45"),
    &["2026-04-04 00:00 1440", "2026-04-06 00:00 1440", "2026-04-08 00:00 1440"])]
#[case::leap_day("FREQ=YEARLY", "UTC", ("2028-02-29T00:00:00Z", "2028-02-29T01:00:00Z"),
    &["2028-02-29 00:00 60", "2032-02-29 00:00 60", "2036-02-29 00:00 60"])]
#[case::the_31st("FREQ=MONTHLY;BYMONTHDAY=31", "UTC", ("2027-01-31T00:00:00Z", "2027-01-31T01:00:00Z"),
    &["2027-01-31 00:00 60", "2027-03-31 00:00 60", "2027-05-31 00:00 60"])]
#[case::the_last_day("FREQ=MONTHLY;BYMONTHDAY=-1", "UTC", ("2028-01-31T00:00:00Z", "2028-01-31T01:00:00Z"),
    &["2028-01-31 00:00 60", "2028-02-29 00:00 60", "2028-03-31 00:00 60"])]
#[case::the_second_tuesday("FREQ=MONTHLY;BYDAY=2TU", "Europe/Berlin", ("2026-12-08T22:00:00+01:00", "2026-12-09T06:00:00+01:00"),
    &["2026-12-08 22:00 480", "2027-01-12 22:00 480", "2027-02-09 22:00 480"])]
#[case::the_last_workday("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "UTC", ("2027-01-29T22:00:00Z", "2027-01-29T23:00:00Z"),
    &["2027-01-29 22:00 60", "2027-02-26 22:00 60", "2027-03-31 22:00 60"])]
#[case::three_times("FREQ=DAILY;COUNT=3", "UTC", ("2027-01-29T22:00:00Z", "2027-01-29T23:00:00Z"),
    &["2027-01-29 22:00 60", "2027-01-30 22:00 60", "2027-01-31 22:00 60"])]
#[case::until_an_instant("FREQ=DAILY;UNTIL=20270130T210000Z", "Europe/Berlin", ("2027-01-29T22:00:00+01:00", "2027-01-29T23:00:00+01:00"),
    &["2027-01-29 22:00 60", "2027-01-30 22:00 60"])]
#[case::until_a_wall_time("FREQ=DAILY;UNTIL=20270130T215959", "Europe/Berlin", ("2027-01-29T22:00:00+01:00", "2027-01-29T23:00:00+01:00"),
    &["2027-01-29 22:00 60"])]
#[case::until_a_day("FREQ=DAILY;UNTIL=20270130", "Europe/Berlin", ("2027-01-29T23:30:00+01:00", "2027-01-29T23:59:00+01:00"),
    &["2027-01-29 23:30 29", "2027-01-30 23:30 29"])]
#[case::a_gap_makes_one_of_two("FREQ=DAILY;BYHOUR=2,3", "Europe/Berlin", ("2026-03-28T02:00:00+01:00", "2026-03-28T02:30:00+01:00"),
    &["2026-03-28 02:00 30", "2026-03-28 03:00 30", "2026-03-29 03:00 30", "2026-03-30 02:00 30"])]
fn windows_keep_their_wall_time(
    #[case] rule: &str,
    #[case] zone: &str,
    #[case] window: (&str, &str),
    #[case] expected: &[&str],
) {
    let recurrence = recurrence(rule, zone, window);
    assert_eq!(recurrence.judge(at(window.0)), Ok(()));
    let count = if rule.contains("UNTIL") || rule.contains("COUNT") { 10 } else { expected.len() };
    assert_eq!(shown(&recurrence, count), expected);
}

#[rstest]
#[case::not_first("FREQ=WEEKLY;BYDAY=SU", ("2026-11-23T02:00:00Z", "2026-11-23T04:00:00Z"),
    "The first occurrence of the rule is 2026-11-29T02:00:00.000Z; begin there.")]
#[case::parts_of_a_second("FREQ=DAILY", ("2026-11-23T02:00:00.500Z", "2026-11-23T04:00:00Z"),
    "The first occurrence of the rule is 2026-11-24T02:00:00.000Z; begin there.")]
#[case::never("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", ("2026-11-23T02:00:00Z", "2026-11-23T04:00:00Z"),
    "This rule never occurs.")]
#[case::over("FREQ=DAILY;COUNT=2", ("2026-11-10T02:00:00Z", "2026-11-10T04:00:00Z"),
    "This rule has no future occurrence.")]
#[case::before_it_begins("FREQ=DAILY;UNTIL=20250101", ("2026-11-23T02:00:00Z", "2026-11-23T04:00:00Z"),
    "This rule never occurs.")]
#[case::overlap("FREQ=DAILY", ("2026-11-23T02:00:00Z", "2026-11-24T02:00:01Z"),
    "A window would begin before the one before it has ended.")]
#[case::overlap_later("FREQ=MONTHLY", ("2027-01-01T00:00:00Z", "2027-01-30T00:00:00Z"),
    "A window would begin before the one before it has ended.")]
#[case::crowd("FREQ=DAILY;BYHOUR=0,6,12,18", ("2026-11-23T00:00:00Z", "2026-11-23T01:00:00Z"),
    "At most 100 windows may begin within 30 days.")]
#[case::crowd_later("FREQ=YEARLY;BYMONTH=6;BYHOUR=0,6,12,18;BYMONTHDAY=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27",
    ("2027-06-01T00:00:00Z", "2027-06-01T01:00:00Z"), "At most 100 windows may begin within 30 days.")]
fn a_rule_must_fit_its_window(#[case] rule: &str, #[case] window: (&str, &str), #[case] problem: &str) {
    let judged = recurrence(rule, "UTC", window).judge(at("2026-11-22T00:00:00Z"));
    assert_eq!(judged.unwrap_err().to_string(), problem);
}

#[test]
fn a_running_window_counts_as_upcoming() {
    let nightly = recurrence("FREQ=DAILY", "UTC", ("2026-11-20T02:00:00Z", "2026-11-20T04:00:00Z"));
    let next = |now| nightly.upcoming(at(now)).next().unwrap().start;
    assert_eq!(next("2026-11-23T03:59:59Z"), at("2026-11-23T02:00:00Z"));
    assert_eq!(next("2026-11-23T04:00:00Z"), at("2026-11-24T02:00:00Z"));
}

#[test]
fn a_changed_rule_starts_at_its_first_time_and_a_changed_zone_keeps_the_wall_time() {
    let weekly = recurrence(
        "FREQ=WEEKLY;BYDAY=SU",
        "Europe/Berlin",
        ("2026-11-22T02:00:00+01:00", "2026-11-22T04:00:00+01:00"),
    );
    let moved = weekly.following("FREQ=WEEKLY;BYDAY=TU".parse().unwrap(), weekly.zone).unwrap();
    assert_eq!(moved.window().start, at("2026-11-24T02:00:00+01:00"));
    let rezoned = weekly.following(weekly.rule.clone(), "America/New_York".parse().unwrap()).unwrap();
    assert_eq!(rezoned.window().start, at("2026-11-22T02:00:00-05:00"));
    assert_eq!(rezoned.window().end, at("2026-11-22T04:00:00-05:00"));
}

/// Clocks show 02:30 twice in this night. A series means the first, so the second is refused.
#[rstest]
#[case::first_start(("2026-10-25T02:30:00+02:00", "2026-10-25T04:00:00+01:00"), None)]
#[case::second_start(
    ("2026-10-25T02:30:00+01:00", "2026-10-25T04:00:00+01:00"),
    Some("The first occurrence of the rule is 2026-10-25T00:30:00.000Z; begin there.")
)]
#[case::first_end(("2026-10-25T01:30:00+02:00", "2026-10-25T02:30:00+02:00"), None)]
#[case::second_end(
    ("2026-10-25T01:30:00+02:00", "2026-10-25T02:30:00+01:00"),
    Some("Clocks of the time zone show this time twice; a window ends the first time, at 2026-10-25T00:30:00.000Z.")
)]
fn the_second_of_two_equal_wall_times_is_refused(
    #[case] (start, end): (&str, &str),
    #[case] problem: Option<&str>,
) {
    let window = Occurrence { start: at(start), end: at(end) };
    let (rule, zone): (RecurrenceRule, IanaZone) =
        ("FREQ=DAILY".parse().unwrap(), "Europe/Berlin".parse().unwrap());
    let made = Recurrence::new(rule.clone(), zone, window);
    assert_eq!(made.as_ref().err().map(ToString::to_string).as_deref(), problem);
    let ordinary = Occurrence { start: at("2026-11-25T02:00:00Z"), end: at("2026-11-25T03:00:00Z") };
    let moved = Recurrence::new(rule.clone(), zone, ordinary).unwrap().starting(rule, zone, window.start);
    let is_start = problem.is_some_and(|problem| problem.contains("begin"));
    assert_eq!(moved.is_err(), is_start);
}

/// Clocks show 02:30 twice in this night. A window from the first 02:30 to the second 02:15 ends before its start in wall
/// time.
#[test]
fn a_window_with_a_wall_end_before_its_wall_start_is_refused() {
    let window = Occurrence { start: at("2026-10-25T02:30:00+02:00"), end: at("2026-10-25T02:15:00+01:00") };
    let made = Recurrence::new("FREQ=DAILY".parse().unwrap(), "Europe/Berlin".parse().unwrap(), window);
    assert_eq!(made, Err(RecurrenceProblem::Backwards));
}
