//! The parts that incidents and maintenances have in common (contract 4.10.1, 4.11.1): author and timeline entries.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::openapi::shape::{id, timestamp, translations, url};
use crate::id::Id;
use crate::model::announcement::{AnnouncementAuthor, TimelineEntry};
use crate::model::translated_text::TranslatedText;

/// The author of an incident or a maintenance, with the name that the author had when it was created.
#[derive(Serialize, ToSchema)]
#[schema(as = Author)]
pub(super) struct AuthorView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    name: &'a str,
    /// URL of the author's picture; empty for tokens, which have none.
    avatar_url: &'static str,
}

/// An entry of a timeline.
// Incidents and maintenances have different statuses, which are described in their chapters.
#[derive(Serialize, ToSchema)]
pub(super) struct EntryView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    status: &'static str,
    message: &'a str,
    #[schema(schema_with = translations)]
    message_translations: &'a TranslatedText,
    notify_subscribers: bool,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
}

/// A file attached to an incident or a maintenance. This server does not accept files, so every list of attachments is
/// empty.
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

impl<'a> From<&'a AnnouncementAuthor> for AuthorView<'a> {
    fn from(author: &'a AnnouncementAuthor) -> Self {
        Self { id: author.id, name: &author.name, avatar_url: "" }
    }
}

impl<'a> EntryView<'a> {
    /// Creates the view of an entry in the client's language. `word` returns the name of its status.
    pub(super) fn of<S: Copy>(
        entry: &'a TimelineEntry<S>,
        word: impl Fn(S) -> &'static str,
        languages: &AnswerLanguage,
    ) -> Self {
        Self {
            id: entry.id,
            status: word(entry.status),
            message: languages.text(&entry.message),
            message_translations: &entry.message,
            notify_subscribers: entry.notify_subscribers,
            created_at: entry.created_at,
        }
    }
}
