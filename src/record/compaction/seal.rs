//! Sealing: fresh rows become blocks, with rollups of their hours, in segments of a day.
//!
//! A bucket is sealed when the hour of its oldest rows is over, or when it has too many. Buckets are taken a few at a
//! time: their rows are read and written to segments; then one commit deletes exactly these rows and publishes the
//! blocks. If a late result came in between, that commit is not made, and the buckets are sealed one by one.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use crate::clock::Timestamp;
use crate::clock::guard::JudgedTime;
use crate::record::compaction::Compaction;
use crate::record::compaction::segment_writer::PendingBatch;
use crate::stats::rollup::{self, RollupLevel};
use crate::store::history::blocks::{CheckBlock, CheckEntry};
use crate::store::history::fresh_checks::{self, BucketFill, FreshCheck};
use crate::store::history::progress;
use crate::store::history::sealed::{CheckSeries, SealedRollup, SegmentContents};
use crate::store::history::segments::{self, SegmentScope};
use crate::store::{HistoryError, StoreError};

/// The time from the end of an hour to its sealing, so that few results arrive after it.
const HOUR_SETTLE_MS: i64 = 600_000;

/// Maximum number of rows of one bucket that are sealed at once, because they are held in memory meanwhile. Only an import
/// has more.
const BUCKET_ROWS_AT_ONCE: u64 = 262_144;
/// Number of deleted rows from which reclaiming the table's space is worthwhile.
const RECLAIM_ROWS: u64 = 100_000;

/// A bucket and the instant before which its rows are sealed.
type Due = (i16, Timestamp);

impl Compaction {
    /// Seals all buckets that are due.
    pub(super) async fn seal(&mut self, now: JudgedTime) -> Result<(), StoreError> {
        let fillings = self.fillings.count_rows(self.history.reader(), now.at).await?.into_iter();
        let due: Vec<(BucketFill, Timestamp)> =
            fillings.filter_map(|filling| Some((filling, self.boundary(&filling, now)?))).collect();
        self.announce(&due).await?;
        let mut group: Vec<Due> = Vec::new();
        let mut rows = 0;
        for (filling, boundary) in due {
            // A bucket that a late result came into is left for the next pass.
            let Some(rest) = self.seal_pieces(filling.bucket, boundary).await? else { continue };
            group.push((filling.bucket, boundary));
            rows += rest;
            if rows >= self.limits.rows_per_seal {
                self.seal_each(&std::mem::take(&mut group)).await?;
                rows = 0;
            }
        }
        if !group.is_empty() {
            self.seal_each(&group).await?;
        }
        if self.deleted >= RECLAIM_ROWS {
            fresh_checks::reclaim(self.history.reader()).await?;
            self.deleted = 0;
        }
        Ok(())
    }

    /// Announces the latest boundary. From now on, results from before it are looked up in blocks before they become rows;
    /// all other results continue without waiting.
    async fn announce(&self, due: &[(BucketFill, Timestamp)]) -> Result<(), HistoryError> {
        let Some(boundary) = due.iter().map(|(_, boundary)| *boundary).max() else { return Ok(()) };
        let transaction = self.history.begin().await?;
        progress::announce(&transaction, boundary).await?;
        transaction.commit().await
    }

    /// Seals buckets together, or one by one when a late result has come to one of them.
    async fn seal_each(&mut self, group: &[Due]) -> Result<(), StoreError> {
        if self.seal_group(group).await? || group.len() == 1 {
            return Ok(());
        }
        for due in group {
            self.seal_group(&[*due]).await?;
        }
        Ok(())
    }

    /// Seals the oldest rows of a very full bucket piece by piece; returns the approximate number of rows left, or `None`
    /// if a late result prevented the sealing of a piece.
    async fn seal_pieces(&mut self, bucket: i16, boundary: Timestamp) -> Result<Option<u64>, StoreError> {
        let mut left = fresh_checks::rows_before(self.history.reader(), bucket, boundary).await?;
        while left > BUCKET_ROWS_AT_ONCE {
            let reader = self.history.reader();
            let end = fresh_checks::start_of_row(reader, bucket, BUCKET_ROWS_AT_ONCE).await?;
            let Some(end) = end.filter(|end| *end < boundary) else { break };
            if !self.seal_group(&[(bucket, end)]).await? {
                return Ok(None);
            }
            left -= BUCKET_ROWS_AT_ONCE;
        }
        Ok(Some(left))
    }

    /// Returns the time before which rows of the bucket are sealed; `None` if no row is that old. Results that arrive for
    /// a sealed hour are looked up one by one, forever. So while the clock is not trusted, no hour is sealed that may be
    /// in the future, unless the bucket has too many rows.
    fn boundary(&self, filling: &BucketFill, now: JudgedTime) -> Option<Timestamp> {
        let boundary = if filling.rows > self.limits.rows_per_bucket {
            now.at.plus_ms(-i64::try_from(self.limits.result_settle_ms).unwrap_or(i64::MAX))
        } else {
            RollupLevel::Hour.start_of(now.earliest.plus_ms(-HOUR_SETTLE_MS))
        };
        (filling.oldest < boundary).then_some(boundary)
    }

