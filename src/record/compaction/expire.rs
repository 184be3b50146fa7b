//! Expiry: removes segments after their retention or beyond the size limit, and the results of deleted services.
//!
//! A segment is retired first and dropped a little later, when its last readers have finished. Dropping is removing a
//! file or a partition; only rows of deleted services and old status changes are deleted row by row.

use std::sync::atomic::Ordering;

use crate::clock::guard::JudgedTime;
use crate::clock::{DAY_MS, Timestamp};
use crate::record::compaction::Compaction;
use crate::store::history::progress;
use crate::store::history::segments::{self, Segment, SegmentLevel, SegmentScope};
use crate::store::history::{changes, erase};
use crate::store::{HistoryError, StoreError, services};

/// The time for which a retired segment stays for its readers, in milliseconds.
pub(in crate::record) const LAST_READERS_MS: i64 = 60_000;
/// The number of days for which status changes are kept, whatever the plan: longer than the span of any figure.
const CHANGES_RETENTION_DAYS: i64 = 400;
/// Status changes deleted with one commit.
const CHANGES_AT_ONCE: usize = 1_000;

impl Compaction {
    /// Retires segments after their retention or beyond the size limit, and drops segments that were retired at least
    /// `LAST_READERS_MS` ago.
    pub(super) async fn expire(&mut self, now: JudgedTime) -> Result<(), HistoryError> {
        let entered = segments::entered(self.history.reader()).await?;
        let (ended, retained): (Vec<Segment>, Vec<Segment>) =
            entered.into_iter().partition(|segment| now.is_trusted && segment.purpose.ends_at() <= now.at);
        for segment in ended {
            self.retire(&segment).await?;
        }
        self.enforce_byte_limit(&retained, now.earliest).await?;
        for segment in segments::retired(self.history.reader()).await? {
            // The difference is absolute, so that a clock that was set back does not delay the removal.
            if segment.retired_at.is_some_and(|at| now.at.ms_since(at).abs() >= LAST_READERS_MS) {
                self.history.storage().drop(segment.id).await?;
                let transaction = self.history.begin().await?;
                segments::forget(&transaction, segment.id).await?;
                transaction.commit().await?;
                self.counters.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.prune(now).await
    }

    /// Retires segments, oldest first, until the others are within the size limit. The day that is being written to stays.
    async fn enforce_byte_limit(&self, retained: &[Segment], now: Timestamp) -> Result<(), HistoryError> {
        let mut bytes = self.history.row_bytes().await?;
        let mut sizes = Vec::with_capacity(retained.len());
        for segment in retained {
            let size = self.history.storage().bytes(segment.id).await?;
            bytes += size;
            sizes.push((segment, size));
        }
        sizes.sort_unstable_by_key(|(segment, _)| segment.purpose.from);
        let allowed = self.limits.max_history_bytes.unwrap_or(u64::MAX);
        let mut left = retained.len() as u64;
        for (segment, size) in sizes {
            let SegmentScope { level, from, to, .. } = segment.purpose;
            if bytes <= allowed || (level == SegmentLevel::Day && to > now) {
                break;
            }
            tracing::warn!(
                %from,
                %to,
                bytes,
                limit_bytes = allowed,
                "history exceeds its size limit; deleting its oldest segment"
            );
            self.retire(segment).await?;
            bytes -= size;
            left -= 1;
        }
        self.counters.bytes.store(bytes, Ordering::Relaxed);
        self.counters.segments.store(left, Ordering::Relaxed);
        Ok(())
    }

    async fn retire(&self, segment: &Segment) -> Result<(), HistoryError> {
        let transaction = self.history.begin().await?;
        progress::check_fence(&transaction, self.fence).await?;
        segments::retire(&transaction, segment, self.present().at).await?;
        transaction.commit().await
    }

    /// Deletes status changes that are older than the span of any figure, once a day. They are few: a few rows per outage,
    /// not a row per check.
    async fn prune(&mut self, now: JudgedTime) -> Result<(), HistoryError> {
        if !now.is_trusted || self.pruned_on == Some(now.at.day()) {
            return Ok(());
        }
        let now = now.at;
        let before = now.plus_ms(-CHANGES_RETENTION_DAYS * DAY_MS);
        // Read without holding a lock, deleted a few at a time: no other work waits for the long query.
        let old = changes::superseded_before(self.history.reader(), before).await?;
        for some in old.chunks(CHANGES_AT_ONCE) {
            let transaction = self.history.begin().await?;
            changes::delete(&transaction, some).await?;
            transaction.commit().await?;
        }
        self.pruned_on = Some(now.day());
        Ok(())
    }

    /// Erases the measurements of deleted services.
    pub(super) async fn erase(&mut self) -> Result<(), StoreError> {
        let Some(main) = self.retention.main() else { return Ok(()) };
        for service in services::erasures(main.reader()).await? {
            erase::service(&self.history, service).await?;
            let transaction = main.begin().await?;
            services::finish_erasure(&transaction, service).await?;
            transaction.commit().await?;
        }
        Ok(())
    }
}
