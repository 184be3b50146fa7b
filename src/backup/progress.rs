//! How far a backup is, for those who watch.

/// Something that wants to know: called with the name of a file and the bytes done since the last call.
pub type Watcher<'w> = &'w mut dyn FnMut(&str, u64);
