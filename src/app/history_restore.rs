//! Restores the data that were measured before this start: some may still be in the spool, and the history may become
//! available only later.
//!
//! Nothing here delays checks. Data that are not available at once are added later.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::app::cluster::StandaloneNode;
use crate::clock::guard::ClockGuard;
use crate::config::Config;
use crate::config::sources::ConfigError;
use crate::engine::Engine;
use crate::record::recorder::{DrainRequest, Recorder};
use crate::record::restore::{self, RestoredService, absences};
use crate::record::spool::Spool;
use crate::service_router::ServiceRouter;
use crate::store::{Databases, StoreError};
use crate::supervise::{ActorHandle, ActorKind, Supervisor};

/// Folder in the data folder for results that wait for the history database.
pub(super) const SPOOL_FOLDER: &str = "spool";
/// Longest wait of a start for results that an earlier process left behind: services resume from them.
const REPLAY_WAIT: Duration = Duration::from_secs(2);
/// Polling interval for figures that must be recomputed.
const UNDONE_EVERY: Duration = Duration::from_secs(2);
/// Longest wait of the first requests for the figures of the past.
const FIGURES_WAIT: Duration = Duration::from_secs(2);

/// Opens the spool in the data folder.
pub(super) fn spool(config: &Config) -> anyhow::Result<Option<Spool>> {
    let folder = config.data_dir.join(SPOOL_FOLDER);
    let spool = Spool::open(&folder, config.record.spool_max_bytes);
    Ok(Some(spool.with_context(|| format!("cannot use the folder {}", folder.display()))?))
}

/// Returns the number of bytes in the spool that the next start would write to the history.
pub(super) fn spooled_bytes(config: &Config) -> anyhow::Result<u64> {
    if !config.data_dir.join(SPOOL_FOLDER).is_dir() {
        return Ok(0);
    }
    Ok(spool(config)?.filter(|spool| !spool.is_empty()).map_or(0, |spool| spool.bytes()))
}

/// Lets the recorder write the results that an earlier process left in the spool, before services are restored from the
/// history. Returns true if they were written in time; a long spool is written in the background.
pub(super) async fn replay(databases: &Databases, recorder: &ActorHandle<Recorder>) -> bool {
    // The recorder continues after the wait.
    databases.history.is_prepared()
        && tokio::time::timeout(REPLAY_WAIT, recorder.send(DrainRequest))
            .await
            .is_ok_and(|drained| drained.is_ok())
}

/// Starts a watch for every stored service, resumed from its stored past if that is available.
pub(super) async fn restore_services(
    router: &ServiceRouter,
    guard: &ClockGuard,
    is_past_whole: bool,
) -> Result<Vec<RestoredService>, StoreError> {
    begin_listening(router, guard).await?;
    if router.ownership.member().is_some() {
        // A node of a cluster gets its services with its partitions.
        Ok(Vec::new())
    } else if is_past_whole {
        restore::restore_all(router).await
    } else {
        restore::restore_without_past(router).await
    }
}

/// Tells the engine when no process listened for pings before this start. For services shared with other nodes, this is
/// found out when this node takes them over.
async fn begin_listening(router: &ServiceRouter, guard: &ClockGuard) -> Result<(), StoreError> {
    let ServiceRouter { databases, engine, ownership, .. } = router;
    let is_alone = ownership.member().is_none();
    let before = if is_alone { absences::of_all(databases, engine.now()).await? } else { Vec::new() };
    let listening = engine.listening();
    listening.begin(&before);
    listening.note_trust(guard.trusted_now().is_some());
    Ok(())
}

/// Brings a history that was unavailable at the start up to date as soon as it answers. A process that watches alone
/// ends if the history says that other nodes hold the services.
pub(super) async fn prepare_history(
    databases: Databases,
    retry: Duration,
    standalone: Option<StandaloneNode>,
    supervisor: Supervisor,
) {
    while !databases.history.is_prepared() {
        match databases.migrate_history().await {
            // The history is admitted before anything that waits is written.
            Ok(()) => match admit(&databases, standalone).await {
                Ok(()) => tracing::info!("history database available and up to date"),
                Err(refusal) if refusal.is::<ConfigError>() => {
                    supervisor.fail(&refusal.to_string());
                    return;
                }
                Err(error) => tracing::warn!(%error, "history database does not answer; retrying"),
            },
            Err(error) if error.is_away() => {
                tracing::debug!(%error, "history database still unavailable; retrying");
            }
            Err(error) => tracing::error!(%error, "cannot use the history database; retrying"),
        }
        tokio::time::sleep(retry).await;
    }
}

async fn admit(databases: &Databases, standalone: Option<StandaloneNode>) -> anyhow::Result<()> {
    let Some(standalone) = standalone else {
        databases.admit_history();
        return Ok(());
    };
    standalone.ask(&databases.history).await?;
    databases.admit_history();
    standalone.claim(&databases.history).await
}

/// Inputs for the figures of the past. They concern the time before this start, so they may be computed at any time.
pub(super) struct FigureRestorer {
    pub(super) databases: Databases,
    pub(super) recorder: ActorHandle<Recorder>,
    pub(super) engine: Engine,
    /// The services without their earlier figures; none once these are computed.
    pub(super) restored: Mutex<Arc<[RestoredService]>>,
    pub(super) retry: Duration,
}

impl FigureRestorer {
    /// Computes the figures in the background; a small installation has them before it answers requests.
    pub(super) async fn restore_in_background(
        self,
        supervisor: &Supervisor,
        kind: ActorKind,
    ) -> JoinHandle<()> {
        let is_there = self.databases.history.is_prepared();
        let (figures, whole) = (Arc::new(self), Arc::new(Notify::new()));
        let at_start = Arc::clone(&whole);
        let task = supervisor.spawn(kind, move || Arc::clone(&figures).keep(Arc::clone(&at_start)));
        if is_there {
            // The task continues after the wait.
            let _ = tokio::time::timeout(FIGURES_WAIT, whole.notified()).await;
        }
        task
    }

    /// Computes the figures once and signals it, then recomputes them wherever the clock was set back.
    async fn keep(self: Arc<Self>, whole: Arc<Notify>) {
        while !self.restore().await {
            tokio::time::sleep(self.retry).await;
        }
        whole.notify_one();
        loop {
            tokio::time::sleep(UNDONE_EVERY).await;
            if let Err(error) = self.compute_undone().await {
                tracing::warn!(%error, "cannot recompute the figures of the past; retrying");
            }
        }
    }

    /// Computes the figures if everything needed is available. Returns true if they were computed.
    async fn restore(&self) -> bool {
        // Results that wait for the history belong to the past as well.
        if !self.databases.history.is_prepared() || self.recorder.send(DrainRequest).await.is_err() {
            return false;
        }
        let restored = Arc::clone(&self.restored());
        match restore::figures::restore_figures(&self.databases, &self.engine, &restored).await {
            Ok(()) => {
                // Many services take much memory.
                *self.restored() = Arc::default();
                true
            }
            Err(error) => {
                tracing::warn!(%error, "cannot load the figures of the past; retrying");
                false
            }
        }
    }

    fn restored(&self) -> MutexGuard<'_, Arc<[RestoredService]>> {
        self.restored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Recomputes figures where the clock was set back, once earlier results are in the history.
    async fn compute_undone(&self) -> Result<(), StoreError> {
        if !self.engine.undone().is_empty() && self.recorder.send(DrainRequest).await.is_ok() {
            restore::figures::recompute_undone(&self.databases, &self.engine).await?;
        }
        Ok(())
    }
}
