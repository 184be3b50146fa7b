//! The contents that are written to a segment together: blocks and rollups, each of one series, under one batch.

use crate::clock::Timestamp;
use crate::model::service::ServiceKey;
use crate::store::history::blocks::CheckBlock;
use crate::store::history::segments::SegmentId;

/// Identifies a series: the results of one service from one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckSeries {
    /// Database key of the service.
    pub service: ServiceKey,
    /// Number of the location.
    pub location: i32,
}

/// A batch of a segment, under which rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchKey {
    /// Number of the segment.
    pub segment: SegmentId,
    /// Number of the batch within the segment, from 1.
    pub number: i64,
}

/// The rollup of a series for one hour or day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedRollup {
    /// Service and location of the checks.
    pub series: CheckSeries,
    /// Start of the hour or day.
    pub start: Timestamp,
    /// Encoded sums of the hour or day and of its parts; decoded by `stats::rollup`.
    pub body: Vec<u8>,
}

/// Blocks and rollups that are written to a segment together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentContents {
    /// Blocks, each with its series.
    pub blocks: Vec<(CheckSeries, CheckBlock)>,
    /// Rollups of the same checks.
    pub rollups: Vec<SealedRollup>,
}

impl SegmentContents {
    /// Total size of the bodies in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let blocks = self.blocks.iter().map(|(_, block)| block.body.len());
        blocks.chain(self.rollups.iter().map(|rollup| rollup.body.len())).sum()
    }
}
