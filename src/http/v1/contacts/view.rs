//! Contacts as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{ApiSchema, id, list_of, string, text_in, timestamp, url};
use crate::http::v1::quiet_hours::{OwnQuietHoursView, own_quiet_hours};
use crate::id::Id;
use crate::model::contact::{CHANNELS_MAX, Contact, NAME_LENGTH};

/// A person who can be notified.
#[derive(Serialize, ToSchema)]
pub(super) struct ContactView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = name)]
    name: &'a str,
    #[schema(schema_with = email)]
    email: &'a str,
    #[schema(schema_with = time_zone)]
    time_zone: &'static str,
    #[schema(schema_with = language)]
    language: &'a str,
    #[schema(schema_with = channel_ids)]
    channel_ids: Vec<Id>,
    #[schema(schema_with = own_quiet_hours, required)]
    quiet_hours: Option<OwnQuietHoursView>,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = timestamp)]
    updated_at: Timestamp,
}

impl<'a> ContactView<'a> {
    /// Creates the view of a contact.
    pub(super) fn of(contact: &'a Contact) -> Self {
        Self {
            id: contact.id,
            name: &contact.name,
            email: &contact.email,
            time_zone: contact.zone.name(),
            language: &contact.language,
            channel_ids: contact.channels.iter().map(|channel| channel.id).collect(),
            quiet_hours: contact.quiet.as_ref().map(OwnQuietHoursView::of),
            created_at: contact.created_at,
            updated_at: contact.updated_at,
        }
    }
}

/// The secret URL of a contact's calendar, which is shown only once.
#[derive(Serialize, ToSchema)]
pub(super) struct CalendarView {
    #[schema(schema_with = calendar_url)]
    pub(super) url: String,
}

pub(super) fn name() -> ApiSchema {
    text_in(&NAME_LENGTH)
}

pub(super) fn email() -> ApiSchema {
    string().says("Mails for the contact go to this address.").example("anna@example.com")
}

pub(super) fn time_zone() -> ApiSchema {
    string().says("A name of the IANA database; `UTC` unless given.").example("Europe/Berlin")
}

pub(super) fn language() -> ApiSchema {
    string().says("One of the languages of the organisation; its default unless given.").example("en")
}

pub(super) fn channel_ids() -> ApiSchema {
    let words = "The notification channels of the contact; mails of a channel of kind `email` go to `email`.";
    list_of(id()).items(0, CHANNELS_MAX).says(words)
}

fn calendar_url() -> ApiSchema {
    url().says("Anyone with this URL sees the shifts of the contact. It is shown only in this answer.")
}
