//! The parts that incidents and maintenances show alike (contract 4.10.1, 4.11.1): their author, and the entries of the
//! timeline.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{id, timestamp, translations, url};
use crate::id::Id;
use crate::model::translated::Translated;

/// The author of something, under its name at that time.
#[derive(Serialize, ToSchema)]
#[schema(as = Author)]
pub(super) struct AuthorView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    name: &'a str,
    /// Empty for tokens.
    avatar_url: &'static str,
}

/// An entry of a timeline.
// Incidents and maintenances have other statuses; the chapter of each says which.
#[derive(Serialize, ToSchema)]
pub(super) struct EntryView<'a> {
    #[schema(schema_with = id)]
    pub(super) id: Id,
    pub(super) status: &'static str,
    pub(super) message: &'a str,
    #[schema(schema_with = translations)]
    pub(super) message_translations: &'a Translated,
    pub(super) notify_subscribers: bool,
    #[schema(schema_with = timestamp)]
    pub(super) created_at: Timestamp,
}

/// A file of an incident or a maintenance. This server takes none, so that every list of them is empty.
#[derive(Serialize, ToSchema)]
#[schema(as = Attachment)]
pub(super) struct AttachmentView {
    #[schema(schema_with = id)]
    id: Id,
    name: String,
    #[schema(minimum = 0)]
    size: u64,
    #[schema(schema_with = url)]
    url: String,
}

impl<'a> AuthorView<'a> {
    /// The view of a token by its id and its name at that time.
    pub(super) const fn of_token(id: Id, name: &'a str) -> Self {
        Self { id, name, avatar_url: "" }
    }
}
