//! The effects of a step of an escalation: messages to its recipients, and the time of the next step.

use crate::clock::Timestamp;
use crate::model::escalation::{EscalationPolicy, EscalationProgress};
use crate::model::incident::WholeIncident;
use crate::model::incident_effects::audience::IncidentAudience;
use crate::model::incident_effects::recipients::{PlannedMessage, ReachedContact, keep_each_once};
use crate::model::lifecycle_effect::{EscalationAdvance, LifecycleEffect, MessageRetraction, enqueue};
use crate::model::notification::message::NotificationMessage;
use crate::model::notification::{NotificationChannel, NotificationEvent};

/// A step of an escalation that is due.
#[derive(Clone, Copy, Debug)]
pub struct StepOccasion<'a> {
    /// The incident to escalate.
    pub incident: &'a WholeIncident,
    /// The policy that the incident follows.
    pub policy: &'a EscalationPolicy,
    /// Progress of the incident in the policy before the step.
    pub progress: EscalationProgress,
    /// The contacts that the step reaches.
    pub people: &'a [ReachedContact],
    /// Present time.
    pub at: Timestamp,
}

/// Returns the messages of a step, and the progress to the next step. Only messages that are sent now count as reaching
/// somebody.
#[must_use]
pub fn step_effects(step: &StepOccasion<'_>, audience: &IncidentAudience) -> Vec<LifecycleEffect> {
    let mut effects = message_effects(step, audience);
    let has_reached = effects.iter().any(LifecycleEffect::leaves_now);
    let progress = step.progress.after_step(step.policy, step.at, has_reached);
    let incident = step.incident.incident.key;
    effects.push(LifecycleEffect::AdvanceEscalation(EscalationAdvance { incident, progress }));
    effects
}

fn message_effects(step: &StepOccasion<'_>, audience: &IncidentAudience) -> Vec<LifecycleEffect> {
    let Some(named) = step.progress.step(step.policy) else { return Vec::new() };
    let incident = &step.incident.incident;
    let enabled = || audience.enabled().map(|channel_audience| &channel_audience.channel);
    let is_named =
        |channel: &&NotificationChannel| named.channels.iter().any(|named| named.key == channel.key);
    let for_channels = enabled().filter(is_named).map(PlannedMessage::for_channel);
    let for_people =
        step.people.iter().flat_map(|reached| reached.planned(enabled(), incident.severity, step.at));
    let mut planned = keep_each_once(for_channels.chain(for_people));
    // A contact in quiet hours gets a single message at their end, however often the steps are repeated.
    planned.retain(|planned| planned.hold.is_none() || !has_held_step(planned, audience));
    let mut effects = Vec::new();
    for planned in &planned {
        if has_held_step(planned, audience) {
            // A held step is retracted, because it would alert the contact a second time at the end of quiet hours.
            let (channel, contact) = (planned.channel.key, planned.contact.map(|contact| contact.key));
            let retraction = MessageRetraction::HeldStepOf { channel, contact, incident: incident.id };
            effects.push(LifecycleEffect::Retract(retraction));
        }
        let sender = audience.sender(planned.contact);
        let message = NotificationMessage::of_incident(
            NotificationEvent::IncidentEscalated,
            step.incident,
            sender,
            step.at.ms(),
        );
        effects.extend(enqueue(planned.outgoing(message, step.at), incident.id));
    }
    effects
}

fn has_held_step(planned: &PlannedMessage<'_>, audience: &IncidentAudience) -> bool {
    let contact = planned.contact.map(|contact| contact.key);
    let channel_audience = audience
        .channels
        .iter()
        .filter(|channel_audience| channel_audience.channel.key == planned.channel.key);
    channel_audience
        .flat_map(|channel_audience| &channel_audience.written)
        .any(|written| written.is_held_step() && written.contact == contact)
}
