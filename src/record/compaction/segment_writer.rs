//! The segments that are written to: found by their purpose, created when they are missing, and cleaned of the
//! leftovers of an interrupted pass before anything is added.

use std::collections::{HashMap, HashSet};

use crate::store::history::History;
use crate::store::history::sealed::{self, BatchKey, SegmentContents};
use crate::store::history::segments::{self, Segment, SegmentId, SegmentScope};
use crate::store::{HistoryError, StoreConnection};

#[derive(Debug)]
pub(super) struct SegmentWriter {
    history: History,
    /// Segments without leftovers: they were cleaned, and no publication of a batch in them has failed since.
    clean: HashSet<SegmentId>,
}

/// A batch in several segments that one commit publishes.
#[derive(Debug, Default)]
pub(super) struct PendingBatch {
    segments: HashMap<SegmentScope, Segment>,
}

impl SegmentWriter {
    pub(super) fn new(history: History) -> Self {
        Self { history, clean: HashSet::new() }
    }

    /// Adds contents to the segment of this purpose, in the batch that is published next.
    pub(super) async fn add(
        &mut self,
        pending: &mut PendingBatch,
        purpose: SegmentScope,
        sealed: &SegmentContents,
    ) -> Result<(), HistoryError> {
        let segment = match pending.segments.get(&purpose) {
            Some(segment) => *segment,
            None => self.ready(purpose).await?,
        };
        pending.segments.insert(purpose, segment);
        // Until the batch is published, its contents are leftovers if anything fails.
        self.clean.remove(&segment.id);
        let opened = self.history.storage().connect(segment.id).await?;
        sealed::write(&opened, BatchKey { segment: segment.id, number: segment.sealed_batch + 1 }, sealed)
            .await
    }

    /// Notes that the batch is visible; called after the commit of [`PendingBatch::publish`].
    pub(super) fn published(&mut self, pending: &PendingBatch) {
        self.clean.extend(pending.segments.values().map(|segment| segment.id));
    }

    /// Forgets which segments are clean, because another process may have written to them.
    pub(super) fn forget(&mut self) {
        self.clean.clear();
    }

    async fn ready(&mut self, purpose: SegmentScope) -> Result<Segment, HistoryError> {
        let entered = segments::entered(self.history.reader()).await?;
        let segment = match entered.into_iter().find(|segment| segment.purpose == purpose) {
            Some(segment) => segment,
            None => {
                let transaction = self.history.begin().await?;
                let segment = segments::enter(&transaction, purpose).await?;
                transaction.commit().await?;
                segment
            }
        };
        if !self.clean.contains(&segment.id) {
            // A segment with contents is never created again: if its file is missing, that is an error, not an empty
            // segment.
            if segment.sealed_batch == 0 {
                self.history.storage().make(segment.id).await?;
            }
            let opened = self.history.storage().connect(segment.id).await?;
            sealed::purge(&opened, segment.sealed_batch).await?;
        }
        Ok(segment)
    }
}

impl PendingBatch {
    /// Publishes the batch with the commit of this transaction.
    pub(super) async fn publish(&self, transaction: &dyn StoreConnection) -> Result<(), HistoryError> {
        for segment in self.segments.values() {
            segments::publish(transaction, segment.id, segment.sealed_batch + 1).await?;
        }
        Ok(())
    }

    /// Returns the segments that were written to.
    pub(super) fn segments(&self) -> impl Iterator<Item = SegmentId> {
        self.segments.values().map(|segment| segment.id)
    }
}
