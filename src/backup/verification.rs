//! Verifies a backup: every file by its checksum, every database by its integrity check, every table by its number of
//! rows.

use std::path::{Path, PathBuf};

use crate::backup::archive::{BackupForm, UnpackFolder};
use crate::backup::error::BackupError;
use crate::backup::files;
use crate::backup::manifest::BackupManifest;
use crate::backup::progress::FileProgress;
use crate::store::file_copy::{DatabaseFile, FileKind};

/// Verifies a backup, a folder or a file, and returns its manifest. Nothing is written beside the backup; a file is
/// unpacked into a temporary folder.
///
/// # Errors
///
/// When the path is not a backup, or the backup is incomplete, of a later version, or unreadable.
pub async fn verify(backup: &Path, report_progress: FileProgress<'_>) -> Result<BackupManifest, BackupError> {
    let opened = OpenBackup::open(backup, UnpackFolder::temporary())?;
    opened.verify(report_progress).await.map_err(|error| opened.located(error))
}

/// A backup as a folder; the folder of an unpacked file is removed on drop.
pub(super) struct OpenBackup {
    /// Path of the backup, as the caller named it.
    backup: PathBuf,
    folder: PathBuf,
    is_unpacked: bool,
}

impl OpenBackup {
    /// Opens a backup; a file is unpacked into `unpacked`.
    pub(super) fn open(backup: &Path, unpacked: UnpackFolder) -> Result<Self, BackupError> {
        if !backup.exists() {
            return Err(BackupError::Refused(format!("there is no backup {}", backup.display())));
        }
        let opened = |folder: PathBuf, is_unpacked| Self { backup: backup.to_owned(), folder, is_unpacked };
        let BackupForm::File(coding) = BackupForm::of_existing(backup)? else {
            return Ok(opened(backup.to_owned(), false));
        };
        let filled = unpacked.fill(backup, coding);
        let opened = opened(unpacked.path, true);
        filled.map(|()| opened)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the error with the name of the backup instead of the name of the unpacked folder.
    pub(super) fn located(&self, error: BackupError) -> BackupError {
        if !self.is_unpacked {
            return error;
        }
        let backup = self.backup.display();
        let renamed = |path: &Path| match path.strip_prefix(&self.folder) {
            Ok(inside) => PathBuf::from(format!("{backup}: {}", inside.display())),
            Err(_) => path.to_owned(),
        };
        match error {
            BackupError::File { path, problem } => BackupError::File { path: renamed(&path), problem },
            BackupError::Database(error) => BackupError::Database(error.renamed(renamed)),
            BackupError::Damaged(flaw) => BackupError::Damaged(format!("{backup}: {flaw}")),
            refused @ BackupError::Refused(_) => refused,
        }
    }

    /// Checks the files and databases of the backup.
    pub(super) async fn verify(
        &self,
        report_progress: FileProgress<'_>,
    ) -> Result<BackupManifest, BackupError> {
        let folder = self.folder();
        let manifest = BackupManifest::read(folder, &self.backup)?;
        for expected in &manifest.files {
            let path = &expected.path;
            if !folder.join(path).is_file() {
                return Err(BackupError::Damaged(format!("{path} is missing")));
            }
            let found = files::sum(folder, path, report_progress)?;
            if found != *expected {
                return Err(BackupError::Damaged(format!(
                    "{path}: it has {} bytes and the SHA-256 {}; the manifest says {} and {}",
                    found.bytes, found.sha256, expected.bytes, expected.sha256
                )));
            }
        }
        for file in &manifest.files {
            if let Some(kind) = kind(&file.path) {
                check_database(folder, &file.path, kind, &manifest).await?;
            }
        }
        Ok(manifest)
    }
}

impl Drop for OpenBackup {
    fn drop(&mut self) {
        if self.is_unpacked && self.folder.exists() {
            files::remove_contents(&self.folder, true);
        }
    }
}

fn kind(path: &str) -> Option<FileKind> {
    match path {
        files::MAIN => Some(FileKind::Main),
        files::HISTORY => Some(FileKind::History),
        _ => path.strip_prefix(files::SEGMENTS).map(|_| FileKind::Segment),
    }
}

async fn check_database(
    folder: &Path,
    path: &str,
    kind: FileKind,
    manifest: &BackupManifest,
) -> Result<(), BackupError> {
    // Opened without creating a file beside it, because the backup may be on a medium that cannot be written.
    let mut database = DatabaseFile::open_to_read(&folder.join(path)).await?;
    let complaints = database.integrity_check().await?;
    let unknown = database.unknown_step(kind).await?;
    let rows = database.count_rows().await?;
    database.close().await?;
    if let Some(first) = complaints.first() {
        return Err(BackupError::Damaged(format!("{path}: {first}")));
    }
    if let Some(step) = unknown {
        return Err(BackupError::Refused(format!(
            "the backup was made by version {}, and {path} is newer than this program ({step}): use that version",
            manifest.version
        )));
    }
    let Some(expected) = manifest.rows.get(path) else { return Ok(()) };
    match rows.iter().find(|counted| expected.get(&counted.table) != Some(&counted.rows)) {
        Some(counted) => Err(BackupError::Damaged(format!(
            "{path}: the table {} has {} rows, the manifest says another number",
            counted.table, counted.rows
        ))),
        None => Ok(()),
    }
}
