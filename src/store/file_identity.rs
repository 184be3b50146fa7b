//! Detects that the file of a SQLite database has been removed or replaced while it is open. Later writes would go to a
//! file that no longer has a name, and would be lost.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sea_orm::{DbErr, RuntimeErr};

/// The file that was opened: its path, and its device and inode numbers at that time.
#[derive(Debug)]
pub(super) struct FileIdentity {
    path: PathBuf,
    number: (u64, u64),
}

impl FileIdentity {
    /// The file that this path leads to now; `None` if it does not exist.
    pub(super) fn of(path: &Path) -> Option<Self> {
        Some(Self { path: path.to_owned(), number: number(path)? })
    }

    /// Checks that the path still leads to the opened file.
    pub(super) fn check_not_replaced(&self) -> Result<(), DbErr> {
        if number(&self.path) == Some(self.number) {
            return Ok(());
        }
        let problem = format!(
            "{} has been removed or replaced while it was open: put it back, or stop the server, which has lost what was written since",
            self.path.display()
        );
        Err(DbErr::Conn(RuntimeErr::Internal(problem)))
    }
}

fn number(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_removed_or_replaced_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let [file, aside] = ["main.db", "aside.db"].map(|name| folder.path().join(name));
        assert!(FileIdentity::of(&file).is_none());
        fs::write(&file, "one").unwrap();
        let identity = FileIdentity::of(&file).unwrap();
        identity.check_not_replaced().unwrap();
        fs::write(&file, "two").unwrap();
        identity.check_not_replaced().unwrap();
        fs::rename(&file, &aside).unwrap();
        let removed = identity.check_not_replaced().unwrap_err().to_string();
        assert!(removed.contains("main.db has been removed or replaced"), "{removed}");
        fs::write(&file, "two").unwrap();
        assert!(identity.check_not_replaced().is_err());
        fs::rename(&aside, &file).unwrap();
        identity.check_not_replaced().unwrap();
    }
}
