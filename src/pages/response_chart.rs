//! Charts of response times: a band from the median to the 95th percentile, with a line for the median. Time without results
//! has no band.

use std::fmt::Write as _;

use crate::history_figures::response_series::{ResponseBucket, ResponseSeries};

/// Size of the picture in its own units.
const WIDTH: i64 = 600;
const HEIGHT: i64 = 120;

/// The geometry of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResponseChart {
    /// Outline of the band.
    pub(super) band: String,
    /// Line of the medians.
    pub(super) median: String,
    /// Response time at the top of the chart, in milliseconds.
    pub(super) top_ms: u32,
}

impl ResponseChart {
    /// Draws the response times of a range; `None` without results.
    pub(super) fn of(series: &ResponseSeries) -> Option<Self> {
        let highest = series.buckets.iter().map(|bucket| bucket.p95_us).max()?;
        let top_ms = round_up(highest.div_ceil(1_000));
        let (mut band, mut median) = (String::new(), String::new());
        let adjoins = |one: &ResponseBucket, next: &ResponseBucket| {
            next.start.ms_since(one.start) == series.range.bucket_ms
        };
        for run in series.buckets.chunk_by(adjoins) {
            let point = |bucket: &ResponseBucket, us: u32| {
                let place = bucket.start.ms_since(series.from) / series.range.bucket_ms;
                let places = series.range.length_ms / series.range.bucket_ms;
                // The middle of the bucket, in tenths.
                let x = (2 * place + 1) * WIDTH * 5 / places.max(1);
                let y = HEIGHT * 10 - i64::from(us) * HEIGHT / (i64::from(top_ms) * 100);
                format!("{}.{} {}.{}", x / 10, x % 10, y / 10, y % 10)
            };
            // A bucket alone is drawn as a short line.
            let tail = if run.len() == 1 { "h2" } else { "" };
            let medians: Vec<String> = run.iter().map(|bucket| point(bucket, bucket.p50_us)).collect();
            let highs: Vec<String> = run.iter().rev().map(|bucket| point(bucket, bucket.p95_us)).collect();
            let _ = write!(median, "M{}{tail}", medians.join("L"));
            let back = if run.len() == 1 { "h-2" } else { "" };
            let _ = write!(band, "M{}{tail}L{}{back}z", medians.join("L"), highs.join("L"));
        }
        Some(Self { band, median, top_ms })
    }
}

/// Returns the next number of the form 1, 2 or 5 times a power of ten.
fn round_up(ms: u32) -> u32 {
    let mut step = 1_u32;
    loop {
        for factor in [1, 2, 5] {
            let round = step.saturating_mul(factor);
            if round >= ms {
                return round;
            }
        }
        step = step.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::clock::Timestamp;
    use crate::history_figures::response_series::SeriesRange;

    #[rstest]
    #[case(0, 1)]
    #[case(1, 1)]
    #[case(3, 5)]
    #[case(11, 20)]
    #[case(100, 100)]
    #[case(101, 200)]
    #[case(u32::MAX, u32::MAX)]
    fn the_top_is_a_round_number(#[case] ms: u32, #[case] top: u32) {
        assert_eq!(round_up(ms), top);
    }

    #[test]
    fn a_gap_divides_the_band() {
        let bucket = |hour: i64, p50_us: u32, p95_us: u32| ResponseBucket {
            start: Timestamp::from_ms(hour * 3_600_000),
            p50_us,
            p95_us,
        };
        let series = ResponseSeries {
            range: SeriesRange { length_ms: 10 * 3_600_000, bucket_ms: 3_600_000 },
            from: Timestamp::from_ms(0),
            buckets: vec![bucket(0, 10_000, 20_000), bucket(1, 10_000, 100_000), bucket(5, 50_000, 50_000)],
            p50_us: None,
            p95_us: None,
        };
        let chart = ResponseChart::of(&series).unwrap();
        assert_eq!(chart.top_ms, 100);
        assert_eq!(chart.median, "M30.0 108.0L90.0 108.0M330.0 60.0h2");
        assert_eq!(chart.band, "M30.0 108.0L90.0 108.0L90.0 0.0L30.0 96.0zM330.0 60.0h2L330.0 60.0h-2z");
        let empty = ResponseSeries { buckets: Vec::new(), ..series };
        assert_eq!(ResponseChart::of(&empty), None);
    }
}
