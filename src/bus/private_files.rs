//! Files and folders that only their owner can read, and files that are replaced atomically.
//!
//! A secret has mode 0600 from its first byte and is never overwritten. A file without secrets is written to a temporary file
//! and renamed, so that readers see the old one or the new one.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{Error, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};

/// A file or folder that cannot be read or written, as one line.
#[derive(Debug, thiserror::Error)]
#[error("{0}: {1}")]
pub struct FileProblem(String, Error);

impl FileProblem {
    /// The problem with this file.
    pub(crate) fn at(file: &Path, error: Error) -> Self {
        Self(file.display().to_string(), error)
    }
}

/// Creates a folder, unless it exists.
pub(crate) fn make_folder(folder: &Path) -> Result<(), FileProblem> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| FileProblem::at(folder, error))
}

/// Reads a secret; `None` = the file does not exist.
pub(crate) fn read_secret(file: &Path) -> Result<Option<SecretString>, FileProblem> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text.into())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileProblem::at(file, error)),
    }
}

/// Writes a secret to a new file, and flushes it to the disk.
pub(crate) fn write_secret(file: &Path, text: &SecretString) -> Result<(), FileProblem> {
    write_new(file, text.expose_secret(), 0o600).map_err(|error| FileProblem::at(file, error))
}

/// Replaces a file without secrets: readers see the old one or the new one.
pub(crate) fn replace(file: &Path, text: &str) -> Result<(), FileProblem> {
    let beside = file.with_extension("new");
    let written = match fs::remove_file(&beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => write_new(&beside, text, 0o644),
    };
    written.and_then(|()| fs::rename(&beside, file)).map_err(|error| FileProblem::at(file, error))
}

fn write_new(file: &Path, text: &str, mode: u32) -> Result<(), Error> {
    let mut opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(file)?;
    opened.write_all(text.as_bytes())?;
    opened.sync_all()
}
