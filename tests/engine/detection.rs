//! Delay of the detection of an outage, and precision of its recorded edges: targets that fail and recover at any moment.
//!
//! Three locations check every minute, by the default rule. The moments are drawn from a seed.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use rstest::rstest;
use watchkeeper::clock::Timestamp;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::{CheckRecord, MeasuredStatus, StatusChange};

use crate::facts::START;
use crate::play::play;

const SEED: u64 = 11;
const OUTAGES: u64 = 100;
const LOCATIONS: [&str; 3] = ["a", "b", "c"];
/// Starts and ends may be recorded this much later than the first check that could see them.
const EXACT_MS: i64 = 2_000;

/// Figures of one outage, in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// From the target's going to the verdict.
    known_after: i64,
    /// From the first check that saw it to the start that was recorded.
    start_off: i64,
    /// The same of the end.
    end_off: i64,
    /// From the target's return to the end that was recorded.
    end_after: i64,
}

/// A number below `below` that depends on the seed and `number`.
fn draw(number: u64, below: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (SEED, number).hash(&mut hasher);
    hasher.finish() % below
}

fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1_000, ms % 1_000)
}

/// One outage: a bad attempt takes `takes_ms`, and is retried this number of times.
fn outage(number: u64, takes_ms: u64, retries: u8) -> Found {
    let gone_ms = 120_000 + draw(number, 60_000);
    let back_ms = gone_ms + 90_000 + draw(number + 1_000, 300_000);
    let behaviour =
        format!("0 up/0.02, {} down/{}, {} up/0.02", seconds(gone_ms), seconds(takes_ms), seconds(back_ms));
    let script: Vec<String> = LOCATIONS.iter().map(|code| format!("{code}: {behaviour}")).collect();
    let played = play(&script.join("; "), &format!("0 watch at=abc retries={retries}; 900 end"));
    let [gone, back] = [gone_ms, back_ms].map(|ms| START.plus_ms(i64::try_from(ms).expect("minutes")));
    let took_ms = i64::try_from(takes_ms).expect("seconds");
    let (checks, changes) = (played.facts.checks(), played.facts.changes());
    let at = |to: MeasuredStatus, after: Timestamp| {
        let change = changes.iter().find(|change: &&StatusChange| change.to == to && change.at >= after);
        change.unwrap_or_else(|| panic!("seed {SEED}, outage {number}: {}", played.text())).at
    };
    let (start, end) = (at(MeasuredStatus::Down, gone), at(MeasuredStatus::Up, gone));
    let bad = |check: &&CheckRecord| check.measurement.status == CheckStatus::Down;
    let first_look = checks.iter().filter(bad).map(|check| check.scheduled_at).min().expect("it was seen");
    let first_good = checks.iter().filter(|check| check.checked_at >= back && !bad(check));
    let first_good = first_good.map(|check| check.checked_at).min().expect("it came back");
    let mut voted: Vec<Timestamp> = LOCATIONS
        .iter()
        .filter_map(|code| checks.iter().filter(bad).find(|check| check.location.as_str() == *code))
        .map(|check| check.checked_at.plus_ms(took_ms))
        .collect();
    voted.sort_unstable();
    Found {
        known_after: voted[1].ms_since(gone),
        start_off: start.ms_since(first_look),
        end_off: end.ms_since(first_good),
        end_after: end.ms_since(back),
    }
}

#[rstest]
#[case::refused(20, 2, 25_000)]
#[case::slow(1_000, 2, 25_000)]
#[case::timing_out(10_000, 0, 25_000)]
fn an_outage_is_detected_soon_and_recorded_within_two_seconds(
    #[case] takes_ms: u64,
    #[case] retries: u8,
    #[case] most_ms: i64,
) {
    let found: Vec<Found> = (0..OUTAGES).map(|number| outage(number, takes_ms, retries)).collect();
    let mean =
        |of: fn(&Found) -> i64| found.iter().map(of).sum::<i64>() / i64::try_from(found.len()).unwrap();
    let most = |of: fn(&Found) -> i64| found.iter().map(of).max().unwrap();
    println!(
        "bad attempts of {takes_ms} ms: known after {} ms (mean), {} ms at most; start off by {} ms, end by {} ms at most; \
         end {} ms after the return (mean)",
        mean(|found| found.known_after),
        most(|found| found.known_after),
        most(|found| found.start_off),
        most(|found| found.end_off),
        mean(|found| found.end_after),
    );
    assert!(mean(|found| found.known_after) <= most_ms, "seed {SEED}");
    let is_exact = |off: i64| (0..=EXACT_MS).contains(&off);
    for (number, found) in found.iter().enumerate() {
        assert!(is_exact(found.start_off) && is_exact(found.end_off), "seed {SEED}, {number}: {found:?}");
    }
}
