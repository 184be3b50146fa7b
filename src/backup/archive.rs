//! A backup as one file: the folder in a tar file, compressed where its name ends in `.zst`.

use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::backup::error::BackupError;
use crate::backup::files;
use crate::backup::manifest;

/// The compression level; low, because the history is compressed already.
const LEVEL: i32 = 3;

/// The form of a backup, derived from its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BackupForm {
    Folder,
    File(FileCoding),
}

/// The coding of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileCoding {
    Plain,
    /// Compressed by zstd.
    Compressed,
}

impl BackupForm {
    /// Returns the form for a name.
    pub(super) fn of(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".tar") {
            Self::File(FileCoding::Plain)
        } else if name.ends_with(".tar.zst") {
            Self::File(FileCoding::Compressed)
        } else {
            Self::Folder
        }
    }
}

/// Returns a temporary name in the same folder.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{ending}-{}", std::process::id()));
    path.with_file_name(name)
}

pub(super) fn require_new(target: &Path) -> Result<(), BackupError> {
    if target.exists() {
        let problem = format!("{} is there already: name a file that is not", target.display());
        return Err(BackupError::Refused(problem));
    }
    match target.parent() {
        Some(folder) if folder != Path::new("") => {
            fs::create_dir_all(folder).map_err(BackupError::at(folder))
        }
        _ => Ok(()),
    }
}

/// Packs a folder into a file, which exists only once it is complete.
pub(super) fn pack(folder: &Path, target: &Path, coding: FileCoding) -> Result<(), BackupError> {
    let unfinished = beside(target, "file");
    let failed = BackupError::at(&unfinished);
    let packed = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)
        .and_then(|file| write(folder, file, coding))
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(&unfinished, target));
    if packed.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    packed.map_err(failed)?;
    match target.parent() {
        Some(parent) if parent != Path::new("") => files::sync_folder(parent),
        _ => Ok(()),
    }
}

fn write(folder: &Path, file: File, coding: FileCoding) -> std::io::Result<File> {
    let whole = |error: std::io::IntoInnerError<BufWriter<File>>| error.into_error();
    match coding {
        FileCoding::Plain => write_entries(folder, BufWriter::new(file))?.into_inner().map_err(whole),
        FileCoding::Compressed => {
            let encoder = zstd::Encoder::new(BufWriter::new(file), LEVEL)?;
            write_entries(folder, encoder)?.finish()?.into_inner().map_err(whole)
        }
    }
}

/// Writes the entries, manifest first, so that it can be read without the rest.
fn write_entries<W: Write>(folder: &Path, writer: W) -> std::io::Result<W> {
    let mut archive = tar::Builder::new(writer);
    archive.append_path_with_name(folder.join(manifest::FILE), manifest::FILE)?;
    for entry in sorted(folder)? {
        let name = entry.file_name().unwrap_or_default().to_owned();
        if name == manifest::FILE {
            continue;
        }
        if entry.is_dir() {
            archive.append_dir_all(&name, &entry)?;
        } else {
            archive.append_path_with_name(&entry, &name)?;
        }
    }
    archive.into_inner()
}

fn sorted(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries: Result<Vec<_>, _> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut entries = entries?;
    entries.sort_unstable();
    Ok(entries)
}

/// Unpacks a file into a folder that is empty or does not exist.
pub(super) fn unpack(file: &Path, coding: FileCoding, folder: &Path) -> Result<(), BackupError> {
    let failed = BackupError::at(file);
    let opened = BufReader::new(File::open(file).map_err(&failed)?);
    let reader: Box<dyn Read> = match coding {
        FileCoding::Plain => Box::new(opened),
        FileCoding::Compressed => Box::new(zstd::Decoder::new(opened).map_err(&failed)?),
    };
    let mut archive = tar::Archive::new(reader);
    archive.set_preserve_permissions(false);
    // `unpack` refuses names that lead out of the folder.
    archive.unpack(folder).map_err(|problem| BackupError::Damaged(format!("{}: {problem}", file.display())))
}
