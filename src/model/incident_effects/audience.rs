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

/// The time before the end of a hold in which a message may be on its way already, in milliseconds.
const SENDING_MARGIN_MS: i64 = 2_000;

/// All possible recipients, with the messages that they have.
#[derive(Clone, Debug)]
pub struct IncidentAudience {
    /// The organisation that owns the incident.
    pub organisation: Organisation,
    /// The channels that are switched on, and those that messages about the incident were written for, by their keys.
    pub channels: Vec<ChannelAudience>,
    /// The contacts that were notified of the incident, or may have been; by their keys.
    pub contacts: Vec<Contact>,
    /// The escalation policies of the organisation in their order.
    pub policies: Vec<EscalationPolicy>,
    /// The policy that the incident follows.
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
    /// The newest message of each event for each contact, and for all readers of the channel, oldest first.
    pub written: Vec<WrittenMessage>,
    /// The channel's recent messages about anything.
    pub recent: RecentMessages,
    /// The severities in the newest messages by their keys; read when the severity of the incident rises.
    pub severities: BTreeMap<i64, Severity>,
    /// Held messages about services that joined or recovered, to which more can be added.
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
    /// The contact that it is for.
    pub contact: Option<i64>,
    /// The event that the message reports.
    pub event: NotificationEvent,
    /// The time at which it was written.
    pub created_at: Timestamp,
    /// The reason for holding it, or for having held it when it was sent.
    pub hold: Option<DeliveryHold>,
    /// True while it was never tried and has not ended.
    pub is_untouched: bool,
}

/// The policy that an incident follows. The row stays when the last step is done.
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

    /// Returns true for a message that is addressed to contacts by name: a step, or the end.
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

    /// The recipients of messages: all readers of the channel (`None`), and contacts, by their keys.
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

    /// The key of the held message of an event to which more services can be added: it is for the same recipient and the newest
    /// one there, and no process can be about to send it.
    #[must_use]
    pub fn open_batch(&self, event: NotificationEvent, contact: Option<i64>, now: Timestamp) -> Option<i64> {
        let batch = self.newest(contact)?;
        let is_own = batch.event == event && batch.contact == contact;
        let is_held = batch.hold.is_some_and(|hold| hold.until > now.plus_ms(SENDING_MARGIN_MS));
        (is_own && is_held && batch.is_untouched).then_some(batch.key)
    }

    /// The messages that arrive where a contact reads them, or all readers of the channel. Without mailboxes of its
    /// own for contacts, a channel has a single place.
    fn read_by(&self, contact: Option<i64>) -> impl Iterator<Item = &WrittenMessage> {
        let is_shared_channel = !self.channel.has_mailboxes();
        self.written.iter().filter(move |written| is_shared_channel || written.contact == contact)
    }

    /// Returns true if something waits for the end of the quiet hours that a message so severe does not wait for.
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

    /// The hold of a message that is written now for all readers of the channel.
    #[must_use]
    pub fn hold(&self, message: &NotificationMessage, now: Timestamp) -> Option<DeliveryHold> {
        channel_hold(&self.channel.routing, message, self.recent, now)
    }
}

impl IncidentAudience {
    /// The channels that are switched on.
    pub fn enabled(&self) -> impl Iterator<Item = &ChannelAudience> {
        self.channels.iter().filter(|audience| audience.channel.is_enabled)
    }

    /// The channel with this key, and the messages written for it.
    #[must_use]
    pub fn channel(&self, key: i64) -> Option<&ChannelAudience> {
        self.channels.iter().find(|audience| audience.channel.key == key)
    }

    /// The organisation as a sender to a contact, or to all readers of a channel.
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
