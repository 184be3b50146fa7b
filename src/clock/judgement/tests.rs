//! Sequences of readings of two clocks: steady time in hours, and how far the wall clock is ahead of it.

use rstest::rstest;

use super::*;

const HOUR_MS: i64 = 3_600_000;
const DAY: i64 = 24;
const YEAR: i64 = 365 * DAY;

/// Steady time `hours`, and a wall clock that is `ahead` hours ahead of it.
fn reading(hours: i64, ahead: i64) -> ClockReading {
    let steady = Duration::from_secs(hours.unsigned_abs() * 3_600);
    ClockReading { wall: Timestamp::from_ms((1_000_000 + hours + ahead) * HOUR_MS), steady }
}

fn mark(hours: i64) -> ClockMark {
    ClockMark { newest: reading(0, hours).wall, doubted: None }
}

/// Plays readings `(hour, hours ahead)` and returns after each whether the clock is trusted.
fn play(mut judgement: ClockJudgement, readings: &[(i64, i64)]) -> Vec<bool> {
    let trusted = readings.iter().map(|(hour, ahead)| {
        let now = reading(*hour, *ahead);
        judgement.take_reading(now);
        judgement.doubt(now).is_none()
    });
    trusted.collect()
}

#[rstest]
#[case::small_corrections(&[(1, 0), (2, 1), (3, -1), (4, 2)], &[true, true, true, true])]
#[case::a_year_ahead_and_back(&[(1, YEAR), (2, YEAR), (3, 0)], &[false, false, true])]
#[case::a_year_back_and_ahead(&[(1, -YEAR), (2, 1)], &[false, true])]
#[case::steady_for_a_day(&[(1, YEAR), (24, YEAR), (25, YEAR), (26, YEAR)], &[false, false, true, true])]
#[case::the_new_time_is_the_reference_then(&[(1, YEAR), (25, YEAR), (26, 0)], &[false, true, false])]
#[case::a_further_jump_restarts_the_day(&[(1, YEAR), (20, 2 * YEAR), (26, 2 * YEAR), (44, 2 * YEAR)], &[false, false, false, true])]
#[case::small_jumps_add_up(&[(1, 2), (2, 4), (3, 6)], &[true, false, false])]
#[case::drift_does_not(&[(24, 1), (48, 2), (72, 3), (96, 4)], &[true, true, true, true])]
fn a_running_clock_is_compared_with_steady_time(#[case] readings: &[(i64, i64)], #[case] trusted: &[bool]) {
    let judgement = ClockJudgement::start(reading(0, 0), None);
    assert_eq!(play(judgement, readings), trusted);
}

#[rstest]
#[case::nothing_is_known(None, true)]
#[case::right_on(Some(0), true)]
#[case::off_over_night(Some(-DAY), true)]
#[case::off_for_longer(Some(-DAY - 1), false)]
#[case::a_little_behind(Some(DAY), true)]
#[case::far_behind(Some(DAY + 1), false)]
fn the_clock_of_a_start_is_compared_with_the_newest_time(#[case] newest: Option<i64>, #[case] trusted: bool) {
    let judgement = ClockJudgement::start(reading(0, 0), newest.map(mark).as_ref());
    assert_eq!(judgement.doubt(reading(0, 0)).is_none(), trusted);
}

#[rstest]
#[case::off_for_weeks(&[(23, 0), (24, 0)], &[false, true])]
#[case::set_right_after_the_start(&[(0, 0), (1, -21 * DAY)], &[false, true])]
#[case::set_to_something_else(&[(1, YEAR), (24, YEAR), (25, YEAR)], &[false, false, true])]
fn a_doubted_start_is_trusted_after_a_day(#[case] readings: &[(i64, i64)], #[case] trusted: &[bool]) {
    let judgement = ClockJudgement::start(reading(0, 0), Some(&mark(-21 * DAY)));
    assert_eq!(play(judgement, readings), trusted);
}

/// A machine that is switched off every night, after weeks without it.
#[test]
fn steady_time_is_counted_over_several_runs() {
    let mut mark = mark(-21 * DAY);
    let mut trusted = Vec::new();
    for run in 0..4 {
        let (on, off) = (run * 24, run * 24 + 8);
        let mut judgement = ClockJudgement::start(reading(on, 0), Some(&mark));
        judgement.take_reading(reading(off, 0));
        trusted.push(judgement.doubt(reading(off, 0)).is_none());
        mark = judgement.mark(reading(off, 0));
    }
    assert_eq!(trusted, [false, false, true, true]);
    assert_eq!(mark, ClockMark { newest: reading(80, 0).wall, doubted: None });
}

#[test]
fn a_doubted_time_is_not_the_newest() {
    let mut judgement = ClockJudgement::start(reading(0, 0), None);
    assert_eq!(judgement.take_reading(reading(1, YEAR)), Some(JudgementChange::Doubted));
    let now = reading(3, YEAR);
    let doubted = DoubtedMark { at: now.wall, steady: Duration::from_secs(7_200) };
    assert_eq!(judgement.mark(now), ClockMark { newest: reading(1, 0).wall, doubted: Some(doubted) });
    assert_eq!(judgement.expected(now), reading(3, 0).wall);
    let trusted_in = STEADY_FOR - doubted.steady;
    let doubt = ClockDoubt { cause: DoubtCause::Jump, ahead_ms: YEAR * HOUR_MS, trusted_in };
    assert_eq!(judgement.doubt(now), Some(doubt));
    assert_eq!(judgement.take_reading(reading(4, 0)), Some(JudgementChange::Returned));
    assert_eq!(judgement.take_reading(reading(5, 0)), None);
}
