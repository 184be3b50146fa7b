//! The messages about a change of an incident: for channels, and (`contacts`) for contacts that a step has notified of it.

use std::collections::HashSet;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident_effects::audience::{ChannelAudience, IncidentAudience};
use crate::model::incident_effects::batch::enqueue_batched;
use crate::model::incident_effects::choice::IncidentChangeFacts;
use crate::model::incident_effects::contacts::{inform_contacts, inform_of_end, wake_contacts};
use crate::model::incident_effects::recipients::PlannedMessage;
use crate::model::incident_effects::transition::IncidentTransition;
use crate::model::lifecycle_effect::{HeldMessages, LifecycleEffect, MessageRetraction};
use crate::model::notification::NotificationEvent;
use crate::model::notification::change::{IncidentChange, ServiceGroup};
use crate::model::notification::message::NotificationMessage;

/// The effects of a change on the outbox: messages to queue, to release and to retract.
pub(super) fn message_effects(
    change: &IncidentTransition<'_>,
    audience: &IncidentAudience,
) -> Vec<LifecycleEffect> {
    let Some(event) = change.event() else { return Vec::new() };
    let incident = &change.after.incident;
    let mut effects = Vec::new();
    if matches!(event, NotificationEvent::IncidentAcknowledged | NotificationEvent::IncidentResolved) {
        effects.push(LifecycleEffect::Retract(MessageRetraction::HeldSteps(incident.id)));
    }
    if change.is_rise() {
        effects.extend(wake_contacts(change, audience));
    }
    let facts = IncidentChangeFacts::of(event, change, &audience.concerned);
    let mut notified_now = HashSet::new();
    for channel_audience in &audience.channels {
        let chosen = facts.choose(channel_audience);
        if change.is_rise() && channel_audience.is_held_below(incident.severity, change.at) {
            let (channel, line) = (channel_audience.channel.key, channel_audience.channel.line(None));
            effects.push(LifecycleEffect::Release(HeldMessages { channel, line, subject: incident.id }));
        }
        let Some((event, named)) = chosen else { continue };
        let message =
            NotificationMessage::of_incident(event, change.after, audience.sender(None), change.at.ms());
        effects.extend(write_to_channel(
            message.with_change(named),
            channel_audience,
            incident.id,
            change.at,
        ));
        notified_now.insert(channel_audience.channel.key);
    }
    if event == NotificationEvent::IncidentResolved {
        effects.extend(inform_of_end(change, audience, &notified_now));
    } else {
        effects.extend(inform_contacts(change, audience, &facts, &notified_now));
    }
    effects
}

/// The messages about services that recover while others of the incident have not recovered.
pub(super) fn recovery_messages(
    change: &IncidentTransition<'_>,
    audience: &IncidentAudience,
) -> Vec<LifecycleEffect> {
    let event = NotificationEvent::IncidentServiceRecovered;
    let incident = &change.after.incident;
    let recovered = ServiceGroup::from_affected(change.recovered());
    if recovered.is_none() || change.after.unrecovered().next().is_none() || incident.is_resolved() {
        return Vec::new();
    }
    let mut effects = Vec::new();
    for channel_audience in audience.enabled().filter(|channel_audience| channel_audience.was_notified()) {
        if !channel_audience.channel.routing.events.contains(&event) {
            continue;
        }
        let named = IncidentChange { recovered: recovered.clone(), ..IncidentChange::default() };
        let message =
            NotificationMessage::of_incident(event, change.after, audience.sender(None), change.at.ms());
        effects.extend(write_to_channel(
            message.with_change(named),
            channel_audience,
            incident.id,
            change.at,
        ));
    }
    effects
}

/// Queues a message for all readers of a channel, or adds its contents to a held message of the same event.
fn write_to_channel(
    message: NotificationMessage,
    channel_audience: &ChannelAudience,
    subject: Id,
    now: Timestamp,
) -> Vec<LifecycleEffect> {
    let hold = channel_audience.hold(&message, now);
    let planned = PlannedMessage { hold, ..PlannedMessage::for_channel(&channel_audience.channel) };
    enqueue_batched(message, planned, channel_audience, subject, now)
}
