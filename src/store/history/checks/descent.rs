//! Reads a page of checks from the newest downwards, over rows and blocks, reading as little as the page needs.
//!
//! Segments, blocks and entries are queued by the newest time that they can contain. The item with the newest time is
//! processed next: for a segment, the summaries of its blocks are read; for a block, its body; an entry is the next of
//! the page if no other item can contain a newer one. Blocks without matching checks, by their summaries, are not read.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;

use super::query::CheckQuery;
use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::history::StoredCheck;
use crate::model::time_range::TimeRange;
use crate::store::error::HistoryError;
use crate::store::history::blocks::{BlockBody, BlockError, BlockFilter};
use crate::store::history::sealed::combined_reads::{self, SegmentItem};
use crate::store::history::sealed::{self, BlockSummary};
use crate::store::history::segments::Segment;
use crate::store::history::segments::storage::{OpenSegment, SegmentStorage};

/// Maximum number of segments whose summaries are read at a time.
const SEGMENTS_AT_ONCE: usize = 8;
/// Number of segments to read first if the filter matches only statuses that most blocks do not contain.
const SEGMENTS_IF_SPARSE: usize = 2;
/// Maximum number of blocks whose bodies are read with one statement.
const BLOCKS_AT_ONCE: usize = 16;

/// A page that is being read.
pub(super) struct HistoryDescent<'a> {
    storage: &'a SegmentStorage,
    question: &'a CheckQuery<'a>,
    /// Segments that have not been opened yet; the newest is last.
    closed: Vec<Segment>,
    /// Number of segments to read next; doubled each time, up to [`SEGMENTS_AT_ONCE`].
    ahead: usize,
    open: Vec<OpenSegment>,
    /// Blocks that have not been read yet, keyed by the time of their last check, location, and index in `open`.
    blocks: BTreeMap<(Timestamp, i32, usize), BlockSummary>,
    /// Entries that may still be preceded by others.
    entries: BTreeMap<(Timestamp, String), StoredCheck>,
    found: Vec<StoredCheck>,
}

impl<'a> HistoryDescent<'a> {
    /// Prepares a page from the `fresh` rows and the blocks of `segments`, which must be sorted from newest to oldest.
    pub(super) fn new(
        storage: &'a SegmentStorage,
        question: &'a CheckQuery<'a>,
        segments: Vec<Segment>,
        fresh: Vec<StoredCheck>,
    ) -> Self {
        let overlaps =
            |segment: &Segment| segment.purpose.from < question.to && segment.purpose.to > question.from;
        let mut descent = Self {
            storage,
            question,
            closed: segments.into_iter().rev().filter(overlaps).collect(),
            // Failures are rare: a query for failures only reads many segments.
            ahead: if question.is_sparse() { SEGMENTS_IF_SPARSE } else { 1 },
            open: Vec::new(),
            blocks: BTreeMap::new(),
            entries: BTreeMap::new(),
            found: Vec::new(),
        };
        for check in fresh {
            descent.offer(check);
        }
        descent
    }

    /// Reads the entries of the page, newest first.
    ///
    /// # Errors
    ///
    /// Also when a segment is dropped meanwhile.
    pub(super) async fn page(mut self) -> Result<Vec<StoredCheck>, HistoryError> {
        while self.missing() > 0 {
            let closed = self.closed.last().map(|segment| segment.purpose.to.plus_ms(-1));
            let unread = self.blocks.last_key_value().map(|((last_at, ..), _)| *last_at);
            let entry = self.entries.last_key_value().map(|((checked_at, _), _)| *checked_at);
            // At the same time, a block may contain an entry that comes first by its location.
            if entry > closed.max(unread) {
                self.found.extend(self.entries.pop_last().map(|(_, check)| check));
            } else if closed.is_some() && closed >= unread {
                self.open_segments().await?;
            } else if unread.is_some() {
                self.read_blocks().await?;
            } else {
                break;
            }
        }
        Ok(self.found)
    }

    fn missing(&self) -> usize {
        self.question.limit - self.found.len()
    }

    fn offer(&mut self, check: StoredCheck) {
        self.entries.insert((check.checked_at, check.probe.clone()), check);
    }

