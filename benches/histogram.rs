//! Guards: a percentile over 30 days is a merge of 720 hourly histograms, and quick enough to answer a request with;
//! its error is at most 1 % (contract 4.5).

#![allow(missing_docs, reason = "criterion's macros make public functions")]
#![allow(clippy::unwrap_used, reason = "what a bench sets up is expected to work")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use watchkeeper::stats::histogram::{ResponseTimes, serialise};

const HOURS_OF_A_MONTH: usize = 720;
const CHECKS_OF_AN_HOUR: u32 = 360;

fn recording_an_hour(criterion: &mut Criterion) {
    criterion.bench_function("record an hour of 360 results", |bencher| {
        bencher.iter(|| {
            let times = hour();
            assert_eq!(times.summary().map(|summary| summary.count), Some(u64::from(CHECKS_OF_AN_HOUR)));
            times
        });
    });
}

fn merging_a_month(criterion: &mut Criterion) {
    let serialised = serialise((0..CHECKS_OF_AN_HOUR).map(response_us).collect());
    let mut group = criterion.benchmark_group("merge");
    group.sample_size(10);
    group.bench_function("720 hours and their p99", |bencher| {
        bencher.iter(|| {
            let mut month = ResponseTimes::default();
            for _ in 0..HOURS_OF_A_MONTH {
                month.merge_serialised(black_box(&serialised)).unwrap();
            }
            let p99 = f64::from(month.percentile_us(99.0).unwrap());
            let exact = f64::from(response_us(CHECKS_OF_AN_HOUR * 99 / 100 - 1));
            assert!((p99 / exact - 1.0).abs() <= 0.01, "{p99} instead of {exact}");
        });
    });
    group.finish();
}

/// From 1 ms in steps of 0.5 ms.
const fn response_us(number: u32) -> u32 {
    1_000 + number * 500
}

fn hour() -> ResponseTimes {
    let mut times = ResponseTimes::default();
    for number in 0..CHECKS_OF_AN_HOUR {
        times.record(black_box(response_us(number)));
    }
    times
}

criterion_group!(benches, recording_an_hour, merging_a_month);
criterion_main!(benches);
