//! Reads the response times of a service that the console and status pages show.

use crate::clock::{DAY_MS, Timestamp};
use crate::history_figures::sums;
use crate::model::service::ServiceKey;
use crate::stats::histogram::ResponseTimes;
use crate::stats::rollup::RollupQuery;
use crate::store::HistoryError;
use crate::store::history::History;

/// A range that ends now, with the length of its buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesRange {
    /// Length of the range in milliseconds.
    pub length_ms: i64,
    /// Length of a bucket in milliseconds.
    pub bucket_ms: i64,
}

/// The ranges that status pages show: a day, a week, 90 days.
pub const RANGES: [SeriesRange; 3] = [
    SeriesRange { length_ms: DAY_MS, bucket_ms: 900_000 },
    SeriesRange { length_ms: 7 * DAY_MS, bucket_ms: 3_600_000 },
    SeriesRange { length_ms: 90 * DAY_MS, bucket_ms: DAY_MS },
];

/// The response times of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseSeries {
    /// The range.
    pub range: SeriesRange,
    /// Start of the first bucket of the range, whether it has results or not.
    pub from: Timestamp,
    /// The buckets with successful checks, in order.
    pub buckets: Vec<ResponseBucket>,
    /// Median of the whole range in microseconds; `None` without successful checks.
    pub p50_us: Option<u32>,
    /// 95th percentile of the whole range in microseconds; `None` without successful checks.
    pub p95_us: Option<u32>,
    /// 99th percentile of the whole range in microseconds; `None` without successful checks.
    pub p99_us: Option<u32>,
}

/// The response times of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseBucket {
    /// Start of the bucket.
    pub start: Timestamp,
    /// Median in microseconds.
    pub p50_us: u32,
    /// 95th percentile in microseconds.
    pub p95_us: u32,
    /// 99th percentile in microseconds.
    pub p99_us: u32,
}

/// Reads the response times of a service in each of these ranges.
///
/// # Errors
/// When the history database fails, or a stored rollup is damaged.
pub async fn read(
    history: &History,
    service: ServiceKey,
    ranges: &[SeriesRange],
    now: Timestamp,
) -> Result<Vec<ResponseSeries>, HistoryError> {
    let mut found = Vec::with_capacity(ranges.len());
    for range in ranges {
        found.push(of_range(history, service, *range, now).await?);
    }
    Ok(found)
}

async fn of_range(
    history: &History,
    service: ServiceKey,
    range: SeriesRange,
    now: Timestamp,
) -> Result<ResponseSeries, HistoryError> {
    let last = now.ms().div_euclid(range.bucket_ms);
    let from = Timestamp::from_ms((last - range.length_ms / range.bucket_ms + 1) * range.bucket_ms);
    let wanted = RollupQuery { from, to: now.plus_ms(1), bucket_ms: Some(range.bucket_ms) };
    let sums = sums::of(history, service, wanted, None).await?.into_sums();
    let bucket = |start: Timestamp, times: &ResponseTimes| {
        Some(ResponseBucket {
            start,
            p50_us: times.percentile_us(50.0)?,
            p95_us: times.percentile_us(95.0)?,
            p99_us: times.percentile_us(99.0)?,
        })
    };
    let mut whole = ResponseTimes::default();
    for of_bucket in sums.values() {
        whole.add(&of_bucket.times);
    }
    Ok(ResponseSeries {
        range,
        from,
        buckets: sums.iter().filter_map(|(start, sums)| bucket(*start, &sums.times)).collect(),
        p50_us: whole.percentile_us(50.0),
        p95_us: whole.percentile_us(95.0),
        p99_us: whole.percentile_us(99.0),
    })
}
