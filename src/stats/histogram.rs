//! Response times: counts, sum, extremes and an hdrhistogram with 2 significant digits.
//!
//! Merging is exact: the histogram of two spans is the sum of their histograms, so a percentile over 30 days is
//! never an average of percentiles. The relative error of a percentile is at most 1 % (contract 4.5).

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

/// Significant digits of the histograms.
const DIGITS: u8 = 2;
/// Longest response time that is told apart: an attempt takes at most 60 s.
const HIGHEST_US: u64 = 120_000_000;
/// Serialised histograms are about 200 bytes; what is longer was not written by us.
const MAX_SERIALISED_BYTES: usize = 16 * 1024;

/// Response times in microseconds over some span of time.
#[derive(Clone, Debug)]
pub struct ResponseTimes {
    count: u64,
    sum_us: u64,
    min_us: u32,
    max_us: u32,
    histogram: Histogram<u32>,
}

impl Default for ResponseTimes {
    fn default() -> Self {
        let histogram =
            Histogram::new_with_bounds(1, HIGHEST_US, DIGITS).expect("the bounds are constants in range");
        Self { count: 0, sum_us: 0, min_us: u32::MAX, max_us: 0, histogram }
    }
}

/// A stored histogram cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a stored histogram cannot be read: {0}")]
pub struct BadHistogram(String);

impl ResponseTimes {
    /// Adds one response time.
    pub fn record(&mut self, response_us: u32) {
        self.count += 1;
        self.sum_us += u64::from(response_us);
        self.min_us = self.min_us.min(response_us);
        self.max_us = self.max_us.max(response_us);
        self.histogram.saturating_record(u64::from(response_us));
    }

    /// Adds the sums and the serialised histogram of a span that was summed up before.
    ///
    /// # Errors
    /// [`BadHistogram`] when the bytes are no histogram of ours.
    pub fn merge(&mut self, summary: &Summary, serialised: &[u8]) -> Result<(), BadHistogram> {
        if serialised.len() > MAX_SERIALISED_BYTES {
            return Err(BadHistogram(format!("{} bytes are too many", serialised.len())));
        }
        let mut bytes = serialised;
        let other: Histogram<u32> =
            Deserializer::new().deserialize(&mut bytes).map_err(|error| BadHistogram(error.to_string()))?;
        self.histogram.add(&other).map_err(|error| BadHistogram(error.to_string()))?;
        self.count += summary.count;
        self.sum_us += summary.sum_us;
        self.min_us = self.min_us.min(summary.min_us);
        self.max_us = self.max_us.max(summary.max_us);
        Ok(())
    }

    /// The sums, or `None` when nothing was recorded.
    #[must_use]
    pub fn summary(&self) -> Option<Summary> {
        (self.count > 0).then_some(Summary {
            count: self.count,
            sum_us: self.sum_us,
            min_us: self.min_us,
            max_us: self.max_us,
        })
    }

    /// The response time that `percent` of all checks did not exceed, in microseconds: never outside of the true
    /// extremes. `None` when nothing was recorded.
    #[must_use]
    pub fn percentile_us(&self, percent: f64) -> Option<u32> {
        let summary = self.summary()?;
        let value = self.histogram.value_at_quantile(percent / 100.0);
        let middle = self.histogram.median_equivalent(value);
        Some(u32::try_from(middle).unwrap_or(u32::MAX).clamp(summary.min_us, summary.max_us))
    }

    /// The histogram in hdrhistogram's V2 form.
    ///
    /// # Panics
    /// Never: writing to memory does not fail.
    #[must_use]
    pub fn serialise(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&self.histogram, &mut bytes).expect("writing to memory does not fail");
        bytes
    }
}

/// Sums of response times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How many there are.
    pub count: u64,
    /// Their sum in microseconds.
    pub sum_us: u64,
    /// The shortest in microseconds.
    pub min_us: u32,
    /// The longest in microseconds.
    pub max_us: u32,
}

impl Summary {
    /// The mean in microseconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean below 2^53 microseconds is exact enough")]
    pub fn mean_us(&self) -> f64 {
        self.sum_us as f64 / self.count.max(1) as f64
    }
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
    fn bytes_that_are_no_histogram_are_refused() {
        let summary = Summary { count: 1, sum_us: 1, min_us: 1, max_us: 1 };
        assert!(ResponseTimes::default().merge(&summary, b"nonsense").is_err());
        assert!(ResponseTimes::default().merge(&summary, &vec![0; MAX_SERIALISED_BYTES + 1]).is_err());
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
            let other = of(&right);
            merged.merge(&other.summary().unwrap(), &other.serialise()).unwrap();
            let both = of(&[left, right].concat());
            prop_assert_eq!(merged.summary(), both.summary());
            prop_assert_eq!(merged.serialise(), both.serialise());
        }
    }
}
