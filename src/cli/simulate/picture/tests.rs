//! Responses and the pictures drawn from them.

use rstest::rstest;
use serde_json::{Value, json};

use super::*;

/// Returns an outcome of the period: the status at the start, and its changes as `MINUTE STATUS`.
fn account(start: &str, changes: &str) -> Value {
    let change = |text: &str| {
        let (minute, status) = text.trim().split_once(' ').unwrap();
        let at = Timestamp::from_ms(minute.parse::<i64>().unwrap() * 60_000).to_string();
        json!({"at": at, "from": "up", "to": status, "cause": "votes"})
    };
    let changes: Vec<Value> = changes.split(',').filter(|text| !text.trim().is_empty()).map(change).collect();
    json!({
        "status_at_start": start, "status_changes": changes, "incidents": [{}], "outages": 1, "uptime_percentage": 99.93,
        "down_seconds": 61.0, "degraded_seconds": 0.0, "no_data_seconds": 7_380.0, "left_out_seconds": 0.0,
        "detection_seconds": 1.75,
    })
}

fn simulation(minutes: i64, before: &Value, after: &Value) -> SimulationReply {
    let at = |minute: i64| Timestamp::from_ms(minute * 60_000).to_string();
    serde_json::from_value(json!({
        "period": {"from": at(0), "to": at(minutes)}, "results": 3,
        "locations": [{"code": "fra", "results": 3, "used": true}, {"code": "lon", "results": 0, "used": false}],
        "before": before, "after": after,
        "fidelity": {"differing_seconds": 2.0, "agreement_percentage": 99.997},
    }))
    .unwrap()
}

/// One hour on twenty cells: each cell is three minutes.
#[rstest]
#[case::calm("up", "", "uuuuuuuuuuuuuuuuuuuu")]
#[case::nothing("unknown", "", "--------------------")]
#[case::an_outage("up", "30 down, 45 up", "uuuuuuuuuuddddduuuuu")]
#[case::a_short_one_is_seen("up", "31 down, 32 up", "uuuuuuuuuuduuuuuuuuu")]
#[case::the_worst_counts("up", "30 degraded, 31 down, 32 up", "uuuuuuuuuuduuuuuuuuu")]
#[case::degraded("degraded", "30 up", "gggggggggguuuuuuuuuu")]
#[case::a_gap("up", "30 no_data, 57 up", "uuuuuuuuuu---------u")]
#[case::a_change_to_itself("down", "30 down, 57 up", "dddddddddddddddddddu")]
fn a_cell_shows_the_worst_status_of_its_time(#[case] start: &str, #[case] changes: &str, #[case] bar: &str) {
    let simulation = simulation(60, &account(start, changes), &account("up", ""));
    let picture = draw(&simulation, 28, false).unwrap();
    assert_eq!(picture.lines().nth(2).unwrap(), format!("before  {bar}"));
    assert_eq!(picture.lines().nth(3).unwrap(), "after   uuuuuuuuuuuuuuuuuuuu");
}

#[rstest]
#[case(60, 28, "|00:00    |00:30")]
#[case(1_440, 68, "|00:00 |03:00  |06:00 |09:00  |12:00 |15:00  |18:00 |21:00")]
#[case(10_080, 68, "|01-01  |01-02   |01-03  |01-04   |01-05  |01-06   |01-07")]
fn an_axis_has_as_many_marks_as_fit(#[case] minutes: i64, #[case] columns: usize, #[case] axis: &str) {
    let simulation = simulation(minutes, &account("up", ""), &account("up", ""));
    let picture = draw(&simulation, columns, false).unwrap();
    let line = picture.lines().nth(4).unwrap();
    assert_eq!(line.trim_start(), axis);
    assert!(line.len() <= columns);
}

#[test]
fn figures_are_drawn_side_by_side() {
    let after = json!({"outages": 0, "incidents": [], "detection_seconds": null, "uptime_percentage": 100.0});
    let mut changed = account("up", "");
    changed.as_object_mut().unwrap().extend(after.as_object().unwrap().clone());
    let picture = draw(&simulation(60, &account("up", "30 down, 45 up"), &changed), 28, false).unwrap();
    let expected = "\
1970-01-01 00:00 to 1970-01-01 01:00 (UTC)

before  uuuuuuuuuuddddduuuuu
after   uuuuuuuuuuuuuuuuuuuu
        |00:00    |00:30

                before      after
uptime        99.930 %  100.000 %
outages              1          0
down             1m 1s      1m 1s
degraded            0s         0s
no data          2h 3m      2h 3m
incidents            1          0
opened after      1.8s          -

3 results: fra (3), lon (0, left out)
A replay by the present settings agrees with the record for 99.997 % of the known time (2s do not).
";
    assert_eq!(picture, expected);
}

#[test]
fn a_terminal_gets_colours() {
    let picture =
        draw(&simulation(60, &account("up", "30 down, 60 up"), &account("up", "")), 28, true).unwrap();
    assert!(picture.contains("\u{1b}[32m█") && picture.contains("\u{1b}[31m█"), "{picture}");
}
