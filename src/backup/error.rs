//! Errors of creating, verifying or restoring a backup, in words for the operator.

use std::io;
use std::path::{Path, PathBuf};

use crate::store::file_copy::FileError;

/// An error of a backup. The original installation is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A file or a folder cannot be used.
    #[error("{}: {problem}", path.display())]
    File {
        /// Path of the file or folder.
        path: PathBuf,
        /// The error of the operating system.
        problem: io::Error,
    },
    /// A database cannot be read or written.
    #[error(transparent)]
    Database(#[from] FileError),
    /// The request is refused, with advice.
    #[error("{0}")]
    Refused(String),
    /// The backup differs from its manifest.
    #[error("the backup is damaged: {0}")]
    Damaged(String),
}

impl BackupError {
    /// Returns a function that adds this path to an error.
    pub(super) fn at(path: &Path) -> impl Fn(io::Error) -> Self {
        move |problem| Self::File { path: path.to_owned(), problem }
    }
}
