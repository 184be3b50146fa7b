//! A temporary folder for the databases of one run, removed at the end.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::id::Id;

#[derive(Debug)]
pub(super) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Creates a new folder in the system's temporary directory.
    pub(super) fn new() -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("watchkeeper-bench-{}", Id::random()));
        std::fs::create_dir(&path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the total size in bytes of the files whose names start with `prefix`.
    pub(super) fn bytes_of(&self, prefix: &str) -> anyhow::Result<u64> {
        let mut sum = 0;
        for entry in std::fs::read_dir(&self.0)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                sum += entry.metadata()?.len();
            }
        }
        Ok(sum)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(folder = %self.0.display(), %error, "cannot remove the temporary folder");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_counts_its_bytes_and_is_removed_on_drop() {
        let folder = TemporaryFolder::new().unwrap();
        std::fs::write(folder.path().join("history.db"), [0; 10]).unwrap();
        std::fs::write(folder.path().join("history.db-wal"), [0; 5]).unwrap();
        std::fs::write(folder.path().join("main.db"), [0; 7]).unwrap();
        assert_eq!(folder.bytes_of("history.db").unwrap(), 15);
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }
}
