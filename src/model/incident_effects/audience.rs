//! The facts that decide who is notified of a change of an incident: channels with the messages written for them,
//! contacts, escalation policies.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::Timestamp;
use crate::model::access::Organisation;
use crate::model::contact::Contact;
use crate::model::escalation::EscalationPolicy;
use crate::model::incident::Severity;
use crate::model::message_holds::channel_hold;
use crate::model::notification::digest::{DeliveryHold, HoldReason, RecentMessages};
use crate::model::notification::message::{NotificationMessage, SenderIdentity};
use crate::model::notification::routing::RoutingKeys;
use crate::model::notification::{NotificationChannel, NotificationEvent};

/// The time before the end of a hold, in milliseconds, in which a process may already be sending the message.
const SENDING_MARGIN_MS: i64 = 2_000;

/// All possible recipients of messages about an incident, with the messages already written for them.
#[derive(Clone, Debug)]
pub struct IncidentAudience {
    /// The organisation that owns the incident.
    pub organisation: Organisation,
    /// The channels that are enabled, and those for which messages about the incident were written, ordered by key.
    pub channels: Vec<ChannelAudience>,
    /// The contacts that were notified of the incident, or may have been, ordered by key.
    pub contacts: Vec<Contact>,
    /// The escalation policies of the organisation in their order.
    pub policies: Vec<EscalationPolicy>,
    /// The policy that the incident follows; `None` = no policy.
    pub followed: Option<FollowedPolicy>,
    /// The services of the incident and their tags.
    pub concerned: RoutingKeys,
    /// The keys of the status pages that show the incident, ascending.
    pub pages: Vec<i64>,
}

/// A channel, and the messages about the incident written for it.
#[derive(Clone, Debug)]
pub struct ChannelAudience {
    /// The channel, with routing and settings.
    pub channel: NotificationChannel,
    /// The newest message of each event for each recipient (a contact, or all readers of the channel), oldest first.
    pub written: Vec<WrittenMessage>,
    /// Numbers about the recent messages of the channel on any subject, which decide about digests.
    pub recent: RecentMessages,
    /// The severity in each of the newest messages, by key of the message; only read if the severity of the incident
    /// rises.
    pub severities: BTreeMap<i64, Severity>,
    /// Held messages about services that joined or recovered, to which more services can be added.
    pub batches: Vec<HeldBatch>,
}

/// A held message about services that joined an incident or recovered from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBatch {
    /// Database key of the delivery.
    pub key: i64,
    /// Contents of the message so far.
    pub message: NotificationMessage,
}

/// A message in the outbox, without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenMessage {
    /// Key of the row; keys rise in the order of writing.
    pub key: i64,
    /// The contact that the message is for; `None` = all readers of the channel.
    pub contact: Option<i64>,
    /// The event that the message reports.
    pub event: NotificationEvent,
    /// The time at which the message was written.
    pub created_at: Timestamp,
    /// The hold of the message, which stays stored after the message was sent; `None` = not held.
    pub hold: Option<DeliveryHold>,
    /// True while the delivery has not ended and no attempt was made.
    pub is_untouched: bool,
}

/// The escalation policy that an incident follows, also after the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowedPolicy {
    /// Database key of the policy.
    pub policy: i64,
}

impl WrittenMessage {
    /// Returns true for a step of an escalation that waits for the end of quiet hours.
    #[must_use]
    pub fn is_held_step(&self) -> bool {
        self.event == NotificationEvent::IncidentEscalated && self.hold.is_some() && self.is_untouched
    }

    /// Returns true for a message that can be addressed to a single contact: a step, or the end of the incident.
    #[must_use]
    pub const fn is_step_or_end(&self) -> bool {
        matches!(self.event, NotificationEvent::IncidentEscalated | NotificationEvent::IncidentResolved)
    }
}

impl ChannelAudience {
    /// Returns true if a message about the incident was written for all readers of the channel.
    #[must_use]
    pub fn was_notified(&self) -> bool {
        self.written.iter().any(|written| written.contact.is_none())
    }

