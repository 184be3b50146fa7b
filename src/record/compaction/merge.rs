//! Merging: the small blocks of a day become large ones, with rollups of the day, in the segment of a longer period.
//!
//! A day is merged once its minutes are no longer requested. The segment of the day is retired with the commit that
//! makes the large blocks count.

use std::sync::atomic::Ordering;

use crate::clock::DAY_MS;
use crate::clock::guard::JudgedTime;
use crate::model::check::CheckStatus;
use crate::record::compaction::Compaction;
use crate::record::compaction::seal::{add_blocks, add_rollup};
use crate::record::compaction::segment_writer::PendingBatch;
use crate::stats::rollup;
use crate::store::history::blocks::{BlockBody, CheckEntry};
use crate::store::history::progress;
use crate::store::history::sealed::{self, BlockSummary, SegmentContents, ServiceRange};
use crate::store::history::segments::storage::SegmentConnection;
use crate::store::history::segments::{self, Segment, SegmentId, SegmentLevel, SegmentScope};
use crate::store::{HistoryError, StoreError};

/// The time from the end of a day to its merging, in milliseconds: ranges of up to 24 hours are made of minutes.
const DAY_SETTLE_MS: i64 = DAY_MS;
/// The wait before a day with an unreadable block is merged again, in milliseconds.
const RETRY_MS: i64 = 3_600_000;
/// Number of services that are merged at a time.
const SERVICES_AT_ONCE: u64 = 200;

impl Compaction {
    /// Merges all days that are due.
    pub(super) async fn merge(&mut self, now: JudgedTime) -> Result<(), StoreError> {
        // Merging a day removes its minutes, so the day must be over in any case.
        let now = now.earliest;
        let visible = segments::visible(self.history.reader()).await?;
        let is_due = |segment: &&Segment| {
            segment.purpose.level == SegmentLevel::Day && now >= segment.purpose.to.plus_ms(DAY_SETTLE_MS)
        };
        // Oldest first: a killed merge starts over, and a day that is about to be dropped is not worth it.
        self.unmergeable.retain(|_, at| now.ms_since(*at).abs() < RETRY_MS);
        let mut merged = Ok(());
        for day in visible.iter().rev().filter(is_due).filter(|day| day.purpose.ends_at() > now) {
            if self.unmergeable.contains_key(&day.id) {
                continue;
            }
            let result = self.merge_day(day.id).await;
            if matches!(result, Err(HistoryError::Corrupt(_))) {
                self.unmergeable.insert(day.id, now);
            }
            merged = merged.and(result.map_err(StoreError::from));
            // A long merge must not let unsealed rows accumulate.
            self.seal(self.present()).await?;
        }
        merged
    }

    /// Merges a day, including late results that were sealed into it since the start of the pass.
    async fn merge_day(&mut self, day: SegmentId) -> Result<(), HistoryError> {
        let Some(day) = segments::visible_one(self.history.reader(), day).await? else { return Ok(()) };
        let opened = self.history.storage().connect(day.id).await?;
        let purpose = SegmentScope::of(SegmentLevel::Period, day.purpose.retention, day.purpose.from);
        let mut pending = PendingBatch::default();
        let mut merged = 0;
        let mut after = i64::MIN;
        loop {
            let services = sealed::services_after(&opened, &day, after, SERVICES_AT_ONCE).await?;
            let (Some(first), Some(last)) = (services.first(), services.last()) else { break };
            after = *last;
            let (sealed, checks) =
                merged_blocks(&opened, &day, ServiceRange { first: *first, last: *last }).await?;
            self.writer.add(&mut pending, purpose, &sealed).await?;
            merged += checks;
        }
        let transaction = self.history.begin().await?;
        progress::check_fence(&transaction, self.fence).await?;
        pending.publish(&transaction).await?;
        segments::retire(&transaction, &day, self.present().at).await?;
        transaction.commit().await?;
        self.writer.published(&pending);
        for segment in pending.segments() {
            self.history.storage().settle(segment).await?;
        }
        self.counters.merged.fetch_add(merged, Ordering::Relaxed);
        Ok(())
    }
}

/// Returns the checks of these services as large blocks, with rollups of the day, and their number.
async fn merged_blocks(
    opened: &SegmentConnection,
    day: &Segment,
    services: ServiceRange,
) -> Result<(SegmentContents, u64), HistoryError> {
    let mut sealed = SegmentContents::default();
    let mut checks = 0;
    let blocks = sealed::blocks_of(opened, day, services).await?;
    for of_series in blocks.chunk_by(|(left, _), (right, _)| left.series == right.series) {
        let mut entries = Vec::new();
        for (summary, body) in of_series {
            entries.extend(read(summary, body)?);
        }
        entries.sort_by_key(|entry| entry.checked_at);
        checks += entries.len() as u64;
        let series = of_series[0].0.series;
        add_rollup(&mut sealed, series, rollup::RollupLevel::Day, &entries);
        // Failures are few, and are often read alone: in blocks of their own they are found without reading the others.
        let (up, failures): (Vec<CheckEntry>, Vec<CheckEntry>) =
            entries.into_iter().partition(|entry| entry.measurement.status == CheckStatus::Up);
        for part in [up, failures] {
            if !part.is_empty() {
                add_blocks(&mut sealed, series, &part);
            }
        }
    }
    Ok((sealed, checks))
}

fn read(summary: &BlockSummary, body: &[u8]) -> Result<Vec<CheckEntry>, HistoryError> {
    let entries = BlockBody::open(body).and_then(|body| body.entries());
    entries.map_err(|error| sealed::damaged(summary, &error))
}
