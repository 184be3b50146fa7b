//! The rules of the workbook, and their burn rates for other periods and objectives.

use rstest::rstest;

use super::BurnState::{Fast, Slow, Steady};
use super::*;

const DAY_MS: i64 = 24 * HOUR_MS;

fn objective(percent: f64) -> SlaObjective {
    SlaObjective::from_percent(percent).unwrap()
}

/// For 30 days the rates are those of the workbook. No rate is below 1, at which the budget lasts, and none is above the
/// rate of a complete outage.
#[rstest]
#[case::of_the_workbook(99.9, 30, [14_400, 6_000, 1_000])]
#[case::a_quarter(99.9, 90, [43_200, 18_000, 3_000])]
#[case::a_week(99.9, 7, [3_360, 1_400, 1_000])]
#[case::a_day(99.9, 1, [1_000, 1_000, 1_000])]
#[case::a_year(99.9, 365, [175_200, 73_000, 12_166])]
#[case::a_weak_promise(90.0, 30, [10_000, 6_000, 1_000])]
#[case::a_weaker_one(50.0, 365, [2_000, 2_000, 2_000])]
fn rates_follow_from_the_period(#[case] percent: f64, #[case] days: i64, #[case] expected: [i64; 3]) {
    let readings = evaluate_burn_rates(objective(percent), days * DAY_MS, |_| MeasuredTime::default());
    assert_eq!(readings.map(|reading| reading.threshold), expected);
    assert_eq!(state(&readings), Steady, "nothing was measured");
}

/// Seconds of downtime in the last 5 minutes, 30 minutes, hour, 6 hours and 3 days, for 99.9 % of 30 days. The thresholds
/// are 4.32 s of 5 minutes, 10.8 s of 30 minutes, 51.84 s of an hour, 21.6 s and 129.6 s of 6 hours, and 259.2 s of 3 days.
#[rstest]
#[case::quiet([0, 0, 0, 0, 0], Steady)]
#[case::an_hour_of_fast_burn([5, 30, 52, 52, 52], Fast)]
#[case::just_below([5, 30, 51, 51, 51], Steady)]
#[case::it_is_over([0, 10, 3_600, 3_600, 3_600], Slow)]
#[case::six_hours([0, 11, 11, 130, 130], Fast)]
#[case::six_hours_and_over([0, 10, 51, 130, 130], Steady)]
#[case::three_days([0, 0, 0, 22, 260], Slow)]
#[case::three_days_and_over([0, 0, 0, 21, 3_600], Steady)]
#[case::three_days_below([0, 0, 0, 22, 259], Steady)]
#[case::both([5, 52, 52, 130, 260], Fast)]
fn both_windows_must_burn(#[case] down_seconds: [i64; 5], #[case] expected: BurnState) {
    let windows = [5 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, 72 * HOUR_MS];
    let within = |window_ms: i64| {
        let index = windows.iter().position(|known| *known == window_ms).unwrap();
        let down_ms = down_seconds[index] * 1_000;
        MeasuredTime { up_ms: window_ms - down_ms, down_ms }
    };
    assert_eq!(state(&evaluate_burn_rates(objective(99.9), 30 * DAY_MS, within)), expected);
}

#[test]
fn a_complete_outage_burns_fast_for_every_objective() {
    for percent in [50.0, 90.0, 99.0, 99.9, 99.9999] {
        for days in [1, 7, 30, 365] {
            let down = |window_ms| MeasuredTime { up_ms: 0, down_ms: window_ms };
            assert_eq!(
                state(&evaluate_burn_rates(objective(percent), days * DAY_MS, down)),
                Fast,
                "{percent} {days}"
            );
        }
    }
}

#[rstest]
#[case(0, 0, None)]
#[case(1_000, 0, Some(0))]
#[case(999, 1, Some(1_000))]
#[case(0, 1, Some(1_000_000))]
#[case(i64::MAX / 2, i64::MAX / 2, Some(500_000))]
fn a_burn_rate_of_one_uses_exactly_the_budget(
    #[case] up_ms: i64,
    #[case] down_ms: i64,
    #[case] rate: Option<i64>,
) {
    assert_eq!(MeasuredTime { up_ms, down_ms }.burn_rate(objective(99.9)), rate);
}
