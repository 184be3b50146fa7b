//! Restores what was measured before this start: it may still lie in the spool, and the history may come only later.
//!
//! Nothing here holds up checks. What cannot be had at once is added when it can.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::announcer::Announcer;
use crate::app::cluster::Lone;
use crate::clock::guard::ClockGuard;
use crate::config::Config;
use crate::config::sources::BadConfig;
use crate::engine::Engine;
use crate::record::recorder::{Drain, Recorder};
use crate::record::restore::{self, Restored, absences};
use crate::record::spool::Spool;
use crate::store::{Databases, StoreError};
use crate::supervise::{Handle, Kind, Supervisor};

/// The folder in the data folder for what waits for the history database.
pub(super) const SPOOL_FOLDER: &str = "spool";
/// The longest time that a start waits for what an earlier process has left: services go on from it.
const REPLAY_WAIT: Duration = Duration::from_secs(2);
/// The interval between two looks for figures that are to be computed anew.
const UNDONE_EVERY: Duration = Duration::from_secs(2);
/// The longest time that the first requests wait for the figures of the past.
const FIGURES_WAIT: Duration = Duration::from_secs(2);

/// The spool in the data folder.
///
/// # Errors
/// When the folder cannot be used.
pub(super) fn spool(config: &Config) -> anyhow::Result<Option<Spool>> {
    let folder = config.data_dir.join(SPOOL_FOLDER);
    let spool = Spool::open(&folder, config.record.spool_max_bytes);
    Ok(Some(spool.with_context(|| format!("cannot use the folder {}", folder.display()))?))
}

/// The bytes in the spool that the next start would write to the history.
///
/// # Errors
/// When the folder cannot be read.
pub(super) fn spooled_bytes(config: &Config) -> anyhow::Result<u64> {
    if !config.data_dir.join(SPOOL_FOLDER).is_dir() {
        return Ok(0);
    }
    Ok(spool(config)?.filter(|spool| !spool.is_empty()).map_or(0, |spool| spool.bytes()))
}

/// Lets the recorder write what an earlier process has left, before services are restored from the history; whether it
/// has. A long spool is written beside everything else.
pub(super) async fn replay(databases: &Databases, recorder: &Handle<Recorder>) -> bool {
    // The recorder goes on when the wait is over.
    databases.history.is_prepared()
        && tokio::time::timeout(REPLAY_WAIT, recorder.send(Drain)).await.is_ok_and(|drained| drained.is_ok())
}

/// Starts a watch for every stored service: from where it stopped, if its past is there.
pub(super) async fn restore_services(
    announcer: &Announcer,
    guard: &ClockGuard,
    is_past_whole: bool,
) -> Result<Vec<Restored>, StoreError> {
    begin_listening(announcer, guard).await?;
    if announcer.ownership.member().is_some() {
        // They come with the partitions.
        Ok(Vec::new())
    } else if is_past_whole {
        restore::services(announcer).await
    } else {
        restore::services_without_past(announcer).await
    }
}

/// Says when nobody listened for pings before this start. Of services that are shared with other nodes that is known when this
/// one takes them.
async fn begin_listening(announcer: &Announcer, guard: &ClockGuard) -> Result<(), StoreError> {
    let Announcer { databases, engine, ownership, .. } = announcer;
    let is_alone = ownership.member().is_none();
    let before = if is_alone { absences::of_all(databases, engine.now()).await? } else { Vec::new() };
    let listening = engine.listening();
    listening.begin(&before);
    listening.note_trust(guard.trusted_now().is_some());
    Ok(())
}

/// Brings a history up to date that was away at the start, as soon as it answers. A process that watches alone ends when that
/// says that nodes hold the services.
pub(super) async fn prepare_history(
    databases: Databases,
    retry: Duration,
    lone: Option<Lone>,
    supervisor: Supervisor,
) {
    while !databases.history.is_prepared() {
        match databases.migrate_history().await {
            // Before anything that waits is written.
            Ok(()) => match admit(&databases, lone).await {
                Ok(()) => tracing::info!("the history database is there and up to date"),
                Err(refusal) if refusal.is::<BadConfig>() => {
                    supervisor.fail(&refusal.to_string());
                    return;
                }
                Err(error) => tracing::warn!(%error, "the history database does not answer yet"),
            },
            Err(error) if error.is_away() => tracing::debug!(%error, "the history database is still away"),
            Err(error) => tracing::error!(%error, "the history database cannot be used"),
        }
        tokio::time::sleep(retry).await;
    }
}

async fn admit(databases: &Databases, lone: Option<Lone>) -> anyhow::Result<()> {
    let Some(lone) = lone else {
        databases.admit_history();
        return Ok(());
    };
    lone.ask(&databases.history).await?;
    databases.admit_history();
    lone.claim(&databases.history).await
}

/// The parts from which the figures of the past are computed. The figures are of the time before this start, so they
/// can come at any time.
pub(super) struct Figures {
    pub(super) databases: Databases,
    pub(super) recorder: Handle<Recorder>,
    pub(super) engine: Engine,
    pub(super) restored: Vec<Restored>,
    pub(super) retry: Duration,
}

impl Figures {
    /// Computes them beside everything else, but a small installation has them before it answers.
    pub(super) async fn restore_in_background(self, supervisor: &Supervisor, kind: Kind) -> JoinHandle<()> {
        let is_there = self.databases.history.is_prepared();
        let (figures, whole) = (Arc::new(self), Arc::new(Notify::new()));
        let told = Arc::clone(&whole);
        let task = supervisor.spawn(kind, move || Arc::clone(&figures).keep(Arc::clone(&told)));
        if is_there {
            // The task goes on when the wait is over.
            let _ = tokio::time::timeout(FIGURES_WAIT, whole.notified()).await;
        }
        task
    }

    /// Computes them once, says so, and computes them anew wherever the clock was set back.
    async fn keep(self: Arc<Self>, whole: Arc<Notify>) {
        while !self.restore().await {
            tokio::time::sleep(self.retry).await;
        }
        whole.notify_one();
        loop {
            tokio::time::sleep(UNDONE_EVERY).await;
            if let Err(error) = self.compute_undone().await {
                tracing::warn!(%error, "figures cannot be computed anew yet");
            }
        }
    }

    /// Computes them, if everything is there; whether it was.
    async fn restore(&self) -> bool {
        // What waits for the history belongs to the past as well.
        if !self.databases.history.is_prepared() || self.recorder.send(Drain).await.is_err() {
            return false;
        }
        let restored = restore::figures::of_past(&self.databases, &self.engine, &self.restored).await;
        restored.inspect_err(|error| tracing::warn!(%error, "figures of the past cannot be read yet")).is_ok()
    }

    /// Computes figures anew where the clock was set back, once what was recorded before is in the history.
    async fn compute_undone(&self) -> Result<(), StoreError> {
        if !self.engine.undone().is_empty() && self.recorder.send(Drain).await.is_ok() {
            restore::figures::undone(&self.databases, &self.engine).await?;
        }
        Ok(())
    }
}
