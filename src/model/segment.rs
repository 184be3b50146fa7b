//! The rules of segments, the units of retention: which results are stored together, and when a segment may be deleted.
//!
//! A segment holds the checks of a time span for services with the same retention class. Where a segment is stored is
//! decided by `store`.

use crate::clock::{DAY_MS, Timestamp};
use crate::model::rollup;

/// The retention classes in days. A retention between two classes is rounded up.
const RETENTION_CLASSES: [u32; 6] = [1, 7, 30, 90, 365, 3_650];

/// How far the blocks of a segment have been merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i16)]
pub enum SegmentLevel {
    /// One day, in blocks as they were sealed, with rollups of hours and their minutes.
    Day = 1,
    /// A longer period, in large blocks, with rollups of days and their hours.
    Period = 2,
}

/// A retention class. There are few, so that there are few segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RetentionClass {
    days: u32,
}

/// The checks that a segment is for. Two visible segments never have the same scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SegmentScope {
    /// How far the blocks have been merged.
    pub level: SegmentLevel,
    /// The retention class of the checks.
    pub retention: RetentionClass,
    /// Start of the time span, inclusive.
    pub from: Timestamp,
    /// End of the time span, exclusive.
    pub to: Timestamp,
}

impl SegmentLevel {
    /// The level of the rollups in a segment of this level.
    #[must_use]
    pub const fn rollups(self) -> rollup::RollupLevel {
        match self {
            Self::Day => rollup::RollupLevel::Hour,
            Self::Period => rollup::RollupLevel::Day,
        }
    }
}

impl RetentionClass {
    /// The shortest class that keeps checks for at least `days` days, or the longest class there is.
    #[must_use]
    pub fn of_days(days: u32) -> Self {
        let longest = RETENTION_CLASSES[RETENTION_CLASSES.len() - 1];
        Self { days: RETENTION_CLASSES.into_iter().find(|class| *class >= days).unwrap_or(longest) }
    }

    /// Number of days for which checks of this class are kept.
    #[must_use]
    pub const fn days(self) -> u32 {
        self.days
    }

    /// Length of a period in days: about a twelfth of the retention, a compromise between few segments and early deletion.
    const fn period_days(self) -> i64 {
        match self.days {
            0..=7 => 1,
            8..=30 => 3,
            31..=90 => 7,
            _ => 28,
        }
    }
}

impl SegmentScope {
    /// The scope of the segment that stores a check of this moment.
    #[must_use]
    pub const fn of(level: SegmentLevel, retention: RetentionClass, moment: Timestamp) -> Self {
        let length_ms = DAY_MS
            * match level {
                SegmentLevel::Day => 1,
                SegmentLevel::Period => retention.period_days(),
            };
        let from = Timestamp::from_ms(moment.ms().div_euclid(length_ms) * length_ms);
        Self { level, retention, from, to: from.plus_ms(length_ms) }
    }

    /// The moment from which all checks in the segment are past their retention.
    #[must_use]
    pub const fn ends_at(&self) -> Timestamp {
        self.to.plus_ms(self.retention.days as i64 * DAY_MS)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(1, 1)]
    #[case(2, 7)]
    #[case(7, 7)]
    #[case(8, 30)]
    #[case(90, 90)]
    #[case(366, 3_650)]
    #[case(u32::MAX, 3_650)]
    fn a_retention_is_rounded_up_to_a_class(#[case] days: u32, #[case] class: u32) {
        assert_eq!(RetentionClass::of_days(days).days(), class);
    }

    #[rstest]
    #[case(SegmentLevel::Day, 90, 10, 10, 11)]
    #[case(SegmentLevel::Period, 90, 10, 7, 14)]
    #[case(SegmentLevel::Period, 90, -1, -7, 0)]
    #[case(SegmentLevel::Period, 365, 29, 28, 56)]
    #[case(SegmentLevel::Period, 7, 29, 29, 30)]
    fn a_check_has_one_segment(
        #[case] level: SegmentLevel,
        #[case] retention: u32,
        #[case] day: i64,
        #[case] from: i64,
        #[case] to: i64,
    ) {
        let moment = Timestamp::from_ms(day * DAY_MS + 5);
        let purpose = SegmentScope::of(level, RetentionClass::of_days(retention), moment);
        assert_eq!((purpose.from.ms(), purpose.to.ms()), (from * DAY_MS, to * DAY_MS));
    }
}
