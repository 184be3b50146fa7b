//! Ends: segments that have been kept long enough, more bytes than allowed, services that were deleted.
//!
//! A segment is retired first and dropped a little later, when whoever was still reading it has finished. Dropping is
//! removing a file or a partition; nothing is deleted row by row but what a deleted service leaves, and old status changes.

use std::sync::atomic::Ordering;

use crate::clock::{DAY_MS, Timestamp};
use crate::record::compaction::Compaction;
use crate::store::history::segments::{self, Segment};
use crate::store::history::{changes, erase};
use crate::store::{StoreError, services};

/// How long a retired segment stays for those who read it.
const LAST_READERS_MS: i64 = 60_000;
/// How long status changes are kept, whatever the plan: longer than any figure reaches back.
const CHANGES_KEPT_DAYS: i64 = 400;

impl Compaction {
    /// Retires what has been kept long enough or is too much, and drops what was retired a while ago.
    pub(super) async fn expire(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let entered = segments::entered(self.history.reader()).await?;
        let (ended, kept): (Vec<Segment>, Vec<Segment>) =
            entered.into_iter().partition(|segment| segment.purpose.ends_at() <= now);
        for segment in ended {
            self.retire(&segment, now).await?;
        }
        self.bound(&kept, now).await?;
        for segment in segments::retired(self.history.reader()).await? {
            if segment.retired_at.is_some_and(|at| now.ms_since(at) >= LAST_READERS_MS) {
                self.history.place().drop(segment.id).await?;
                let transaction = self.history.begin().await?;
                segments::forget(&transaction, segment.id).await?;
                transaction.commit().await?;
                self.counters.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.prune(now).await
    }

    /// Retires the oldest segments until the rest is within the bound. The day that is being written to stays.
    async fn bound(&self, kept: &[Segment], now: Timestamp) -> Result<(), StoreError> {
        let mut bytes = self.history.row_bytes().await?;
        let mut sizes = Vec::with_capacity(kept.len());
        for segment in kept {
            let size = self.history.place().bytes(segment.id).await?;
            bytes += size;
            sizes.push((segment.purpose.to, segment, size));
        }
        sizes.sort_unstable_by_key(|(to, ..)| *to);
        let allowed = self.limits.max_history_bytes.unwrap_or(u64::MAX);
        let mut left = kept.len() as u64;
        for (to, segment, size) in sizes {
            if bytes <= allowed || to > now {
                break;
            }
            tracing::warn!(from = %segment.purpose.from, %to, "the history is too large: its oldest part goes");
            self.retire(segment, now).await?;
            bytes -= size;
            left -= 1;
        }
        self.counters.bytes.store(bytes, Ordering::Relaxed);
        self.counters.segments.store(left, Ordering::Relaxed);
        Ok(())
    }

    async fn retire(&self, segment: &Segment, now: Timestamp) -> Result<(), StoreError> {
        let transaction = self.history.begin().await?;
        segments::retire(&transaction, segment.id, now).await?;
        Ok(transaction.commit().await?)
    }

    /// Forgets status changes that no figure reaches back to, once a day. They are few: a row an outage, not a row a check.
    async fn prune(&mut self, now: Timestamp) -> Result<(), StoreError> {
        if self.pruned_on == Some(now.day()) {
            return Ok(());
        }
        let before = now.plus_ms(-CHANGES_KEPT_DAYS * DAY_MS);
        loop {
            let transaction = self.history.begin().await?;
            let gone = changes::prune(&transaction, before).await?;
            transaction.commit().await?;
            if gone == 0 {
                break;
            }
        }
        self.pruned_on = Some(now.day());
        Ok(())
    }

    /// Erases what was measured of services that were deleted.
    pub(super) async fn erase(&mut self) -> Result<(), StoreError> {
        let Some(main) = self.keeping.main() else { return Ok(()) };
        for service in services::erasures(main.reader()).await? {
            erase::service(&self.history, service).await?;
            let transaction = main.begin().await?;
            services::finish_erasure(&transaction, service).await?;
            transaction.commit().await?;
        }
        Ok(())
    }
}
