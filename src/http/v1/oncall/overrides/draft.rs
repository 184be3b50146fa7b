//! Reads an override from a request body. Every field is read and every error collected; nothing is stored.

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::rule::FieldRule;
use crate::http::v1::oncall::oncall_links::OncallLinks;
use crate::http::v1::oncall::period::read_time;
use crate::id::Id;
use crate::model::oncall::entry::OverrideEntry;

/// Reads overrides of one organisation.
pub(super) struct OverrideParser<'a> {
    /// Database key of the organisation.
    pub(super) organisation: i64,
    /// Rows that the override may reference.
    pub(super) known: &'a OncallLinks,
    pub(super) now: Timestamp,
}

impl OverrideParser<'_> {
    /// Reads the body of a create request.
    pub(super) fn read_new(&self, body: &Map<String, Value>) -> Result<OverrideEntry, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let schedule = fields.required("schedule_id").and_then(|field| self.known.read_schedule(&field));
        let contact = fields.required("contact_id").and_then(|field| self.known.read_contact(&field));
        let range = read_time(&fields, None);
        errors.into_inner().into_result(())?;
        let missing = || FieldErrors::of("schedule_id", FieldRule::Required);
        Ok(OverrideEntry {
            key: 0,
            id: Id::random(),
            organisation: self.organisation,
            schedule: schedule.ok_or_else(missing)?,
            contact: contact.ok_or_else(missing)?,
            range: range.ok_or_else(missing)?,
            created_at: self.now,
            updated_at: self.now,
        })
    }

    /// Reads the body of an update request, and returns the stored override with its changes. The schedule cannot be
    /// changed.
    pub(super) fn read_changes(
        &self,
        body: &Map<String, Value>,
        stored: &OverrideEntry,
    ) -> Result<OverrideEntry, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let schedule = fields.optional("schedule_id").and_then(|field| self.known.read_schedule(&field));
        if schedule.is_some_and(|schedule| schedule.key != stored.schedule.key) {
            fields.refuse("schedule_id", FieldRule::Immutable);
        }
        let contact = fields.optional("contact_id").and_then(|field| self.known.read_contact(&field));
        let range = read_time(&fields, Some(stored.range)).unwrap_or(stored.range);
        let stored = stored.clone();
        let entry = OverrideEntry { contact: contact.unwrap_or(stored.contact), range, ..stored };
        errors.into_inner().into_result(entry)
    }
}