    async fn open_segments(&mut self) -> Result<(), HistoryError> {
        let rest = self.closed.len().saturating_sub(self.ahead);
        self.ahead = (self.ahead * 2).min(SEGMENTS_AT_ONCE);
        let (storage, CheckQuery { service, from, to, statuses, .. }) = (self.storage, self.question);
        let next = self.closed.split_off(rest);
        let reads = next.chunks(storage.pace().together).map(async |segments| {
            let open = storage.open(segments).await?;
            let span = TimeRange { from: *from, to: *to };
            let summaries = combined_reads::summaries(&open, *service, span, statuses).await?;
            Ok::<_, HistoryError>((open, summaries))
        });
        for (open, summaries) in try_join_all(reads).await? {
            for SegmentItem { index, item: summary } in summaries {
                if self.question.matches(&summary) > 0
                    && self.question.code(summary.series.location)?.is_some()
                {
                    let key = (summary.last_at, summary.series.location, self.open.len() + index);
                    self.blocks.insert(key, summary);
                }
            }
            self.open.extend(open);
        }
        Ok(())
    }

    async fn read_blocks(&mut self) -> Result<(), HistoryError> {
        let Some((&(.., open), _)) = self.blocks.last_key_value() else { return Ok(()) };
        let summaries = self.next_blocks(open);
        let OpenSegment { segment, opened } = &self.open[open];
        let bodies = sealed::bodies(opened, segment, &summaries).await?;
        let wanted = BlockFilter {
            statuses: self.question.statuses,
            from: Some(self.question.from),
            to: Some(self.question.to),
            // One more than missing: the entry at the cursor itself may be among the matches.
            newest: Some(self.missing().saturating_add(1)),
        };
        for (summary, bytes) in summaries.iter().zip(&bodies) {
            let Some(code) = self.question.code(summary.series.location)? else { continue };
            let entries = BlockBody::open(bytes).and_then(|body| {
                let fits = body.checks() == summary.checks();
                if fits {
                    body.matching(&wanted)
                } else {
                    Err(BlockError::Malformed("its counts do not fit"))
                }
            });
            for entry in entries.map_err(|error| sealed::damaged(summary, &error))? {
                if self.question.is_older(entry.checked_at, code) {
                    self.offer(entry.into_stored(code.to_owned()));
                }
            }
        }
        Ok(())
    }

    /// The unread blocks of this segment that are likely to be needed next. They are chosen as if the matching checks of a
    /// block were spread evenly over its time.
    fn next_blocks(&mut self, open: usize) -> Vec<BlockSummary> {
        let missing = self.missing().saturating_sub(self.entries.len()).max(1);
        let (mut expected, mut reach, mut next) = (0, None, Vec::new());
        while let Some(block) = self.blocks.last_entry() {
            let (last_at, _, index) = *block.key();
            if index != open || next.len() == BLOCKS_AT_ONCE || Some(last_at) < reach {
                break;
            }
            let summary = block.remove();
            let matches = self.question.matches(&summary);
            if reach.is_none() && expected + matches >= missing {
                reach = Some(self.question.reach(&summary, missing - expected));
            }
            expected += matches;
            next.push(summary);
        }
        next
    }
}

impl CheckQuery<'_> {
    /// Returns true if the filter matches only statuses that most blocks do not contain.
    fn is_sparse(&self) -> bool {
        !self.statuses.is_empty() && !self.statuses.contains(&CheckStatus::Up)
    }

    /// Returns the number of checks of a block that have a requested status.
    fn matches(&self, summary: &BlockSummary) -> usize {
        let count = |status: CheckStatus| match status {
            CheckStatus::Up => summary.up as usize,
            CheckStatus::Degraded => summary.degraded as usize,
            CheckStatus::Down => summary.down as usize,
        };
        let is_wanted = |status: &CheckStatus| self.statuses.is_empty() || self.statuses.contains(status);
        CheckStatus::ALL.into_iter().filter(is_wanted).map(count).sum()
    }

    /// Returns the time of the oldest of the newest `missing` matches of a block, as if its matches were spread evenly.
    fn reach(&self, summary: &BlockSummary, missing: usize) -> Timestamp {
        let matches = i64::try_from(self.matches(summary)).unwrap_or(i64::MAX).max(1);
        let missing = i64::try_from(missing).unwrap_or(i64::MAX);
        let newest = summary.last_at.min(self.to);
        let span_ms = summary.last_at.ms_since(summary.first_at);
        newest.plus_ms(-(span_ms / matches).saturating_mul(missing))
    }
}
