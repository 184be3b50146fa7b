//! Files and folders of backups and data folders: names, durable copies, checksums.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::backup::error::BackupError;
use crate::backup::progress::FileProgress;

pub(super) const MAIN: &str = "main.db";
/// The rows of the history.
pub(super) const HISTORY: &str = "history.db";
/// The folder of the segments of the history.
pub(super) const SEGMENTS: &str = "history.segments";
/// The folder of results that wait for the history.
pub(super) const SPOOL: &str = "spool";
pub(super) const KEY: &str = "secret.key";

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupFile {
    /// Path of the file inside the backup, and inside a data folder.
    pub path: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// SHA-256 of the file, as hexadecimal digits.
    pub sha256: String,
}

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

/// Returns true for a relative path that does not lead out of its base folder.
pub(super) fn is_safe(path: &str) -> bool {
    let path = Path::new(path);
    path.components().next().is_some() && path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// Creates a folder that only its owner can access, or accepts an empty one. Returns true when it was created.
pub(super) fn make_empty(folder: &Path) -> Result<bool, BackupError> {
    let failed = BackupError::at(folder);
    match fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(false),
            Some(_) => {
                Err(BackupError::Refused(format!("{} is not empty: name a new folder", folder.display())))
            }
        },
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(folder).map_err(&failed)?;
            fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(&failed)?;
            Ok(true)
        }
        Err(problem) => Err(failed(problem)),
    }
}

/// Removes everything in a folder, and the folder itself if it was created for the backup.
pub(super) fn remove_contents(folder: &Path, was_made: bool) {
    let removed = if was_made {
        fs::remove_dir_all(folder)
    } else {
        fs::read_dir(folder).and_then(|entries| entries.flatten().try_for_each(|entry| remove(&entry.path())))
    };
    if let Err(error) = removed {
        tracing::warn!(folder = %folder.display(), %error, "cannot remove unfinished files");
    }
}

fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// Durably writes a new file that only its owner can access.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), BackupError> {
    let failed = BackupError::at(path);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(&failed)?;
    file.write_all(bytes).map_err(&failed)?;
    file.sync_all().map_err(&failed)
}

/// Durably copies to a new file that only its owner can access. `None` when the source no longer exists.
pub(super) fn copy_new(from: &Path, to: &Path) -> Result<Option<()>, BackupError> {
    let mut source = match File::open(from) {
        Ok(source) => source,
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(problem) => return Err(BackupError::at(from)(problem)),
    };
    let failed = BackupError::at(to);
    let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).map_err(&failed)?;
    io::copy(&mut source, &mut copy).map_err(&failed)?;
    copy.sync_all().map_err(&failed)?;
    Ok(Some(()))
}

/// Makes a file durable, and accessible to its owner only.
pub(super) fn make_durable(path: &Path) -> Result<(), BackupError> {
    let failed = BackupError::at(path);
    fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(&failed)?;
    File::open(path).and_then(|opened| opened.sync_all()).map_err(&failed)
}

/// Makes the entries of a folder durable.
pub(super) fn sync_folder(folder: &Path) -> Result<(), BackupError> {
    File::open(folder).and_then(|opened| opened.sync_all()).map_err(BackupError::at(folder))
}

/// Returns size and checksum of a file below a folder.
pub(super) fn sum(
    folder: &Path,
    path: &str,
    report_progress: FileProgress<'_>,
) -> Result<BackupFile, BackupError> {
    let file = folder.join(path);
    let failed = BackupError::at(&file);
    let opened = File::open(&file).map_err(&failed)?;
    let (bytes, sha256) = sum_of(opened, |bytes| report_progress(path, bytes)).map_err(&failed)?;
    Ok(BackupFile { path: path.to_owned(), bytes, sha256 })
}

/// Returns the number of bytes and their checksum, up to the end.
pub(super) fn sum_of(mut source: impl Read, mut seen: impl FnMut(u64)) -> io::Result<(u64, String)> {
    let (mut sum, mut bytes) = (Sha256::new(), 0);
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = source.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        sum.update(&chunk[..read]);
        bytes += read as u64;
        seen(read as u64);
    }
    Ok((bytes, sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}
