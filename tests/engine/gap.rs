//! Time without checks: silence becomes a gap that starts where results end, never an outage; and a restart
//! continues where the process before stopped.

use rstest::rstest;

use crate::play::play;

/// Reliability 10 and 17; contract 4.3.7 for the life of a vote.
#[rstest]
#[case::silence_is_a_gap_from_the_first_result_that_did_not_come_and_then_unknown(
    "a: 0 up, 50 trouble",
    "0 watch; 700 end",
    "0 unknown>up votes | 60 up>no_data gap | 121 no_data>unknown stale"
)]
#[case::a_gap_ends_with_the_next_result(
    "a: 0 up, 50 trouble, 110 down",
    "0 watch; 200 end",
    "0 unknown>up votes | 60 up>no_data gap | 120 no_data>down votes"
)]
#[case::a_late_result_alone_is_no_gap(
    "a: 0 up, 50 trouble, 61 up",
    "0 watch every=60; 130 end",
    "0 unknown>up votes | 60 up>no_data gap | 120 no_data>up votes"
)]
#[case::a_stall_of_an_hour_is_a_gap(
    "a: 0 up",
    "0 watch; 100 stall 3600; 3800 end",
    "0 unknown>up votes | 120 up>no_data gap | 3700 no_data>unknown stale | 3700.001 unknown>up votes"
)]
#[case::a_short_restart_leaves_no_trace(
    "a: 0 up",
    "0 watch every=200; 30 stop; 160 start; 450 end",
    "0 unknown>up votes"
)]
#[case::a_restart_finds_also_a_short_gap(
    "a: 0 up",
    "0 watch every=200; 230 stop; 408 start; 650 end",
    "0 unknown>up votes | 400 up>no_data gap | 408 no_data>up votes"
)]
#[case::a_check_that_is_a_little_late_is_no_gap(
    "a: 0 up",
    "0 watch every=200; 230 stop; 403 start; 650 end",
    "0 unknown>up votes"
)]
#[case::a_restart_finds_its_own_gap(
    "a: 0 down",
    "0 watch; 70 stop; 1000 start; 1100 end",
    "0 unknown>down votes | 120 down>no_data gap | 1000 no_data>unknown stale | 1020 unknown>down votes"
)]
#[case::a_restart_keeps_a_verdict_that_is_still_fresh(
    "a: 0 down",
    "0 watch; 70 stop; 200 start; 250 end",
    "0 unknown>down votes | 120 down>no_data gap | 240 no_data>down votes"
)]
fn silence_is_no_data(#[case] script: &str, #[case] moves: &str, #[case] changes: &str) {
    assert_eq!(play(script, moves).changes(), changes);
}

/// Reliability 3 and 14: the schedule stays, and a check whose due time is far away is caught up once.
#[rstest]
#[case::the_schedule_is_kept(
    "a: 0 up",
    "7 watch; 70 stop; 200 start; 370 end",
    "7 a up | 7 unknown>up votes | 60 a up | 120 up>no_data gap | 240 a up | 240 no_data>up votes | 300 a up | 360 a up"
)]
#[case::a_distant_due_time_is_caught_up_once(
    "a: 0 up",
    "0 watch every=3600; 100 stop; 8000 start; 10900 end",
    "0 a up | 0 unknown>up votes | 8000 a up | 3600 up>no_data gap | 8000 no_data>up votes | 10800 a up"
)]
fn a_restart_continues_the_schedule(#[case] script: &str, #[case] moves: &str, #[case] facts: &str) {
    assert_eq!(play(script, moves).text(), facts);
}

#[test]
fn the_verdict_survives_a_short_gap_that_uptime_excludes() {
    let played = play("a: 0 up, 50 trouble", "0 watch; 119 end");
    assert_eq!(
        played.snapshot.verdict.as_str(),
        "up",
        "a vote stays fresh for 300 s, as long as its location is not blind"
    );
    assert_eq!(played.snapshot.uptime_30d, Some(100.0));
    let silent = play("a: 0 up, 50 trouble", "0 watch; 122 end");
    assert_eq!(silent.snapshot.verdict.as_str(), "unknown");
}
