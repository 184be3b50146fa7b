//! The messages about a change of an incident: for channels, and the end for the contacts that a step told of it.

use std::collections::{BTreeMap, HashSet};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::contact::Contact;
use crate::model::incident_effects::audience::{ChannelAudience, IncidentAudience, WrittenMessage};
use crate::model::incident_effects::batch::enqueue_batched;
use crate::model::incident_effects::choice::ChangeNews;
use crate::model::incident_effects::recipients::{PlannedMessage, keep_each_once};
use crate::model::incident_effects::transition::IncidentTransition;
use crate::model::lifecycle_effect::{HeldLine, LifecycleEffect, Retraction, enqueue};
use crate::model::message_holds::contact_hold;
use crate::model::notification::Event;
use crate::model::notification::change::{IncidentChange, ServiceGroup};
use crate::model::notification::digest::Hold;
use crate::model::notification::message::Message;

/// Everything that is written, released and retracted in the outbox.
pub(super) fn message_effects(
    change: &IncidentTransition<'_>,
    audience: &IncidentAudience,
) -> Vec<LifecycleEffect> {
    let Some(event) = change.event() else { return Vec::new() };
    let incident = &change.after.incident;
    let mut effects = Vec::new();
    if matches!(event, Event::IncidentAcknowledged | Event::IncidentResolved) {
        effects.push(LifecycleEffect::Retract(Retraction::HeldSteps(incident.id)));
    }
    if change.is_rise() {
        effects.extend(wake_contacts(change, audience));
    }
    let news = ChangeNews::of(event, change, &audience.concerned);
    let mut told_now = HashSet::new();
    for told in &audience.channels {
        let chosen = news.choose(told);
        if change.is_rise() && told.is_held_below(incident.severity, change.at) {
            let (channel, line) = (told.channel.key, told.channel.line(None));
            effects.push(LifecycleEffect::Release(HeldLine { channel, line, subject: incident.id }));
        }
        let Some((event, named)) = chosen else { continue };
        let message = Message::of_incident(event, change.after, audience.sender(None), change.at.ms());
        effects.extend(write_to_channel(message.with_change(named), told, (incident.id, change.at)));
        told_now.insert(told.channel.key);
    }
    if event == Event::IncidentResolved {
        effects.extend(tell_end_to_contacts(change, audience, &told_now));
    }
    effects
}

/// The messages about services that recover while others have not.
pub(super) fn recovery_messages(
    change: &IncidentTransition<'_>,
    audience: &IncidentAudience,
) -> Vec<LifecycleEffect> {
    let event = Event::IncidentServiceRecovered;
    let incident = &change.after.incident;
    let recovered = ServiceGroup::from_affected(change.recovered());
    if recovered.is_none() || change.after.unrecovered().next().is_none() || incident.is_resolved() {
        return Vec::new();
    }
    let mut effects = Vec::new();
    for told in audience.enabled().filter(|told| told.was_told()) {
        if !told.channel.routing.events.contains(&event) {
            continue;
        }
        let named = IncidentChange { recovered: recovered.clone(), ..IncidentChange::default() };
        let message = Message::of_incident(event, change.after, audience.sender(None), change.at.ms());
        effects.extend(write_to_channel(message.with_change(named), told, (incident.id, change.at)));
    }
    effects
}

/// Writes a message for everybody who reads a channel, or adds it to a held one of its kind.
fn write_to_channel(
    message: Message,
    told: &ChannelAudience,
    (subject, now): (Id, Timestamp),
) -> Vec<LifecycleEffect> {
    let hold = told.hold(&message, now);
    let planned = PlannedMessage { hold, ..PlannedMessage::for_channel(&told.channel) };
    enqueue_batched(message, planned, told, (subject, now))
}

/// Releases the steps that wait for the end of quiet hours of contacts who want to be woken by something so severe.
fn wake_contacts(change: &IncidentTransition<'_>, audience: &IncidentAudience) -> Vec<LifecycleEffect> {
    let incident = &change.after.incident;
    let mut effects = Vec::new();
    for ChannelAudience { channel, written, .. } in &audience.channels {
        for step in written.iter().filter(|written| written.is_held_step()) {
            let Some(contact) = step.contact.and_then(|key| audience.contact(key)) else { continue };
            if contact_hold(contact, incident.severity, change.at).is_none() {
                let line = channel.line(Some(contact.key));
                effects.push(LifecycleEffect::Release(HeldLine {
                    channel: channel.key,
                    line,
                    subject: incident.id,
                }));
            }
        }
    }
    effects
}

/// Writes the end of an incident for the contacts that a step told of it, by those channels that are not told it just now.
fn tell_end_to_contacts(
    change: &IncidentTransition<'_>,
    audience: &IncidentAudience,
    told_now: &HashSet<i64>,
) -> Vec<LifecycleEffect> {
    let waiting = waiting_for_end(change, audience);
    let planned = waiting.into_iter().filter_map(|(contact, told, hold)| {
        let channel = &told.channel;
        let knows = !channel.has_mailboxes() && told_now.contains(&channel.key);
        (!knows).then_some(PlannedMessage { channel, contact: Some(contact), hold })
    });
    let mut effects = Vec::new();
    for planned in keep_each_once(planned) {
        let sender = audience.sender(planned.contact);
        let message = Message::of_incident(Event::IncidentResolved, change.after, sender, change.at.ms());
        effects.extend(enqueue(planned.outgoing(message, change.at), change.after.incident.id));
    }
    effects
}

/// The contacts that a step told of the incident and that do not know of its end yet, with the channels by which they were
/// told, and what holds the end. What came in quiet hours because the contact was on duty ends in them as well.
fn waiting_for_end<'a>(
    change: &IncidentTransition<'_>,
    audience: &'a IncidentAudience,
) -> Vec<(&'a Contact, &'a ChannelAudience, Option<Hold>)> {
    let severity = change.after.incident.severity;
    let mut newest: BTreeMap<(i64, i64), (&ChannelAudience, &WrittenMessage)> = BTreeMap::new();
    for told in &audience.channels {
        for written in told.written.iter().filter(|written| written.is_step_or_end()) {
            for contact in readers(written, told, audience) {
                let known = newest.entry((contact.key, told.channel.key)).or_insert((told, written));
                if known.1.key < written.key {
                    *known = (told, written);
                }
            }
        }
    }
    let mut waiting = Vec::new();
    for ((contact, _), (told, written)) in newest {
        let Some(contact) = audience.contact(contact) else { continue };
        if written.event == Event::IncidentResolved {
            continue;
        }
        let was_woken =
            written.hold.is_none() && contact_hold(contact, severity, written.created_at).is_some();
        let hold = if was_woken { None } else { contact_hold(contact, severity, change.at) };
        waiting.push((contact, told, hold));
    }
    waiting
}

/// The contacts that a message was for: the one that it names, or those who have such a channel if it was for several of them.
fn readers<'a>(
    written: &WrittenMessage,
    told: &ChannelAudience,
    audience: &'a IncidentAudience,
) -> Vec<&'a Contact> {
    let has_channel = |contact: &&Contact| contact.channels.iter().any(|own| own.key == told.channel.key);
    match written.contact {
        Some(key) => audience.contact(key).into_iter().collect(),
        None if told.channel.has_mailboxes() => Vec::new(),
        None => audience.contacts.iter().filter(has_channel).collect(),
    }
}
