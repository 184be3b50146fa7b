//! A service as lists show it.

use crate::clock::Timestamp;
use crate::fleet_view::fleet_facts::IncidentPresence;
use crate::fleet_view::tag_dictionary::FleetTag;
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::service::{ServiceKey, ServiceStatus};

/// A row of a list of services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetRow {
    /// Database key, never shown.
    pub key: ServiceKey,
    /// The id that clients see.
    pub id: Id,
    /// Name.
    pub name: String,
    /// Check type.
    pub check_type: CheckType,
    /// Effective status.
    pub status: ServiceStatus,
    /// The time since which the service has this status, if known.
    pub since: Option<Timestamp>,
    /// Uptime over 30 days in millionths, rounded down; `None` without measurements. While the view is in use, it is at most a
    /// minute old.
    pub uptime_ppm: Option<u32>,
    /// True while a pause is in force, whatever status is shown.
    pub is_paused: bool,
    /// True while a maintenance in progress covers the service, whatever status is shown.
    pub in_maintenance: bool,
    /// True while the status changes too often.
    pub is_flapping: bool,
    /// The open incidents that affect the service.
    pub incident: IncidentPresence,
    /// False if the measured status is not known because no node answers for the service.
    pub is_answered: bool,
    /// The time since which no node monitors the service; `None` while one does.
    pub owner_away_since: Option<Timestamp>,
    /// Tags, sorted by label.
    pub tags: Vec<FleetTag>,
}
