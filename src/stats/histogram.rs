//! Response times: number, sum, shortest, longest, and an hdrhistogram with 2 significant digits.
//!
//! Merging is exact: the histogram of two spans is the sum of their histograms, so a percentile over 30 days is never an
//! average of percentiles. The relative error of a percentile is at most 1 % (contract 4.5). The stored form is the one of
//! `sparse`, which can be merged without building a full histogram.

pub mod sparse;
mod summary;

use hdrhistogram::Histogram;

use crate::stats::histogram::sparse::{HIGHEST_US, HistogramBucket, SparseHistogram, lowest_us};

pub use crate::stats::histogram::summary::{HistogramError, ResponseTimeSummary};

/// Significant decimal digits of the histograms.
const DIGITS: u8 = 2;

/// Response times over a span of time, in microseconds.
#[derive(Clone, Debug)]
pub struct ResponseTimes {
    summary: Option<ResponseTimeSummary>,
    histogram: Histogram<u32>,
}

impl Default for ResponseTimes {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, u64::from(HIGHEST_US), DIGITS)
            .expect("the bounds are constants in range");
        Self { summary: None, histogram }
    }
}

impl ResponseTimes {
    /// Adds one response time, in microseconds.
    pub fn record(&mut self, response_us: u32) {
        let one = ResponseTimeSummary {
            count: 1,
            sum_us: u64::from(response_us),
            min_us: response_us,
            max_us: response_us,
        };
        ResponseTimeSummary::add_to(&mut self.summary, &one);
        self.histogram.saturating_record(u64::from(response_us.min(HIGHEST_US)));
    }

    /// Adds the response times of another span in their stored form.
    pub fn merge(&mut self, other: &SparseHistogram<'_>) {
        let Some(summary) = &other.summary else { return };
        ResponseTimeSummary::add_to(&mut self.summary, summary);
        for HistogramBucket { bucket, count } in other.entries {
            self.histogram.saturating_record_n(u64::from(lowest_us(*bucket)), *count);
        }
    }

    /// Adds the response times of another span.
    pub fn add(&mut self, other: &Self) {
        let Some(summary) = &other.summary else { return };
        ResponseTimeSummary::add_to(&mut self.summary, summary);
        for value in other.histogram.iter_recorded() {
            self.histogram.saturating_record_n(value.value_iterated_to(), value.count_at_value());
        }
    }

    /// Adds the response times that [`serialise`] has encoded.
    ///
    /// # Errors
    ///
    /// If the bytes are not a serialised histogram.
    pub fn merge_serialised(&mut self, mut bytes: &[u8]) -> Result<(), HistogramError> {
        let mut entries = Vec::new();
        let summary = sparse::read(&mut bytes, &mut entries)?;
        if !bytes.is_empty() {
            return Err(HistogramError("something follows it"));
        }
        self.merge(&SparseHistogram { summary, entries: &entries });
        Ok(())
    }

    /// Number, sum, shortest and longest; `None` if nothing was recorded.
    #[must_use]
    pub const fn summary(&self) -> Option<ResponseTimeSummary> {
        self.summary
    }

    /// The response time that `percent` per cent of the response times did not exceed, in microseconds; always between the
    /// exact shortest and longest. `None` if nothing was recorded.
    #[must_use]
    pub fn percentile_us(&self, percent: f64) -> Option<u32> {
        let summary = self.summary()?;
        let value = self.histogram.value_at_quantile(percent / 100.0);
        let middle = self.histogram.median_equivalent(value);
        Some(u32::try_from(middle).unwrap_or(u32::MAX).clamp(summary.min_us, summary.max_us))
    }
}

/// Encodes these response times in microseconds, in any order, in the sparse form. No full histogram is built.
#[must_use]
pub fn serialise(mut response_us: Vec<u32>) -> Vec<u8> {
    response_us.sort_unstable();
    let (mut entries, mut bytes) = (Vec::new(), Vec::new());
    let summary = sparse::sum_up(response_us.into_iter(), &mut entries);
    SparseHistogram { summary, entries: &entries }.write(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u32]) -> ResponseTimes {
        let mut times = ResponseTimes::default();
        values.iter().for_each(|value| times.record(*value));
        times
    }

    #[test]
    fn nothing_recorded_has_no_figures() {
        assert_eq!(ResponseTimes::default().summary(), None);
        assert_eq!(ResponseTimes::default().percentile_us(50.0), None);
    }

    #[test]
    fn the_sum_of_two_spans_is_the_span_of_both() {
        let mut sum = of(&[42_000, 7]);
        sum.add(&of(&[1_000, 60_000_000]));
        sum.add(&ResponseTimes::default());
        let both = of(&[42_000, 7, 1_000, 60_000_000]);
        assert_eq!(sum.summary(), both.summary());
        for percent in [25.0, 50.0, 75.0, 100.0] {
            assert_eq!(sum.percentile_us(percent), both.percentile_us(percent), "{percent}");
        }
    }

    #[test]
    fn bytes_that_are_no_histogram_are_refused() {
        for bytes in [&b""[..], b"nonsense", &[2], &[0, 0]] {
            assert!(ResponseTimes::default().merge_serialised(bytes).is_err(), "{bytes:?}");
        }
    }

    /// The sizes of serialised histograms, on which the size of stored rollups depends.
    #[test]
    fn few_values_take_few_bytes() {
        let spread = |count: u32| (0..count).map(|number| 40_000 + number * 7_919 % 40_000).collect();
        assert_eq!(serialise(Vec::new()).len(), 1);
        assert_eq!(serialise(vec![42_000]).len(), 4);
        assert!(serialise(spread(60)).len() <= 100);
        assert!(serialise(spread(1_440)).len() <= 300);
    }

    proptest! {
        #[test]
        fn percentiles_are_within_one_percent_of_the_exact_ones(
            mut values in prop::collection::vec(1_u32..60_000_000, 1..400),
            percent in prop::sample::select(vec![50.0, 90.0, 95.0, 99.0]),
        ) {
            let found = f64::from(of(&values).percentile_us(percent).unwrap());
            values.sort_unstable();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a rank")]
            let rank = ((percent / 100.0 * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = f64::from(values[rank - 1]);
            prop_assert!((found - exact).abs() <= exact * 0.01 + 1.0, "{found} against {exact}");
        }

        #[test]
        fn merging_is_the_same_as_recording_everything(
            left in prop::collection::vec(1_u32..60_000_000, 1..100),
            right in prop::collection::vec(1_u32..60_000_000, 1..100),
        ) {
            let mut merged = of(&left);
            merged.merge_serialised(&serialise(right.clone())).unwrap();
            let both = of(&[left, right].concat());
            prop_assert_eq!(merged.summary(), both.summary());
            prop_assert_eq!(merged.histogram, both.histogram);
        }
    }
}
