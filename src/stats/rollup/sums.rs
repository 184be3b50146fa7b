//! The nodes of a rollup while it is built or read. Their histogram buckets share one list.

use std::ops::Range;

use crate::clock::Timestamp;
use crate::model::history::CheckSample;
use crate::model::rollup::RollupLevel;
use crate::stats::histogram::ResponseTimeSummary;
use crate::stats::histogram::sparse::{self, HistogramBucket, SparseHistogram};
use crate::stats::rollup::node::RollupNode;

/// A node, with the range of its buckets in the shared list.
#[derive(Clone, Debug)]
pub(super) struct IndexedNode {
    pub(super) start: Timestamp,
    pub(super) checks: u64,
    pub(super) failed: u64,
    pub(super) summary: Option<ResponseTimeSummary>,
    pub(super) entries: Range<usize>,
}

impl IndexedNode {
    /// A node without checks.
    pub(super) const fn empty(start: Timestamp) -> Self {
        Self { start, checks: 0, failed: 0, summary: None, entries: 0..0 }
    }

    /// The node with its buckets.
    pub(super) fn node<'a>(&self, entries: &'a [HistogramBucket]) -> RollupNode<'a> {
        let times = SparseHistogram { summary: self.summary, entries: &entries[self.entries.clone()] };
        RollupNode { checks: self.checks, failed: self.failed, times }
    }

    /// Returns the number of its checks with a response time.
    pub(super) fn answered(&self) -> u64 {
        self.summary.map_or(0, |summary| summary.count)
    }
}

/// Sums up samples in the leaves of a rollup, oldest first. Samples outside of the rollup and leaves without samples are
/// left out.
pub(super) fn leaves(
    root: RollupLevel,
    start: Timestamp,
    samples: &[CheckSample],
    entries: &mut Vec<HistogramBucket>,
) -> Vec<IndexedNode> {
    let (leaf, end) = (root.leaf(), start.plus_ms(root.ms()));
    let within = samples.iter().filter(|sample| start <= sample.checked_at && sample.checked_at < end);
    let mut sorted: Vec<(i64, Option<u32>, bool)> = within
        .map(|sample| (leaf.start_of(sample.checked_at).ms(), sample.response_us, sample.is_down))
        .collect();
    sorted.sort_unstable();
    let of_one_leaf = sorted.chunk_by(|left, right| left.0 == right.0);
    let sum_up = |checks: &[(i64, Option<u32>, bool)]| {
        let first = entries.len();
        let summary = sparse::sum_up(checks.iter().filter_map(|(_, response_us, _)| *response_us), entries);
        IndexedNode {
            start: Timestamp::from_ms(checks[0].0),
            checks: checks.len() as u64,
            failed: checks.iter().map(|(_, _, is_down)| u64::from(*is_down)).sum(),
            summary,
            entries: first..entries.len(),
        }
    };
    of_one_leaf.map(sum_up).collect()
}

/// Sums up nodes, which are in order, in nodes of the next higher level.
pub(super) fn parents(
    level: RollupLevel,
    children: &[IndexedNode],
    entries: &mut Vec<HistogramBucket>,
) -> Vec<IndexedNode> {
    let mut sorted = Vec::new();
    let siblings = children.chunk_by(|left, right| level.start_of(left.start) == level.start_of(right.start));
    let sum_up = |children: &[IndexedNode]| {
        let mut parent = IndexedNode::empty(level.start_of(children[0].start));
        sorted.clear();
        for child in children {
            parent.checks += child.checks;
            parent.failed += child.failed;
            if let Some(summary) = &child.summary {
                ResponseTimeSummary::add_to(&mut parent.summary, summary);
            }
            sorted.extend_from_slice(&entries[child.entries.clone()]);
        }
        sorted.sort_unstable_by_key(|entry| entry.bucket);
        let first = entries.len();
        for same in sorted.chunk_by(|left, right| left.bucket == right.bucket) {
            let count = same.iter().fold(0, |count: u32, entry| count.saturating_add(entry.count));
            entries.push(HistogramBucket { bucket: same[0].bucket, count });
        }
        parent.entries = first..entries.len();
        parent
    };
    siblings.map(sum_up).collect()
}
