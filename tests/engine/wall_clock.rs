//! Reliability 15: the wall clock is set. No check is missed or doubled, and the history stays in order.

use rstest::rstest;
use watchkeeper::model::history::MeasuredStatus;
use watchkeeper::model::status_timeline::in_time_order;
use watchkeeper::model::time_range::TimeRange;
use watchkeeper::stats::uptime::{measured, total};

use crate::facts::START;
use crate::play::play;

const HOUR: i64 = 3_600;
const YEAR: i64 = 365 * 24 * HOUR;

#[rstest]
#[case::an_hour_ahead(HOUR)]
#[case::an_hour_back(-HOUR)]
#[case::a_year_ahead(YEAR)]
#[case::half_an_interval_ahead(HOUR + 30)]
#[case::half_an_interval_back(-HOUR - 30)]
#[case::a_little_ahead(1)]
#[case::a_little_back(-1)]
#[case::a_year_back(-YEAR)]
fn setting_the_wall_clock_misses_and_doubles_nothing(#[case] seconds: i64) {
    let moves = format!("0 watch at=ab; 310 clock {seconds}; 910 end");
    let played = play("a: 0 up; b: 0 up", &moves);
    let checks = played.facts.checks().len();
    assert!((32..=34).contains(&checks), "{checks} looks: two at once, then one per half minute");
    assert_eq!(played.missed, 0, "no run was missed");
    let distinct: std::collections::HashSet<_> =
        played.facts.checks().into_iter().map(|check| (check.location, check.checked_at)).collect();
    assert_eq!(distinct.len(), checks, "each is a row of its own");
    let changes = in_time_order(played.facts.changes());
    assert!(changes.is_sorted_by(|before, after| before.at < after.at && before.to == after.from));
    assert_eq!(played.facts.changes().last().map(|change| change.to), Some(MeasuredStatus::Up));
    assert!(changes.iter().all(|change| change.to != MeasuredStatus::Down));
}

/// A check under way at a clock change belongs to the new time, like its due time.
#[rstest]
#[case::ahead(
    "0 watch; 62 clock 3600; 190 end",
    "0 a up | 0 unknown>up votes | 3660 a up | 60 up>no_data gap | 3660 no_data>up votes | 3720 a up | 3780 a up"
)]
#[case::back(
    "0 watch; 62 clock -3600; 190 end",
    "0 a up | 0 unknown>up votes | -3540 a up | 65 up>no_data clock | -3535 no_data>up clock | -3480 a up | -3420 a up"
)]
fn a_check_under_way_moves_with_the_clock(#[case] moves: &str, #[case] facts: &str) {
    assert_eq!(play("a: 0 up/5", moves).text(), facts);
}

/// A machine that sleeps looks like a clock that is set ahead: there were no checks in between.
#[test]
fn time_skipped_by_the_clock_does_not_count() {
    let played = play("a: 0 down", "0 watch; 130 clock 28800; 400 end");
    assert_eq!(
        played.changes(),
        "0 unknown>down votes | 180 down>no_data gap | 28980 no_data>unknown stale | 28980.001 unknown>down votes"
    );
}

/// Each outage lasts as long as it did, also where the clock has been before: what was recorded in the time undone ends where
/// the clock was set back, and the status continues from there. (A millisecond after second -3480 is written -3480.001.)
#[test]
fn a_clock_setback_starts_a_new_timeline() {
    let played = play(
        "a: 0 up, 110 down, 170 up, 230 down, 290 up, 350 down",
        "0 watch; 70 clock -3600; 130 clock -3600; 400 end",
    );
    let expected = [
        "0 unknown>up votes",
        "120 up>no_data clock",
        "-3480 no_data>up clock",
        "-3480.001 up>down votes",
        "-3420 down>no_data clock",
        "-7020 no_data>down clock",
        "-7020.001 down>up votes",
        "-6960 up>down votes",
        "-6900 down>up votes",
        "-6840 up>down votes",
    ];
    assert_eq!(played.changes(), expected.join(" | "));
}

/// Effect of a clock change on the figures: the target is down for a minute of real time, which they show.
#[rstest]
#[case::undisturbed("900 end", 60)]
#[case::ahead_and_back("310 clock 3600; 430 clock -3600; 900 end", 60)]
#[case::a_year_ahead_and_back("310 clock 31536000; 430 clock -31536000; 900 end", 60)]
#[case::back_and_ahead("310 clock -3600; 430 clock 3600; 900 end", 60)]
#[case::back("310 clock -3600; 900 end", 60)]
#[case::a_restart_in_between("310 clock 3600; 400 stop; 405 clock -3600; 410 start; 900 end", 60)]
fn an_outage_after_the_clock_was_set_lasts_as_long_as_it_did(#[case] moves: &str, #[case] down_seconds: i64) {
    let played = play("a: 0 up, 590 down, 650 up", &format!("0 watch every=30; {moves}"));
    let changes = in_time_order(played.facts.changes());
    assert!(changes.is_sorted_by(|before, after| before.at < after.at && before.to == after.from));
    let end = START.plus_ms(1_000 * 4_600);
    let spans = measured(&changes, end, TimeRange { from: START.plus_ms(-4_000_000), to: end });
    let down_ms = total(&spans).down_ms;
    assert!((down_ms - down_seconds * 1_000).abs() <= 1, "{down_ms} ms: {changes:?}");
    assert!(played.snapshot.uptime_30d < Some(100.0), "{:?}", played.snapshot);
    let last = played.snapshot.last_check_at.expect("it was looked at");
    assert!(last <= played.ended_at, "no check is of the future");
}
