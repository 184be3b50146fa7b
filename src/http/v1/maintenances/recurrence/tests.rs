//! Tests how a recurrence is read from a body.

use rstest::rstest;
use serde_json::json;

use super::*;

const NOW: &str = "2026-11-20T00:00:00Z";

fn at(text: &str) -> Timestamp {
    crate::http::kit::timestamp::parse(text).unwrap()
}

fn paths<T>(read: Result<T, FieldErrors>) -> Vec<(String, String)> {
    let errors = read.map(|_| ()).unwrap_err();
    errors.iter().map(|(path, rule)| (path.to_owned(), rule.to_string())).collect()
}

/// Sundays from 02:00 to 04:00 in Berlin, from 22 November 2026 on.
fn stored() -> Recurrence {
    let body = json!({
        "scheduled_start": "2026-11-22T02:00:00+01:00", "scheduled_end": "2026-11-22T04:00:00+01:00",
        "recurrence": {"rrule": "FREQ=WEEKLY;BYDAY=SU", "time_zone": "Europe/Berlin"},
    });
    read(body.as_object().unwrap(), at(NOW)).unwrap().unwrap()
}

#[rstest]
#[case(json!({}))]
#[case(json!({"recurrence": null, "scheduled_start": 7}))]
fn a_window_may_occur_once(#[case] body: Value) {
    assert_eq!(read(body.as_object().unwrap(), at(NOW)).unwrap(), None);
}

#[rstest]
#[case::no_object(json!("FREQ=DAILY"), &[("recurrence", "This value must be an object.")])]
#[case::nothing(json!({}),
    &[("recurrence.rrule", "This field is required."), ("recurrence.time_zone", "This field is required.")])]
#[case::nulls(json!({"rrule": null, "time_zone": null}),
    &[("recurrence.rrule", "This field must not be null."), ("recurrence.time_zone", "This field must not be null.")])]
#[case::unknown(json!({"rrule": "FREQ=DAILY", "time_zone": "UTC", "tz": "UTC"}),
    &[("recurrence.tz", "Unknown field.")])]
#[case::wrong(json!({"rrule": "FREQ=HOURLY", "time_zone": "Mars/Olympus"}), &[
    ("recurrence.rrule", "FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY."),
    ("recurrence.time_zone", "Unknown time zone. Use a name of the IANA database, such as Europe/Berlin."),
])]
#[case::not_first(json!({"rrule": "FREQ=WEEKLY;BYDAY=MO", "time_zone": "UTC"}),
    &[("scheduled_start", "The first occurrence of the rule is 2026-11-23T01:00:00.000Z; begin there.")])]
#[case::too_many(json!({"rrule": "FREQ=DAILY;BYHOUR=1,5,9,13", "time_zone": "UTC"}),
    &[("recurrence.rrule", "At most 100 windows may begin within 30 days.")])]
fn an_error_names_the_path_of_the_invalid_field(
    #[case] recurrence: Value,
    #[case] expected: &[(&str, &str)],
) {
    let body = json!({
        "scheduled_start": "2026-11-22T01:00:00Z", "scheduled_end": "2026-11-22T03:00:00Z",
        "recurrence": recurrence,
    });
    let expected: Vec<_> =
        expected.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    assert_eq!(paths(read(body.as_object().unwrap(), at(NOW))), expected);
}

#[rstest]
#[case::no_end(json!({}))]
#[case::open_end(json!({"scheduled_end": null}))]
fn a_recurring_window_needs_an_end(#[case] mut body: Value) {
    body["scheduled_start"] = json!("2026-11-22T01:00:00Z");
    body["recurrence"] = json!({"rrule": "FREQ=DAILY", "time_zone": "UTC"});
    let expected = [("scheduled_end".to_owned(), "This field is required.".to_owned())];
    assert_eq!(paths(read(body.as_object().unwrap(), at(NOW))), expected);
}

/// The first window after an update of the stored recurrence.
#[rstest]
#[case::nothing(json!({}), "2026-11-22T01:00:00.000Z", 120)]
#[case::the_same(json!({"scheduled_start": "2026-11-22T01:00:00Z", "scheduled_end": "2026-11-22T03:00:00Z",
    "recurrence": {"rrule": "FREQ=WEEKLY;BYDAY=SU"}}), "2026-11-22T01:00:00.000Z", 120)]
#[case::a_later_start_keeps_the_length(json!({"scheduled_start": "2026-11-22T03:00:00+01:00"}), "2026-11-22T02:00:00.000Z", 120)]
#[case::a_longer_window(json!({"scheduled_end": "2026-11-22T05:00:00+01:00"}), "2026-11-22T01:00:00.000Z", 180)]
#[case::another_day(json!({"recurrence": {"rrule": "FREQ=WEEKLY;BYDAY=TU"}}), "2026-11-24T01:00:00.000Z", 120)]
#[case::another_zone(json!({"recurrence": {"time_zone": "America/New_York"}}), "2026-11-22T07:00:00.000Z", 120)]
#[case::all_of_it(json!({"recurrence": {"rrule": "FREQ=DAILY", "time_zone": "UTC"},
    "scheduled_start": "2026-12-01T00:00:00Z", "scheduled_end": "2026-12-01T00:10:00Z"}), "2026-12-01T00:00:00.000Z", 10)]
fn an_update_moves_the_first_window(#[case] body: Value, #[case] start: &str, #[case] minutes: i64) {
    let moved = revise(body.as_object().unwrap(), &stored(), at(NOW)).unwrap().window();
    assert_eq!(
        (moved.start.to_string().as_str(), moved.end.ms_since(moved.start) / 60_000),
        (start, minutes)
    );
}

#[rstest]
#[case(json!({"recurrence": null}), ("recurrence", "This field must not be null."))]
#[case(json!({"scheduled_end": null}), ("scheduled_end", "This field must not be null."))]
#[case(json!({"recurrence": {"rrule": null}}), ("recurrence.rrule", "This field must not be null."))]
#[case(json!({"scheduled_start": "2026-11-23T02:00:00+01:00"}),
    ("scheduled_start", "The first occurrence of the rule is 2026-11-29T01:00:00.000Z; begin there."))]
#[case(json!({"scheduled_start": "2026-11-15T02:00:00+01:00"}), ("scheduled_start", "This time must be in the future."))]
#[case(json!({"scheduled_end": "2026-11-22T02:00:00+01:00"}),
    ("scheduled_end", "This time must be later than scheduled_start, also on the clocks of the time zone."))]
fn an_update_that_does_not_fit_is_refused(#[case] body: Value, #[case] (path, text): (&str, &str)) {
    let refused = paths(revise(body.as_object().unwrap(), &stored(), at(NOW)));
    assert_eq!(refused, [(path.to_owned(), text.to_owned())]);
}

/// The series has existed for a year; unchanged values are not checked again.
#[test]
fn a_first_window_that_is_over_may_be_sent_again() {
    let later = at("2027-11-20T00:00:00Z");
    let body = json!({"scheduled_start": "2026-11-22T01:00:00Z", "scheduled_end": "2026-11-22T03:00:00Z"});
    assert_eq!(revise(body.as_object().unwrap(), &stored(), later).unwrap(), stored());
    let shorter = json!({"scheduled_end": "2026-11-22T02:00:00Z"});
    assert!(revise(shorter.as_object().unwrap(), &stored(), later).is_ok());
}
