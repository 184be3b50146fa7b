//! Notifications: channels, the messages that are sent through them, and their deliveries.
//!
//! - `event`: the events
//! - `routing`: which messages a channel gets
//! - `digest`: one message instead of many; `digest_builder`: the messages that are combined
//! - `message`: the contents, the same for every kind of channel
//! - `change`: what a message says beyond the state of its incident
//! - `service_facts`: how messages name services
//! - `delivery`: one message for one channel, its attempts, and the time of the next one
//! - `fair_share`: which due messages are tried next
//! - `ordering_scope`: which messages of a channel are sent one after the other
//! - `quiet_hours`: hours in which only severe events are sent

pub mod change;
pub mod delivery;
pub mod digest;
pub mod digest_builder;
pub mod event;
pub mod fair_share;
pub mod message;
pub mod ordering_scope;
pub mod quiet_hours;
pub mod routing;
pub mod service_facts;

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

pub use event::NotificationEvent;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::notification::ordering_scope::OrderingScope;
use crate::model::notification::routing::ChannelRouting;
use crate::model::secret::SecretPlace;
use crate::model::word_enum::words;

/// Permitted number of characters of the name of a channel.
pub const NAME_LENGTH: RangeInclusive<usize> = 1..=255;
/// Maximum number of channels of an organisation.
pub const CHANNELS_MAX: u64 = 200;

words! {
    /// The kinds of notification channels: services and protocols that deliver messages.
    pub enum ChannelKind {
        /// A signed request to a program of the user (Standard Webhooks).
        Webhook,
        /// An incoming webhook of Slack.
        Slack,
        /// A webhook of Discord.
        Discord,
        /// A workflow of Microsoft Teams.
        Teams,
        /// A bot of Telegram.
        Telegram,
        /// Alerts of PagerDuty.
        Pagerduty,
        /// Alerts of Opsgenie.
        Opsgenie,
        /// A topic of ntfy.
        Ntfy,
        /// An application of Gotify.
        Gotify,
        /// A room of Matrix.
        Matrix,
        /// Mails by SMTP.
        Email,
        /// A request whose content is written by members.
        Template,
    }
}

/// A channel as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationChannel {
    /// Key of the row; 0 before it is stored.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns the channel.
    pub organisation: i64,
    /// The kind, which never changes.
    pub kind: ChannelKind,
    /// Name, 1..255 characters.
    pub name: String,
    /// False if the channel is disabled and sends nothing.
    pub is_enabled: bool,
    /// Settings as its kind requires; secrets are sealed.
    pub settings: Map<String, Value>,
    /// The messages that the channel gets.
    pub routing: ChannelRouting,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last write by a client.
    pub updated_at: Timestamp,
}

impl NotificationChannel {
    /// Returns true if a message for a contact arrives in a mailbox of its own, separate from the other messages of
    /// the channel.
    #[must_use]
    pub const fn has_mailboxes(&self) -> bool {
        matches!(self.kind, ChannelKind::Email)
    }

    /// The messages of the channel that a message for `contact` must not overtake.
    #[must_use]
    pub const fn line(&self, contact: Option<i64>) -> OrderingScope {
        if self.has_mailboxes() { OrderingScope::Own(contact) } else { OrderingScope::Whole }
    }
}

/// Returns the location of a secret setting, to which its sealed text is bound.
#[must_use]
pub fn place_of<'a>(organisation: &'a Id, channel: &'a Id, field: &'a str) -> SecretPlace<'a> {
    SecretPlace {
        organisation: organisation.as_str(),
        table: "notification_channel",
        row: channel.as_str(),
        field,
    }
}
