//! The periods over which figures are read: `range` of contract 4.5 and 4.6 with its buckets.

use std::str::FromStr;

use crate::clock::Timestamp;

/// A range of the metrics endpoints, ending now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Range {
    /// The last hour.
    Hour1,
    /// The last six hours.
    Hours6,
    /// The last 24 hours.
    #[default]
    Hours24,
    /// The last seven days.
    Days7,
    /// The last thirty days.
    Days30,
}

impl Range {
    /// All ranges in the order of the contract.
    pub const ALL: [Self; 5] = [Self::Hour1, Self::Hours6, Self::Hours24, Self::Days7, Self::Days30];

    /// The word that the API uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hour1 => "1h",
            Self::Hours6 => "6h",
            Self::Hours24 => "24h",
            Self::Days7 => "7d",
            Self::Days30 => "30d",
        }
    }

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

/// The text names no range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown range")]
pub struct UnknownRange;

impl FromStr for Range {
    type Err = UnknownRange;

    fn from_str(text: &str) -> Result<Self, UnknownRange> {
        Self::ALL.into_iter().find(|range| range.as_str() == text).ok_or(UnknownRange)
    }
}
