//! What follows from a change of an incident: messages, facts for subscribers, the escalation, an event.
//!
//! Everything here is a pure function of the change and of what is known about those who may be told
//! ([`IncidentAudience`]). `lifecycle` reads the audience, stores the incident and carries the effects out, in one
//! transaction. Steps of escalations are in `step`.

pub mod audience;
mod messages;
pub mod recipients;
pub mod step;

use std::collections::HashSet;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::escalation::{Case, Progress, first_match};
use crate::model::event::Act;
use crate::model::incident::{TimelineEntry, WholeIncident};
use crate::model::incident_effects::audience::IncidentAudience;
use crate::model::lifecycle_effect::{EscalationStart, LifecycleEffect, Retraction};
use crate::model::notification::Event;
use crate::model::notification::routing::event_of;
use crate::model::service::ServiceKey;
use crate::model::subscriber_fact::{FactKind, FactSubject, SubscriberFact};

/// A change of an incident.
#[derive(Clone, Copy, Debug)]
pub struct IncidentTransition<'a> {
    /// As it was; `None` for a new incident.
    pub before: Option<&'a WholeIncident>,
    /// As it is; its row is stored and has a key.
    pub after: &'a WholeIncident,
    /// A service that is deleted with this change, though the incident still names it.
    pub leaving: Option<ServiceKey>,
    /// Now.
    pub at: Timestamp,
}

impl IncidentTransition<'_> {
    /// What is to be told of it; `None` = nothing that is worth a message.
    #[must_use]
    pub fn event(&self) -> Option<Event> {
        event_of(self.before, self.after)
    }

    /// Returns true if the incident became more severe.
    #[must_use]
    pub fn is_rise(&self) -> bool {
        self.before.is_some_and(|before| before.incident.severity < self.after.incident.severity)
    }

    /// The entries of the timeline that subscribers are told: new ones, while the incident is published; when it is published,
    /// the newest one (contract 4.10.3).
    #[must_use]
    pub fn entries_for_subscribers(&self) -> Vec<&TimelineEntry> {
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

/// Returns true while an incident needs somebody: it is open, and nobody has acknowledged it.
#[must_use]
pub const fn waits_for_acknowledgement(whole: &WholeIncident) -> bool {
    !whole.incident.is_resolved() && whole.incident.acknowledgement.is_none()
}

/// Everything that follows from a change, in the order in which it is carried out.
#[must_use]
pub fn incident_effects(
    change: &IncidentTransition<'_>,
    audience: &IncidentAudience,
) -> Vec<LifecycleEffect> {
    let mut effects = messages::message_effects(change, audience);
    effects.extend(subscriber_facts(change, audience));
    effects.extend(escalation_effect(change, audience));
    effects.push(published_act(change));
    effects
}

/// What follows from the deletion of an incident: nobody is told, and what is held is never sent.
#[must_use]
pub fn deletion_effects(organisation: i64, (key, id): (i64, Id)) -> Vec<LifecycleEffect> {
    let retraction = Retraction::Subject { organisation, subject: id };
    vec![
        LifecycleEffect::publish_incident(key, Act::Deleted, Vec::new()),
        LifecycleEffect::Retract(retraction),
    ]
}

fn subscriber_facts(change: &IncidentTransition<'_>, audience: &IncidentAudience) -> Vec<LifecycleEffect> {
    let incident = &change.after.incident;
    let fact = |entry: &TimelineEntry| {
        LifecycleEffect::SubscriberFact(Box::new(SubscriberFact {
            key: 0,
            id: Id::random(),
            organisation: incident.organisation,
            kind: FactKind::IncidentEntry,
            subject: FactSubject::Incident { incident: incident.key, entry: entry.id },
            title: incident.title.clone(),
            message: entry.message.clone(),
            at: entry.created_at,
            pages: audience.pages.clone(),
        }))
    };
    change.entries_for_subscribers().into_iter().map(fact).collect()
}

/// An incident follows the first policy that matches until somebody acknowledges it or it is over. One that follows a policy
/// stays with it.
fn escalation_effect(
    change: &IncidentTransition<'_>,
    audience: &IncidentAudience,
) -> Option<LifecycleEffect> {
    let incident = &change.after.incident;
    if !waits_for_acknowledgement(change.after) {
        return change.before.map(|_| LifecycleEffect::EndEscalation(incident.key));
    }
    if audience.is_escalating {
        return None;
    }
    let case = Case {
        severity: incident.severity,
        concerned: audience.concerned.clone(),
        incident_policy: change.after.automation.and_then(|automation| automation.policy),
    };
    let policy = first_match(&audience.policies, &case)?;
    Some(LifecycleEffect::StartEscalation(EscalationStart {
        incident: incident.key,
        organisation: incident.organisation,
        policy: policy.key,
        progress: Progress::begin(policy, change.at),
    }))
}

fn published_act(change: &IncidentTransition<'_>) -> LifecycleEffect {
    let after = change.after;
    let services = |whole: &WholeIncident| -> HashSet<ServiceKey> {
        whole.services.iter().map(|affected| affected.service).collect()
    };
    let act = match change.before {
        None => Act::Created,
        Some(before) if after.incident.is_resolved() && !before.incident.is_resolved() => Act::Resolved,
        Some(_) => Act::Updated,
    };
    let kept = services(after);
    let former = change.before.map(|before| {
        let before = before.services.iter().map(|affected| affected.service);
        before.filter(|service| !kept.contains(service)).collect::<Vec<ServiceKey>>()
    });
    let former = former.unwrap_or_default().into_iter().chain(change.leaving).collect();
    LifecycleEffect::publish_incident(after.incident.key, act, former)
}
