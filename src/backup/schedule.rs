//! Backups that a running server creates by itself, at an interval and on request, each in a folder of its own; only the newest
//! ones are kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::backup::creation::{BackupOrder, make};
use crate::backup::error::BackupError;
use crate::backup::folder_name::{folder_name, parse_folder_name};
use crate::backup::manifest::BackupManifest;
use crate::backup::state::{BackupProgress, BackupState};
use crate::clock::Timestamp;
use crate::clock::guard::ClockGuard;

/// Suffix of the folder's name while a backup is being created.
const UNFINISHED: &str = ".unfinished";
/// The time between two checks whether a backup is due.
const CHECK_EVERY: Duration = Duration::from_secs(10);
/// The wait after a failed backup.
const RETRY: Duration = Duration::from_secs(300);
/// A backup is old when its age exceeds the interval by this factor.
const OLD: i64 = 2;

/// The schedule with its dependencies.
#[derive(Clone, Debug)]
pub struct BackupSchedule {
    /// The sources of the backups; each backup gets its own start time.
    pub order: BackupOrder,
    /// Folder in which backups are created.
    pub folder: PathBuf,
    /// Time from one backup to the next.
    pub every: Duration,
    /// Number of backups that are kept, at least 1.
    pub keep: usize,
    /// The guard of the wall clock: no backup is due while the clock is not trusted.
    pub guard: Arc<ClockGuard>,
    /// State of the backups, and requests for further ones.
    pub state: Arc<BackupState>,
}

/// A complete backup in the folder of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedBackup {
    /// Name of the backup's folder.
    pub name: String,
    /// The start time, to the second.
    pub created_at: Timestamp,
    /// Total size of the backup's files in bytes; `None` if its manifest cannot be read.
    pub bytes: Option<u64>,
}

/// Returns the complete backups that a server has created in this folder, newest first.
pub fn finished_backups(folder: &Path) -> Result<Vec<FinishedBackup>, BackupError> {
    let finished = backups(folder)?.into_iter().rev().map(|(created_at, path)| FinishedBackup {
        name: folder_name(created_at),
        created_at,
        bytes: BackupManifest::read(&path, &path).ok().map(|manifest| manifest.bytes()),
    });
    Ok(finished.collect())
}

/// Returns the start time of the newest backup that a server has created in this folder; `None` when there is none.
pub fn newest_backup(folder: &Path) -> Result<Option<Timestamp>, BackupError> {
    Ok(backups(folder)?.pop().map(|(moment, _)| moment))
}

/// Returns start times and folders of the backups in a folder, oldest first. Other folders, and backups without a
/// manifest, are skipped.
fn backups(folder: &Path) -> Result<Vec<(Timestamp, PathBuf)>, BackupError> {
    let failed = BackupError::at(folder);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(&failed)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(&failed)?;
        let name = entry.file_name();
        if let Some(moment) =
            name.to_str().and_then(parse_folder_name).filter(|_| has_manifest(&entry.path()))
        {
            found.push((moment, entry.path()));
        }
    }
    found.sort_unstable();
    Ok(found)
}

impl BackupSchedule {
    /// Creates backups when they are due or requested, until the future is dropped.
    pub async fn run(self) {
        loop {
            let wait = match self.make_due().await {
                Ok(()) => CHECK_EVERY,
                Err(error) => {
                    tracing::error!(folder = %self.folder.display(), %error, "backup failed; retrying");
                    self.state.note_failure(error.to_string());
                    self.note_age(self.newest().ok().flatten(), self.guard.trusted_now());
                    RETRY
                }
            };
            tokio::select! {
                () = sleep(wait) => {}
                () = self.state.requested() => {}
            }
        }
    }

