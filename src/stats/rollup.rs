//! Rollups: the checks of one series (a service and a location) summed up per hour or day, with the parts of it.
//!
//! A rollup is a tree: an hour with its quarters, their five-minute parts and minutes, or a day with its quarters (6
//! hours each) and hours; these are the lengths for which figures are requested. Every node has the counts of its
//! checks and their response times, which merge exactly; so any range is the sum of a few nodes, plus, at its edges,
//! where not even the finest node fits, the samples themselves. Several rollups of the same span add up, if each
//! check went into one of them.

mod buckets;
mod node_stream;
mod pack;
mod query;
mod sums;
mod tree;

pub use crate::model::rollup::RollupLevel;
pub use crate::stats::rollup::buckets::TimeBuckets;
pub use crate::stats::rollup::query::{RollupQuery, UncoveredEdges};
pub use crate::stats::rollup::tree::{RollupError, cover, encode, read_total};

use crate::clock::Timestamp;
use crate::model::history::CheckSample;
use crate::stats::histogram::ResponseTimes;
use crate::stats::histogram::sparse::SparseHistogram;

/// The checks of one span, summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollupNode<'a> {
    /// Number of finished checks.
    pub checks: u64,
    /// Number of checks that were `down`.
    pub failed: u64,
    /// Response times of the checks that were answered.
    pub times: SparseHistogram<'a>,
}

/// The whole span of a stored rollup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollupRoot {
    /// Length of the rollup.
    pub level: RollupLevel,
    /// Start of the rollup.
    pub start: Timestamp,
}

/// Sums over any number of nodes and samples.
#[derive(Clone, Debug, Default)]
pub struct CheckSums {
    /// Number of finished checks.
    pub checks: u64,
    /// Number of checks that were `down`.
    pub failed: u64,
    /// Response times of the checks that were answered.
    pub times: ResponseTimes,
}

impl CheckSums {
    /// Adds one check to the sums.
    pub fn add_sample(&mut self, sample: &CheckSample) {
        self.checks += 1;
        self.failed += u64::from(sample.is_down);
        if let Some(response_us) = sample.response_us {
            self.times.record(response_us);
        }
    }

    /// Adds the checks of a node.
    pub fn merge(&mut self, node: &RollupNode<'_>) {
        self.checks = self.checks.saturating_add(node.checks);
        self.failed = self.failed.saturating_add(node.failed);
        self.times.merge(&node.times);
    }
}

#[cfg(test)]
mod tests;
