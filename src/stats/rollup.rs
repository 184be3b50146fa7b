//! Rollups: the checks of one result series (a service and a location), summed up for an hour or a day and for its parts.
//!
//! A rollup is a tree: an hour with its quarters, their five-minute parts and minutes, or a day with its quarters (of 6
//! hours) and hours. Statistics are requested for these lengths. Each node has exact counts and response times, so any
//! range is the sum of a few nodes. At the edges of a range, where even the finest node does not fit, the single checks are
//! needed. Several rollups of the same span may be added up if each check is in only one of them.

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
