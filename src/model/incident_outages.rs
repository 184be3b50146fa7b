//! Automatic changes of an incident by reports of outages, in addition to the edits of members.
//!
//! Automatic changes leave the fields that a member has edited alone. The methods are on `WholeIncident`, as are those
//! for edits of members.

use crate::clock::Timestamp;
use crate::model::automation::AutomationState;
use crate::model::incident::{
    AffectedService, Incident, IncidentStatus, Severity, WholeIncident, insert_by_name,
};
use crate::model::incident_policy::OutageKind;
use crate::model::service::{NamedService, ServiceKey};

/// A report to an incident that a service is in trouble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceOutage {
    /// The service in trouble.
    pub service: NamedService,
    /// The kind of the trouble.
    pub kind: OutageKind,
    /// The start of the trouble.
    pub began_at: Timestamp,
    /// The severity that the incident policy gives to such an outage.
    pub severity: Severity,
}

/// The change that a report makes to an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImpactChange {
    /// The service was not affected before.
    Joined,
    /// The service had recovered, and fails again.
    Relapsed,
    /// The impact on the service is greater than before.
    Worsened,
    /// No change: the service is already affected with at least this impact, or the incident is resolved.
    Nothing,
}

impl WholeIncident {
    /// Records the fields that a member has edited, found by comparison with the incident before the edit.
    pub fn note_edits(&mut self, before: &Incident) {
        let Some(AutomationState { edited, .. }) = &mut self.automation else { return };
        edited.title |= self.incident.title != before.title;
        edited.severity |= self.incident.severity != before.severity;
        edited.status |= self.incident.status != before.status;
    }

    /// Records that a member has stated the status, even if it is unchanged.
    pub const fn note_stated_status(&mut self) {
        if let Some(automation) = &mut self.automation {
            automation.edited.status = true;
        }
    }

    /// Applies a report of a service in trouble. A resolved incident does not change.
    pub fn apply_outage(&mut self, outage: &ServiceOutage) -> ImpactChange {
        if self.incident.is_resolved() {
            return ImpactChange::Nothing;
        }
        if !self.automation.is_some_and(|automation| automation.edited.severity) {
            self.set_severity(self.incident.severity.max(outage.severity));
        }
        let impact = Some(outage.kind.impact());
        let Some(affected) = self.services.iter_mut().find(|row| row.service == outage.service.key) else {
            let NamedService { key: service, id, name } = outage.service.clone();
            let row = AffectedService {
                service,
                id,
                name,
                impact,
                is_derived: false,
                added_at: outage.began_at.max(self.incident.started_at),
                recovered_at: None,
                evidence: None,
            };
            insert_by_name(&mut self.services, row);
            return ImpactChange::Joined;
        };
        let is_worse = affected.impact < impact;
        if is_worse {
            affected.impact = impact;
            affected.is_derived = false;
        }
        match affected.recovered_at.take() {
            Some(_) => ImpactChange::Relapsed,
            None if is_worse => ImpactChange::Worsened,
            None => ImpactChange::Nothing,
        }
    }

    /// Records that a service works again, unless its recovery is already recorded.
    pub fn recover(&mut self, service: ServiceKey, at: Timestamp) {
        for affected in self.services.iter_mut().filter(|row| row.service == service) {
            affected.recovered_at.get_or_insert(at.max(affected.added_at));
        }
    }

    /// The services that have not recovered. Some of them may never have failed: members may add any service.
    pub fn unrecovered(&self) -> impl Iterator<Item = ServiceKey> {
        let unrecovered = self.services.iter().filter(|affected| affected.recovered_at.is_none());
        unrecovered.map(|affected| affected.service)
    }

    /// The time of the last recovery; `None` if no service has recovered.
    #[must_use]
    pub fn last_recovery(&self) -> Option<Timestamp> {
        self.services.iter().filter_map(|affected| affected.recovered_at).max()
    }

    /// Returns true if the status may be set automatically: the incident was opened automatically, is open, and no member
    /// has stated its status.
    #[must_use]
    pub fn follows_outages(&self) -> bool {
        let is_followed = self.automation.is_some_and(|automation| !automation.edited.status);
        is_followed && self.incident.status != IncidentStatus::Resolved
    }
}

#[cfg(test)]
mod tests;
