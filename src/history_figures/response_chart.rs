//! Charts of response times: a band from the median to the 95th percentile, with a line for the median, and if wanted a second
//! band from there to the 99th percentile. Time without results has no band.

use std::fmt::Write as _;

use crate::history_figures::response_series::{ResponseBucket, ResponseSeries};

/// Width of the picture in its own units.
pub const WIDTH: i64 = 600;
/// Height of the picture in its own units.
pub const HEIGHT: i64 = 120;

/// The geometry of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseChart {
    /// Outline of the band from the median to the 95th percentile.
    pub band: String,
    /// Outline of the band from the 95th to the 99th percentile; empty if it is not wanted.
    pub peak: String,
    /// Line of the medians.
    pub median: String,
    /// Response time at the top of the chart, in milliseconds.
    pub top_ms: u32,
}

impl ResponseChart {
    /// Draws the response times of a range up to the 95th percentile; `None` without results.
    #[must_use]
    pub fn of(series: &ResponseSeries) -> Option<Self> {
        let canvas = ChartCanvas::of(series, |bucket| bucket.p95_us)?;
        Some(canvas.draw(false))
    }

    /// Draws the response times of a range up to the 99th percentile; `None` without results.
    #[must_use]
    pub fn with_peaks(series: &ResponseSeries) -> Option<Self> {
        let canvas = ChartCanvas::of(series, |bucket| bucket.p99_us)?;
        Some(canvas.draw(true))
    }
}

/// A series with the scale in which it is drawn.
struct ChartCanvas<'a> {
    series: &'a ResponseSeries,
    top_ms: u32,
}

impl<'a> ChartCanvas<'a> {
    fn of(series: &'a ResponseSeries, highest: fn(&ResponseBucket) -> u32) -> Option<Self> {
        let highest = series.buckets.iter().map(highest).max()?;
        Some(Self { series, top_ms: round_up(highest.div_ceil(1_000)) })
    }

    fn draw(&self, has_peaks: bool) -> ResponseChart {
        let (mut band, mut peak, mut median) = (String::new(), String::new(), String::new());
        let bucket_ms = self.series.range.bucket_ms;
        let adjoins =
            |one: &ResponseBucket, next: &ResponseBucket| next.start.ms_since(one.start) == bucket_ms;
        for run in self.series.buckets.chunk_by(adjoins) {
            // A bucket alone is drawn as a short line.
            let tail = if run.len() == 1 { "h2" } else { "" };
            let _ = write!(median, "M{}{tail}", self.line(run, |bucket| bucket.p50_us).join("L"));
            self.outline(&mut band, run, [|bucket| bucket.p50_us, |bucket| bucket.p95_us]);
            if has_peaks {
                self.outline(&mut peak, run, [|bucket| bucket.p95_us, |bucket| bucket.p99_us]);
            }
        }
        ResponseChart { band, peak, median, top_ms: self.top_ms }
    }

    /// Adds the outline of the area between two percentiles.
    fn outline(
        &self,
        path: &mut String,
        run: &[ResponseBucket],
        [low, high]: [fn(&ResponseBucket) -> u32; 2],
    ) {
        let (tail, back) = if run.len() == 1 { ("h2", "h-2") } else { ("", "") };
        let mut highs = self.line(run, high);
        highs.reverse();
        let _ = write!(path, "M{}{tail}L{}{back}z", self.line(run, low).join("L"), highs.join("L"));
    }

    fn line(&self, run: &[ResponseBucket], value: fn(&ResponseBucket) -> u32) -> Vec<String> {
        run.iter().map(|bucket| self.point(bucket, value(bucket))).collect()
    }

    fn point(&self, bucket: &ResponseBucket, us: u32) -> String {
        let range = self.series.range;
        let place = bucket.start.ms_since(self.series.from) / range.bucket_ms;
        let places = range.length_ms / range.bucket_ms;
        // The middle of the bucket, in tenths.
        let x = (2 * place + 1) * WIDTH * 5 / places.max(1);
        let y = HEIGHT * 10 - i64::from(us) * HEIGHT / (i64::from(self.top_ms) * 100);
        format!("{}.{} {}.{}", x / 10, x % 10, y / 10, y % 10)
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
            p99_us: 2 * p95_us,
        };
        let series = ResponseSeries {
            range: SeriesRange { length_ms: 10 * 3_600_000, bucket_ms: 3_600_000 },
            from: Timestamp::from_ms(0),
            buckets: vec![bucket(0, 10_000, 20_000), bucket(1, 10_000, 100_000), bucket(5, 50_000, 50_000)],
            p50_us: None,
            p95_us: None,
            p99_us: None,
        };
        let chart = ResponseChart::of(&series).unwrap();
        assert_eq!(chart.top_ms, 100);
        assert_eq!(chart.median, "M30.0 108.0L90.0 108.0M330.0 60.0h2");
        assert_eq!(chart.band, "M30.0 108.0L90.0 108.0L90.0 0.0L30.0 96.0zM330.0 60.0h2L330.0 60.0h-2z");
        assert_eq!(chart.peak, "");
        let chart = ResponseChart::with_peaks(&series).unwrap();
        assert_eq!(chart.top_ms, 200);
        assert_eq!(chart.median, "M30.0 114.0L90.0 114.0M330.0 90.0h2");
        assert_eq!(chart.peak, "M30.0 108.0L90.0 60.0L90.0 0.0L30.0 96.0zM330.0 90.0h2L330.0 60.0h-2z");
        let empty = ResponseSeries { buckets: Vec::new(), ..series };
        assert_eq!(ResponseChart::of(&empty), None);
    }
}
