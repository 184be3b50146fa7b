//! Verdicts of the engine: down and up again, confirmation by the other locations, faster checks while votes disagree.

use rstest::rstest;

use crate::play::play;

/// Contract 4.3.7: the majority of fresh votes decides; a bad result is retried before it counts.
#[rstest]
#[case::down_after_the_retries_and_up_again(
    "a: 0 up, 50 down, 200 up",
    "0 watch retries=2; 250 end",
    "0 unknown>up votes | 60 up>down votes | 240 down>up votes"
)]
#[case::degraded_is_its_own_status(
    "a: 0 up, 50 degraded",
    "0 watch; 70 end",
    "0 unknown>up votes | 60 up>degraded votes"
)]
#[case::one_location_of_three_is_not_the_truth(
    "a: 0 up, 50 down; b: 0 up; c: 0 up",
    "0 watch at=abc; 600 end",
    "0 unknown>up votes"
)]
#[case::two_locations_of_three_are(
    "a: 0 up, 50 down; b: 0 up, 50 down; c: 0 up",
    "0 watch at=abc; 600 end",
    "0 unknown>up votes | 60 up>down votes"
)]
#[case::one_of_two_makes_it_degraded(
    "a: 0 up, 50 down; b: 0 up",
    "0 watch at=ab; 600 end",
    "0 unknown>up votes | 60 up>degraded votes"
)]
#[case::a_local_fault_is_never_down(
    "a: 0 up, 50 trouble; b: 0 up, 50 trouble",
    "0 watch at=ab; 110 end",
    "0 unknown>up votes"
)]
#[case::a_location_with_a_local_fault_has_no_vote_once_its_result_is_old(
    "a: 0 up, 50 trouble; b: 0 up, 500 down",
    "0 watch at=ab; 600 end",
    "0 unknown>up votes | 510 up>down votes"
)]
fn the_status_follows_the_votes(#[case] script: &str, #[case] moves: &str, #[case] changes: &str) {
    assert_eq!(play(script, moves).changes(), changes);
}

/// The number of good results that an outage needs, the end of the scene, and the number that the snapshot shows then.
#[rstest]
#[case::up("3", "55", None)]
#[case::down("3", "100", Some(0))]
#[case::one_good_result("3", "120.5", Some(1))]
#[case::two_good_results("3", "121.5", Some(2))]
#[case::up_again("3", "125", None)]
#[case::one_is_enough("1", "100", None)]
fn a_snapshot_counts_the_good_results_of_a_recovery(
    #[case] needed: &str,
    #[case] end: &str,
    #[case] expected: Option<u8>,
) {
    let moves = format!("0 watch retries=0 recovery={needed}; {end} end");
    let played = play("a: 0 up, 58 down, 110 up", &moves);
    assert_eq!(played.snapshot.good_results, expected, "{}", played.text());
}

#[test]
fn a_contradicting_location_triggers_rechecks_of_the_others() {
    let played = play("a: 0 up; b: 0 up, 15 down; c: 0 up, 15 down", "0 watch at=abc; 20.5 end");
    assert_eq!(
        played.text(),
        "0 a up | 0 b up | 0 c up | 0 unknown>up votes | 20 b down | 20 a up | 20 c down | 20 up>down votes"
    );
}

#[test]
fn checks_are_more_frequent_only_while_votes_disagree() {
    let played = play("a: 0 up; b: 0 up, 35 down, 200 up", "0 watch at=ab; 600 end");
    let looks_in = |from: i64, to: i64| {
        let seconds = |check: &watchkeeper::model::history::CheckRecord| {
            check.checked_at.ms_since(crate::facts::START) / 1_000
        };
        played.facts.checks().iter().filter(|check| (from..to).contains(&seconds(check))).count()
    };
    assert_eq!(looks_in(0, 60), 3, "the first two and one in phase: {}", played.text());
    assert!(looks_in(90, 150) >= 8, "each location looks five times as often: {}", played.text());
    assert!(looks_in(300, 360) <= 3, "the votes agree again");
    assert_eq!(looks_in(480, 600), 4, "back to one look a minute and location");
}

/// A location without an answer for three seconds may be gone: the others check at once, but not each time.
#[test]
fn a_constantly_slow_target_is_hardly_checked_more_often() {
    let looks = |takes: u8| {
        let script = ["a", "b", "c"].map(|code| format!("{code}: 0 up/{takes}"));
        play(&script.join("; "), "0 watch at=abc; 1185 end").facts.checks().len()
    };
    let (quick, slow) = (looks(2), looks(4));
    assert!((quick + 1..=quick + 4).contains(&slow), "two more in ten minutes: {quick}, {slow}");
}

#[test]
fn a_lasting_disagreement_ends_fast_rechecks() {
    let played = play("a: 0 up; b: 0 down", "0 watch at=ab; 1190 end");
    let late = played.facts.checks().into_iter();
    let late = late.filter(|check| check.checked_at >= crate::facts::START.plus_ms(600_000));
    assert_eq!(late.count(), 20, "{}", played.text());
}