    /// The recipients of messages: all readers of the channel (`None`), and contacts by database key.
    #[must_use]
    pub fn recipients(&self) -> BTreeSet<Option<i64>> {
        self.written.iter().map(|written| written.contact).chain([None]).collect()
    }

    /// The newest message for a contact, or for all readers of the channel (`None`).
    #[must_use]
    pub fn newest(&self, contact: Option<i64>) -> Option<&WrittenMessage> {
        self.read_by(contact).max_by_key(|written| written.key)
    }

    /// The newest message of an event for a contact, or for all readers of the channel (`None`).
    #[must_use]
    pub fn newest_of(&self, event: NotificationEvent, contact: Option<i64>) -> Option<&WrittenMessage> {
        self.read_by(contact).filter(|written| written.event == event).max_by_key(|written| written.key)
    }

    /// The severity in the newest message for a contact, or for all readers of the channel (`None`).
    #[must_use]
    pub fn notified_severity(&self, contact: Option<i64>) -> Option<Severity> {
        self.severities.get(&self.newest(contact)?.key).copied()
    }

    /// The key of the held message of an event to which more services can be added: the newest message that the recipient
    /// has, if no process can be about to send it. `None` = there is no such message.
    #[must_use]
    pub fn open_batch(&self, event: NotificationEvent, contact: Option<i64>, now: Timestamp) -> Option<i64> {
        let batch = self.newest(contact)?;
        let is_own = batch.event == event && batch.contact == contact;
        let is_held = batch.hold.is_some_and(|hold| hold.until > now.plus_ms(SENDING_MARGIN_MS));
        (is_own && is_held && batch.is_untouched).then_some(batch.key)
    }

    /// The messages that a contact, or all readers of the channel (`None`), can read. In a channel without mailboxes of
    /// its own for contacts, everybody reads all messages.
    fn read_by(&self, contact: Option<i64>) -> impl Iterator<Item = &WrittenMessage> {
        let is_shared_channel = !self.channel.has_mailboxes();
        self.written.iter().filter(move |written| is_shared_channel || written.contact == contact)
    }

    /// Returns true if a message waits for the end of quiet hours that do not apply to a message of this severity.
    #[must_use]
    pub fn is_held_below(&self, severity: Severity, now: Timestamp) -> bool {
        let is_held = |written: &WrittenMessage| {
            let by_quiet_hours = written.hold.is_some_and(|hold| hold.by == HoldReason::QuietHours);
            written.contact.is_none() && written.is_untouched && by_quiet_hours
        };
        let quiet = self.channel.routing.quiet.as_ref();
        let still_holds = quiet.and_then(|quiet| quiet.held_until(severity, now)).is_some();
        !still_holds && self.written.iter().any(is_held)
    }

    /// The hold of a message that is written now for all readers of the channel; `None` = it is sent at once.
    #[must_use]
    pub fn hold(&self, message: &NotificationMessage, now: Timestamp) -> Option<DeliveryHold> {
        channel_hold(&self.channel.routing, message, self.recent, now)
    }
}

impl IncidentAudience {
    /// The channels that are enabled.
    pub fn enabled(&self) -> impl Iterator<Item = &ChannelAudience> {
        self.channels.iter().filter(|audience| audience.channel.is_enabled)
    }

    /// The channel with this key, and the messages written for it.
    #[must_use]
    pub fn channel(&self, key: i64) -> Option<&ChannelAudience> {
        self.channels.iter().find(|audience| audience.channel.key == key)
    }

    /// The organisation as sender of a message, in the language of the contact, or in the default language if the message
    /// is for all readers of a channel (`None`).
    #[must_use]
    pub fn sender<'a>(&'a self, contact: Option<&'a Contact>) -> SenderIdentity<'a> {
        let Organisation { name, default_locale, .. } = &self.organisation;
        let language = contact.map_or(default_locale, |contact| &contact.language);
        SenderIdentity { name, language, default_language: default_locale }
    }

    /// The contact with this key.
    #[must_use]
    pub fn contact(&self, key: i64) -> Option<&Contact> {
        self.contacts.iter().find(|contact| contact.key == key)
    }
}
