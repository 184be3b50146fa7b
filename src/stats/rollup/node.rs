//! A node of a rollup, and the time span of its root.

use crate::clock::Timestamp;
use crate::model::rollup::RollupLevel;
use crate::stats::histogram::sparse::SparseHistogram;

/// The checks of one time span, summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollupNode<'a> {
    /// Number of finished checks.
    pub checks: u64,
    /// Number of checks that were `down`.
    pub failed: u64,
    /// Response times of the checks that were answered.
    pub times: SparseHistogram<'a>,
}

/// The time span of a stored rollup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollupRoot {
    /// Length of the span: an hour or a day.
    pub level: RollupLevel,
    /// Start of the span.
    pub start: Timestamp,
}
