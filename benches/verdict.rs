//! Guards: deciding costs nothing beside looking. A watch of three locations takes a due run and its result, and says
//! what they mean, in a few microseconds of a check that costs forty.

#![allow(missing_docs, reason = "criterion's macros make public functions")]
#![allow(clippy::unwrap_used, reason = "what a bench sets up is expected to work")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use watchkeeper::clock::Timestamp;
use watchkeeper::model::check::{CheckOutcome, CheckStatus, Measurement, PhaseTimings};
use watchkeeper::model::quorum::majority;
use watchkeeper::model::service::ProbeRole;
use watchkeeper::model::status_rules::StatusRules;
use watchkeeper::model::verdict::Verdict;
use watchkeeper::model::watch::{
    CheckAttempt, PlannedLocation, RoundKeeper, WatchEffect, WatchMemory, WatchPlan, WatchState,
};

const INTERVAL_MS: i64 = 10_000;

fn majority_of_twenty_votes(criterion: &mut Criterion) {
    let votes: Vec<CheckStatus> =
        (0..20).map(|place| if place < 11 { CheckStatus::Down } else { CheckStatus::Up }).collect();
    criterion.bench_function("majority of 20 votes", |bencher| {
        bencher.iter(|| assert_eq!(majority(black_box(&votes).iter().copied()), Verdict::Down));
    });
}

fn due_run_and_its_result(criterion: &mut Criterion) {
    let (mut watch, _) = WatchState::begin(plan(), WatchMemory::default(), Timestamp::from_ms(0));
    criterion.bench_function("a due run and its result", |bencher| {
        bencher.iter(|| {
            let now = watch.next_wake().unwrap();
            let due = runs(&watch.wake(now));
            assert!(!due.is_empty());
            for attempt in due {
                let effects = watch.finish(attempt, now, up(), now);
                assert!(matches!(effects.first(), Some(WatchEffect::Record(_))));
            }
            assert_eq!(watch.verdict(), Verdict::Up);
        });
    });
}

fn runs(effects: &[WatchEffect]) -> Vec<CheckAttempt> {
    let run = |effect: &WatchEffect| match effect {
        WatchEffect::Run(attempt) => Some(*attempt),
        _ => None,
    };
    effects.iter().filter_map(run).collect()
}

fn plan() -> WatchPlan {
    WatchPlan {
        hash: 1_234_567,
        interval_ms: INTERVAL_MS,
        timeout_ms: 1_000,
        attempts: 2,
        backoff_ms: 200,
        backoff_max_ms: 1_000,
        uncertain_interval_ms: 1_000,
        rules: StatusRules::default(),
        locations: [PlannedLocation { role: ProbeRole::Full, round: RoundKeeper::Watch }; 3].into(),
    }
}

fn up() -> CheckOutcome {
    CheckOutcome::Measured(Measurement {
        status: CheckStatus::Up,
        response_time: None,
        timings: PhaseTimings::default(),
        status_code: Some(200),
        failure: None,
    })
}

criterion_group!(benches, majority_of_twenty_votes, due_run_and_its_result);
criterion_main!(benches);
