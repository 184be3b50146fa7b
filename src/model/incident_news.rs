//! What an incident is told of outages, beside what people write in it.
//!
//! What a person has edited the engine leaves alone; what it adds it adds beside. These methods take an incident with
//! everything that hangs on it and change that, like those of people.

use crate::clock::Timestamp;
use crate::model::automation::Automation;
use crate::model::incident::{Affected, Incident, IncidentStatus, Severity, WholeIncident, insert_by_name};
use crate::model::incident_policy::OutageKind;
use crate::model::service::{NamedService, ServiceKey};

/// A service that an incident is told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The service.
    pub service: NamedService,
    /// Its trouble.
    pub kind: OutageKind,
    /// The start of the trouble.
    pub began_at: Timestamp,
    /// The severity of such trouble.
    pub severity: Severity,
}

/// What the incident did not know before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The service was not affected.
    Joined,
    /// It had recovered.
    Relapsed,
    /// It was hit less.
    Worsened,
    /// Nothing: it is affected already, and as much.
    Nothing,
}

impl WholeIncident {
    /// Notes what a person has edited, compared with the incident of before.
    pub fn note_edits(&mut self, before: &Incident) {
        let Some(Automation { edited, .. }) = &mut self.automation else { return };
        edited.title |= self.incident.title != before.title;
        edited.severity |= self.incident.severity != before.severity;
        edited.status |= self.incident.status != before.status;
    }

    /// Notes that a person has stated the status, whether or not that is news.
    pub const fn note_stated_status(&mut self) {
        if let Some(automation) = &mut self.automation {
            automation.edited.status = true;
        }
    }

    /// The engine tells it of a service in trouble. Of an incident that is over nothing changes.
    pub fn tell(&mut self, told: &Told) -> News {
        if self.incident.is_resolved() {
            return News::Nothing;
        }
        if !self.automation.is_some_and(|automation| automation.edited.severity) {
            self.set_severity(self.incident.severity.max(told.severity));
        }
        let impact = Some(told.kind.impact());
        let Some(affected) = self.services.iter_mut().find(|row| row.service == told.service.key) else {
            let NamedService { key: service, id, name } = told.service.clone();
            let row = Affected {
                service,
                id,
                name,
                impact,
                is_derived: false,
                added_at: told.began_at.max(self.incident.started_at),
                recovered_at: None,
                evidence: None,
            };
            insert_by_name(&mut self.services, row);
            return News::Joined;
        };
        let is_worse = affected.impact < impact;
        if is_worse {
            affected.impact = impact;
            affected.is_derived = false;
        }
        match affected.recovered_at.take() {
            Some(_) => News::Relapsed,
            None if is_worse => News::Worsened,
            None => News::Nothing,
        }
    }

    /// The engine says that a service works again.
    pub fn recover(&mut self, service: ServiceKey, at: Timestamp) {
        for affected in self.services.iter_mut().filter(|row| row.service == service) {
            affected.recovered_at.get_or_insert(at.max(affected.added_at));
        }
    }

    /// The services that have not recovered. Some of them may never have failed: people add what they want.
    pub fn unrecovered(&self) -> impl Iterator<Item = ServiceKey> {
        let unrecovered = self.services.iter().filter(|affected| affected.recovered_at.is_none());
        unrecovered.map(|affected| affected.service)
    }

    /// The time of the last recovery; `None` when nothing has recovered.
    #[must_use]
    pub fn last_recovery(&self) -> Option<Timestamp> {
        self.services.iter().filter_map(|affected| affected.recovered_at).max()
    }

    /// Returns true if the engine may state the status: it is open, and no person has said what it is.
    #[must_use]
    pub fn follows_outages(&self) -> bool {
        let is_followed = self.automation.is_some_and(|automation| !automation.edited.status);
        is_followed && self.incident.status != IncidentStatus::Resolved
    }
}

#[cfg(test)]
mod tests;
