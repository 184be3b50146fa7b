//! What has to be known to decide who is told of a change of an incident: channels with what they were told, people,
//! escalation policies.

use crate::clock::Timestamp;
use crate::model::access::Organisation;
use crate::model::contact::Contact;
use crate::model::escalation::EscalationPolicy;
use crate::model::notification::digest::{Hold, RecentMessages};
use crate::model::notification::message::{Message, Sender};
use crate::model::notification::routing::Concerned;
use crate::model::notification::{Channel, Event};

/// Everybody who may have to be told, and what they know.
#[derive(Clone, Debug)]
pub struct IncidentAudience {
    /// The organisation that owns the incident.
    pub organisation: Organisation,
    /// The channels that are switched on, and those that messages about the incident were written for, by their keys.
    pub channels: Vec<ChannelAudience>,
    /// The contacts that were told of the incident, or may have been; by their keys.
    pub contacts: Vec<Contact>,
    /// The escalation policies of the organisation in their order.
    pub policies: Vec<EscalationPolicy>,
    /// True if the incident follows a policy.
    pub is_escalating: bool,
    /// The services of the incident and their tags.
    pub concerned: Concerned,
    /// The keys of the status pages that show the incident, ascending.
    pub pages: Vec<i64>,
}

/// A channel, and what was written for it about the incident.
#[derive(Clone, Debug)]
pub struct ChannelAudience {
    /// The channel.
    pub channel: Channel,
    /// The newest message of each event for each contact, and for everybody who reads the channel, oldest first.
    pub written: Vec<WrittenMessage>,
    /// What the channel was told about anything lately.
    pub recent: RecentMessages,
}

/// A message in the outbox, without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenMessage {
    /// Key of the row; keys rise in the order of writing.
    pub key: i64,
    /// The contact that it is for.
    pub contact: Option<i64>,
    /// Its event.
    pub event: Event,
    /// The time at which it was written.
    pub created_at: Timestamp,
    /// What holds it, or held it when it was sent.
    pub hold: Option<Hold>,
    /// True while it was never tried and has not ended.
    pub is_untouched: bool,
}

impl WrittenMessage {
    /// Returns true for a step of an escalation that waits for the end of quiet hours.
    #[must_use]
    pub fn is_held_step(&self) -> bool {
        self.event == Event::IncidentEscalated && self.hold.is_some() && self.is_untouched
    }

    /// Returns true for what tells people of an incident by name: a step, or the end.
    #[must_use]
    pub const fn is_step_or_end(&self) -> bool {
        matches!(self.event, Event::IncidentEscalated | Event::IncidentResolved)
    }
}

impl ChannelAudience {
    /// Returns true if a message about the incident was written for everybody who reads the channel.
    #[must_use]
    pub fn was_told(&self) -> bool {
        self.written.iter().any(|written| written.contact.is_none())
    }

    /// What holds a message that is written now for everybody who reads the channel.
    #[must_use]
    pub fn hold(&self, message: &Message, now: Timestamp) -> Option<Hold> {
        self.channel.routing.hold(message, self.recent, now)
    }
}

impl IncidentAudience {
    /// The channels that are switched on.
    pub fn enabled(&self) -> impl Iterator<Item = &ChannelAudience> {
        self.channels.iter().filter(|audience| audience.channel.is_enabled)
    }

    /// The organisation as a sender to a contact, or to everybody who reads a channel.
    #[must_use]
    pub fn sender<'a>(&'a self, contact: Option<&'a Contact>) -> Sender<'a> {
        let Organisation { name, default_locale, .. } = &self.organisation;
        let language = contact.map_or(default_locale, |contact| &contact.language);
        Sender { name, language, default_language: default_locale }
    }

    /// The contact with this key.
    #[must_use]
    pub fn contact(&self, key: i64) -> Option<&Contact> {
        self.contacts.iter().find(|contact| contact.key == key)
    }
}
