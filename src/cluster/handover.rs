//! Start and end of the watch of a partition's services.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::timeout;

use crate::feed::ChangeSignal;
use crate::model::ledger::FencingToken;
use crate::model::partition::{Partition, PartitionSet};
use crate::model::service::ServiceAddress;
use crate::record::recorder::{DrainRequest, Recorder};
use crate::record::restore::{self, absences};
use crate::service_router::ServiceRouter;
use crate::service_router::ownership::NodeIdentity;
use crate::store::StoreError;
use crate::store::history::holds::{self, PartitionHold};
use crate::supervise::ActorHandle;

/// Time limit for storing results at a handover.
const STORED_WITHIN: Duration = Duration::from_secs(2);
/// Time limit for the past figures of services that are watched again.
const FIGURES_WITHIN: Duration = Duration::from_secs(2);

/// Starts and ends the watch of services, by partitions.
#[derive(Clone, Debug)]
pub struct PartitionHandover {
    /// The router, with the services, the engine, and the partitions of this node.
    pub router: ServiceRouter,
    /// The recorder, which stores results.
    pub recorder: ActorHandle<Recorder>,
    /// Notified of partitions whose status changes may not have been read completely.
    pub change_signal: Arc<ChangeSignal>,
    /// Name and id of this node.
    pub member: NodeIdentity,
}

impl PartitionHandover {
    /// Returns true once every result of this node is stored; may take a while.
    pub async fn is_stored(&self) -> bool {
        timeout(STORED_WITHIN, self.recorder.send(DrainRequest)).await.is_ok_and(|drained| drained.is_ok())
    }

    /// Starts partitions: stores the new holder in the database, then continues the watch of every service. After an
    /// error the caller has to call [`lose`](Self::lose) for them.
    ///
    /// # Errors
    ///
    /// When a database cannot be reached, or has a holder with a later token.
    pub async fn begin(&self, partitions: PartitionSet, fence: FencingToken) -> Result<(), StoreError> {
        let ServiceRouter { databases, engine, ownership, .. } = &self.router;
        let hold = PartitionHold { holder: Some(self.member.folder), fence, taken_at: engine.now() };
        // If the database user may not end them, the lock is waited for, with the time limit of any statement.
        if let Err(error) = holds::terminate_stalled_copy_statements(databases.history.reader()).await {
            tracing::warn!(%error, "cannot end stalled writes to the history database");
        }
        let before = holds::read(databases.history.reader(), partitions).await?;
        let transaction = databases.history.begin().await?;
        holds::limit_idling(&transaction).await?;
        holds::take(&transaction, partitions, hold).await?;
        transaction.commit().await?;
        ownership.hold(partitions, fence);
        self.note_absences(partitions, &before).await?;
        self.watch(partitions).await
    }

    /// Starts the partitions that this node holds according to the database, except those it already watches;
    /// returns them.
    ///
    /// # Errors
    ///
    /// When a database cannot be reached; nothing has been started then.
    pub async fn begin_held(&self, watched: PartitionSet) -> Result<PartitionSet, StoreError> {
        let ServiceRouter { databases, ownership, .. } = &self.router;
        if watched == PartitionSet::ALL || !self.is_stored().await {
            return Ok(PartitionSet::NONE);
        }
        let transaction = databases.history.begin().await?;
        let mut holds = holds::lock_shared(&transaction, PartitionSet::ALL.without(watched)).await?;
        transaction.commit().await?;
        holds.retain(|_, hold| hold.holder == Some(self.member.folder));
        for (partition, hold) in &holds {
            ownership.hold([*partition].into_iter().collect(), hold.fence);
        }
        let partitions: PartitionSet = holds.keys().copied().collect();
        if partitions.is_empty() {
            return Ok(partitions);
        }
        let watching = async {
            self.note_absences(partitions, &holds).await?;
            self.watch(partitions).await
        };
        match watching.await {
            Ok(()) => Ok(partitions),
            Err(error) => {
                self.lose(partitions).await;
                Err(error)
            }
        }
    }

    /// Returns the newest fencing token in the database.
    pub async fn newest_fence(&self) -> Result<Option<FencingToken>, StoreError> {
        Ok(holds::newest(self.router.databases.history.reader()).await?)
    }

    /// Passes to the engine the times in which no node received the pings of services that this node watches
    /// from now on.
    async fn note_absences(
        &self,
        partitions: PartitionSet,
        before: &BTreeMap<Partition, PartitionHold>,
    ) -> Result<(), StoreError> {
        let ServiceRouter { databases, engine, .. } = &self.router;
        let found = absences::of_partitions(databases, partitions, before, engine.now()).await?;
        let listening = engine.listening();
        for (partition, absences) in &found {
            listening.note_taken(*partition, absences);
        }
        Ok(())
    }

    /// Watches every service of these held partitions. They are ready when their figures are loaded, or after a short
    /// wait.
    async fn watch(&self, partitions: PartitionSet) -> Result<(), StoreError> {
        let ServiceRouter { databases, engine, ownership, changes, .. } = &self.router;
        // An engine that has stopped watches nothing anyway.
        let _ = engine.permit(partitions).await;
        // Boxed: the future is large.
        let restored = restore::restore_partitions(&self.router, partitions).boxed_local().await?;
        for service in &restored {
            engine.past_changed(ServiceAddress { id: service.id, key: service.key });
        }
        let _ = engine.flush().await;
        if self.is_stored().await {
            let figures = restore::figures::recompute_undone(databases, engine).boxed_local();
            match timeout(FIGURES_WITHIN, figures).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!(%error, "cannot load the figures of the acquired partitions; retrying in the background");
                }
                Err(_) => tracing::info!(
                    "figures of the acquired partitions not loaded yet; loading them in the background"
                ),
            }
        }
        ownership.note_ready(partitions);
        self.change_signal.notify_changes();
        changes.mark_all();
        tracing::info!(partitions = partitions.len(), services = restored.len(), "partitions acquired");
        Ok(())
    }

    /// Ends partitions in order: stops the checks, then stores their results, so that the next owner finds them.
    pub async fn end(&self, partitions: PartitionSet) {
        let ServiceRouter { engine, ownership, changes, .. } = &self.router;
        ownership.stop_watching(partitions);
        if engine.release(partitions).await.is_err() {
            tracing::warn!("cannot stop the checks of released partitions: the engine has stopped");
        }
        if !self.is_stored().await {
            tracing::warn!("latest results not stored before the hand-over; they are stored later");
        }
        changes.mark_all();
    }

    /// Ends partitions at once, because another node has taken them.
    pub async fn lose(&self, partitions: PartitionSet) {
        let ServiceRouter { engine, ownership, changes, .. } = &self.router;
        ownership.let_go(partitions);
        if engine.release(partitions).await.is_err() {
            tracing::warn!("cannot stop the checks of released partitions: the engine has stopped");
        }
        changes.mark_all();
    }
}
