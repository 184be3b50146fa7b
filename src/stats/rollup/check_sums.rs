//! The counts and response times of any number of checks, added from rollups or one by one.

use crate::model::history::CheckSample;
use crate::stats::histogram::ResponseTimes;
use crate::stats::rollup::node::RollupNode;

/// Sums over any number of rollup nodes and samples.
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

    /// Adds the checks of a node to the sums.
    pub fn merge(&mut self, node: &RollupNode<'_>) {
        self.checks = self.checks.saturating_add(node.checks);
        self.failed = self.failed.saturating_add(node.failed);
        self.times.merge(&node.times);
    }
}
