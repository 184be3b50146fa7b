//! The messages for contacts that a step of an escalation has notified of an incident.

use std::collections::{BTreeMap, HashSet};

use crate::clock::Timestamp;
use crate::model::contact::Contact;
use crate::model::incident::Severity;
use crate::model::incident_effects::audience::{ChannelAudience, IncidentAudience, WrittenMessage};
use crate::model::incident_effects::batch::enqueue_batched;
use crate::model::incident_effects::choice::IncidentChangeFacts;
use crate::model::incident_effects::recipients::{PlannedMessage, keep_each_once};
use crate::model::incident_effects::transition::IncidentTransition;
use crate::model::lifecycle_effect::{HeldMessages, LifecycleEffect, enqueue};
use crate::model::message_holds::contact_hold;
use crate::model::notification::NotificationEvent;
use crate::model::notification::message::NotificationMessage;

/// A contact that a step notified of an incident, and the channel of that message.
struct InformedContact<'a> {
    contact: &'a Contact,
    channel_audience: &'a ChannelAudience,
    /// The newest message of a step that the contact got through the channel.
    step: &'a WrittenMessage,
}

impl<'a> InformedContact<'a> {
    /// The message to write for the contact now; `None` if all readers of the channel get a message about this change and
    /// the channel has no mailbox for each contact. If the step was sent in quiet hours, because the contact was on duty,
    /// this message is sent in quiet hours too.
    fn planned(
        &self,
        severity: Severity,
        now: Timestamp,
        notified_now: &HashSet<i64>,
    ) -> Option<PlannedMessage<'a>> {
        let channel = &self.channel_audience.channel;
        if !channel.has_mailboxes() && notified_now.contains(&channel.key) {
            return None;
        }
        let was_woken =
            self.step.hold.is_none() && contact_hold(self.contact, severity, self.step.created_at).is_some();
        let hold = if was_woken { None } else { contact_hold(self.contact, severity, now) };
        Some(PlannedMessage { channel, contact: Some(self.contact), hold })
    }

    /// Returns true if at least one message for the contact was sent or will be sent. Steps that are held beyond `now` do
    /// not count, because they are deleted when the incident ends. A contact without messages is not notified of the end.
    fn knows_at(&self, now: Timestamp) -> bool {
        let is_taken_back = |written: &WrittenMessage| {
            written.is_held_step() && written.hold.is_some_and(|hold| hold.until > now)
        };
        let mut written =
            self.channel_audience.written.iter().filter(|written| written.contact == self.step.contact);
        written.any(|written| !is_taken_back(written))
    }

    fn choose(&self, facts: &IncidentChangeFacts<'_>) -> Option<NotificationEvent> {
        facts.choose_for_contact(self.channel_audience.notified_severity(Some(self.contact.key)))
    }
}

/// Releases the steps that wait for the end of a contact's quiet hours if these do not apply to the present severity of
/// the incident.
pub(super) fn wake_contacts(
    change: &IncidentTransition<'_>,
    audience: &IncidentAudience,
) -> Vec<LifecycleEffect> {
    let incident = &change.after.incident;
    let mut effects = Vec::new();
    for ChannelAudience { channel, written, .. } in &audience.channels {
        for step in written.iter().filter(|written| written.is_held_step()) {
            let Some(contact) = step.contact.and_then(|key| audience.contact(key)) else { continue };
            if contact_hold(contact, incident.severity, change.at).is_none() {
                let line = channel.line(Some(contact.key));
                effects.push(LifecycleEffect::Release(HeldMessages {
                    channel: channel.key,
                    line,
                    subject: incident.id,
                }));
            }
        }
    }
    effects
}

