//! What tells people, and other systems.

use crate::backup::BackupSchedule;
use crate::notices::Notices;
use crate::notify::courier::Courier;
use crate::notify::watchdog::Watchdog;

/// What tells people, and other systems.
pub(super) struct Telling {
    /// Delivers the messages of the outbox.
    pub(super) courier: Courier,
    /// Writes messages about what is no incident.
    pub(super) notices: Notices,
    /// Pings, if somebody is to be pinged.
    pub(super) watchdog: Option<Watchdog>,
    /// Makes backups, if there is a folder for them.
    pub(super) backups: Option<BackupSchedule>,
}
