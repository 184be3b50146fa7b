//! The nodes below the root of a rollup as bytes. Each node is stored as its share of the node above.
//!
//! There are three streams, each with one kind of number so that it compresses well: counts of checks, shares of the
//! buckets of the node above, and residues of extremes and sums. A reader validates everything: shares are subtracted from
//! the counts of the node above, and at the end nothing may remain.

use crate::model::rollup::RollupLevel;
use crate::model::varint;
use crate::stats::histogram::sparse::{self, HistogramBucket};
use crate::stats::rollup::error::RollupError;
use crate::stats::rollup::sums::IndexedNode;

/// The three streams while they are written.
#[derive(Debug, Default)]
pub(super) struct NodeStreamWriter {
    counts: Vec<u8>,
    shares: Vec<u8>,
    residues: Vec<u8>,
    left: Vec<HistogramBucket>,
}

impl NodeStreamWriter {
    /// Appends the nodes of the level `below`; `above` are the nodes of `level`. Both are in order.
    pub(super) fn write(
        &mut self,
        level: RollupLevel,
        below: RollupLevel,
        above: &[IndexedNode],
        nodes: &[IndexedNode],
        entries: &[HistogramBucket],
    ) {
        let mut nodes = nodes.iter().peekable();
        for parent in above {
            self.left.clear();
            self.left.extend_from_slice(&entries[parent.entries.clone()]);
            let mut answered = parent.answered();
            for slot in 0..level.ms() / below.ms() {
                let start = parent.start.plus_ms(slot * below.ms());
                match nodes.next_if(|node| node.start == start) {
                    Some(node) => self.write_node(node, &mut answered, entries),
                    None => self.counts.push(0),
                }
            }
        }
    }

    fn write_node(&mut self, node: &IndexedNode, left: &mut u64, entries: &[HistogramBucket]) {
        varint::put(&mut self.counts, node.checks);
        varint::put(&mut self.counts, node.failed);
        varint::put(&mut self.counts, node.checks - node.answered());
        let is_the_rest = node.answered() == *left;
        *left -= node.answered();
        let node = node.node(entries);
        if !is_the_rest {
            take_share(&mut self.left, node.times.entries, &mut self.shares);
        }
        node.times.write_residues(&mut self.residues);
    }

    /// Joins the streams into one, preceded by their lengths.
    pub(super) fn join(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.counts.len() + self.shares.len() + self.residues.len() + 6);
        varint::put(&mut bytes, self.counts.len() as u64);
        varint::put(&mut bytes, self.shares.len() as u64);
        for stream in [self.counts, self.shares, self.residues] {
            bytes.extend(stream);
        }
        bytes
    }
}

/// Subtracts `share` from the remaining entries `left`, and appends tokens that identify it.
fn take_share(left: &mut Vec<HistogramBucket>, share: &[HistogramBucket], bytes: &mut Vec<u8>) {
    let (mut index, mut next) = (0, 0);
    for entry in share {
        while index < left.len() && left[index].bucket < entry.bucket {
            index += 1;
        }
        sparse::write_token(bytes, (index - next) as u64, entry.count);
        left[index].count -= entry.count;
        index += 1;
        next = index;
    }
    left.retain(|entry| entry.count > 0);
}

/// The three streams while they are read.
#[derive(Debug)]
pub(super) struct NodeStreamReader<'a> {
    counts: &'a [u8],
    shares: &'a [u8],
    residues: &'a [u8],
    left: Vec<HistogramBucket>,
}

impl<'a> NodeStreamReader<'a> {
    /// Reads the output of [`NodeStreamWriter::join`].
    pub(super) fn new(mut bytes: &'a [u8]) -> Result<Self, RollupError> {
        let mut length = || varint::take(&mut bytes).and_then(|length| usize::try_from(length).ok());
        let (counts, shares) = length().zip(length()).ok_or(EARLY)?;
        let (counts, rest) = bytes.split_at_checked(counts).ok_or(EARLY)?;
        let (shares, residues) = rest.split_at_checked(shares).ok_or(EARLY)?;
        Ok(Self { counts, shares, residues, left: Vec::new() })
    }

    /// Reads the nodes of the level `below`, in order; `above` are the nodes of `level`.
    pub(super) fn read(
        &mut self,
        level: RollupLevel,
        below: RollupLevel,
        above: &[IndexedNode],
        entries: &mut Vec<HistogramBucket>,
    ) -> Result<Vec<IndexedNode>, RollupError> {
        let mut nodes = Vec::new();
        for parent in above {
            self.left.clear();
            self.left.extend_from_slice(&entries[parent.entries.clone()]);
            let (mut checks, mut failed, mut answered) = (parent.checks, parent.failed, parent.answered());
            for slot in 0..level.ms() / below.ms() {
                let mut node = IndexedNode::empty(parent.start.plus_ms(slot * below.ms()));
                node.checks = varint::take(&mut self.counts).ok_or(EARLY)?;
                if node.checks == 0 {
                    continue;
                }
                self.read_node(&mut node, &mut answered, entries)?;
                checks = checks.checked_sub(node.checks).ok_or(DIFFERENT)?;
                failed = failed.checked_sub(node.failed).ok_or(DIFFERENT)?;
                nodes.push(node);
            }
            if (checks, failed, answered) != (0, 0, 0) {
                return Err(DIFFERENT);
            }
        }
        Ok(nodes)
    }

    fn read_node(
        &mut self,
        node: &mut IndexedNode,
        left: &mut u64,
        entries: &mut Vec<HistogramBucket>,
    ) -> Result<(), RollupError> {
        node.failed = varint::take(&mut self.counts).ok_or(EARLY)?;
        let unanswered = varint::take(&mut self.counts).ok_or(EARLY)?;
        let answered = node.checks.checked_sub(unanswered).ok_or(DIFFERENT)?;
        if node.failed > node.checks {
            return Err(DIFFERENT);
        }
        let is_the_rest = answered == *left;
        *left = left.checked_sub(answered).ok_or(DIFFERENT)?;
        let first = entries.len();
        if is_the_rest {
            entries.append(&mut self.left);
        } else {
            self.read_share(answered, entries)?;
        }
        node.entries = first..entries.len();
        if answered > 0 {
            node.summary = Some(sparse::read_residues(&mut self.residues, answered, &entries[first..])?);
        }
        Ok(())
    }

    fn read_share(
        &mut self,
        mut answered: u64,
        entries: &mut Vec<HistogramBucket>,
    ) -> Result<(), RollupError> {
        let mut index = 0_usize;
        while answered > 0 {
            let (skipped, count) = sparse::read_token(&mut self.shares)?;
            index = usize::try_from(skipped)
                .ok()
                .and_then(|skipped| index.checked_add(skipped))
                .ok_or(DIFFERENT)?;
            let entry = self.left.get_mut(index).ok_or(DIFFERENT)?;
            entry.count = entry.count.checked_sub(count).ok_or(DIFFERENT)?;
            answered = answered.checked_sub(u64::from(count)).ok_or(DIFFERENT)?;
            entries.push(HistogramBucket { bucket: entry.bucket, count });
            index += 1;
        }
        self.left.retain(|entry| entry.count > 0);
        Ok(())
    }
}

const EARLY: RollupError = RollupError("it ends early");
const DIFFERENT: RollupError = RollupError("its parts do not add up");
