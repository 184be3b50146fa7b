//! The small facts of a row, and the status that follows from them.

use crate::fleet_view::fleet_facts::{FleetFacts, IncidentPresence, MeasuredState};
use crate::model::check::CheckType;
use crate::model::service::{OverrideStatus, ServiceStatus, StatusFacts};
use crate::model::verdict::Verdict;

/// The small facts of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowState {
    pub(super) check_type: CheckType,
    /// Effective status.
    pub(super) status: ServiceStatus,
    pub(super) verdict: Verdict,
    stated: Option<OverrideStatus>,
    pub(super) incident: IncidentPresence,
    pub(super) is_paused: bool,
    pub(super) in_maintenance: bool,
    pub(super) is_flapping: bool,
    pub(super) is_answered: bool,
}

impl RowState {
    /// The state of a service with these facts.
    pub(super) fn of(facts: &FleetFacts) -> Self {
        Self {
            check_type: facts.outline.check_type,
            status: facts.status(),
            verdict: facts.measured.verdict,
            stated: facts.outline.status_override.as_ref().map(|stated| stated.status),
            incident: facts.incident,
            is_paused: facts.outline.pause.is_some(),
            in_maintenance: facts.maintenance_since.is_some(),
            is_flapping: facts.measured.is_flapping,
            is_answered: facts.measured.is_answered,
        }
    }

    /// The state after the service was measured again.
    pub(super) fn measured(self, measured: &MeasuredState) -> Self {
        let Self { check_type, is_paused, stated, .. } = self;
        let facts = StatusFacts { check_type, is_paused, stated };
        Self {
            verdict: measured.verdict,
            is_flapping: measured.is_flapping,
            is_answered: measured.is_answered,
            status: ServiceStatus::effective(facts, measured.verdict, self.in_maintenance),
            ..self
        }
    }

    /// Returns true if the measurements decide the status, and so its time.
    pub(super) fn is_measured(self) -> bool {
        let is_decided = self.stated.is_some() || self.is_paused || self.in_maintenance;
        !is_decided && self.check_type != CheckType::Manual
    }
}
