//! Guards: a page of a service's history costs the same however many other services there are, and however long its own
//! history is: the newest page, one far back, and all that went wrong in 90 days.

#![allow(missing_docs, reason = "criterion's macros make public functions")]
#![allow(clippy::unwrap_used, reason = "what a bench sets up is expected to work")]

#[path = "support/mod.rs"]
mod support;

use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use support::History;
use tokio::runtime::Runtime;
use watchkeeper::bench::history::generator::{CheckProfile, ResultSeries};
use watchkeeper::clock::guard::JudgedTime;
use watchkeeper::clock::{DAY_MS, Timestamp};
use watchkeeper::config::limits::CompactionLimits;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::CheckRecord;
use watchkeeper::model::location::LocationCode;
use watchkeeper::record::compaction::{Compaction, RetentionPolicy};
use watchkeeper::store::Databases;
use watchkeeper::store::history::append;
use watchkeeper::store::history::checks::{CheckFilter, CheckPosition, page};
use watchkeeper::store::history::locations::LocationNumbers;
use watchkeeper::store::history::segments::RetentionClass;

const SERVICES: i64 = 500;
const RESULTS: i64 = 60;
const PAGE: usize = 50;
/// The long history: a check a minute from three locations.
const LONG_SERVICE: i64 = 77;
const DAYS: i64 = 90;
const CHECKS_A_DAY: usize = 1_440;
const START_MS: i64 = 20_000 * DAY_MS;

fn reading_a_page(criterion: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let history = runtime.block_on(History::open());
    for round in 0..RESULTS {
        runtime.block_on(history.append_round(SERVICES, round));
    }
    let mut service = 0;
    criterion.bench_function("50 of 30,000 results, newest first", |bencher| {
        bencher.iter(|| {
            service = service % SERVICES + 1;
            let filter = CheckFilter::default();
            let found = page(&history.databases.history, service, &filter, PAGE as u64);
            let found = runtime.block_on(found).unwrap();
            assert_eq!(found.len(), PAGE);
            assert!(found.is_sorted_by(|newer, older| newer.checked_at > older.checked_at));
        });
    });
}

fn reading_a_long_history(criterion: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let history = runtime.block_on(History::open());
    let down = runtime.block_on(fill(&history.databases));
    let read = |filter: &CheckFilter, limit: usize| {
        runtime.block_on(page(&history.databases.history, LONG_SERVICE, filter, limit as u64)).unwrap()
    };
    let mut measure = |name: &str, filter: &CheckFilter, limit: usize, expected: usize| {
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| assert_eq!(read(filter, limit).len(), expected));
        });
    };
    measure("the newest 50 of 390,000 checks", &CheckFilter::default(), PAGE, PAGE);
    let far = read(&CheckFilter::default(), 1_000 * PAGE).pop().unwrap();
    let before = Some(CheckPosition { checked_at: far.checked_at, probe: far.probe });
    let page_1_000 = CheckFilter { before, ..CheckFilter::default() };
    measure("page 1,000 of 390,000 checks", &page_1_000, PAGE, PAGE);
    let only_down = CheckFilter { statuses: vec![CheckStatus::Down], ..CheckFilter::default() };
    measure(&format!("all {down} down checks of 390,000"), &only_down, down + 1, down);
}

/// Writes 90 days as they would have been written, sealed and merged day by day; how many checks are down.
async fn fill(databases: &Databases) -> usize {
    let codes: Vec<LocationCode> = ["ams", "fra", "nyc"].iter().map(|code| code.parse().unwrap()).collect();
    let transaction = databases.history.begin().await.unwrap();
    let numbers = LocationNumbers::ensure(&transaction, &codes).await.unwrap();
    transaction.commit().await.unwrap();
    let start = Timestamp::from_ms(START_MS);
    let mut series: Vec<_> = (0..)
        .zip(&codes)
        .map(|(seed, _)| ResultSeries::new(seed, CheckProfile::Http, 60_000, start))
        .collect();
    let retention = RetentionPolicy::Uniform(RetentionClass::of_days(90));
    let mut compaction =
        Compaction::new(databases.history.clone(), retention, CompactionLimits::default(), Arc::default());
    let mut down = 0;
    for day in 0..DAYS {
        for (series, code) in series.iter_mut().zip(&codes) {
            let entries = series.by_ref().take(CHECKS_A_DAY);
            let records: Vec<CheckRecord> =
                entries.map(|entry| entry.into_record(LONG_SERVICE, code.clone())).collect();
            down += records.iter().filter(|record| record.measurement.status == CheckStatus::Down).count();
            let transaction = databases.history.begin().await.unwrap();
            append::checks(&transaction, databases.history.storage(), &records, &numbers).await.unwrap();
            transaction.commit().await.unwrap();
        }
        compaction
            .pass(JudgedTime::trusted(Timestamp::from_ms(START_MS + (day + 1) * DAY_MS)))
            .await
            .unwrap();
    }
    down
}

criterion_group!(benches, reading_a_page, reading_a_long_history);
criterion_main!(benches);
