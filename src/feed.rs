//! The status changes in their order, for whoever reacts to them: each once, also under a kill.
//!
//! A reader has a name and a position in every partition of services. It moves in the transaction of what the changes up to
//! it have caused; a reader that dies in between reads them again, one that has been overtaken is refused.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, broadcast};
use tokio::time::Instant;

use crate::announcer::stored::Stored;
use crate::engine::aggregator::Batch;
use crate::model::partition::{Partition, Partitions};
use crate::store::feed_positions::{self, Positions};
use crate::store::history::History;
use crate::store::history::feed::{self, NumberedChange};
use crate::store::{Database, HistoryError, MainError, Reader as Pool, Transaction};

/// Changes read, and followed in one transaction, at a time: fewer let others write sooner in between, more cost less for each.
const AT_ONCE: u64 = 200;
/// The time after which partitions without changes are moved along.
const MOVED_EVERY: Duration = Duration::from_secs(300);
/// Changes after which they are moved along before that.
const MOVED_BEYOND: i64 = 10_000;

/// Batches that wait for whoever listens to them.
const BATCHES: usize = 256;

/// Says that measurements have become durable.
#[derive(Debug)]
pub struct News {
    changes: Notify,
    batches: broadcast::Sender<Arc<Batch>>,
    stored: Arc<Stored>,
}

impl Default for News {
    fn default() -> Self {
        Self { changes: Notify::new(), batches: broadcast::Sender::new(BATCHES), stored: Arc::default() }
    }
}

impl News {
    /// There are changes of status. One waits for them: whoever makes incidents of them.
    pub fn ring(&self) {
        self.changes.notify_one();
    }

    /// Waits until there are some; those that came since the last wait count.
    pub async fn wait(&self) {
        self.changes.notified().await;
    }

    /// This batch is stored: says so to all who listen, waits for none.
    pub fn tell(&self, batch: &Arc<Batch>) {
        if !batch.changes.is_empty() {
            self.ring();
        }
        self.stored.note(batch);
        // Nobody may be listening.
        let _ = self.batches.send(Arc::clone(batch));
    }

    /// What other nodes are told of it.
    #[must_use]
    pub fn stored(&self) -> Arc<Stored> {
        Arc::clone(&self.stored)
    }

    /// Every batch that is stored from now on.
    #[must_use]
    pub fn batches(&self) -> broadcast::Receiver<Arc<Batch>> {
        self.batches.subscribe()
    }
}

/// A reader of the changes.
#[derive(Debug)]
pub struct Feed {
    name: &'static str,
    /// Positions as they are stored.
    stored: Positions,
    /// Where reading goes on: partitions without changes of their own come along, and are stored now and then.
    read: BTreeMap<Partition, i64>,
    /// The time at which quiet partitions were last moved along; `None` = not by this process.
    moved_at: Option<Instant>,
}

/// Changes that have been read and not yet taken in.
#[derive(Debug)]
pub struct Changes {
    /// The changes, in their order.
    pub changes: Vec<NumberedChange>,
    /// The number of the last row that was looked at.
    last: i64,
}

impl Feed {
    /// A reader of this name.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, stored: Positions::new(), read: BTreeMap::new(), moved_at: None }
    }

    /// Reads these partitions from now on; those that were never read by this name are given back, and are begun with
    /// [`Self::begin`].
    ///
    /// # Errors
    /// When the main database fails.
    pub async fn take(&mut self, main: &Pool, partitions: Partitions) -> Result<Partitions, MainError> {
        self.stored.retain(|partition, _| partitions.contains(*partition));
        let missing: Partitions =
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

    /// Begins to read partitions behind this change, in a transaction that has taken in what was before.
    ///
    /// # Errors
    /// When the main database fails.
    pub async fn begin(
        &self,
        transaction: &Transaction,
        partitions: Partitions,
        position: i64,
    ) -> Result<(), MainError> {
        feed_positions::begin(transaction, self.name, partitions.iter(), position).await
    }

    /// Reads the next changes; `None` when there are none.
    ///
    /// # Errors
    /// When the history database fails.
    pub async fn next(&mut self, history: &Pool) -> Result<Option<Changes>, HistoryError> {
        let partitions: Partitions = self.read.keys().copied().collect();
        loop {
            let Some(from) = self.read.values().copied().min() else { return Ok(None) };
            let mut changes = feed::after(history, from, partitions, AT_ONCE).await?;
            let Some(last) = changes.last().map(|change| change.number) else { return Ok(None) };
            changes.retain(|change| self.is_new(change));
            if !changes.is_empty() {
                return Ok(Some(Changes { changes, last }));
            }
            self.read.values_mut().for_each(|position| *position = (*position).max(last));
        }
    }

    /// Moves behind these changes, in the transaction of their effects; `false` when somebody else has read them: then
    /// nothing of the transaction may be committed, and positions are read anew.
    ///
    /// # Errors
    /// When the main database fails.
    pub async fn advance(&mut self, transaction: &Transaction, changes: &Changes) -> Result<bool, MainError> {
        for (partition, to) in last_numbers(changes) {
            let from = self.stored.get(&partition).copied().unwrap_or_default();
            if !feed_positions::advance(transaction, self.name, partition, (from, to)).await? {
                self.stored.clear();
                self.read.clear();
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The transaction that has moved behind these changes is committed.
    pub fn note_advanced(&mut self, changes: &Changes) {
        self.stored.extend(last_numbers(changes));
        self.read.values_mut().for_each(|position| *position = (*position).max(changes.last));
    }

    /// Returns a number to which partitions without changes may be moved, if it is time for that: after everything that
    /// [`Self::next`] gives from now on has been taken in, nothing below it is unread, nor on its way.
    ///
    /// # Errors
    /// When the history database fails.
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

    /// Moves what has been read to this horizon. Positions that somebody else has moved meanwhile stay.
    ///
    /// # Errors
    /// When the main database fails.
    pub async fn move_along(&mut self, main: &Database, horizon: i64) -> Result<(), MainError> {
        let mut behind = self.stored.clone();
        behind.retain(|_, position| *position < horizon);
        if !behind.is_empty() {
            let transaction = main.begin().await?;
            feed_positions::move_along(&transaction, self.name, &behind, horizon).await?;
            transaction.commit().await?;
            // Read again with the next look: not all of them may have moved.
            self.stored.clear();
        }
        self.read.values_mut().for_each(|position| *position = (*position).max(horizon));
        self.moved_at = Some(Instant::now());
        Ok(())
    }

    /// What was not committed is read again, from what is stored.
    pub fn forget(&mut self) {
        self.stored.clear();
        self.read.clear();
    }

    fn is_new(&self, change: &NumberedChange) -> bool {
        let position = self.read.get(&Partition::of(change.change.service));
        position.is_some_and(|position| *position < change.number)
    }
}

/// The last number of each partition.
fn last_numbers(changes: &Changes) -> BTreeMap<Partition, i64> {
    changes.changes.iter().map(|change| (Partition::of(change.change.service), change.number)).collect()
}
