//! Ends: segments that have been kept long enough, more bytes than allowed, services that were deleted.
//!
//! A segment is retired first and dropped a little later, when whoever was still reading it has finished. Dropping is
//! removing a file or a partition; nothing is deleted row by row but the few rows of a deleted service.

use std::sync::atomic::Ordering;

use crate::clock::Timestamp;
use crate::record::compaction::Compaction;
use crate::store::history::{erase, segments};
use crate::store::{StoreError, services};

/// How long a retired segment stays for those who read it.
const LAST_READERS_MS: i64 = 60_000;

impl Compaction {
    /// Retires what has been kept long enough and drops what was retired a while ago.
    pub(super) async fn expire(&mut self, now: Timestamp) -> Result<(), StoreError> {
        for segment in segments::entered(self.history.reader()).await? {
            if segment.purpose.ends_at() <= now {
                let transaction = self.history.begin().await?;
                segments::retire(&transaction, segment.id, now).await?;
                transaction.commit().await?;
            }
        }
        for segment in segments::retired(self.history.reader()).await? {
            if segment.retired_at.is_some_and(|at| now.ms_since(at) >= LAST_READERS_MS) {
                self.history.place().drop(segment.id).await?;
                let transaction = self.history.begin().await?;
                segments::forget(&transaction, segment.id).await?;
                transaction.commit().await?;
                self.counters.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
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
