//! Outbound notifications: to people and to other systems.

use crate::backup::BackupSchedule;
use crate::notices::Notices;
use crate::notify::courier::Courier;
use crate::notify::watchdog::Watchdog;

/// Outbound notifications: to people and to other systems.
pub(super) struct Telling {
    /// Delivers the messages of the outbox.
    pub(super) courier: Courier,
    /// Sends messages about events other than incidents.
    pub(super) notices: Notices,
    /// Pings an external monitor, if one is configured.
    pub(super) watchdog: Option<Watchdog>,
    /// Makes backups, if a folder is configured.
    pub(super) backups: Option<BackupSchedule>,
}
