//! The hold on messages: after a data folder was restored from a backup, no message is sent until an operator releases the
//! messages.
//!
//! The original installation may still be running, and the messages that waited in it may have been sent long ago. The
//! hold is a file in the data folder, so that it exists before the first start and can be removed while a server runs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Name of the file that represents the hold.
const FILE: &str = "messages.held";

/// The hold on the messages of one data folder.
#[derive(Clone, Debug)]
pub struct MessageHold {
    file: PathBuf,
}

impl MessageHold {
    /// Returns the hold of this data folder, which may be active or not.
    #[must_use]
    pub fn of(data_dir: &Path) -> Self {
        Self { file: data_dir.join(FILE) }
    }

    /// Path of the hold's file, which exists while the hold is active.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns true while no message may be sent.
    #[must_use]
    pub fn is_in_force(&self) -> bool {
        // A file whose existence cannot be checked counts as present.
        !matches!(fs::metadata(&self.file), Err(error) if error.kind() == ErrorKind::NotFound)
    }

    /// Starts the hold durably; `moment` is the time of the backup, for the text in the file.
    pub fn begin(&self, moment: &str) -> io::Result<()> {
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&self.file)?;
        writeln!(
            file,
            "restored from a backup of {moment}; 'watchkeeper notifications release' ends the hold"
        )?;
        file.sync_all()
    }

    /// Ends the hold. Returns false when it was not active.
    pub fn end(&self) -> io::Result<bool> {
        match fs::remove_file(&self.file) {
            Ok(()) => {
                if let Some(folder) = self.file.parent() {
                    File::open(folder)?.sync_all()?;
                }
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}
