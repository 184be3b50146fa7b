//! Guards: 20,000 services at an interval of 2 s give 10,000 results a second, which must be durable without shedding;
//! so a transaction of 1,000 results has to take well under 100 ms.

#![allow(missing_docs, reason = "criterion's macros make public functions")]
#![allow(clippy::unwrap_used, reason = "what a bench sets up is expected to work")]

#[path = "support/mod.rs"]
mod support;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use support::History;
use watchkeeper::store::history::checks::{CheckFilter, page};

const ROWS: u32 = 1_000;

fn appending_results(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let history = runtime.block_on(History::open());
    let mut round = 0;
    let mut group = criterion.benchmark_group("append");
    group.sample_size(10).throughput(Throughput::Elements(u64::from(ROWS)));
    group.bench_function("1,000 results into SQLite", |bencher| {
        bencher.iter(|| {
            runtime.block_on(history.append_round(i64::from(ROWS), round));
            round += 1;
        });
    });
    group.finish();
    let newest = runtime.block_on(page(
        &history.databases.history,
        i64::from(ROWS),
        &CheckFilter::default(),
        1_000_000,
    ));
    assert_eq!(newest.unwrap().len(), usize::try_from(round).unwrap(), "every result was stored once");
}

criterion_group!(benches, appending_results);
criterion_main!(benches);
