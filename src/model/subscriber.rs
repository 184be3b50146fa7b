//! Subscribers of status pages: addresses to which news of a page are sent.
//!
//! An address is first proven: a mail asks for confirmation, other channels get a test message. Only proven addresses get
//! news.

pub mod delivery;

use std::ops::RangeInclusive;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::secret::SecretPlace;
use crate::model::statuspage::Statuspage;
use crate::model::statuspage::word::{AccessType, SubscriberChannel};
use crate::model::word_enum::words;

/// Permitted number of characters of an address.
pub const ADDRESS_LENGTH: RangeInclusive<usize> = 1..=2_048;
/// Maximum number of components that a subscriber chooses.
pub const COMPONENTS_MAX: usize = 100;
/// Maximum number of subscribers of a page, whatever the plan.
pub const SUBSCRIBERS_MAX: u64 = 100_000;
/// Time for which a request for confirmation is valid, in milliseconds: a day.
pub const CONFIRMATION_MS: i64 = 24 * 60 * 60 * 1_000;
/// Shortest time between two requests for confirmation to one address, in milliseconds: an hour.
pub const ASKED_AGAIN_AFTER_MS: i64 = 60 * 60 * 1_000;

words! {
    /// The status of a subscriber.
    pub enum SubscriberStatus {
        /// The address is not proven yet.
        Pending,
        /// The address gets news.
        Active,
        /// The address gets nothing, because messages to it were refused.
        Disabled,
    }
}

words! {
    /// Who has entered an address.
    pub enum SubscriberOrigin {
        /// A client of the API.
        Client,
        /// A visitor of the page.
        Visitor,
    }
}

/// The address of a subscriber, as far as it may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriberAddress {
    /// The address without its secret part.
    pub shown: String,
    /// The whole address, sealed; `None` if it has no secret part.
    pub sealed: Option<String>,
    /// Hash of channel and address.
    pub hash: [u8; 32],
}

/// A component that a subscriber has chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenComponent {
    /// Database key of the component.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
}

/// A subscriber of a status page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSubscriber {
    /// Key of the row.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the status page.
    pub page: i64,
    /// The channel through which messages are sent.
    pub channel: SubscriberChannel,
    /// The address to which messages are sent.
    pub address: SubscriberAddress,
    /// The components of which the subscriber wants news; `None` = all. Components that are deleted are removed from it.
    pub components: Option<Vec<ChosenComponent>>,
    /// Language of the messages.
    pub language: String,
    /// The present status.
    pub status: SubscriberStatus,
    /// The answer because of which the subscriber is disabled.
    pub disabled_reason: Option<String>,
    /// Number of consecutive messages that the mail server refused for this address.
    pub refusals: u32,
    /// The secret that signs messages to a webhook, sealed.
    pub secret: Option<String>,
    /// Who has entered the address.
    pub origin: SubscriberOrigin,
    /// Time of the last request for confirmation.
    pub asked_at: Option<Timestamp>,
    /// Time at which the address was proven.
    pub confirmed_at: Option<Timestamp>,
    /// Time of creation.
    pub created_at: Timestamp,
}

impl PageSubscriber {
    /// Returns true if the subscriber may have news of its page. Those of a page with an e-mail list are sent only to
    /// addresses on it, and through the other channels that clients of the API entered.
    #[must_use]
    pub fn may_read(&self, page: &Statuspage) -> bool {
        match (page.access_type, self.channel) {
            (AccessType::Public | AccessType::Password, _) => true,
            (AccessType::EmailWhitelist, SubscriberChannel::Email) => page.lists_address(&self.address.shown),
            (AccessType::EmailWhitelist, _) => self.origin == SubscriberOrigin::Client,
        }
    }
}

/// The place of a secret of a subscriber, to which its sealed text is bound.
#[must_use]
pub fn secret_place<'a>(organisation: &'a Id, subscriber: &'a Id, field: &'a str) -> SecretPlace<'a> {
    SecretPlace { organisation: organisation.as_str(), table: "subscriber", row: subscriber.as_str(), field }
}
