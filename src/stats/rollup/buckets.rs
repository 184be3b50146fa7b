//! Sums for time buckets, from rollups and samples that together cover the requested range.

use std::collections::BTreeMap;

use crate::clock::Timestamp;
use crate::model::history::CheckSample;
use crate::stats::rollup::check_sums::CheckSums;
use crate::stats::rollup::error::RollupError;
use crate::stats::rollup::node::RollupRoot;
use crate::stats::rollup::query::RollupQuery;
use crate::stats::rollup::tree::cover;

/// Sums for time buckets. Each check must be added once: in a rollup, or as a sample where no rollup covers its time
/// ([`RollupQuery::slivers`]).
#[derive(Clone, Debug)]
pub struct TimeBuckets {
    wanted: RollupQuery,
    sums: BTreeMap<Timestamp, CheckSums>,
    merges: usize,
}

impl TimeBuckets {
    /// Empty sums for the requested range.
    #[must_use]
    pub const fn new(wanted: RollupQuery) -> Self {
        Self { wanted, sums: BTreeMap::new(), merges: 0 }
    }

    /// Adds the largest nodes of a stored rollup that lie within the requested range.
    ///
    /// # Errors
    ///
    /// If the bytes are not a valid rollup. The sums must not be used then.
    pub fn add_rollup(&mut self, root: RollupRoot, body: &[u8]) -> Result<(), RollupError> {
        let wanted = self.wanted;
        cover(root, body, &wanted, &mut |start, node| {
            self.merges += 1;
            self.of(start).merge(node);
        })?;
        Ok(())
    }

    /// Adds a sample, unless it is outside of the requested range.
    pub fn add_sample(&mut self, sample: &CheckSample) {
        if self.wanted.from <= sample.checked_at && sample.checked_at < self.wanted.to {
            self.of(sample.checked_at).add_sample(sample);
        }
    }

    /// The number of nodes that were merged, which tells the cost of the result.
    #[must_use]
    pub const fn merges(&self) -> usize {
        self.merges
    }

    /// The sums by the start of their bucket, oldest first. Buckets without checks are left out.
    #[must_use]
    pub fn into_sums(self) -> BTreeMap<Timestamp, CheckSums> {
        self.sums
    }

    /// The sum of everything, for a query without a bucket length.
    #[must_use]
    pub fn into_total(self) -> CheckSums {
        self.sums.into_values().next().unwrap_or_default()
    }

    fn of(&mut self, moment: Timestamp) -> &mut CheckSums {
        let start = match self.wanted.bucket_ms {
            Some(length_ms) => moment.plus_ms(-moment.ms().rem_euclid(length_ms.max(1))),
            None => self.wanted.from,
        };
        self.sums.entry(start).or_default()
    }
}
