//! The manifest of a backup: what is in it, for people and for who puts it back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::backup::error::BackupError;
use crate::backup::files::{self, BackupFile};

/// The file of the manifest.
pub(super) const FILE: &str = "manifest.json";
/// The form that this program writes, and the only one that it reads.
const FORMAT: u32 = 1;

/// What a backup holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BackupManifest {
    /// The form of manifest and files.
    pub format: u32,
    /// Version of the program that has made it.
    pub version: String,
    /// The moment at which it was begun, RFC 3339.
    pub created_at: String,
    /// Whether the secret key is in it.
    pub has_key: bool,
    /// The last step of the schema of each database.
    pub schema: BTreeMap<String, Option<String>>,
    /// The files, in the order in which they were copied.
    pub files: Vec<BackupFile>,
    /// The rows of each table: of the main database, and of the rows of the history.
    pub rows: BTreeMap<String, BTreeMap<String, u64>>,
}

impl BackupManifest {
    /// A manifest without files.
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

    /// Bytes of all files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Rows of a table of the main database.
    #[must_use]
    pub fn main_rows(&self, table: &str) -> u64 {
        self.rows.get(files::MAIN).and_then(|rows| rows.get(table)).copied().unwrap_or_default()
    }

    /// Reads that of the backup in a folder.
    ///
    /// # Errors
    /// When there is none, or it is of another form.
    pub(super) fn read(folder: &Path) -> Result<Self, BackupError> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Err(BackupError::Refused(format!(
                "{} is no backup, or one that was cut off: it has no {FILE}",
                folder.display()
            )));
        }
        let text = fs::read(&path).map_err(BackupError::at(&path))?;
        let read: Self = serde_json::from_slice(&text)
            .map_err(|problem| BackupError::Damaged(format!("{}: {problem}", path.display())))?;
        if read.format != FORMAT {
            return Err(BackupError::Refused(format!(
                "the backup has form {} and was made by version {}; this program reads form {FORMAT}: use that version",
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

    /// Writes it into a folder.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn write(&self, folder: &Path) -> Result<(), BackupError> {
        let path = folder.join(FILE);
        let mut text =
            serde_json::to_vec_pretty(self).map_err(|problem| BackupError::at(&path)(problem.into()))?;
        text.push(b'\n');
        files::write_new(&path, &text)
    }
}
