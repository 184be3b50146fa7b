//! The watch of a partition's services begins and ends here.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::timeout;

use crate::announcer::Announcer;
use crate::announcer::ownership::Member;
use crate::model::ledger::Fence;
use crate::model::partition::Partitions;
use crate::model::service::ServiceAddress;
use crate::record::recorder::{Drain, Recorder};
use crate::record::recovery::Returned;
use crate::record::restore;
use crate::store::StoreError;
use crate::store::history::holds::{self, Hold};
use crate::supervise::Handle;

/// The longest time that a hand-over waits until what was measured is stored.
const STORED_WITHIN: Duration = Duration::from_secs(2);

/// Begins and ends the watch of services, by partitions.
#[derive(Clone, Debug)]
pub struct Handover {
    /// Knows the services, the engine, and what this node owns.
    pub announcer: Announcer,
    /// Stores what was measured.
    pub recorder: Handle<Recorder>,
    /// Told of services whose recoveries may not be marked yet.
    pub returned: Arc<Returned>,
    /// This node.
    pub member: Member,
}

impl Handover {
    /// Begins: the database knows the new holder, then every service is watched from where it stopped. On an error nothing
    /// of it is held.
    ///
    /// # Errors
    /// A database cannot be reached.
    pub async fn begin(&self, partitions: Partitions, fence: Fence) -> Result<(), StoreError> {
        let Announcer { databases, engine, ownership, .. } = &self.announcer;
        // What an earlier process of this node has left is the past of these services.
        let _ = timeout(STORED_WITHIN, self.recorder.send(Drain)).await;
        let hold = Hold { holder: Some(self.member.folder), fence, taken_at: engine.now() };
        let transaction = databases.history.begin().await?;
        holds::take(&transaction, partitions, hold).await?;
        transaction.commit().await?;
        ownership.hold(partitions, fence);
        self.watch(partitions).await
    }

    /// Begins with what the database says that this node holds; which partitions these are.
    ///
    /// # Errors
    /// A database cannot be reached.
    pub async fn go_on(&self) -> Result<Partitions, StoreError> {
        let Announcer { databases, ownership, .. } = &self.announcer;
        let _ = timeout(STORED_WITHIN, self.recorder.send(Drain)).await;
        let transaction = databases.history.begin().await?;
        let mut holds = holds::of(&transaction, Partitions::ALL).await?;
        transaction.commit().await?;
        holds.retain(|_, hold| hold.holder == Some(self.member.folder));
        for (partition, hold) in &holds {
            ownership.hold([*partition].into_iter().collect(), hold.fence);
        }
        let partitions = holds.into_keys().collect();
        self.watch(partitions).await?;
        Ok(partitions)
    }

    /// Watches every service of these, which are held.
    async fn watch(&self, partitions: Partitions) -> Result<(), StoreError> {
        let Announcer { engine, ownership, changes, .. } = &self.announcer;
        // Boxed: it goes deep into the store.
        let restored = match restore::taken(&self.announcer, partitions).boxed_local().await {
            Ok(restored) => restored,
            Err(error) => {
                self.lose(partitions).await;
                return Err(error);
            }
        };
        for service in &restored {
            engine.past_changed(ServiceAddress { id: service.id, key: service.key });
        }
        self.returned.note_taken(restored.iter().map(|service| service.key));
        ownership.note_ready(partitions);
        changes.mark_all();
        tracing::info!(
            partitions = partitions.len(),
            services = restored.len(),
            "this node watches more services"
        );
        Ok(())
    }

    /// Ends, in order: nothing more is looked at, what was measured is stored. Whoever goes on finds it.
    pub async fn end(&self, partitions: Partitions) {
        let Announcer { engine, ownership, changes, .. } = &self.announcer;
        ownership.stop_watching(partitions);
        if engine.release(partitions).await.is_err() {
            tracing::warn!("the engine had stopped before");
        }
        if timeout(STORED_WITHIN, self.recorder.send(Drain)).await.is_err() {
            tracing::warn!("what was measured last is stored later");
        }
        changes.mark_all();
    }

    /// Ends at once: another node has them.
    pub async fn lose(&self, partitions: Partitions) {
        let Announcer { engine, ownership, changes, .. } = &self.announcer;
        ownership.let_go(partitions);
        if engine.release(partitions).await.is_err() {
            tracing::warn!("the engine had stopped before");
        }
        changes.mark_all();
    }
}
