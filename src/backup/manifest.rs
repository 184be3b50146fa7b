//! The manifest of a backup: a description of its contents, for people and for restoring.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::backup::error::BackupError;
use crate::backup::files::{self, BackupFile};

/// Name of the manifest's file.
pub(super) const FILE: &str = "manifest.json";
/// The only format that this program writes and reads.
const FORMAT: u32 = 1;

/// The contents of a backup.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BackupManifest {
    /// The format of manifest and files.
    pub format: u32,
    /// Version of the program that created the backup.
    pub version: String,
    /// The start time of the backup, RFC 3339.
    pub created_at: String,
    /// True if the backup contains the secret key.
    pub has_key: bool,
    /// The last migration step of each database, by file; `None` without one.
    pub schema: BTreeMap<String, Option<String>>,
    /// The files, in the order of copying.
    pub files: Vec<BackupFile>,
    /// Numbers of rows by table: of the main database, and of the rows of the history.
    pub rows: BTreeMap<String, BTreeMap<String, u64>>,
}

impl BackupManifest {
    /// Creates a manifest without files.
    pub(super) fn begun(created_at: String) -> Self {
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            created_at,
            has_key: false,
            schema: BTreeMap::new(),
            files: Vec::new(),
            rows: BTreeMap::new(),
        }
    }

    /// Returns the total size of the files in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Returns the number of rows of a table of the main database.
    #[must_use]
    pub fn main_rows(&self, table: &str) -> u64 {
        self.rows.get(files::MAIN).and_then(|rows| rows.get(table)).copied().unwrap_or_default()
    }

    /// Reads the manifest of the backup in a folder; `backup` is its name for messages.
    ///
    /// # Errors
    /// When there is no manifest, or it has another format.
    pub(super) fn read(folder: &Path, backup: &Path) -> Result<Self, BackupError> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Err(BackupError::Refused(format!(
                "{} is not a complete backup: it has no {FILE}",
                backup.display()
            )));
        }
        let text = fs::read(&path).map_err(BackupError::at(&path))?;
        let read: Self = serde_json::from_slice(&text)
            .map_err(|problem| BackupError::Damaged(format!("{FILE}: {problem}")))?;
        if read.format != FORMAT {
            return Err(BackupError::Refused(format!(
                "the backup has format {} and was made by version {}; this program reads format {FORMAT}: use that version",
                read.format, read.version
            )));
        }
        match read.files.iter().find(|file| !files::is_safe(&file.path)) {
            Some(file) => {
                Err(BackupError::Damaged(format!("it names a file outside itself: {:?}", file.path)))
            }
            None => Ok(read),
        }
    }

    /// Writes the manifest into a folder.
    pub(super) fn write(&self, folder: &Path) -> Result<(), BackupError> {
        let path = folder.join(FILE);
        let mut text =
            serde_json::to_vec_pretty(self).map_err(|problem| BackupError::at(&path)(problem.into()))?;
        text.push(b'\n');
        files::write_new(&path, &text)
    }
}
