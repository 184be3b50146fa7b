//! Rollups: the checks of one series (a service and a location) summed up per hour or day, with the parts of it.
//!
//! A rollup is a tree: an hour with its quarters, their five-minute parts and minutes, or a day with its quarters (6
//! hours each) and hours; these are the lengths for which figures are requested. Every node has the counts of its
//! checks and their response times, which merge exactly; so any range is the sum of a few nodes, plus, at its edges,
//! where not even the finest node fits, the samples themselves. Several rollups of the same span add up, if each
//! check went into one of them.

mod buckets;
mod check_sums;
mod error;
mod node;
mod node_stream;
mod pack;
mod query;
mod sums;
mod tree;

pub use crate::model::rollup::RollupLevel;
pub use crate::stats::rollup::buckets::TimeBuckets;
pub use crate::stats::rollup::check_sums::CheckSums;
pub use crate::stats::rollup::error::RollupError;
pub use crate::stats::rollup::node::{RollupNode, RollupRoot};
pub use crate::stats::rollup::query::{RollupQuery, UncoveredEdges};
pub use crate::stats::rollup::tree::{cover, encode, read_total};

#[cfg(test)]
mod tests;
