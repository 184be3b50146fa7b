//! The status changes in order, for readers that process each change once, even if the process is killed.
//!
//! A reader has a name and a position in every partition of services. The position is updated in the transaction that stores
//! the consequences of the changes. A reader that dies before the commit reads the changes again; a reader that another
//! process has overtaken is refused.
//!
//! Functions fail when the database that they use does.

pub mod read_progress;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, broadcast};
use tokio::time::Instant;

use crate::engine::aggregator::RecordBatch;
use crate::model::partition::{Partition, PartitionSet};
use crate::service_router::recent_results::RecentResults;
use crate::store::feed_positions::{self, Positions};
use crate::store::history::History;
use crate::store::history::feed::{self, NumberedChange};
use crate::store::{Database, HistoryError, MainError, Reader as Pool, Transaction};

/// Maximum number of changes processed in one transaction. Fewer let other writers in sooner; more cost less per change.
const AT_ONCE: u64 = 200;
/// The time after which the positions of partitions without changes are advanced.
const MOVED_EVERY: Duration = Duration::from_secs(300);
/// Number of changes after which the positions of partitions without changes are advanced before `MOVED_EVERY` has passed.
const MOVED_BEYOND: i64 = 10_000;

/// Capacity of the queue of batches, for each listener.
const BATCHES: usize = 256;

/// Signals that measurements have become durable.
#[derive(Debug)]
pub struct ChangeSignal {
    changes: Notify,
    batches: broadcast::Sender<Arc<RecordBatch>>,
    stored: Arc<RecentResults>,
}

impl Default for ChangeSignal {
    fn default() -> Self {
        Self { changes: Notify::new(), batches: broadcast::Sender::new(BATCHES), stored: Arc::default() }
    }
}

impl ChangeSignal {
    /// Wakes the only reader of status changes, which opens and updates incidents.
    pub fn notify_changes(&self) {
        self.changes.notify_one();
    }

    /// Waits for status changes; returns at once if there were any since the last wait.
    pub async fn wait(&self) {
        self.changes.notified().await;
    }

    /// Sends a stored batch to all listeners, without waiting for them.
    pub fn publish_batch(&self, batch: &Arc<RecordBatch>) {
        if !batch.changes.is_empty() {
            self.notify_changes();
        }
        self.stored.note(batch);
        // Sending fails if there is no listener.
        let _ = self.batches.send(Arc::clone(batch));
    }

    /// The recent results, which other nodes poll.
    #[must_use]
    pub fn stored(&self) -> Arc<RecentResults> {
        Arc::clone(&self.stored)
    }

    /// Subscribes to every batch that is stored from now on.
    #[must_use]
    pub fn batches(&self) -> broadcast::Receiver<Arc<RecordBatch>> {
        self.batches.subscribe()
    }
}

/// A named reader of the status changes.
#[derive(Debug)]
pub struct ChangeFeed {
    name: &'static str,
    stored: Positions,
    /// Number up to which each partition has been read. Positions of partitions without changes advance too, and are stored
    /// from time to time.
    read: BTreeMap<Partition, i64>,
    /// Time at which partitions without changes were last advanced; `None` = not yet by this process.
    moved_at: Option<Instant>,
}

/// Changes that have been read and not yet processed.
#[derive(Debug)]
pub struct FeedBatch {
    /// The changes, in their order.
    pub changes: Vec<NumberedChange>,
    /// The number of the last row that was read.
    last: i64,
}

