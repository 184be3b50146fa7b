//! Background work that notifies people and other systems, makes backups, or orders certificates.

use crate::backup::BackupSchedule;
use crate::certificates::CertificateIssuer;
use crate::notices::NoticeReconciler;
use crate::notify::courier::Courier;
use crate::notify::watchdog::WatchdogPinger;
use crate::subscribers::courier::SubscriberCourier;

/// The parts for notifications, backups and certificates, before their tasks are spawned.
pub(super) struct NotifierParts {
    /// Delivers the messages of the outbox.
    pub(super) courier: Courier,
    /// Delivers news of status pages to their subscribers.
    pub(super) subscribers: SubscriberCourier,
    /// Sends messages about events other than incidents.
    pub(super) notices: NoticeReconciler,
    /// Pings an external monitor, if one is configured.
    pub(super) watchdog: Option<WatchdogPinger>,
    /// Makes backups, if a folder is configured.
    pub(super) backups: Option<BackupSchedule>,
    /// Orders certificates of custom domains, if an authority is configured.
    pub(super) certificates: Option<CertificateIssuer>,
}
