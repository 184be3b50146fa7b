//! Effects of a change of an incident: messages, facts for subscribers, the escalation, an event.
//!
//! Everything here is a pure function of the change and of the possible recipients ([`IncidentAudience`]).
//! `lifecycle` reads the audience, stores the incident and carries the effects out, in one transaction. Steps of
//! escalations are in `step`.

pub mod audience;
mod batch;
mod choice;
mod contacts;
mod messages;
pub mod recipients;
pub mod step;
pub mod transition;

use std::collections::HashSet;

use crate::id::Id;
use crate::model::escalation::{EscalationProgress, IncidentTraits, first_match};
use crate::model::event::EventAction;
use crate::model::incident::{IncidentTimelineEntry, WholeIncident};
use crate::model::incident_effects::audience::IncidentAudience;
use crate::model::incident_effects::transition::{IncidentTransition, waits_for_acknowledgement};
use crate::model::lifecycle_effect::{EscalationStart, LifecycleEffect, MessageRetraction};
use crate::model::service::ServiceKey;
use crate::model::subscriber_fact::{FactKind, FactSubject, SubscriberFact};

/// All effects of a change, in the order in which they are carried out.
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

/// Effects of the recovery of some services while others of the incident have not recovered: only messages to the
/// channels that were notified of the incident and have chosen this event.
#[must_use]
pub fn recovery_effects(
    change: &IncidentTransition<'_>,
    audience: &IncidentAudience,
) -> Vec<LifecycleEffect> {
    messages::recovery_messages(change, audience)
}

/// Effects of the deletion of an incident: an event is published, and held messages are deleted. Nobody is notified.
#[must_use]
pub fn deletion_effects(organisation: i64, key: i64, id: Id) -> Vec<LifecycleEffect> {
    let retraction = MessageRetraction::Subject { organisation, subject: id };
    vec![
        LifecycleEffect::publish_incident(key, EventAction::Deleted, Vec::new()),
        LifecycleEffect::Retract(retraction),
    ]
}

fn subscriber_facts(change: &IncidentTransition<'_>, audience: &IncidentAudience) -> Vec<LifecycleEffect> {
    let incident = &change.after.incident;
    let fact = |entry: &IncidentTimelineEntry| {
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

/// The effect on the escalation of the incident; `None` = no change. An incident follows the first policy that matches,
/// until it is acknowledged or resolved. If an earlier policy in the order matches after a change, the incident follows
/// that policy instead, and the first step counts from the creation of the incident.
fn escalation_effect(
    change: &IncidentTransition<'_>,
    audience: &IncidentAudience,
) -> Option<LifecycleEffect> {
    let incident = &change.after.incident;
    if !waits_for_acknowledgement(change.after) {
        return change.before.map(|_| LifecycleEffect::EndEscalation(incident.key));
    }
    let case = IncidentTraits {
        severity: incident.severity,
        concerned: audience.concerned.clone(),
        incident_policy: change.after.automation.and_then(|automation| automation.policy),
    };
    let policy = first_match(&audience.policies, &case)?;
    let progress = match audience.followed {
        None => EscalationProgress::begin(policy, change.at),
        Some(followed) => {
            let known = audience.policies.iter().find(|known| known.key == followed.policy);
            if known.is_none_or(|known| known.position <= policy.position) {
                return None;
            }
            EscalationProgress::enter(policy, incident.created_at, change.at)
        }
    };
    Some(LifecycleEffect::StartEscalation(EscalationStart {
        incident: incident.key,
        organisation: incident.organisation,
        policy: policy.key,
        progress,
    }))
}

fn published_act(change: &IncidentTransition<'_>) -> LifecycleEffect {
    let after = change.after;
    let services = |whole: &WholeIncident| -> HashSet<ServiceKey> {
        whole.services.iter().map(|affected| affected.service).collect()
    };
    let act = match change.before {
        None => EventAction::Created,
        Some(before) if after.incident.is_resolved() && !before.incident.is_resolved() => {
            EventAction::Resolved
        }
        Some(_) => EventAction::Updated,
    };
    let remaining = services(after);
    let former = change.before.map(|before| {
        let before = before.services.iter().map(|affected| affected.service);
        before.filter(|service| !remaining.contains(service)).collect::<Vec<ServiceKey>>()
    });
    let former = former.unwrap_or_default().into_iter().chain(change.leaving).collect();
    LifecycleEffect::publish_incident(after.incident.key, act, former)
}

#[cfg(test)]
mod tests;