/// Returns the messages about the end of an incident to contacts that a step has notified of it. A channel without a
/// mailbox for each contact gets no second message if all its readers are notified of the end.
pub(super) fn inform_of_end(
    change: &IncidentTransition<'_>,
    audience: &IncidentAudience,
    notified_now: &HashSet<i64>,
) -> Vec<LifecycleEffect> {
    let severity = change.after.incident.severity;
    let mut informed = informed_contacts(audience);
    informed.retain(|informed| informed.knows_at(change.at));
    let planned = informed.iter().filter_map(|informed| informed.planned(severity, change.at, notified_now));
    let mut effects = Vec::new();
    for planned in keep_each_once(planned) {
        let sender = audience.sender(planned.contact);
        let message = NotificationMessage::of_incident(
            NotificationEvent::IncidentResolved,
            change.after,
            sender,
            change.at.ms(),
        );
        effects.extend(enqueue(planned.outgoing(message, change.at), change.after.incident.id));
    }
    effects
}

/// Returns the messages to contacts that an escalation step has notified of this incident: services have joined the
/// incident, or it is more severe than the last message to the contact said. A channel without a mailbox for each
/// contact gets no second message if all its readers are notified of the change.
pub(super) fn inform_contacts(
    change: &IncidentTransition<'_>,
    audience: &IncidentAudience,
    facts: &IncidentChangeFacts<'_>,
    notified_now: &HashSet<i64>,
) -> Vec<LifecycleEffect> {
    let incident = &change.after.incident;
    let mut informed = informed_contacts(audience);
    informed.retain(|informed| informed.channel_audience.channel.is_enabled);
    let mut effects = Vec::new();
    for event in [NotificationEvent::IncidentWorsened, NotificationEvent::IncidentServiceJoined] {
        let chosen = informed.iter().filter(|informed| informed.choose(facts) == Some(event));
        let planned =
            chosen.filter_map(|informed| informed.planned(incident.severity, change.at, notified_now));
        for planned in keep_each_once(planned) {
            let Some(channel_audience) = audience.channel(planned.channel.key) else { continue };
            let sender = audience.sender(planned.contact);
            let message = NotificationMessage::of_incident(event, change.after, sender, change.at.ms());
            let message = message.with_change(facts.named_for_contacts());
            effects.extend(enqueue_batched(message, planned, channel_audience, incident.id, change.at));
        }
    }
    effects
}

/// The contacts that a step notified of the incident and that were not yet notified of its end, with the channels of
/// the step.
fn informed_contacts(audience: &IncidentAudience) -> Vec<InformedContact<'_>> {
    let mut newest: BTreeMap<(i64, i64), (&ChannelAudience, &WrittenMessage)> = BTreeMap::new();
    for channel_audience in &audience.channels {
        for written in channel_audience.written.iter().filter(|written| written.is_step_or_end()) {
            for contact in readers(written, channel_audience, audience) {
                let known = newest
                    .entry((contact.key, channel_audience.channel.key))
                    .or_insert((channel_audience, written));
                if known.1.key < written.key {
                    *known = (channel_audience, written);
                }
            }
        }
    }
    let newest =
        newest.into_iter().filter(|(_, (_, written))| written.event != NotificationEvent::IncidentResolved);
    let informed = newest.filter_map(|((contact, _), (channel_audience, step))| {
        Some(InformedContact { contact: audience.contact(contact)?, channel_audience, step })
    });
    informed.collect()
}

/// The contacts that a message was for: the contact that it names, or all contacts with the channel if the message names
/// no contact and the channel has no mailbox for each contact.
fn readers<'a>(
    written: &WrittenMessage,
    channel_audience: &ChannelAudience,
    audience: &'a IncidentAudience,
) -> Vec<&'a Contact> {
    let has_channel =
        |contact: &&Contact| contact.channels.iter().any(|own| own.key == channel_audience.channel.key);
    match written.contact {
        Some(key) => audience.contact(key).into_iter().collect(),
        None if channel_audience.channel.has_mailboxes() => Vec::new(),
        None => audience.contacts.iter().filter(has_channel).collect(),
    }
}