impl ChangeFeed {
    /// Creates a reader with this name.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, stored: Positions::new(), read: BTreeMap::new(), moved_at: None }
    }

    /// Reads these partitions from now on. Returns those that no reader of this name has read before; they have to be
    /// started with [`Self::begin`].
    pub async fn take(&mut self, main: &Pool, partitions: PartitionSet) -> Result<PartitionSet, MainError> {
        self.stored.retain(|partition, _| partitions.contains(*partition));
        let missing: PartitionSet =
            partitions.iter().filter(|partition| !self.stored.contains_key(partition)).collect();
        if !missing.is_empty() {
            self.stored.extend(feed_positions::find(main, self.name, missing).await?);
        }
        let (stored, read) = (&self.stored, &mut self.read);
        read.retain(|partition, _| stored.contains_key(partition));
        for (partition, position) in stored {
            read.entry(*partition).or_insert(*position);
        }
        Ok(partitions.iter().filter(|partition| !self.stored.contains_key(partition)).collect())
    }

    /// Stores `position` as the start of these partitions: changes after it will be read. The transaction must have taken
    /// all earlier changes into account.
    pub async fn begin(
        &self,
        transaction: &Transaction,
        partitions: PartitionSet,
        position: i64,
    ) -> Result<(), MainError> {
        feed_positions::begin(transaction, self.name, partitions.iter(), position).await
    }

    /// Reads the next changes; `None` when there are none.
    pub async fn next(&mut self, history: &Pool) -> Result<Option<FeedBatch>, HistoryError> {
        let partitions: PartitionSet = self.read.keys().copied().collect();
        loop {
            let Some(from) = self.read.values().copied().min() else { return Ok(None) };
            let mut changes = feed::after(history, from, partitions, AT_ONCE).await?;
            let Some(last) = changes.last().map(|change| change.number) else { return Ok(None) };
            changes.retain(|change| self.is_new(change));
            if !changes.is_empty() {
                return Ok(Some(FeedBatch { changes, last }));
            }
            self.read.values_mut().for_each(|position| *position = (*position).max(last));
        }
    }

    /// Advances past these changes, in the transaction of their consequences. Returns false when another process has read
    /// the changes: then the transaction must not be committed, and the positions are read again.
    pub async fn advance(
        &mut self,
        transaction: &Transaction,
        changes: &FeedBatch,
    ) -> Result<bool, MainError> {
        for (partition, to) in last_numbers(changes) {
            let from = self.stored.get(&partition).copied().unwrap_or_default();
            if !feed_positions::advance(transaction, self.name, partition, from, to).await? {
                self.stored.clear();
                self.read.clear();
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Notes that the transaction that advanced past these changes was committed.
    pub fn note_advanced(&mut self, changes: &FeedBatch) {
        self.stored.extend(last_numbers(changes));
        self.read.values_mut().for_each(|position| *position = (*position).max(changes.last));
    }

    /// Returns the number to which partitions without changes may be advanced; `None` if that is not due. No change below it
    /// is unread or uncommitted once everything that [`Self::next`] returns from now on is processed.
    pub async fn horizon(&self, history: &History) -> Result<Option<i64>, HistoryError> {
        let is_recent = self.moved_at.is_some_and(|moved_at| moved_at.elapsed() < MOVED_EVERY);
        let newest = self.read.values().max().copied().unwrap_or_default();
        let oldest = self.stored.values().min().copied().unwrap_or_default();
        if self.stored.is_empty() || is_recent && newest - oldest < MOVED_BEYOND {
            return Ok(None);
        }
        let transaction = history.begin().await?;
        let horizon = feed::last_number(&transaction).await?;
        feed::wait_for_writers(&transaction, self.stored.keys().copied().collect()).await?;
        transaction.commit().await?;
        Ok(Some(horizon))
    }

    /// Advances the positions to this horizon. Positions that another process has changed meanwhile are kept.
    pub async fn advance_to_horizon(&mut self, main: &Database, horizon: i64) -> Result<(), MainError> {
        let mut behind = self.stored.clone();
        behind.retain(|_, position| *position < horizon);
        if !behind.is_empty() {
            let transaction = main.begin().await?;
            feed_positions::move_along(&transaction, self.name, &behind, horizon).await?;
            transaction.commit().await?;
            // Stored positions are read again, since some may not have advanced.
            self.stored.clear();
        }
        self.read.values_mut().for_each(|position| *position = (*position).max(horizon));
        self.moved_at = Some(Instant::now());
        Ok(())
    }

    /// Drops the read positions after a failed commit; reading continues from the stored positions.
    pub fn forget(&mut self) {
        self.stored.clear();
        self.read.clear();
    }

    fn is_new(&self, change: &NumberedChange) -> bool {
        let position = self.read.get(&Partition::of(change.change.service));
        position.is_some_and(|position| *position < change.number)
    }
}

/// Returns the last number of each partition.
fn last_numbers(changes: &FeedBatch) -> BTreeMap<Partition, i64> {
    changes.changes.iter().map(|change| (Partition::of(change.change.service), change.number)).collect()
}
