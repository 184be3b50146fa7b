//! The checks after a restart: those that became due while the process started, or before it.

use std::ops::{Range, RangeInclusive};

use rstest::rstest;

use super::{START, every_minute};
use crate::clock::Timestamp;
use crate::model::time_range::TimeRange;
use crate::model::watch::{CheckRound, WatchPlan};

/// Returns the sorted times of the next checks of 6,000 services, in milliseconds after the start. All of them were checked
/// in the interval before the start, and are watched again `watched_ms` after it.
fn next_checks(interval_ms: i64, watched_ms: i64) -> Vec<i64> {
    let start = Timestamp::from_ms(START);
    let span = TimeRange { from: start, to: start.plus_ms(watched_ms) };
    let last_check = Some(start.plus_ms(-1));
    let next = |number: u64| {
        let plan =
            WatchPlan { hash: number.wrapping_mul(0x1234_5678_9ABC_DEF1), interval_ms, ..every_minute(1) };
        let round = CheckRound::resumed(&plan, 0, last_check, span);
        round.next_wake().expect("no attempt is running").ms_since(start)
    };
    let mut found: Vec<i64> = (0..6_000).map(next).collect();
    found.sort_unstable();
    found
}

/// Columns: the seconds in which all services are checked, from the end of the start on, and the number of checks in each.
#[rstest]
// 100 a second are due; those of the first 20 s are spread over the rest of the minute.
#[case::long(20..60, 110..=190)]
// Within 10 s: as due, or, of those that are due later, made up for.
#[case::longer_than_a_minute(70..80, 400..=800)]
fn checks_that_became_due_during_a_start_are_spread(
    #[case] seconds: Range<i64>,
    #[case] in_each: RangeInclusive<usize>,
) {
    let checks = next_checks(60_000, seconds.start * 1_000);
    let within = seconds.start * 1_000..=seconds.end * 1_000;
    assert!(checks.iter().all(|at| within.contains(at)), "{:?}", checks.last());
    for second in seconds {
        let found = checks.iter().filter(|at| **at / 1_000 == second).count();
        assert!(in_each.contains(&found), "{found} checks in second {second}");
    }
}

#[test]
fn services_that_are_watched_at_once_keep_their_due_times() {
    let checks = next_checks(60_000, 0);
    assert!(checks.iter().all(|at| (1..=60_000).contains(at)));
    let within = checks.iter().filter(|at| **at <= 10_000).count();
    assert!((900..=1_100).contains(&within), "{within} checks in the first 10 s");
}

#[test]
fn short_intervals_need_no_further_check() {
    let span = TimeRange { from: Timestamp::from_ms(START), to: Timestamp::from_ms(START + 20_000) };
    let plan = WatchPlan { interval_ms: 10_000, ..every_minute(1) };
    let round = CheckRound::resumed(&plan, 0, Some(Timestamp::from_ms(START - 1)), span);
    assert_eq!(round.next_wake(), Some(Timestamp::from_ms(START + 30_000)));
}
