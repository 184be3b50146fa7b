//! The colour and shape of a service's status.

use crate::model::service::ServiceStatus;

/// Returns the class of a mark for this status.
pub(in crate::console) const fn tone_of(status: ServiceStatus) -> &'static str {
    match status {
        ServiceStatus::Up | ServiceStatus::Operational => "operational",
        ServiceStatus::Degraded => "degraded",
        ServiceStatus::Down => "major_outage",
        ServiceStatus::Maintenance => "under_maintenance",
        ServiceStatus::Unknown => "unknown",
        ServiceStatus::Paused => "paused",
    }
}
