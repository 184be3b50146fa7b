//! Tests which window an update requests, before its fields are checked.

use rstest::rstest;
use serde_json::json;

use super::*;

/// Contract 4.11.2: valid parts are used; invalid ones are refused as fields.
#[rstest]
#[case(json!({}), 1_000, Some(2_000))]
#[case(json!({"scheduled_start": "1970-01-01T01:00:01+01:00", "scheduled_end": "1970-01-01T00:00:02Z"}), 1_000, Some(2_000))]
#[case(json!({"scheduled_start": "1970-01-01T00:00:03Z"}), 3_000, Some(2_000))]
#[case(json!({"scheduled_end": null}), 1_000, None)]
#[case(json!({"scheduled_end": "1970-01-01T00:00:04Z"}), 1_000, Some(4_000))]
#[case(json!({"scheduled_start": null, "scheduled_end": 7}), 1_000, Some(2_000))]
#[case(json!({"scheduled_start": "soon", "scheduled_end": "later"}), 1_000, Some(2_000))]
fn a_requested_window_contains_the_valid_fields(
    #[case] body: Value,
    #[case] start: i64,
    #[case] end: Option<i64>,
) {
    let at = Timestamp::from_ms;
    let stored = MaintenanceWindow { start: at(1_000), end: Some(at(2_000)) };
    let wanted = wanted_schedule(body.as_object().unwrap(), stored);
    assert_eq!(wanted, MaintenanceWindow { start: at(start), end: end.map(at) });
}
