//! Creates a backup: copies the parts of an installation, in an order that makes the copy consistent.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use tokio::time::sleep;

use crate::backup::archive::{self, BackupForm};
use crate::backup::error::BackupError;
use crate::backup::files;
use crate::backup::manifest::BackupManifest;
use crate::backup::progress::FileProgress;
use crate::store::file_copy::{DatabaseFile, FileKind};
use crate::store::history::lock_segments;

/// The time between two checks of the progress of a copy.
const POLL_EVERY: Duration = Duration::from_millis(200);
/// The longest wait for the end of a compaction pass.
const PASS_LIMIT: Duration = Duration::from_secs(15 * 60);

/// The reason of a wait for the lock of a database.
const HELD: &str = "another program holds the file; the limit is 30 s";
/// The longest wait that is not logged.
const QUIET_WAIT: Duration = Duration::from_secs(2);

/// The sources of a backup.
#[derive(Clone, Debug)]
pub struct BackupOrder {
    /// File of the main database.
    pub main: PathBuf,
    /// File of the history; the folder of its segments is next to it.
    pub history: PathBuf,
    /// Folder of results that wait for the history; it may not exist.
    pub spool: PathBuf,
    /// Treatment of the secret key.
    pub key: KeyChoice,
    /// Start time of the backup, RFC 3339.
    pub created_at: String,
}

/// Treatment of the secret key.
#[derive(Clone, Debug)]
pub enum KeyChoice {
    /// The key is stored outside of the backup.
    Separate,
    /// This key goes into the backup.
    Inside(SecretString),
}

impl BackupOrder {
    /// Returns the approximate number of bytes to copy.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let length = |file: PathBuf| fs::metadata(file).map_or(0, |found| found.len());
        let inside = |folder: PathBuf| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| length(entry.path())).sum::<u64>()
        };
        let databases = [&self.main, &self.history].map(|file| length(file.clone())).iter().sum::<u64>();
        databases + inside(self.history.with_extension("segments")) + inside(self.spool.clone())
    }
}

/// Checks that a new backup may have this name.
///
/// # Errors
/// When the name ends like an archive of a format that cannot be written.
pub fn require_target_name(target: &Path) -> Result<(), BackupError> {
    BackupForm::of_new(target).map(|_| ())
}

/// Creates a backup: a folder, or a file if the target ends in `.tar` or `.tar.zst`. An incomplete backup is removed.
///
/// # Errors
/// When the target exists already or cannot be written, or the installation cannot be read.
pub async fn make(
    order: &BackupOrder,
    target: &Path,
    report_progress: FileProgress<'_>,
) -> Result<BackupManifest, BackupError> {
    match BackupForm::of_new(target)? {
        BackupForm::Folder => make_folder(order, target, report_progress).await,
        BackupForm::File(coding) => {
            archive::require_new(target)?;
            let folder = archive::beside(target, "folder");
            let manifest = make_folder(order, &folder, report_progress).await?;
            let packed = archive::pack(&folder, target, coding);
            files::remove_contents(&folder, true);
            packed.map(|()| manifest)
        }
    }
}

async fn make_folder(
    order: &BackupOrder,
    folder: &Path,
    report_progress: FileProgress<'_>,
) -> Result<BackupManifest, BackupError> {
    let was_made = files::make_empty(folder)?;
    let copy = BackupCopy {
        order,
        folder,
        report_progress,
        manifest: BackupManifest::begun(order.created_at.clone()),
    };
    let copied = copy.run().await;
    if copied.is_err() {
        files::remove_contents(folder, was_made);
    }
    copied
}

struct BackupCopy<'a> {
    order: &'a BackupOrder,
    folder: &'a Path,
    report_progress: FileProgress<'a>,
    manifest: BackupManifest,
}

