//! Contacts: people who can be notified, each by their own channels and in their own language and time zone.
//!
//! A contact is not a user: it cannot log in, and acts only through requests of a token. Escalation policies name
//! contacts, and on-call schedules put them on duty.

use std::ops::RangeInclusive;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::notification::quiet_hours::QuietHours;
use crate::model::notification::routing::ResourceReference;
use crate::model::recurrence::zone::IanaZone;

/// Permitted number of characters of a name.
pub const NAME_LENGTH: RangeInclusive<usize> = 1..=255;
/// Maximum number of contacts of an organisation, whatever its plan allows.
pub const CONTACTS_MAX: u64 = 1_000;
/// Maximum number of channels of a contact.
pub const CHANNELS_MAX: usize = 10;

/// A contact as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    /// Key of the row; 0 before it is stored.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns it.
    pub organisation: i64,
    /// Display name, 1 to 255 characters.
    pub name: String,
    /// E-mail address of the contact.
    pub email: String,
    /// Time zone of the contact, which applies to its quiet hours.
    pub zone: IanaZone,
    /// Code of the language of its messages, one of the organisation's languages.
    pub language: String,
    /// The notification channels by which the contact is notified.
    pub channels: Vec<ResourceReference>,
    /// Hours in which only severe events are sent, in the time zone of the contact; `None` = no quiet hours.
    pub quiet: Option<QuietHours>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last write by a client.
    pub updated_at: Timestamp,
}

/// A reference to a contact from another resource: its key, id and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedContact {
    /// Key of the row.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Display name of the contact.
    pub name: String,
}
