//! Times of checks: first checks, intervals, stagger, overlap, lateness after a stall.

use rstest::rstest;
use watchkeeper::model::service::ServiceKey;

use crate::facts::START;
use crate::play::play;

/// Facts of the first minutes, as the scene's script and moves decide them.
#[rstest]
#[case::a_new_service_is_checked_at_once_and_then_in_its_phase(
    "a: 0 up",
    "10 watch; 130 end",
    "10 a up | 10 unknown>up votes | 60 a up | 120 a up"
)]
#[case::locations_check_at_once_and_then_staggered(
    "a: 0 up; b: 0 up; c: 0 up",
    "10 watch at=abc; 85 end",
    "10 a up | 10 b up | 10 c up | 10 unknown>up votes | 20 b up | 40 c up | 60 a up | 80 b up"
)]
#[case::a_check_that_overlaps_its_next_due_time_is_not_queued(
    "a: 0 up/7",
    "0 watch every=5; 30 end",
    "0 a up | 0 unknown>up votes | 10 a up | 20 a up"
)]
#[case::a_bad_result_is_tried_again_after_a_growing_wait(
    "a: 0 down",
    "0 watch retries=3; 30 end",
    "1.400 a down due 0 try 4 | 0 unknown>down votes"
)]
#[case::a_retry_that_succeeds_counts_as_up(
    "a: 0 up, 60 down, 60.1 up",
    "0 watch retries=2; 100 end",
    "0 a up | 0 unknown>up votes | 60.200 a up due 60 try 2"
)]
#[case::another_interval_keeps_verdict_and_phase(
    "a: 0 up",
    "0 watch; 70 watch every=20; 110 end",
    "0 a up | 0 unknown>up votes | 60 a up | 80 a up | 100 a up"
)]
#[case::a_check_that_never_ends_is_cut_off_and_no_data(
    "a: 0 up, 60 hang, 61 up",
    "0 watch; 125 end",
    "0 a up | 0 unknown>up votes | 60 up>no_data gap | 120 a up | 120 no_data>up votes"
)]
#[case::a_check_that_panics_is_no_data(
    "a: 0 up, 60 panic, 61 up",
    "0 watch retries=2; 125 end",
    "0 a up | 0 unknown>up votes | 60 up>no_data gap | 120 a up | 120 no_data>up votes"
)]
fn checks_run_at_their_due_times(#[case] script: &str, #[case] moves: &str, #[case] facts: &str) {
    assert_eq!(play(script, moves).text(), facts);
}

/// Reliability 14: nothing drifts, however long a check takes.
#[test]
fn due_times_keep_their_phase_over_an_hour() {
    let played = play("a: 0 up/1.7", "0.3 watch every=30; 3610 end");
    let checks = played.facts.checks();
    assert_eq!(checks.len(), 121, "the first look and 120 in phase");
    for (turn, check) in (0..).zip(&checks[1..]) {
        assert_eq!(check.scheduled_at.ms_since(START), 30_000 * (turn + 1));
        assert_eq!(check.checked_at, check.scheduled_at);
    }
    assert_eq!(played.missed, 0);
}

#[rstest]
#[case::a_check_longer_than_its_interval("a: 0 up/7", "0 watch every=5; 31 end", 3)]
#[case::a_check_that_never_ends("a: 0 hang", "0 watch every=3; 30 end", 6)]
#[case::a_stall_of_an_hour("a: 0 up", "0 watch; 90 stall 3600; 3700 end", 59)]
#[case::no_faults("a: 0 up", "0 watch; 1000 end", 0)]
fn runs_that_could_not_start_are_counted_as_missed(
    #[case] script: &str,
    #[case] moves: &str,
    #[case] missed: u64,
) {
    assert_eq!(play(script, moves).missed, missed);
}

/// Reliability 14: after a stop of an hour at most one catch-up check per service and location.
#[test]
fn a_stall_causes_one_catch_up_check() {
    let played = play("a: 0 up; b: 0 up", "0 watch at=ab; 100 stall 3600; 3705 end");
    let after_the_stall: Vec<_> =
        played.facts.checks().into_iter().filter(|check| check.checked_at > START.plus_ms(100_000)).collect();
    assert_eq!(after_the_stall.len(), 2, "{}", played.text());
    let key: ServiceKey = 1;
    for check in after_the_stall {
        assert_eq!(check.checked_at.ms_since(START), 3_700_000);
        assert!(check.checked_at.ms_since(check.scheduled_at) < 60_000, "the newest due time is made up for");
        assert_eq!(check.service, key);
    }
}