    /// Creates a backup if one is due or requested.
    async fn make_due(&self) -> Result<(), BackupError> {
        let now = self.guard.trusted_now();
        let newest = self.newest()?;
        self.note_age(newest, now);
        let due = now.filter(|now| is_due(newest, *now, self.every)).map(|now| self.state.start(now));
        let Some(progress) = due.or_else(|| self.state.running()) else { return Ok(()) };
        self.remove_unfinished()?;
        let unfinished = self.folder.join(format!("{}{UNFINISHED}", progress.name));
        let manifest = self.make_beside(unfinished.clone(), Arc::clone(&progress)).await?;
        let backup = self.folder.join(&progress.name);
        fs::rename(&unfinished, &backup).map_err(BackupError::at(&backup))?;
        tracing::info!(folder = %backup.display(), bytes = manifest.bytes(), "backup created");
        self.state.note_success();
        self.note_age(Some(progress.created_at), Some(progress.created_at));
        self.remove_old()
    }

    /// Creates a backup on a separate thread, since copying and hashing block on the disk; a stop does not wait for it.
    async fn make_beside(
        &self,
        target: PathBuf,
        progress: Arc<BackupProgress>,
    ) -> Result<BackupManifest, BackupError> {
        let (sender, receiver) = oneshot::channel();
        let order = BackupOrder { created_at: progress.created_at.to_string(), ..self.order.clone() };
        progress.expect_bytes(order.bytes());
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let made = match runtime {
                Ok(runtime) => {
                    runtime.block_on(make(&order, &target, &mut |_, bytes| progress.add_bytes(bytes)))
                }
                Err(problem) => Err(BackupError::at(&target)(problem)),
            };
            // The receiver is gone if the server has stopped meanwhile.
            let _ = sender.send(made);
        };
        let failed = BackupError::at(&self.folder);
        std::thread::Builder::new().name("backup".into()).spawn(work).map_err(&failed)?;
        receiver.await.unwrap_or_else(|_| Err(failed(io::Error::other("the thread of the backup has died"))))
    }

    fn note_age(&self, newest: Option<Timestamp>, now: Option<Timestamp>) {
        let seconds = newest.map_or(0, |newest| newest.ms() / 1_000);
        let is_old = now.map(|now| match newest {
            Some(newest) => now.ms_since(newest) > OLD * millis(self.every),
            None => self.state.failure().is_some(),
        });
        self.state.note_age(u64::try_from(seconds).unwrap_or_default(), is_old);
    }

    fn newest(&self) -> Result<Option<Timestamp>, BackupError> {
        newest_backup(&self.folder)
    }

    fn remove_old(&self) -> Result<(), BackupError> {
        let backups = backups(&self.folder)?;
        let old = backups.len().saturating_sub(self.keep);
        backups
            .iter()
            .take(old)
            .try_for_each(|(_, path)| fs::remove_dir_all(path).map_err(BackupError::at(path)))
    }

    /// Removes backups that were interrupted by an end of the process.
    fn remove_unfinished(&self) -> Result<(), BackupError> {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_str().and_then(|name| name.strip_suffix(UNFINISHED));
            if name.and_then(parse_folder_name).is_some() {
                fs::remove_dir_all(entry.path()).map_err(BackupError::at(&entry.path()))?;
            }
        }
        Ok(())
    }
}

fn has_manifest(folder: &Path) -> bool {
    folder.join(crate::backup::manifest::FILE).is_file()
}

/// Returns true if a backup is due: immediately if there is none. A clock that was set back does not make one due early.
fn is_due(newest: Option<Timestamp>, now: Timestamp, every: Duration) -> bool {
    newest.is_none_or(|newest| now.ms_since(newest) >= millis(every))
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX / OLD)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Columns: age of the newest backup in minutes, whether a backup with an interval of an hour is due.
    #[rstest]
    #[case(None, true)]
    #[case(Some(0), false)]
    #[case(Some(59), false)]
    #[case(Some(60), true)]
    #[case(Some(-5), false)]
    fn a_backup_is_due_an_hour_after_the_last(#[case] age: Option<i64>, #[case] expected: bool) {
        let now = Timestamp::from_ms(1_000_000_000_000);
        let newest = age.map(|minutes| now.plus_ms(-minutes * 60_000));
        assert_eq!(is_due(newest, now, Duration::from_secs(3_600)), expected);
    }
}
