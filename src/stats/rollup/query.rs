//! Which nodes of a rollup cover a requested range, and which time no node covers. Both depend only on times, not on the
//! contents of the rollup.

use crate::clock::Timestamp;
use crate::model::rollup::RollupLevel;
use crate::model::time_range::TimeRange;

/// The requested range of time, and its buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollupQuery {
    /// Start, inclusive.
    pub from: Timestamp,
    /// End, exclusive.
    pub to: Timestamp,
    /// Length of a bucket in milliseconds; buckets start at multiples of this length since 1970, and a node must not reach
    /// into two buckets. `None` = one sum over the whole range.
    pub bucket_ms: Option<i64>,
}

/// The part of a requested range that no node covers: at most one interval `[from, to)` at each edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UncoveredEdges([Option<TimeRange>; 2]);

impl UncoveredEdges {
    /// The intervals, oldest first. None is empty.
    pub fn iter(&self) -> impl Iterator<Item = TimeRange> {
        self.0.into_iter().flatten()
    }

    /// Returns true if `moment` is in one of the intervals.
    #[must_use]
    pub fn contain(&self, moment: Timestamp) -> bool {
        self.iter().any(|sliver| sliver.contains(moment))
    }
}

impl RollupQuery {
    /// Returns the requested range.
    #[must_use]
    pub const fn range(&self) -> TimeRange {
        TimeRange { from: self.from, to: self.to }
    }

    /// Returns true if a node of this level that starts at `start` is within the requested range and within one bucket.
    pub(super) fn takes(&self, level: RollupLevel, start: Timestamp) -> bool {
        self.fits(level) && self.from <= start && start.plus_ms(level.ms()) <= self.to
    }

    /// The requested time within the root at `start` that no node of the tree covers, for which the caller must read
    /// samples. It is the same for all rollups with this root level and start, so it is read once for all of them.
    #[must_use]
    pub fn slivers(&self, root: RollupLevel, start: Timestamp) -> UncoveredEdges {
        let from = self.from.max(start);
        let to = self.to.min(start.plus_ms(root.ms()));
        if from >= to || self.takes(root, start) {
            return UncoveredEdges::default();
        }
        let leaf = root.leaf();
        let floor = leaf.start_of(from);
        let inner_from = if floor < from { floor.plus_ms(leaf.ms()) } else { floor };
        let inner_to = leaf.start_of(to);
        if inner_from >= inner_to || !self.fits(leaf) {
            return UncoveredEdges([Some(TimeRange { from, to }), None]);
        }
        let edges = [TimeRange { from, to: inner_from }, TimeRange { from: inner_to, to }];
        UncoveredEdges(edges.map(TimeRange::if_not_empty))
    }

    /// Returns true if a node at this depth below the root is used because the node above it does not fit.
    pub(super) fn needs(&self, root: RollupLevel, start: Timestamp, depth: usize) -> bool {
        let (above, level) = (root.path()[depth - 1], root.path()[depth]);
        (0..root.ms() / level.ms())
            .map(|slot| start.plus_ms(slot * level.ms()))
            .any(|start| self.takes(level, start) && !self.takes(above, above.start_of(start)))
    }

    fn fits(&self, level: RollupLevel) -> bool {
        self.bucket_ms.is_none_or(|bucket_ms| bucket_ms > 0 && bucket_ms % level.ms() == 0)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const MINUTE: i64 = RollupLevel::Minute.ms();
    const HOUR: i64 = RollupLevel::Hour.ms();

    /// Cases for the hour that starts at 10:00: requested range, bucket length; the intervals that no node covers.
    #[rstest]
    #[case::all_of_it((0, 99 * HOUR), None, &[])]
    #[case::nothing_of_it((0, 10 * HOUR), None, &[])]
    #[case::a_cut_minute_at_each_edge(
        (10 * HOUR + 1, 11 * HOUR - 1), None,
        &[(10 * HOUR + 1, 10 * HOUR + MINUTE), (11 * HOUR - MINUTE, 11 * HOUR - 1)],
    )]
    #[case::whole_minutes((10 * HOUR + MINUTE, 99 * HOUR), None, &[])]
    #[case::within_a_minute((10 * HOUR + 5, 10 * HOUR + 9), None, &[(10 * HOUR + 5, 10 * HOUR + 9)])]
    #[case::across_two_minutes(
        (10 * HOUR + 5, 10 * HOUR + MINUTE + 5), None, &[(10 * HOUR + 5, 10 * HOUR + MINUTE + 5)],
    )]
    #[case::buckets_of_half_a_minute((0, 99 * HOUR), Some(MINUTE / 2), &[(10 * HOUR, 11 * HOUR)])]
    #[case::buckets_of_a_minute((0, 99 * HOUR), Some(MINUTE), &[])]
    #[case::buckets_that_cut_minutes((0, 99 * HOUR), Some(MINUTE * 3 / 2), &[(10 * HOUR, 11 * HOUR)])]
    fn leftover_ranges_are_those_that_no_node_covers(
        #[case] (from, to): (i64, i64),
        #[case] bucket_ms: Option<i64>,
        #[case] expected: &[(i64, i64)],
    ) {
        let at = Timestamp::from_ms;
        let wanted = RollupQuery { from: at(from), to: at(to), bucket_ms };
        let found: Vec<_> = wanted.slivers(RollupLevel::Hour, at(10 * HOUR)).iter().collect();
        let range = |(from, to): &(i64, i64)| TimeRange { from: at(*from), to: at(*to) };
        let expected: Vec<_> = expected.iter().map(range).collect();
        assert_eq!(found, expected);
    }
}
