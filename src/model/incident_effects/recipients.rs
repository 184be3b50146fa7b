//! Messages that are planned for channels and contacts, without duplicates.
//!
//! Contacts on duty are notified at any hour; quiet hours apply to contacts that a step names directly.

use std::collections::{HashMap, HashSet};

use crate::clock::Timestamp;
use crate::model::contact::Contact;
use crate::model::incident::Severity;
use crate::model::lifecycle_effect::QueuedMessage;
use crate::model::message_holds::contact_hold;
use crate::model::notification::NotificationChannel;
use crate::model::notification::delivery::{Delivery, DeliveryTarget};
use crate::model::notification::digest::DeliveryHold;
use crate::model::notification::message::NotificationMessage;

/// A contact that a step of an escalation reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachedContact {
    /// The contact, with its channels.
    pub contact: Contact,
    /// True if an on-call schedule puts the contact on duty; false if the step names the contact directly.
    pub is_on_duty: bool,
}

/// A message that is to be queued for a channel.
#[derive(Clone, Copy)]
pub(super) struct PlannedMessage<'a> {
    pub(super) channel: &'a NotificationChannel,
    /// The contact that the message is for; `None` = all readers of the channel.
    pub(super) contact: Option<&'a Contact>,
    /// The hold of the message; `None` = it is sent at once.
    pub(super) hold: Option<DeliveryHold>,
}

impl<'a> PlannedMessage<'a> {
    /// Plans a message for all readers of a channel, without a hold.
    pub(super) const fn for_channel(channel: &'a NotificationChannel) -> Self {
        Self { channel, contact: None, hold: None }
    }

    /// The message to put into the outbox at `now`.
    pub(super) fn outgoing(&self, message: NotificationMessage, now: Timestamp) -> QueuedMessage {
        let contact = self.contact.map(|contact| contact.key);
        let target = DeliveryTarget {
            organisation: self.channel.organisation,
            channel: self.channel.key,
            contact,
            hold: self.hold,
        };
        QueuedMessage { delivery: Delivery::written(message, target, now), line: self.channel.line(contact) }
    }
}

impl ReachedContact {
    /// Plans a message to the contact through each of its channels that is enabled.
    pub(super) fn planned<'a>(
        &'a self,
        enabled: impl Iterator<Item = &'a NotificationChannel>,
        severity: Severity,
        now: Timestamp,
    ) -> impl Iterator<Item = PlannedMessage<'a>> {
        let hold = if self.is_on_duty { None } else { contact_hold(&self.contact, severity, now) };
        let own =
            |channel: &&NotificationChannel| self.contact.channels.iter().any(|own| own.key == channel.key);
        enabled.filter(own).map(move |channel| PlannedMessage { channel, contact: Some(&self.contact), hold })
    }
}

/// Removes duplicate messages; a message that is sent now is preferred to a held one. In a channel without a mailbox
/// for each contact, one message replaces those to several recipients. This message is for all readers of the channel,
/// so that it stays when one of the contacts is deleted.
pub(super) fn keep_each_once<'a>(
    planned: impl Iterator<Item = PlannedMessage<'a>>,
) -> Vec<PlannedMessage<'a>> {
    let mut planned: Vec<PlannedMessage<'a>> = planned.collect();
    planned.sort_by_key(|planned| planned.hold.is_some());
    let key = |planned: &PlannedMessage<'_>| planned.contact.map(|contact| contact.key);
    let mut meant: HashMap<i64, HashSet<Option<i64>>> = HashMap::new();
    for planned in planned.iter().filter(|planned| !planned.channel.has_mailboxes()) {
        meant.entry(planned.channel.key).or_default().insert(key(planned));
    }
    for planned in &mut planned {
        if meant.get(&planned.channel.key).is_some_and(|meant| meant.len() > 1) {
            planned.contact = None;
        }
    }
    let mut seen = HashSet::new();
    planned.retain(|planned| {
        let contact = planned.contact.filter(|_| planned.channel.has_mailboxes());
        seen.insert((planned.channel.key, contact.map(|contact| contact.key)))
    });
    planned
}
