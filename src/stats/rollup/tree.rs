//! The stored form of a rollup.
//!
//! A rollup is stored as a version, the sums of the root, the compressed nodes below it, and a CRC-32. Nodes are stored
//! level by level in three streams: the number of checks, the share of the buckets of the node above, and extremes and sum
//! relative to the buckets. A node that takes all that is left of the node above stores no share.

use crate::clock::Timestamp;
use crate::model::history::CheckSample;
use crate::model::rollup::RollupLevel;
use crate::model::varint;
use crate::stats::histogram::sparse::{self, HistogramBucket};
use crate::stats::rollup::error::RollupError;
use crate::stats::rollup::node::{RollupNode, RollupRoot};
use crate::stats::rollup::node_stream::{self, NodeStreamWriter};
use crate::stats::rollup::pack;
use crate::stats::rollup::query::{RollupQuery, UncoveredEdges};
use crate::stats::rollup::sums::{self, IndexedNode};

const VERSION: u8 = 1;
const CRC_BYTES: usize = 4;

/// Encodes the rollup of one result series that starts at `start`. `root` is an hour or a day. Samples may be in any order;
/// those outside of the rollup are left out.
#[must_use]
pub fn encode(root: RollupLevel, start: Timestamp, samples: &[CheckSample]) -> Vec<u8> {
    let mut entries = Vec::with_capacity(samples.len() * 2);
    let mut levels = vec![sums::leaves(root, start, samples, &mut entries)];
    for level in root.path().iter().rev().skip(1) {
        let below = levels.last().map(Vec::as_slice).unwrap_or_default();
        let above = sums::parents(*level, below, &mut entries);
        levels.push(above);
    }
    let top =
        levels.last().and_then(|roots| roots.first()).cloned().unwrap_or_else(|| IndexedNode::empty(start));
    let mut bytes = vec![VERSION];
    varint::put(&mut bytes, top.checks);
    varint::put(&mut bytes, top.failed);
    top.node(&entries).times.write(&mut bytes);
    let mut streams = NodeStreamWriter::default();
    levels.reverse();
    for (path, nodes) in root.path().windows(2).zip(levels.windows(2)) {
        streams.write(path[0], path[1], &nodes[0], &nodes[1], &entries);
    }
    pack::put(&mut bytes, &streams.join());
    let crc = crc32fast::hash(&bytes);
    bytes.extend(crc.to_le_bytes());
    bytes
}

/// Passes to `sink` the largest nodes of a stored rollup that lie within the requested range, with their starts, in no
/// particular order. Returns the time that no node covers ([`RollupQuery::slivers`]).
///
/// # Errors
///
/// If the bytes are not a valid rollup. `sink` may have received nodes before.
pub fn cover(
    root: RollupRoot,
    body: &[u8],
    wanted: &RollupQuery,
    sink: &mut impl FnMut(Timestamp, &RollupNode<'_>),
) -> Result<UncoveredEdges, RollupError> {
    let mut entries = Vec::new();
    let RollupRoot { level: root, start } = root;
    let (top, packed) = read_root(start, body, &mut entries)?;
    if wanted.takes(root, start) {
        sink(start, &top.node(&entries));
        return Ok(UncoveredEdges::default());
    }
    let path = root.path();
    let deepest = (1..path.len()).rev().find(|depth| wanted.needs(root, start, *depth));
    let Some(deepest) = deepest else { return Ok(wanted.slivers(root, start)) };
    let mut plain = Vec::new();
    pack::take(packed, &mut plain)?;
    let mut streams = node_stream::NodeStreamReader::new(&plain)?;
    let mut above = vec![top];
    for (level, below) in path.iter().zip(&path[1..=deepest]) {
        let nodes = streams.read(*level, *below, &above, &mut entries)?;
        for node in &nodes {
            if wanted.takes(*below, node.start) && !wanted.takes(*level, level.start_of(node.start)) {
                sink(node.start, &node.node(&entries));
            }
        }
        above = nodes;
    }
    Ok(wanted.slivers(root, start))
}

/// Passes to `sink` only the root of a stored rollup.
///
/// # Errors
///
/// If the bytes are not a valid rollup.
pub fn read_total(body: &[u8], sink: impl FnOnce(&RollupNode<'_>)) -> Result<(), RollupError> {
    let mut entries = Vec::new();
    let (top, _) = read_root(Timestamp::default(), body, &mut entries)?;
    sink(&top.node(&entries));
    Ok(())
}

/// Reads the root. Returns it with the compressed nodes below it.
fn read_root<'a>(
    start: Timestamp,
    body: &'a [u8],
    entries: &mut Vec<HistogramBucket>,
) -> Result<(IndexedNode, &'a [u8]), RollupError> {
    let early = RollupError("it ends early");
    let (bytes, crc) = body.split_last_chunk::<CRC_BYTES>().ok_or(early.clone())?;
    if crc32fast::hash(bytes) != u32::from_le_bytes(*crc) {
        return Err(RollupError("its checksum differs"));
    }
    let (version, mut bytes) = bytes.split_first().ok_or(early.clone())?;
    if *version != VERSION {
        return Err(RollupError("its version is unknown"));
    }
    let checks = varint::take(&mut bytes).ok_or(early.clone())?;
    let failed = varint::take(&mut bytes).ok_or(early)?;
    let summary = sparse::read(&mut bytes, entries)?;
    let top = IndexedNode { start, checks, failed, summary, entries: 0..entries.len() };
    if failed > checks || top.answered() > checks {
        return Err(RollupError("its counts differ"));
    }
    Ok((top, bytes))
}
