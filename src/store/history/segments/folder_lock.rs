//! The lock on the segment files of a SQLite history: while a process holds it, no other process changes them.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Takes the lock for a compaction pass or a backup; `None` if another process holds it. The lock is held until the
/// returned file is dropped. `history` is the path of the history file or of the folder with its segments.
pub fn lock_segments(history: &Path) -> io::Result<Option<File>> {
    let path = history.with_extension("segments.lock");
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_process_locks_the_segments() {
        let folder = tempfile::tempdir().unwrap();
        let [history, segments] = ["history.db", "history.segments"].map(|name| folder.path().join(name));
        let held = lock_segments(&history).unwrap();
        assert!(held.is_some());
        assert!(lock_segments(&segments).unwrap().is_none(), "both names lead to one lock");
        drop(held);
        assert!(lock_segments(&segments).unwrap().is_some());
    }
}