    /// Seals buckets with one commit. Returns false if a late result has come to one of them meanwhile; then nothing was
    /// sealed.
    async fn seal_group(&mut self, group: &[Due]) -> Result<bool, StoreError> {
        let mut rows = Vec::new();
        for (bucket, boundary) in group {
            rows.extend(fresh_checks::of_bucket(self.history.reader(), *bucket, *boundary).await?);
        }
        let found = rows.len() as u64;
        let mut pending = PendingBatch::default();
        for (purpose, sealed) in self.group_by_purpose(rows).await? {
            self.writer.add(&mut pending, purpose, &sealed).await?;
        }
        let transaction = self.history.begin().await?;
        progress::begin_move(&transaction).await?;
        let mut deleted = 0;
        let mut deleted_of = Vec::with_capacity(group.len());
        for (bucket, boundary) in group {
            let rows = fresh_checks::delete(&transaction, *bucket, *boundary).await?;
            deleted_of.push((*bucket, rows));
            deleted += rows;
        }
        if deleted != found {
            tracing::debug!(
                deleted,
                found,
                "late result arrived while its bucket was sealed; sealing the bucket again"
            );
            return Ok(false);
        }
        progress::check_fence(&transaction, self.fence).await?;
        pending.publish(&transaction).await?;
        transaction.commit().await?;
        self.writer.published(&pending);
        for (bucket, rows) in deleted_of {
            self.fillings.sealed(bucket, rows);
        }
        self.deleted += deleted;
        self.counters.sealed.fetch_add(found, Ordering::Relaxed);
        Ok(true)
    }

    /// Returns blocks and rollups of these rows, by the segment that they belong to. Rows of deleted services are dropped.
    async fn group_by_purpose(
        &self,
        mut rows: Vec<FreshCheck>,
    ) -> Result<Vec<(SegmentScope, SegmentContents)>, StoreError> {
        rows.sort_unstable_by_key(|row| (row.series, row.entry.checked_at));
        let mut services: Vec<i64> = rows.iter().map(|row| row.series.service).collect();
        services.dedup();
        let retentions = self.retention.of(&services).await?;
        let mut sorted: Vec<(SegmentScope, SegmentContents)> = Vec::new();
        let mut indexes: BTreeMap<(u32, i64), usize> = BTreeMap::new();
        let mut rows = rows.into_iter().peekable();
        while let Some(first) = rows.next() {
            let (series, day) = (first.series, first.entry.checked_at.day());
            let mut entries = vec![first.entry];
            while let Some(row) =
                rows.next_if(|row| row.series == series && row.entry.checked_at.day() == day)
            {
                entries.push(row.entry);
            }
            let Some(retention) = retentions.get(&series.service) else { continue };
            let index = *indexes.entry((retention.days(), day)).or_insert_with(|| {
                let purpose =
                    SegmentScope::of(segments::SegmentLevel::Day, *retention, entries[0].checked_at);
                sorted.push((purpose, SegmentContents::default()));
                sorted.len() - 1
            });
            add(&mut sorted[index].1, series, &entries);
        }
        Ok(sorted)
    }
}

/// Adds the checks of one series on one day.
fn add(sealed: &mut SegmentContents, series: CheckSeries, entries: &[CheckEntry]) {
    add_blocks(sealed, series, entries);
    for hour in entries.chunk_by(|left, right| hour_of(left) == hour_of(right)) {
        add_rollup(sealed, series, RollupLevel::Hour, hour);
    }
}

/// Adds blocks of equal size, none larger than [`MAX_CHECKS`].
pub(super) fn add_blocks(sealed: &mut SegmentContents, series: CheckSeries, entries: &[CheckEntry]) {
    let blocks = entries.len().div_ceil(MAX_CHECKS).max(1);
    let size = entries.len().div_ceil(blocks).max(1);
    sealed.blocks.extend(entries.chunks(size).map(|part| (series, CheckBlock::seal(part))));
}

/// Maximum number of checks of a block that is written: larger blocks save little per check, and take longer to read.
const MAX_CHECKS: usize = 4_096;

/// Adds the rollup of checks that are all within one span of `level`.
pub(super) fn add_rollup(
    sealed: &mut SegmentContents,
    series: CheckSeries,
    level: RollupLevel,
    entries: &[CheckEntry],
) {
    let Some(first) = entries.first() else { return };
    let start = level.start_of(first.checked_at);
    let samples: Vec<_> = entries.iter().map(|entry| entry.sample(series.location)).collect();
    sealed.rollups.push(SealedRollup { series, start, body: rollup::encode(level, start, &samples) });
}

fn hour_of(entry: &CheckEntry) -> Timestamp {
    RollupLevel::Hour.start_of(entry.checked_at)
}
