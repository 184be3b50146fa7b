//! The lengths of time over which checks are summed up, and how rollups nest them. The contents of rollups are in `stats`,
//! their storage in `store`.

use crate::clock::{DAY_MS, Timestamp};

/// A length of time over which checks are summed up. Spans start at multiples of their length since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RollupLevel {
    /// 60 seconds.
    Minute,
    /// 5 minutes.
    FiveMinutes,
    /// 15 minutes.
    QuarterHour,
    /// 60 minutes.
    Hour,
    /// 6 hours, a quarter of a day.
    Quarter,
    /// A UTC calendar day.
    Day,
}

impl RollupLevel {
    /// Length in milliseconds.
    #[must_use]
    pub const fn ms(self) -> i64 {
        match self {
            Self::Minute => 60_000,
            Self::FiveMinutes => 300_000,
            Self::QuarterHour => 900_000,
            Self::Hour => 3_600_000,
            Self::Quarter => 21_600_000,
            Self::Day => DAY_MS,
        }
    }

    /// Start of the span of this length that contains `moment`.
    #[must_use]
    pub const fn start_of(self, moment: Timestamp) -> Timestamp {
        Timestamp::from_ms(moment.ms().div_euclid(self.ms()).saturating_mul(self.ms()))
    }

    /// The levels of a rollup from this level, its root, down to its leaves.
    #[must_use]
    pub const fn path(self) -> &'static [Self] {
        match self {
            Self::Minute => &[Self::Minute],
            Self::FiveMinutes => &[Self::FiveMinutes, Self::Minute],
            Self::QuarterHour => &[Self::QuarterHour, Self::FiveMinutes, Self::Minute],
            Self::Hour => &[Self::Hour, Self::QuarterHour, Self::FiveMinutes, Self::Minute],
            Self::Quarter => &[Self::Quarter, Self::Hour],
            Self::Day => &[Self::Day, Self::Quarter, Self::Hour],
        }
    }

    /// The length of the leaves of a rollup with this level as its root.
    #[must_use]
    pub fn leaf(self) -> Self {
        self.path().last().copied().unwrap_or(self)
    }
}
