//! The facts about one service from which its row is made.

use crate::clock::Timestamp;
use crate::model::check::CheckType;
use crate::model::service::ServiceStatus;
use crate::model::service_outline::ServiceOutline;
use crate::model::verdict::Verdict;

/// A service with everything that its row shows or that a query can ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetFacts {
    /// The service as it is stored.
    pub outline: ServiceOutline,
    /// Database keys of its tags.
    pub tags: Vec<i64>,
    /// Start of the maintenance in progress that covers it; `None` = none.
    pub maintenance_since: Option<Timestamp>,
    /// The open incidents that affect it.
    pub incident: IncidentPresence,
    /// Its measured state.
    pub measured: MeasuredState,
}

/// The measured state of a service, as its owner knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasuredState {
    /// The verdict; unknown without an answer.
    pub verdict: Verdict,
    /// True while the service is flapping.
    pub is_flapping: bool,
    /// The time at which the verdict was reached, if that was recorded.
    pub since: Option<Timestamp>,
    /// Uptime over 30 days in millionths, rounded down; `None` without measurements.
    pub uptime_ppm: Option<u32>,
    /// False if no node monitors the service, or its owner did not answer.
    pub is_answered: bool,
}

/// The open incidents that affect a service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncidentPresence {
    /// There is none.
    #[default]
    Absent,
    /// There is one that is not acknowledged.
    Open,
    /// There are some, and all are acknowledged.
    Acknowledged,
}

impl FleetFacts {
    /// The effective status.
    #[must_use]
    pub fn status(&self) -> ServiceStatus {
        let in_maintenance = self.maintenance_since.is_some();
        ServiceStatus::effective(self.outline.status_facts(), self.measured.verdict, in_maintenance)
    }

    /// The time since which the service has its effective status; `None` if it is not known, as for a manual service without
    /// an override.
    #[must_use]
    pub fn since(&self) -> Option<Timestamp> {
        let ServiceOutline { status_override, pause, check_type, .. } = &self.outline;
        let stated = status_override.as_ref().map(|stated| stated.at);
        let decided = stated.or(pause.map(|pause| pause.at)).or(self.maintenance_since);
        decided.or(self.measured.since.filter(|_| *check_type != CheckType::Manual))
    }
}
