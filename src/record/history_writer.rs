//! Writes batches into the history: a batch becomes rows in one transaction, all of them or none.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;

use crate::engine::aggregator::RecordBatch;
use crate::model::location::LocationCode;
use crate::model::partition::Partition;
use crate::record::fence::{self, FenceCounters};
use crate::record::recorder::{BatchDestination, BatchStoreError};
use crate::service_router::ownership::Ownership;
use crate::store::HistoryError;
use crate::store::history::locations::LocationNumbers;
use crate::store::history::{History, append, feed, holds};

/// Writes batches, and caches the dictionary of locations. Cheap to clone.
#[derive(Clone, Debug)]
pub struct HistoryWriter {
    history: History,
    /// Locations whose results are expected.
    codes: Arc<[LocationCode]>,
    locations: Arc<Mutex<LocationNumbers>>,
    /// The partitions of this node, and the counters of facts that were refused because their partition belongs to another
    /// node; `None` = nothing is refused.
    fence: Option<(Ownership, Arc<FenceCounters>)>,
}

impl HistoryWriter {
    /// Creates a writer that expects results of these locations; results of other locations can be written as well.
    #[must_use]
    pub fn new(history: History, codes: Vec<LocationCode>) -> Self {
        Self { history, codes: codes.into(), locations: Arc::default(), fence: None }
    }

    /// Returns the writer, restricted to facts of this node's partitions; refused facts are counted.
    #[must_use]
    pub fn fenced(self, ownership: &Ownership, counters: &Arc<FenceCounters>) -> Self {
        let fence = ownership.member().map(|_| (ownership.clone(), Arc::clone(counters)));
        Self { fence, ..self }
    }

    /// Writes a batch. Writing it again changes nothing.
    ///
    /// # Errors
    ///
    /// When the history database fails; nothing of the batch is written then.
    pub async fn write(&self, batch: &RecordBatch) -> Result<(), HistoryError> {
        let transaction = self.history.begin().await?;
        let batch = match &self.fence {
            Some((ownership, counters)) => {
                holds::limit_idling(&transaction).await?;
                let holds = holds::lock_shared(&transaction, fence::partitions_of(batch)).await?;
                Cow::Owned(fence::permitted(batch, ownership, &holds, counters))
            }
            None => Cow::Borrowed(batch),
        };
        let mut locations = self.locations.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Results from the spool or from a remote location may name a location that this process does not have.
        let named = self.codes.iter().chain(batch.checks.iter().map(|check| &check.location));
        let unknown: BTreeSet<&LocationCode> = named.filter(|code| !locations.knows(code)).collect();
        let has_unknown = !unknown.is_empty();
        if has_unknown {
            let codes: Vec<LocationCode> = unknown.into_iter().cloned().collect();
            locations = LocationNumbers::ensure(&transaction, &codes).await?;
        }
        append::checks(&transaction, self.history.storage(), &batch.checks, &locations).await?;
        let changed = batch.changes.iter().map(|change| Partition::of(change.service)).collect();
        feed::announce(&transaction, changed).await?;
        append::changes(&transaction, &batch.changes).await?;
        transaction.commit().await?;
        // Stored after the commit, because a number that is rolled back may be assigned to another location.
        if has_unknown {
            *self.locations.lock().unwrap_or_else(PoisonError::into_inner) = locations;
        }
        Ok(())
    }
}

impl BatchDestination for HistoryWriter {
    fn store(&self, batch: Arc<RecordBatch>) -> LocalBoxFuture<'static, Result<(), BatchStoreError>> {
        let writer = self.clone();
        async move { writer.write(&batch).await.map_err(|error| BatchStoreError(error.to_string())) }
            .boxed_local()
    }
}
