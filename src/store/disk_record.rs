//! Record of the last writes of a SQLite database: whether its disk is full, since when, and the last error, which
//! explains why the write connection was replaced.
//!
//! All writers of a database share the record; the operating system is not queried. A disk counts as full from a write
//! that fails for lack of space until a write succeeds.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sea_orm::DbErr;
use tokio::time::Instant;

use crate::store::error::is_disk_full;
use crate::store::file_identity::FileIdentity;

/// A disk that is full again within this time counts as full all along: a small write may succeed without new space.
const FULL_AGAIN: Duration = Duration::from_secs(60);
/// Shortest time between two log lines about replaced connections.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// A disk that has no space for writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullDisk {
    /// The folder of the database.
    pub folder: PathBuf,
    /// Time of the first write that failed for lack of space.
    pub since: Instant,
}

/// Record of the last writes of one SQLite database.
#[derive(Debug)]
pub(super) struct DiskRecord {
    folder: PathBuf,
    /// The opened file; `None` if it did not exist, as for a database in memory.
    file: Option<FileIdentity>,
    state: Mutex<DiskState>,
}

#[derive(Debug, Default)]
struct DiskState {
    full_since: Option<Instant>,
    /// Time at which a write succeeded after the disk had been full, and the time since when it had been full.
    freed: Option<(Instant, Instant)>,
    /// Text of the error of the last failed write.
    reason: String,
    logged_at: Option<Instant>,
    /// Number of connections that were replaced since the last log line.
    replaced: u64,
}

impl DiskRecord {
    /// The record for the database with this SQLite URL. The database must have been opened.
    pub(super) fn of_sqlite(url: &str) -> Self {
        let path = url.trim_start_matches("sqlite:").trim_start_matches("//");
        let path = PathBuf::from(path.split('?').next().unwrap_or_default());
        let folder = path.parent().map(PathBuf::from).unwrap_or_default();
        Self { folder, file: FileIdentity::of(&path), state: Mutex::default() }
    }

    /// Checks that the path of the database still leads to the opened file.
    pub(super) fn check_not_replaced(&self) -> Result<(), DbErr> {
        self.file.as_ref().map_or(Ok(()), FileIdentity::check_not_replaced)
    }

    /// Returns the disk, if it is full.
    pub(super) fn full(&self) -> Option<FullDisk> {
        let since = self.lock().full_since?;
        Some(FullDisk { folder: self.folder.clone(), since })
    }

    pub(super) fn note_written(&self) {
        let mut state = self.lock();
        let Some(since) = state.full_since.take() else { return };
        state.freed = Some((Instant::now(), since));
        drop(state);
        tracing::info!(folder = %self.folder.display(), "disk accepts writes again");
    }

    /// Records that a write, or the start of a transaction, has failed.
    pub(super) fn note_failed(&self, error: &DbErr) {
        let now = Instant::now();
        let mut state = self.lock();
        state.reason = error.to_string();
        if !is_disk_full(error) || state.full_since.is_some() {
            return;
        }
        let before = state.freed.take().filter(|(freed_at, _)| now.duration_since(*freed_at) < FULL_AGAIN);
        state.full_since = Some(before.map_or(now, |(_, since)| since));
        drop(state);
        tracing::error!(
            folder = %self.folder.display(),
            %error,
            "disk full: nothing can be written; results wait"
        );
    }

    /// Logs that the write connection is being replaced, with the last error, at most once every `LOG_EVERY`.
    pub(super) fn log_replacement(&self) {
        let mut state = self.lock();
        state.replaced += 1;
        if state.logged_at.is_none_or(|at| at.elapsed() >= LOG_EVERY) {
            state.logged_at = Some(Instant::now());
            let (reason, times) = (state.reason.clone(), std::mem::take(&mut state.replaced));
            drop(state);
            tracing::warn!(error = reason, count = times, "write connection replaced after a failure");
        }
    }

    fn lock(&self) -> MutexGuard<'_, DiskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rstest::rstest;
    use tokio::time::advance;

    use super::*;

    fn full() -> DbErr {
        DbErr::Custom("database or disk is full".into())
    }

    #[rstest]
    #[case("sqlite:///var/lib/watchkeeper/main.db?mode=rwc", "/var/lib/watchkeeper")]
    #[case("sqlite://data/main.db?mode=rwc", "data")]
    #[case("sqlite:main.db", "")]
    fn the_folder_is_that_of_the_file(#[case] url: &str, #[case] folder: &str) {
        assert_eq!(DiskRecord::of_sqlite(url).folder, Path::new(folder));
    }

    #[tokio::test(start_paused = true)]
    async fn a_disk_is_full_from_the_first_refused_write_until_one_succeeds() {
        let record = DiskRecord::of_sqlite("sqlite://data/main.db");
        record.note_failed(&DbErr::Custom("locked".into()));
        assert_eq!(record.full(), None);
        let began = Instant::now();
        record.note_failed(&full());
        advance(Duration::from_secs(600)).await;
        record.note_failed(&full());
        assert_eq!(record.full().map(|full| full.since), Some(began));
        record.note_written();
        assert_eq!(record.full(), None);
        advance(Duration::from_secs(30)).await;
        record.note_failed(&full());
        assert_eq!(record.full().map(|full| full.since), Some(began), "it has been full all along");
        record.note_written();
        advance(Duration::from_secs(60)).await;
        record.note_failed(&full());
        assert_eq!(record.full().map(|full| full.since), Some(Instant::now()));
    }
}
