//! The exact sums that accompany a histogram, and the error for bytes that are not a histogram.

/// Number, sum, shortest and longest of some response times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseTimeSummary {
    /// Number of response times.
    pub count: u64,
    /// Sum of the response times, in microseconds.
    pub sum_us: u64,
    /// The shortest response time, in microseconds.
    pub min_us: u32,
    /// The longest response time, in microseconds.
    pub max_us: u32,
}

impl ResponseTimeSummary {
    /// Returns the mean, in microseconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean below 2^53 microseconds is exact enough")]
    pub fn mean_us(&self) -> f64 {
        self.sum_us as f64 / self.count.max(1) as f64
    }

    /// Adds `other` to `sum`, which is `None` while nothing was added. Sums saturate; only damaged data could reach the
    /// limit.
    pub(in crate::stats) fn add_to(sum: &mut Option<Self>, other: &Self) {
        *sum = Some(sum.map_or(*other, |sum| Self {
            count: sum.count.saturating_add(other.count),
            sum_us: sum.sum_us.saturating_add(other.sum_us),
            min_us: sum.min_us.min(other.min_us),
            max_us: sum.max_us.max(other.max_us),
        }));
    }
}

/// A stored histogram cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a stored histogram cannot be read: {0}")]
pub struct HistogramError(pub(in crate::stats) &'static str);
