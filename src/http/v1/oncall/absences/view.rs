//! Absences as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{id, string, timestamp};
use crate::id::Id;
use crate::model::oncall::entry::AbsenceEntry;

/// An absence: a period in which a contact is not on duty.
#[derive(Serialize, ToSchema)]
pub(super) struct AbsenceView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = id)]
    contact_id: Id,
    #[schema(schema_with = string)]
    contact_name: &'a str,
    #[schema(schema_with = timestamp)]
    starts_at: Timestamp,
    #[schema(schema_with = timestamp)]
    ends_at: Timestamp,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = timestamp)]
    updated_at: Timestamp,
}

impl<'a> AbsenceView<'a> {
    /// Creates the view of an absence.
    pub(super) fn of(entry: &'a AbsenceEntry) -> Self {
        Self {
            id: entry.id,
            contact_id: entry.contact.id,
            contact_name: &entry.contact.name,
            starts_at: entry.range.from,
            ends_at: entry.range.to,
            created_at: entry.created_at,
            updated_at: entry.updated_at,
        }
    }
}
