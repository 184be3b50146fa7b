//! The watch of a partition's services begins and ends here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::timeout;

use crate::announcer::Announcer;
use crate::announcer::ownership::Member;
use crate::feed::News;
use crate::model::ledger::Fence;
use crate::model::partition::{Partition, Partitions};
use crate::model::service::ServiceAddress;
use crate::record::recorder::{Drain, Recorder};
use crate::record::restore::{self, absences};
use crate::store::StoreError;
use crate::store::history::holds::{self, Hold};
use crate::supervise::Handle;

/// The longest time that a hand-over waits until what was measured is stored.
const STORED_WITHIN: Duration = Duration::from_secs(2);
/// The longest time that services which are watched again wait for their figures of the past.
const FIGURES_WITHIN: Duration = Duration::from_secs(2);

/// Begins and ends the watch of services, by partitions.
#[derive(Clone, Debug)]
pub struct Handover {
    /// Knows the services, the engine, and what this node owns.
    pub announcer: Announcer,
    /// Stores what was measured.
    pub recorder: Handle<Recorder>,
    /// Told of partitions whose changes may not have been followed to their end.
    pub news: Arc<News>,
    /// This node.
    pub member: Member,
}

impl Handover {
    /// True once everything that was measured here is stored; it may take a while.
    pub async fn is_stored(&self) -> bool {
        timeout(STORED_WITHIN, self.recorder.send(Drain)).await.is_ok_and(|drained| drained.is_ok())
    }

    /// Begins: the database knows the new holder, then every service is watched from where it stopped. On an error whoever
    /// asked has to [`lose`](Self::lose) them.
    ///
    /// # Errors
    /// A database cannot be reached, or knows a later holder.
    pub async fn begin(&self, partitions: Partitions, fence: Fence) -> Result<(), StoreError> {
        let Announcer { databases, engine, ownership, .. } = &self.announcer;
        let hold = Hold { holder: Some(self.member.folder), fence, taken_at: engine.now() };
        // Who may not end them waits for the lock, and no longer than any statement does.
        if let Err(error) = holds::end_stalled_copies(databases.history.reader()).await {
            tracing::warn!(%error, "writes that stand still cannot be ended");
        }
        let before = holds::known(databases.history.reader(), partitions).await?;
        let transaction = databases.history.begin().await?;
        holds::limit_idling(&transaction).await?;
        holds::take(&transaction, partitions, hold).await?;
        transaction.commit().await?;
        ownership.hold(partitions, fence);
        self.note_absences(partitions, &before).await?;
        self.watch(partitions).await
    }

    /// Begins with what the database says that this node holds, beside what it watches; which partitions these are.
    ///
    /// # Errors
    /// A database cannot be reached; then nothing has begun.
    pub async fn go_on(&self, watched: Partitions) -> Result<Partitions, StoreError> {
        let Announcer { databases, ownership, .. } = &self.announcer;
        if watched == Partitions::ALL || !self.is_stored().await {
            return Ok(Partitions::NONE);
        }
        let transaction = databases.history.begin().await?;
        let mut holds = holds::of(&transaction, Partitions::ALL.without(watched)).await?;
        transaction.commit().await?;
        holds.retain(|_, hold| hold.holder == Some(self.member.folder));
        for (partition, hold) in &holds {
            ownership.hold([*partition].into_iter().collect(), hold.fence);
        }
        let partitions: Partitions = holds.keys().copied().collect();
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

    /// The newest token that the database knows.
    ///
    /// # Errors
    /// When the history database fails.
    pub async fn newest_fence(&self) -> Result<Option<Fence>, StoreError> {
        Ok(holds::newest(self.announcer.databases.history.reader()).await?)
    }

    /// Tells the engine when nobody listened for pings of services that this node watches from now on.
    async fn note_absences(
        &self,
        partitions: Partitions,
        before: &BTreeMap<Partition, Hold>,
    ) -> Result<(), StoreError> {
        let Announcer { databases, engine, .. } = &self.announcer;
        let found = absences::of_partitions(databases, partitions, before, engine.now()).await?;
        let listening = engine.listening();
        for (partition, absences) in &found {
            listening.note_taken(*partition, absences);
        }
        Ok(())
    }

    /// Watches every service of these, which are held. They are ready when their figures are there, but that is not waited
    /// for long.
    async fn watch(&self, partitions: Partitions) -> Result<(), StoreError> {
        let Announcer { databases, engine, ownership, changes, .. } = &self.announcer;
        // An engine that has stopped watches nothing anyway.
        let _ = engine.permit(partitions).await;
        // Boxed: it goes deep into the store.
        let restored = restore::taken(&self.announcer, partitions).boxed_local().await?;
        for service in &restored {
            engine.past_changed(ServiceAddress { id: service.id, key: service.key });
        }
        let _ = engine.flush().await;
        if self.is_stored().await {
            let figures = restore::figures::undone(databases, engine).boxed_local();
            if !matches!(timeout(FIGURES_WITHIN, figures).await, Ok(Ok(()))) {
                tracing::info!("figures of the past come later");
            }
        }
        ownership.note_ready(partitions);
        self.news.ring();
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
        if !self.is_stored().await {
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
