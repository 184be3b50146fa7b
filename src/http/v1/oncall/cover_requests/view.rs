//! Cover requests as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{
    ApiSchema, enum_of, id, list_of, object, string, string_or_null, timestamp, timestamp_or_null,
};
use crate::id::Id;
use crate::model::oncall::cover::{CoverRequest, CoverStatus};

/// A contact's request to others to take over its duty for a period.
#[derive(Serialize, ToSchema)]
pub(super) struct CoverRequestView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = status)]
    status: &'static str,
    #[schema(schema_with = id)]
    schedule_id: Id,
    #[schema(schema_with = string)]
    schedule_name: &'a str,
    #[schema(schema_with = contact_id)]
    contact_id: Id,
    #[schema(schema_with = string)]
    contact_name: &'a str,
    #[schema(schema_with = timestamp)]
    starts_at: Timestamp,
    #[schema(schema_with = timestamp)]
    ends_at: Timestamp,
    #[schema(schema_with = string_or_null, required)]
    note: Option<&'a str>,
    #[schema(schema_with = asked)]
    asked: Vec<AskedContactView>,
    #[schema(schema_with = accepted_by_id, required)]
    accepted_by_id: Option<Id>,
    #[schema(schema_with = string_or_null, required)]
    accepted_by_name: Option<&'a str>,
    #[schema(schema_with = override_id, required)]
    override_id: Option<Id>,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = timestamp)]
    updated_at: Timestamp,
}

#[derive(Serialize)]
struct AskedContactView {
    contact_id: Id,
    declined_at: Option<Timestamp>,
}

impl<'a> CoverRequestView<'a> {
    /// Creates the view of a request at the time `now`, on which its status depends.
    pub(super) fn of(request: &'a CoverRequest, now: Timestamp) -> Self {
        let asked = request.asked.iter();
        Self {
            id: request.id,
            status: request.status(now).as_str(),
            schedule_id: request.schedule.id,
            schedule_name: &request.schedule.name,
            contact_id: request.contact.id,
            contact_name: &request.contact.name,
            starts_at: request.range.from,
            ends_at: request.range.to,
            note: request.note.as_deref(),
            asked: asked
                .map(|asked| AskedContactView {
                    contact_id: asked.contact.id,
                    declined_at: asked.declined_at,
                })
                .collect(),
            accepted_by_id: request.accepted_by.as_ref().map(|contact| contact.id),
            accepted_by_name: request.accepted_by.as_ref().map(|contact| contact.name.as_str()),
            override_id: request.placed.map(|placed| placed.id),
            created_at: request.created_at,
            updated_at: request.updated_at,
        }
    }
}

pub(super) fn status() -> ApiSchema {
    enum_of(CoverStatus::WORDS)
        .says("State of the request; `expired`: its period has ended and nobody accepted it.")
}

pub(super) fn contact_id() -> ApiSchema {
    id().says("The contact who asks.")
}

fn asked() -> ApiSchema {
    let declined = timestamp_or_null().says("The time at which the contact declined.");
    let entry = object().has("contact_id", id()).has("declined_at", declined);
    list_of(entry).says("The contacts who are asked.")
}

fn accepted_by_id() -> ApiSchema {
    id().nullable().says("The contact who accepted first.")
}

fn override_id() -> ApiSchema {
    id().nullable().says("The override by which this contact takes over.")
}
