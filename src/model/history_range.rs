//! The ranges over which metrics are read: `range` of contract 4.5 and 4.6, with the length of its buckets.

use crate::clock::Timestamp;
use crate::model::word_enum::words;

words! {
    /// A range of the metrics endpoints, ending now.
    #[derive(Default)]
    pub enum HistoryRange {
        /// The last hour.
        #[strum(serialize = "1h")]
        Hour1,
        /// The last six hours.
        #[strum(serialize = "6h")]
        Hours6,
        /// The last 24 hours.
        #[default]
        #[strum(serialize = "24h")]
        Hours24,
        /// The last seven days.
        #[strum(serialize = "7d")]
        Days7,
        /// The last thirty days.
        #[strum(serialize = "30d")]
        Days30,
    }
}

impl HistoryRange {
    /// Length of the range in seconds.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        match self {
            Self::Hour1 => 3_600,
            Self::Hours6 => 6 * 3_600,
            Self::Hours24 => 24 * 3_600,
            Self::Days7 => 7 * 86_400,
            Self::Days30 => 30 * 86_400,
        }
    }

    /// Length of one bucket of the response-time series in seconds (contract 4.6).
    #[must_use]
    pub const fn bucket_seconds(self) -> i64 {
        match self {
            Self::Hour1 => 60,
            Self::Hours6 => 300,
            Self::Hours24 => 900,
            Self::Days7 => 3_600,
            Self::Days30 => 21_600,
        }
    }

    /// The start of the range that ends at `now`.
    #[must_use]
    pub const fn start(self, now: Timestamp) -> Timestamp {
        now.plus_ms(-self.seconds() * 1_000)
    }
}
