//! Reliability 15: somebody sets the wall clock. No check is missed or doubled, and the history stays in order.

use rstest::rstest;
use watchkeeper::model::history::MeasuredStatus;

use crate::play::play;

const HOUR: i64 = 3_600;
const YEAR: i64 = 365 * 24 * HOUR;

#[rstest]
#[case::an_hour_ahead(HOUR)]
#[case::an_hour_back(-HOUR)]
#[case::a_year_ahead(YEAR)]
#[case::half_a_turn_ahead(HOUR + 30)]
#[case::half_a_turn_back(-HOUR - 30)]
#[case::a_little_ahead(1)]
#[case::a_little_back(-1)]
fn setting_the_wall_clock_misses_and_doubles_nothing(#[case] seconds: i64) {
    let moves = format!("0 watch at=ab; 310 clock {seconds}; 910 end");
    let played = play("a: 0 up; b: 0 up", &moves);
    let checks = played.facts.checks().len();
    assert!((32..=34).contains(&checks), "{checks} looks: two at once, then one per half minute");
    assert_eq!(played.missed, 0, "no run was missed");
    let distinct: std::collections::HashSet<_> =
        played.facts.checks().into_iter().map(|check| (check.location, check.checked_at)).collect();
    assert_eq!(distinct.len(), checks, "each is a row of its own");
    let changes = played.facts.changes();
    assert!(changes.is_sorted_by(|before, after| before.at < after.at && before.to == after.from));
    assert_eq!(changes.last().map(|change| change.to), Some(MeasuredStatus::Up));
    assert!(changes.iter().all(|change| change.to != MeasuredStatus::Down));
}

/// A check that is under way while the clock is set belongs to the new time, like its turn.
#[rstest]
#[case::ahead(
    "0 watch; 62 clock 3600; 190 end",
    "0 a up | 0 unknown>up votes | 3660 a up | 60 up>no_data gap | 3660 no_data>up votes | 3720 a up | 3780 a up"
)]
#[case::back(
    "0 watch; 62 clock -3600; 190 end",
    "0 a up | 0 unknown>up votes | -3540 a up | -3480 a up | -3420 a up"
)]
fn a_check_under_way_moves_with_the_clock(#[case] moves: &str, #[case] facts: &str) {
    assert_eq!(play("a: 0 up/5", moves).text(), facts);
}

/// A machine that sleeps looks like a clock that is set ahead: nobody has looked in between.
#[test]
fn the_time_that_a_clock_skips_counts_for_nothing() {
    let played = play("a: 0 down", "0 watch; 130 clock 28800; 400 end");
    assert_eq!(
        played.changes(),
        "0 unknown>down votes | 180 down>no_data gap | 28980 no_data>unknown stale | 28980.001 unknown>down votes"
    );
}

#[test]
fn changes_after_a_clock_was_set_back_stay_distinct_and_in_order() {
    let played = play(
        "a: 0 up, 110 down, 170 up, 230 down, 290 up, 350 down",
        "0 watch; 70 clock -3600; 130 clock -3600; 400 end",
    );
    let changes = played.facts.changes();
    assert_eq!(changes.len(), 6, "{}", played.changes());
    assert!(changes.is_sorted_by(|before, after| before.at < after.at && before.to == after.from));
}
