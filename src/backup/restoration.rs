//! Restores a backup into a folder of its own.

use std::path::Path;

use crate::backup::archive::UnpackFolder;
use crate::backup::error::BackupError;
use crate::backup::files;
use crate::backup::manifest::BackupManifest;
use crate::backup::progress::FileProgress;
use crate::backup::verification::OpenBackup;
use crate::notify::message_hold::MessageHold;

/// Verifies a backup and copies it into a data folder that is empty or does not exist. No message is sent from there until an
/// operator permits it ([`MessageHold`]). After a failure the incomplete copy is removed.
///
/// # Errors
/// When the folder is not empty, the backup is incomplete or of a later version, or a file cannot be read or written.
pub async fn restore(
    backup: &Path,
    data_dir: &Path,
    report_progress: FileProgress<'_>,
) -> Result<BackupManifest, BackupError> {
    let was_made = files::make_empty(data_dir)?;
    let restored = copy(backup, data_dir, report_progress).await;
    if restored.is_err() {
        files::remove_contents(data_dir, was_made);
    }
    restored
}

async fn copy(
    backup: &Path,
    data_dir: &Path,
    report_progress: FileProgress<'_>,
) -> Result<BackupManifest, BackupError> {
    let opened = OpenBackup::open(backup, UnpackFolder::beside(data_dir))?;
    copy_verified(&opened, data_dir, report_progress).await.map_err(|error| opened.located(error))
}

async fn copy_verified(
    opened: &OpenBackup,
    data_dir: &Path,
    report_progress: FileProgress<'_>,
) -> Result<BackupManifest, BackupError> {
    let folder = opened.folder();
    let manifest = opened.verify(report_progress).await?;
    // The hold exists before the folder contains anything that can be started.
    let hold = MessageHold::of(data_dir);
    hold.begin(&manifest.created_at).map_err(BackupError::at(hold.file()))?;
    for file in &manifest.files {
        let target = data_dir.join(&file.path);
        match target.parent() {
            Some(parent) if !parent.is_dir() => {
                files::make_empty(parent)?;
            }
            _ => {}
        }
        if files::copy_new(&folder.join(&file.path), &target)?.is_none() {
            return Err(BackupError::Damaged(format!("{} is missing", file.path)));
        }
        report_progress(&file.path, file.bytes);
    }
    for folder in [files::SEGMENTS, files::SPOOL] {
        if data_dir.join(folder).is_dir() {
            files::sync_folder(&data_dir.join(folder))?;
        }
    }
    files::sync_folder(data_dir)?;
    Ok(manifest)
}
