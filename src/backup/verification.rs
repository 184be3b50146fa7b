//! Verifies a backup: every file by its checksum, every database by itself, every table by its number of rows.

use std::path::{Path, PathBuf};

use crate::backup::archive::{self, BackupForm};
use crate::backup::error::BackupError;
use crate::backup::files;
use crate::backup::manifest::BackupManifest;
use crate::backup::progress::FileProgress;
use crate::store::file_copy::{DatabaseFile, FileKind};

/// Verifies a backup, a folder or a file. Returns its manifest.
///
/// # Errors
///
/// When it is not a backup, is incomplete, is of a later version, or cannot be read.
pub async fn verify(backup: &Path, report_progress: FileProgress<'_>) -> Result<BackupManifest, BackupError> {
    let opened = OpenBackup::open(backup, &archive::beside(backup, "check"))?;
    verify_folder(opened.folder(), report_progress).await
}

/// A backup as a folder; a folder unpacked for this is removed at the end.
pub(super) struct OpenBackup {
    folder: PathBuf,
    is_unpacked: bool,
}

impl OpenBackup {
    /// Opens a backup; a file is unpacked into `scratch`.
    pub(super) fn open(backup: &Path, scratch: &Path) -> Result<Self, BackupError> {
        if !backup.exists() {
            return Err(BackupError::Refused(format!("there is no backup {}", backup.display())));
        }
        let BackupForm::File(coding) = BackupForm::of(backup) else {
            return Ok(Self { folder: backup.to_owned(), is_unpacked: false });
        };
        files::make_empty(scratch)?;
        let opened = Self { folder: scratch.to_owned(), is_unpacked: true };
        archive::unpack(backup, coding, scratch)?;
        Ok(opened)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for OpenBackup {
    fn drop(&mut self) {
        if self.is_unpacked {
            files::remove_contents(&self.folder, true);
        }
    }
}

/// Checks the backup in a folder.
pub(super) async fn verify_folder(
    folder: &Path,
    report_progress: FileProgress<'_>,
) -> Result<BackupManifest, BackupError> {
    let manifest = BackupManifest::read(folder)?;
    for expected in &manifest.files {
        let path = &expected.path;
        if !folder.join(path).is_file() {
            return Err(BackupError::Damaged(format!("{path} is missing")));
        }
        let found = files::sum(folder, path, report_progress)?;
        if found != *expected {
            return Err(BackupError::Damaged(format!(
                "{path} has {} bytes and the SHA-256 {}; the manifest says {} and {}",
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
    let mut database = DatabaseFile::open(&folder.join(path)).await?;
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
