//! What keeps a backup from being made, checked or put back, in words for the operator.

use std::io;
use std::path::{Path, PathBuf};

use crate::store::file_copy::FileError;

/// An error of a backup. The installation it was made of is as it was.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A file or a folder cannot be used.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        problem: io::Error,
    },
    /// A database cannot be read or written.
    #[error(transparent)]
    Database(#[from] FileError),
    /// What was asked for is not done, with what to do.
    #[error("{0}")]
    Refused(String),
    /// The backup does not hold what its manifest says.
    #[error("the backup is damaged: {0}")]
    Damaged(String),
}

impl BackupError {
    /// A function that says to which path an error belongs.
    pub(super) fn at(path: &Path) -> impl Fn(io::Error) -> Self {
        move |problem| Self::File { path: path.to_owned(), problem }
    }
}
