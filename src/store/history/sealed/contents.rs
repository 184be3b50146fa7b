//! What goes into a segment: blocks and rollups, each of one series, under one batch.

use crate::clock::Timestamp;
use crate::model::service::ServiceKey;
use crate::store::history::blocks::CheckBlock;
use crate::store::history::segments::SegmentId;

/// The results of one service from one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckSeries {
    /// Database key of the service.
    pub service: ServiceKey,
    /// Number of the location.
    pub location: i32,
}

/// The batch of a segment under which rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchKey {
    /// Number of the segment.
    pub segment: SegmentId,
    /// The number of the batch, from 1.
    pub number: i64,
}

/// A rollup of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedRollup {
    /// The series of its checks.
    pub series: CheckSeries,
    /// Start of the hour or day.
    pub start: Timestamp,
    /// Its sums and those of its parts; `stats::rollup` reads it.
    pub body: Vec<u8>,
}

/// Blocks and rollups that go into a segment together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentContents {
    /// Blocks, each with its series.
    pub blocks: Vec<(CheckSeries, CheckBlock)>,
    /// Rollups of the same checks.
    pub rollups: Vec<SealedRollup>,
}

impl SegmentContents {
    /// Bytes of everything in it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let blocks = self.blocks.iter().map(|(_, block)| block.body.len());
        blocks.chain(self.rollups.iter().map(|rollup| rollup.body.len())).sum()
    }
}
