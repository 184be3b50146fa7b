//! Backups that a running server makes by itself: one every so often, each in a folder of its own, of which the newest are kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, NaiveDateTime};
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::backup::error::BackupError;
use crate::backup::making::{BackupOrder, make};
use crate::backup::manifest::BackupManifest;
use crate::clock::Timestamp;
use crate::clock::guard::ClockGuard;
use crate::telemetry::{Collect, Exposition};

/// How the names of their folders begin; the moment at which the backup was begun follows.
const START: &str = "watchkeeper-";
/// The form of that moment: RFC 3339 without colons.
const STAMP: &str = "%Y-%m-%dT%H%M%SZ";
/// The end of the name while a backup is made.
const UNFINISHED: &str = ".unfinished";
/// The time between two looks whether one is due.
const LOOK: Duration = Duration::from_secs(10);
/// The wait after one that failed.
const RETRY: Duration = Duration::from_secs(300);
/// A backup is old when it has this many times the age at which the next one is due.
const OLD: i64 = 2;

/// The parts of the schedule.
#[derive(Clone, Debug)]
pub struct BackupSchedule {
    /// What is backed up; its moment is that of each backup.
    pub order: BackupOrder,
    /// Folder of the backups.
    pub folder: PathBuf,
    /// Time from one to the next.
    pub every: Duration,
    /// How many are kept, at least 1.
    pub keep: usize,
    /// While the wall clock is doubted nothing is due.
    pub guard: Arc<ClockGuard>,
    /// What came of it.
    pub state: Arc<BackupState>,
}

/// What came of the backups of a server.
#[derive(Debug, Default)]
pub struct BackupState {
    /// Start of the newest, in Unix seconds; 0 when there is none.
    newest: AtomicU64,
    made: AtomicU64,
    failed: AtomicU64,
    is_old: AtomicBool,
    problem: Mutex<Option<String>>,
}

impl BackupState {
    /// Returns true if the newest backup is older than two intervals, or there is none and the last attempt failed.
    #[must_use]
    pub fn is_old(&self) -> bool {
        self.is_old.load(Ordering::Relaxed)
    }

    /// Why the last attempt failed; `None` when it did not.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note_problem(&self, problem: Option<String>) {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }
}

impl Collect for BackupState {
    fn collect(&self, out: &mut Exposition) {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut backups = out.counter("backups_total", "Scheduled backups by what became of them.");
        backups.labelled(&[("result", "made")], get(&self.made));
        backups.labelled(&[("result", "failed")], get(&self.failed));
        out.gauge(
            "backup_last_success_timestamp_seconds",
            "Start of the newest scheduled backup, in Unix seconds; 0 when there is none.",
        )
        .value(get(&self.newest));
    }
}

/// The moment of the newest backup that a server has made in this folder; `None` when there is none.
///
/// # Errors
/// When the folder cannot be read.
pub fn newest_backup(folder: &Path) -> Result<Option<Timestamp>, BackupError> {
    Ok(backups(folder)?.pop().map(|(moment, _)| moment))
}

/// The backups in the folder, oldest first: their moments and folders. What has another name, or no manifest, is none.
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
        if let Some(moment) = name.to_str().and_then(moment).filter(|_| has_manifest(&entry.path())) {
            found.push((moment, entry.path()));
        }
    }
    found.sort_unstable();
    Ok(found)
}

impl BackupSchedule {
    /// Makes backups for ever.
    pub async fn run(self) {
        loop {
            let wait = match self.look().await {
                Ok(()) => LOOK,
                Err(error) => {
                    tracing::error!(folder = %self.folder.display(), %error, "a backup could not be made");
                    self.state.failed.fetch_add(1, Ordering::Relaxed);
                    self.state.note_problem(Some(error.to_string()));
                    self.note_age(self.newest().ok().flatten(), self.guard.trusted_now());
                    RETRY
                }
            };
            sleep(wait).await;
        }
    }

    /// Makes one if it is due.
    async fn look(&self) -> Result<(), BackupError> {
        let now = self.guard.trusted_now();
        let newest = self.newest()?;
        self.note_age(newest, now);
        let Some(now) = now.filter(|now| is_due(newest, *now, self.every)) else { return Ok(()) };
        self.remove_unfinished()?;
        let name = format!("{START}{}", stamp(now));
        let unfinished = self.folder.join(format!("{name}{UNFINISHED}"));
        let manifest = self.make_beside(unfinished.clone(), now).await?;
        let backup = self.folder.join(name);
        fs::rename(&unfinished, &backup).map_err(BackupError::at(&backup))?;
        tracing::info!(backup = %backup.display(), bytes = manifest.bytes(), "a backup is made");
        self.state.made.fetch_add(1, Ordering::Relaxed);
        self.state.note_problem(None);
        self.note_age(Some(now), Some(now));
        self.remove_old()
    }

