//! Guards: a sealed check of an HTTP service takes at most 9.9 bytes, sealing and reading one well below a microsecond, and
//! what is read is what was sealed.

#![allow(missing_docs, reason = "criterion's macros make public functions")]
#![allow(clippy::unwrap_used, reason = "what a bench sets up is expected to work")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use watchkeeper::bench::history::generator::{CheckProfile, ResultSeries};
use watchkeeper::clock::Timestamp;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::store::history::blocks::{BlockBody, BlockFilter, CheckBlock, CheckEntry};

/// An hour, six hours, a day, and the largest block of a merge; each with the most bytes a check may take.
const SIZES: [(usize, f64); 4] = [(60, 12.0), (360, 10.8), (1_440, 10.1), (4_096, 9.9)];
const SERIES: u64 = 10;

fn sealing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("seal");
    for (checks, most_bytes) in SIZES {
        let all = series(checks);
        let bytes: usize = all.iter().map(|entries| CheckBlock::seal(entries).body.len()).sum();
        let count = u32::try_from(checks * all.len()).unwrap();
        let bytes = f64::from(u32::try_from(bytes).unwrap()) / f64::from(count);
        assert!(bytes <= most_bytes, "{bytes} bytes a check in blocks of {checks}");
        group.bench_function(BenchmarkId::from_parameter(checks), |bencher| {
            bencher.iter(|| CheckBlock::seal(black_box(&all[0])));
        });
    }
}

fn reading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read");
    for (checks, _) in SIZES {
        let entries = series(checks).remove(0);
        let block = CheckBlock::seal(&entries);
        let body = || BlockBody::open(black_box(&block.body)).unwrap();
        assert_eq!(body().entries().unwrap(), entries);
        assert_eq!(
            body().samples(1).unwrap(),
            entries.iter().map(|entry| entry.sample(1)).collect::<Vec<_>>()
        );
        group.bench_function(BenchmarkId::new("entries", checks), |bencher| {
            bencher.iter(|| body().entries().unwrap());
        });
        group.bench_function(BenchmarkId::new("samples", checks), |bencher| {
            bencher.iter(|| body().samples(1).unwrap());
        });
        let wanted = BlockFilter { statuses: &[CheckStatus::Down], ..BlockFilter::default() };
        group.bench_function(BenchmarkId::new("down", checks), |bencher| {
            bencher.iter(|| body().matching(&wanted).unwrap());
        });
    }
}

fn series(checks: usize) -> Vec<Vec<CheckEntry>> {
    let start = Timestamp::from_ms(1_790_000_000_000);
    (0..SERIES)
        .map(|seed| ResultSeries::new(seed, CheckProfile::Http, 60_000, start).take(checks).collect())
        .collect()
}

criterion_group!(benches, sealing, reading);
criterion_main!(benches);