impl BackupCopy<'_> {
    async fn run(mut self) -> Result<BackupManifest, BackupError> {
        let order = self.order;
        self.copy_database(&order.main, files::MAIN, FileKind::Main).await?;
        self.copy_spool()?;
        self.copy_history().await?;
        self.raise_keys().await?;
        if let KeyChoice::Inside(key) = &order.key {
            let text = format!("{}\n", key.expose_secret().trim());
            files::write_new(&self.folder.join(files::KEY), text.as_bytes())?;
            self.note(files::KEY)?;
            self.manifest.has_key = true;
        }
        self.manifest.write(self.folder)?;
        files::sync_folder(self.folder)?;
        Ok(self.manifest)
    }

    /// Copies the rows of the history and their segment files, both of the same moment.
    async fn copy_history(&mut self) -> Result<(), BackupError> {
        let _lock = self.wait_for_segments().await?;
        let order = self.order;
        self.copy_database(&order.history, files::HISTORY, FileKind::History).await?;
        let mut rows = DatabaseFile::open(&self.folder.join(files::HISTORY)).await?;
        let numbers = rows.segment_numbers().await;
        rows.close().await?;
        let source = order.history.with_extension("segments");
        let target = self.folder.join(files::SEGMENTS);
        let numbers = numbers?;
        if !numbers.is_empty() {
            files::make_empty(&target)?;
        }
        for number in numbers {
            let name = format!("{number:08}.db");
            let path = format!("{}/{name}", files::SEGMENTS);
            self.copy_database(&source.join(&name), &path, FileKind::Segment).await?;
        }
        if target.is_dir() {
            files::sync_folder(&target)?;
        }
        Ok(())
    }

    async fn wait_for_segments(&self) -> Result<File, BackupError> {
        let history = &self.order.history;
        let waiting = async {
            loop {
                match lock_segments(history).map_err(BackupError::at(history))? {
                    Some(lock) => return Ok(lock),
                    None => sleep(POLL_EVERY).await,
                }
            }
        };
        let reason = "the compaction of the history, or another backup, is under way";
        let waited = tokio::time::timeout(PASS_LIMIT, log_long_wait(waiting, history, reason)).await;
        waited.unwrap_or_else(|_| {
            let problem =
                "the compaction of the history, or another backup, has not ended for 15 minutes; try again later";
            Err(BackupError::Refused(problem.into()))
        })
    }

    async fn copy_database(&mut self, from: &Path, path: &str, kind: FileKind) -> Result<(), BackupError> {
        let copy = self.folder.join(path);
        let mut source = log_long_wait(DatabaseFile::open(from), from, HELD).await?;
        let (mut seen, grown) = (0, |seen| fs::metadata(&copy).map_or(seen, |found| found.len().max(seen)));
        {
            let mut copied = std::pin::pin!(source.copy_to(&copy));
            loop {
                tokio::select! {
                    ended = &mut copied => break ended?,
                    () = sleep(POLL_EVERY) => {}
                }
                let now = grown(seen);
                (self.report_progress)(path, now - seen);
                seen = now;
            }
        }
        (self.report_progress)(path, grown(seen) - seen);
        source.close().await?;
        let mut copied = DatabaseFile::open(&copy).await?;
        if kind != FileKind::Segment {
            let rows = copied.count_rows().await?;
            let rows = rows.into_iter().map(|counted| (counted.table, counted.rows)).collect();
            self.manifest.rows.insert(path.to_owned(), rows);
            self.manifest.schema.insert(path.to_owned(), copied.last_step(kind).await?);
        }
        copied.close().await?;
        // The copy of the main database is changed once more, by `raise_keys`, and finished there.
        if kind == FileKind::Main { Ok(()) } else { self.finish(path) }
    }

    /// Copies the spool. Results written meanwhile move on to the history, which is copied later, so a file may disappear.
    fn copy_spool(&mut self) -> Result<(), BackupError> {
        let source = &self.order.spool;
        let Ok(entries) = fs::read_dir(source) else { return Ok(()) };
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort_unstable();
        let target = self.folder.join(files::SPOOL);
        for name in names {
            let Some(name) = name.to_str() else { continue };
            if !target.is_dir() {
                files::make_empty(&target)?;
            }
            if files::copy_new(&source.join(name), &target.join(name))?.is_some() {
                let path = format!("{}/{name}", files::SPOOL);
                self.note(&path)?;
            }
        }
        if target.is_dir() {
            files::sync_folder(&target)?;
        }
        Ok(())
    }

    /// Makes the copy assign no key that was assigned before the history was copied.
    async fn raise_keys(&mut self) -> Result<(), BackupError> {
        let mut source = DatabaseFile::open(&self.order.main).await?;
        let keys = source.last_keys().await?;
        source.close().await?;
        let mut copy = DatabaseFile::open(&self.folder.join(files::MAIN)).await?;
        copy.raise_last_keys(&keys).await?;
        copy.close().await?;
        self.finish(files::MAIN)
    }

    /// Makes a copied database durable, accessible to its owner only, and adds it to the manifest.
    fn finish(&mut self, path: &str) -> Result<(), BackupError> {
        files::make_durable(&self.folder.join(path))?;
        self.note(path)
    }

    fn note(&mut self, path: &str) -> Result<(), BackupError> {
        let file = files::sum(self.folder, path, &mut |_, _| {})?;
        self.manifest.files.push(file);
        Ok(())
    }
}

/// Awaits work that may have to wait for others; a wait longer than [`QUIET_WAIT`] is logged with its reason.
async fn log_long_wait<T>(work: impl Future<Output = T>, file: &Path, reason: &str) -> T {
    let mut work = std::pin::pin!(work);
    if let Ok(done) = tokio::time::timeout(QUIET_WAIT, &mut work).await {
        return done;
    }
    tracing::warn!(file = %file.display(), reason, "backup waits for a lock");
    work.await
}
