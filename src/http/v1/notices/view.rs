//! Notices as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{ApiSchema, enum_of, id, string, timestamp, timestamp_or_null};
use crate::id::Id;
use crate::model::incident::Severity;
use crate::model::notice::Notice;
use crate::model::notification::NotificationEvent;

/// An event that is not an incident.
#[derive(Serialize, ToSchema)]
#[schema(as = Notice)]
pub(super) struct NoticeView<'a> {
    #[schema(schema_with = own_id)]
    id: Id,
    #[schema(schema_with = event)]
    event: &'static str,
    #[schema(schema_with = about)]
    about: &'a str,
    #[schema(schema_with = severity)]
    severity: &'static str,
    /// Summary of the event in one line.
    title: &'a str,
    /// Description of the event in one or two sentences.
    message: &'a str,
    #[schema(schema_with = timestamp)]
    began_at: Timestamp,
    #[schema(schema_with = ended_at, required)]
    ended_at: Option<Timestamp>,
}

impl<'a> NoticeView<'a> {
    /// Creates the view of a notice.
    pub(super) fn of(notice: &'a Notice) -> Self {
        let trouble = &notice.trouble;
        Self {
            id: notice.id,
            event: trouble.subject.event.as_str(),
            about: &trouble.subject.name,
            severity: trouble.severity.as_str(),
            title: &trouble.words.title,
            message: &trouble.words.text,
            began_at: notice.began_at,
            ended_at: notice.ended_at,
        }
    }
}

fn own_id() -> ApiSchema {
    id().says("All messages about the notice carry this id, from its start to its end.")
}

fn event() -> ApiSchema {
    enum_of(&NotificationEvent::NOTICE_WORDS)
}

fn about() -> ApiSchema {
    string().says("The id of a service or an SLA target, the id of an on-call schedule with the start of the uncovered period (`ID/2026-11-30T09:00:00.000Z`), the code of a location, the id of a channel whose template cannot be filled, or the function of this monitor that fails.")
}

fn severity() -> ApiSchema {
    enum_of(Severity::WORDS)
}

fn ended_at() -> ApiSchema {
    timestamp_or_null().says("Null while it lasts.")
}
