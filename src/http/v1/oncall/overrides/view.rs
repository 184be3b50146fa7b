//! Overrides as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{id, string, timestamp};
use crate::id::Id;
use crate::model::oncall::entry::OverrideEntry;

/// An override: a contact takes over the duty of a schedule for a period.
#[derive(Serialize, ToSchema)]
pub(super) struct OverrideView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = id)]
    schedule_id: Id,
    #[schema(schema_with = string)]
    schedule_name: &'a str,
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

impl<'a> OverrideView<'a> {
    /// Creates the view of an override.
    pub(super) fn of(entry: &'a OverrideEntry) -> Self {
        Self {
            id: entry.id,
            schedule_id: entry.schedule.id,
            schedule_name: &entry.schedule.name,
            contact_id: entry.contact.id,
            contact_name: &entry.contact.name,
            starts_at: entry.range.from,
            ends_at: entry.range.to,
            created_at: entry.created_at,
            updated_at: entry.updated_at,
        }
    }
}
