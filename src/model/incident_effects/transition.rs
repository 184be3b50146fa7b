//! A change of an incident: its event, the services that join or recover, and the entries for subscribers.

use std::collections::{HashMap, HashSet};

use crate::clock::Timestamp;
use crate::model::incident::{AffectedService, IncidentTimelineEntry, WholeIncident};
use crate::model::notification::NotificationEvent;
use crate::model::notification::routing::event_of;
use crate::model::service::ServiceKey;

/// An incident before and after a change.
#[derive(Clone, Copy, Debug)]
pub struct IncidentTransition<'a> {
    /// The incident before the change; `None` for a new incident.
    pub before: Option<&'a WholeIncident>,
    /// The incident after the change; its row is stored and has a key.
    pub after: &'a WholeIncident,
    /// A service that is deleted with this change, though the incident still names it.
    pub leaving: Option<ServiceKey>,
    /// Present time.
    pub at: Timestamp,
}

impl IncidentTransition<'_> {
    /// The event by which channels are notified of the change; `None` = no message.
    #[must_use]
    pub fn event(&self) -> Option<NotificationEvent> {
        event_of(self.before, self.after)
    }

    /// Returns true if the incident became more severe.
    #[must_use]
    pub fn is_rise(&self) -> bool {
        self.before.is_some_and(|before| before.incident.severity < self.after.incident.severity)
    }

    /// The services that join the incident with this change, and affected services that fail again after a recovery; both
    /// sorted by name. Empty for a new incident.
    #[must_use]
    pub fn joined(&self) -> JoinedServices<'_> {
        let Some(before) = self.before else { return JoinedServices::default() };
        let known: HashMap<ServiceKey, bool> =
            before.services.iter().map(|row| (row.service, row.recovered_at.is_some())).collect();
        let mut joined = JoinedServices::default();
        for affected in self.after.services.iter().filter(|row| row.recovered_at.is_none()) {
            match known.get(&affected.service) {
                None => joined.new.push(affected),
                Some(true) => joined.relapsed.push(affected),
                Some(false) => {}
            }
        }
        joined
    }

    /// The services that recover from the incident with this change, sorted by name.
    #[must_use]
    pub fn recovered(&self) -> Vec<&AffectedService> {
        let Some(before) = self.before else { return Vec::new() };
        let failing = before.services.iter().filter(|row| row.recovered_at.is_none());
        let failing: HashSet<ServiceKey> = failing.map(|row| row.service).collect();
        let now = self.after.services.iter().filter(|row| row.recovered_at.is_some());
        now.filter(|row| failing.contains(&row.service)).collect()
    }

    /// The timeline entries of which subscribers are notified (contract 4.10.3): the new entries of a published incident,
    /// and at least the newest entry if the change publishes the incident.
    #[must_use]
    pub fn entries_for_subscribers(&self) -> Vec<&IncidentTimelineEntry> {
        let after = self.after;
        if !after.incident.is_published {
            return Vec::new();
        }
        let was_published = self.before.is_some_and(|before| before.incident.is_published);
        let known = self.before.map_or(0, |before| before.updates.len());
        let first = if was_published { known } else { known.min(after.updates.len().saturating_sub(1)) };
        let new = after.updates.get(first..).unwrap_or_default();
        new.iter().filter(|entry| entry.notify_subscribers).collect()
    }
}

/// Services that join an incident, or fail again, with a change.
#[derive(Clone, Debug, Default)]
pub struct JoinedServices<'a> {
    /// Services that the incident did not affect before.
    pub new: Vec<&'a AffectedService>,
    /// Services that had recovered from the incident and fail again.
    pub relapsed: Vec<&'a AffectedService>,
}

/// Returns true while an incident is open and not acknowledged.
#[must_use]
pub const fn waits_for_acknowledgement(whole: &WholeIncident) -> bool {
    !whole.incident.is_resolved() && whole.incident.acknowledgement.is_none()
}
