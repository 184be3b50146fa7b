//! State of the backups that a server creates by itself, on its schedule or on request.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::backup::folder_name::folder_name;
use crate::clock::Timestamp;
use crate::telemetry::{Exposition, MetricCollector};

/// A backup that is being created, or is about to be.
#[derive(Debug)]
pub struct BackupProgress {
    /// Name of the backup's folder.
    pub name: String,
    /// Time of the request, or of the schedule.
    pub created_at: Timestamp,
    total: AtomicU64,
    copied: AtomicU64,
}

impl BackupProgress {
    fn begin(now: Timestamp) -> Arc<Self> {
        let (total, copied) = (AtomicU64::default(), AtomicU64::default());
        Arc::new(Self { name: folder_name(now), created_at: now, total, copied })
    }

    /// Returns the approximate number of bytes to copy; 0 before the copy starts.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Returns the number of copied bytes.
    #[must_use]
    pub fn copied_bytes(&self) -> u64 {
        self.copied.load(Ordering::Relaxed)
    }

    pub(super) fn expect_bytes(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    pub(super) fn add_bytes(&self, copied: u64) {
        self.copied.fetch_add(copied, Ordering::Relaxed);
    }
}

/// A backup that failed, if it was the last attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedBackup {
    /// Name of the backup's folder; `None` if the attempt failed before it had a name.
    pub name: Option<String>,
    /// Start time of the backup; `None` if the attempt failed before it started.
    pub created_at: Option<Timestamp>,
    /// Text of the error.
    pub problem: String,
}

/// The reason why a requested backup is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// No backup folder is configured.
    #[error("This server has no folder for backups: set backup.folder and restart it.")]
    NoFolder,
    /// Another backup is running; one is created at a time.
    #[error("The backup '{0}' is being made; one is made at a time.")]
    Running(String),
    /// The wall clock is not trusted, but a backup is named after its time.
    #[error("The wall clock of this server is not trusted at the moment; a backup is named after its time.")]
    NoTime,
}

/// State of the backups of a server.
#[derive(Debug, Default)]
pub struct BackupState {
    folder: Option<PathBuf>,
    /// Start time of the newest backup, in Unix seconds; 0 if there is none.
    newest: AtomicU64,
    made: AtomicU64,
    failed: AtomicU64,
    is_old: AtomicBool,
    running: Mutex<Option<Arc<BackupProgress>>>,
    failure: Mutex<Option<FailedBackup>>,
    requests: Notify,
}

impl BackupState {
    /// Creates the state of a server without backups yet; `folder` is the folder of its backups.
    #[must_use]
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, ..Self::default() }
    }

    /// Returns the folder of the backups, if one is configured.
    #[must_use]
    pub const fn folder(&self) -> Option<&PathBuf> {
        self.folder.as_ref()
    }

    /// Requests a backup now; it starts at once, whether one is due or not.
    ///
    /// # Errors
    /// When no folder is configured, a backup is running, or the time is unknown (`now` is `None`).
    pub fn request(&self, now: Option<Timestamp>) -> Result<Arc<BackupProgress>, RequestError> {
        if self.folder.is_none() {
            return Err(RequestError::NoFolder);
        }
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = &*running {
            return Err(RequestError::Running(running.name.clone()));
        }
        let progress = BackupProgress::begin(now.ok_or(RequestError::NoTime)?);
        *running = Some(Arc::clone(&progress));
        self.requests.notify_one();
        Ok(progress)
    }

    /// Waits for the request of a backup.
    pub(super) async fn requested(&self) {
        self.requests.notified().await;
    }

    /// Returns the backup that is being created, or was requested.
    #[must_use]
    pub fn running(&self) -> Option<Arc<BackupProgress>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Starts the requested backup, or one that is due at `now`.
    pub(super) fn start(&self, now: Timestamp) -> Arc<BackupProgress> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(running.get_or_insert_with(|| BackupProgress::begin(now)))
    }

    /// Notes that the running backup is complete.
    pub(super) fn note_success(&self) {
        self.made.fetch_add(1, Ordering::Relaxed);
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = None;
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Notes that the running backup has failed, or that none could be started.
    pub(super) fn note_failure(&self, problem: String) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let (name, created_at) =
            running.take().map(|running| (running.name.clone(), running.created_at)).unzip();
        let failed = FailedBackup { name, created_at, problem };
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failed);
    }

    /// Notes the start time of the newest backup, in Unix seconds, and whether it is too old.
    pub(super) fn note_age(&self, newest: u64, is_old: Option<bool>) {
        self.newest.store(newest, Ordering::Relaxed);
        if let Some(is_old) = is_old {
            self.is_old.store(is_old, Ordering::Relaxed);
        }
    }

    /// Returns true if the newest backup is older than two intervals, or if there is none and the last attempt failed.
    #[must_use]
    pub fn is_old(&self) -> bool {
        self.is_old.load(Ordering::Relaxed)
    }

    /// Returns the last attempt, if it failed.
    #[must_use]
    pub fn failure(&self) -> Option<FailedBackup> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl MetricCollector for BackupState {
    fn collect(&self, out: &mut Exposition) {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut backups = out.counter("backups_total", "Backups of this server, by result.");
        backups.labelled(&[("result", "made")], get(&self.made));
        backups.labelled(&[("result", "failed")], get(&self.failed));
        out.gauge(
            "backup_last_success_timestamp_seconds",
            "Start of the newest scheduled backup, in Unix seconds; 0 when there is none.",
        )
        .value(get(&self.newest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_795_724_223_000);

    #[test]
    fn backups_do_not_run_in_parallel() {
        let state = BackupState::new(Some("/backups".into()));
        let asked = state.request(Some(NOW)).unwrap();
        assert_eq!(asked.name, "watchkeeper-2026-11-26T201703Z");
        assert_eq!(state.request(Some(NOW)).unwrap_err(), RequestError::Running(asked.name.clone()));
        assert_eq!(state.start(NOW.plus_ms(5_000)).name, asked.name, "the schedule makes what was asked for");
        state.note_failure("the disk is full".into());
        let failure = FailedBackup {
            name: Some(asked.name.clone()),
            created_at: Some(NOW),
            problem: "the disk is full".into(),
        };
        assert_eq!((state.running().is_none(), state.failure()), (true, Some(failure)));
        state.request(Some(NOW)).unwrap();
        state.note_success();
        assert_eq!((state.running().is_none(), state.failure()), (true, None));
    }

    #[test]
    fn a_backup_needs_a_folder_and_a_trusted_time() {
        assert_eq!(BackupState::default().request(Some(NOW)).unwrap_err(), RequestError::NoFolder);
        let state = BackupState::new(Some("/backups".into()));
        assert_eq!(state.request(None).unwrap_err(), RequestError::NoTime);
        assert!(state.running().is_none());
    }
}
