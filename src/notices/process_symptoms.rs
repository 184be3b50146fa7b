//! The state of a process, as the process itself observes it.

use crate::model::check::LocalFault;

/// The possible troubles of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessSymptoms {
    /// Results do not reach the history database.
    pub history_is_away: bool,
    /// Results wait on disk.
    pub spool_is_used: bool,
    /// The wall clock cannot be trusted.
    pub clock_is_doubted: bool,
    /// The newest scheduled backup is too old.
    pub backup_is_old: bool,
    /// The reason why a location of this process can make no check.
    pub blind_by: Option<LocalFault>,
}
