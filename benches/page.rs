//! Guards: a page of a service's history costs the same however many other services there are; an API request answered
//! from SQLite stays far below a millisecond.

#![allow(missing_docs, reason = "criterion's macros make public functions")]
#![allow(clippy::unwrap_used, reason = "what a bench sets up is expected to work")]

#[path = "support/mod.rs"]
mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use support::History;
use watchkeeper::store::history::checks::{CheckFilter, page};

const SERVICES: i64 = 500;
const RESULTS: i64 = 60;
const PAGE: usize = 50;

fn reading_a_page(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let history = runtime.block_on(History::open());
    for round in 0..RESULTS {
        runtime.block_on(history.append_round(SERVICES, round));
    }
    let mut service = 0;
    criterion.bench_function("50 of 30,000 results, newest first", |bencher| {
        bencher.iter(|| {
            service = service % SERVICES + 1;
            let filter = CheckFilter::default();
            let found = page(history.databases.history.reader(), service, &filter, PAGE as u64);
            let found = runtime.block_on(found).unwrap();
            assert_eq!(found.len(), PAGE);
            assert!(found.is_sorted_by(|newer, older| newer.checked_at > older.checked_at));
        });
    });
}

criterion_group!(benches, reading_a_page);
criterion_main!(benches);
