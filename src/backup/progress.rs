//! Progress reports of a backup.

/// A callback for progress: called with the name of a file and the bytes done since the last call.
pub type FileProgress<'w> = &'w mut dyn FnMut(&str, u64);