    /// On a thread of its own, which nobody waits for at a stop: copies and sums block for the disk.
    async fn make_beside(&self, target: PathBuf, now: Timestamp) -> Result<BackupManifest, BackupError> {
        let (sender, receiver) = oneshot::channel();
        let order = BackupOrder { created_at: now.to_string(), ..self.order.clone() };
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let made = match runtime {
                Ok(runtime) => runtime.block_on(make(&order, &target, &mut |_, _| {})),
                Err(problem) => Err(BackupError::at(&target)(problem)),
            };
            // Who has stopped meanwhile does not ask.
            let _ = sender.send(made);
        };
        let failed = BackupError::at(&self.folder);
        std::thread::Builder::new().name("backup".into()).spawn(work).map_err(&failed)?;
        receiver.await.unwrap_or_else(|_| Err(failed(io::Error::other("the thread of the backup has died"))))
    }

    fn note_age(&self, newest: Option<Timestamp>, now: Option<Timestamp>) {
        let seconds = newest.map_or(0, |newest| newest.ms() / 1_000);
        self.state.newest.store(u64::try_from(seconds).unwrap_or_default(), Ordering::Relaxed);
        let Some(now) = now else { return };
        let is_old = match newest {
            Some(newest) => now.ms_since(newest) > OLD * millis(self.every),
            None => self.state.problem().is_some(),
        };
        self.state.is_old.store(is_old, Ordering::Relaxed);
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

    /// What was cut off by an end of the process.
    fn remove_unfinished(&self) -> Result<(), BackupError> {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_str().and_then(|name| name.strip_suffix(UNFINISHED));
            if name.and_then(moment).is_some() {
                fs::remove_dir_all(entry.path()).map_err(BackupError::at(&entry.path()))?;
            }
        }
        Ok(())
    }
}

fn has_manifest(folder: &Path) -> bool {
    folder.join(crate::backup::manifest::FILE).is_file()
}

/// Without a backup one is due at once; a clock that was set back makes none early.
fn is_due(newest: Option<Timestamp>, now: Timestamp, every: Duration) -> bool {
    newest.is_none_or(|newest| now.ms_since(newest) >= millis(every))
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX / OLD)
}

/// A moment in the name of a folder, to the second.
fn stamp(moment: Timestamp) -> String {
    let moment = DateTime::from_timestamp_millis(moment.ms()).unwrap_or_default();
    moment.format(STAMP).to_string()
}

/// The moment in the name of a folder; `None` for any other name.
fn moment(name: &str) -> Option<Timestamp> {
    let text = name.strip_prefix(START)?;
    let read = NaiveDateTime::parse_from_str(text, STAMP).ok()?.and_utc().into();
    (stamp(read) == text).then_some(read)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn names_of_backups_are_their_moments() {
        let at = Timestamp::from_ms(1_795_724_223_250);
        let name = format!("{START}{}", stamp(at));
        assert_eq!(name, "watchkeeper-2026-11-26T201703Z");
        assert_eq!(moment(&name), Some(Timestamp::from_ms(1_795_724_223_000)));
        for other in [
            "watchkeeper-",
            "watchkeeper-monday",
            "mine",
            "watchkeeper-2026-11-26T201703Z.old",
            "watchkeeper-2026-11-26T2017Z",
        ] {
            assert_eq!(moment(other), None, "{other}");
        }
    }

    /// Columns: age of the newest in minutes, whether one is due that is made every hour.
    #[rstest]
    #[case(None, true)]
    #[case(Some(0), false)]
    #[case(Some(59), false)]
    #[case(Some(60), true)]
    #[case(Some(-5), false)]
    fn one_is_due_an_hour_after_the_last(#[case] age: Option<i64>, #[case] expected: bool) {
        let now = Timestamp::from_ms(1_000_000_000_000);
        let newest = age.map(|minutes| now.plus_ms(-minutes * 60_000));
        assert_eq!(is_due(newest, now, Duration::from_secs(3_600)), expected);
    }
}
