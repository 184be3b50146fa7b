//! What a process can say of itself.

/// The things that a process may be unable to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// Results do not reach the history database.
    pub history_is_away: bool,
    /// Results wait on disk.
    pub spool_is_used: bool,
    /// The wall clock cannot be trusted.
    pub clock_is_doubted: bool,
}
