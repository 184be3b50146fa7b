//! Reads a cover request from a request body. Every field is read and every error collected; nothing is stored.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::rule::FieldRule;
use crate::http::v1::oncall::oncall_links::OncallLinks;
use crate::http::v1::oncall::period::read_time;
use crate::id::Id;
use crate::model::contact::NamedContact;
use crate::model::notification::routing::ResourceReference;
use crate::model::oncall::cover::{CoverCandidate, CoverRequest, CoverStatus, NOTE_LENGTH};
use crate::model::oncall::entry::NamedSchedule;
use crate::model::oncall::schedule::OncallSchedule;

/// Reads cover requests of one organisation.
pub(super) struct CoverRequestParser {
    /// Database key of the organisation.
    pub(super) organisation: i64,
    /// Rows that the cover request may reference.
    pub(super) known: OncallLinks,
    /// The schedules, whose contacts are asked when the request does not name one.
    pub(super) schedules: Vec<OncallSchedule>,
    pub(super) now: Timestamp,
}

impl CoverRequestParser {
    /// Reads the body of a create request.
    pub(super) fn read_new(&self, body: &Map<String, Value>) -> Result<CoverRequest, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let schedule = fields.required("schedule_id").and_then(|field| self.known.read_schedule(&field));
        let contact = fields.required("contact_id").and_then(|field| self.known.read_contact(&field));
        let range = read_time(&fields, None);
        if range.is_some_and(|range| range.to <= self.now) {
            fields.refuse("ends_at", FieldRule::NotPast);
        }
        let asked = self.read_asked(&fields, schedule.as_ref(), contact.as_ref());
        let note = fields.nullable_text("note", NOTE_LENGTH).or_stored(None);
        errors.into_inner().into_result(())?;
        let missing = || FieldErrors::of("schedule_id", FieldRule::Required);
        Ok(CoverRequest {
            key: 0,
            id: Id::random(),
            organisation: self.organisation,
            schedule: schedule.ok_or_else(missing)?,
            contact: contact.ok_or_else(missing)?,
            range: range.ok_or_else(missing)?,
            note,
            asked,
            outcome: CoverStatus::Open,
            accepted_by: None,
            placed: None,
            created_at: self.now,
            updated_at: self.now,
        })
    }

    /// Reads the contact that is asked; by default, all other contacts of the schedule are asked.
    fn read_asked(
        &self,
        fields: &BodyFields<'_>,
        schedule: Option<&NamedSchedule>,
        asker: Option<&NamedContact>,
    ) -> Vec<CoverCandidate> {
        let is_asker = |key: i64| asker.is_some_and(|asker| asker.key == key);
        let unanswered = |contact: ResourceReference| CoverCandidate { contact, declined_at: None };
        if let Some(field) = fields.skippable("asked_contact_id") {
            let Some(asked) = self.known.read_contact(&field) else { return Vec::new() };
            if is_asker(asked.key) {
                fields.refuse("asked_contact_id", FieldRule::AsksItself);
            }
            return vec![unanswered(ResourceReference { key: asked.key, id: asked.id })];
        }
        let Some(schedule) = schedule else { return Vec::new() };
        let stored = self.schedules.iter().filter(|stored| stored.key == schedule.key);
        let mut seen = HashSet::new();
        let named = stored.flat_map(|stored| &stored.layers).flat_map(|layer| &layer.contacts).copied();
        let others = named.filter(|contact| !is_asker(contact.key) && seen.insert(contact.key));
        let asked: Vec<CoverCandidate> = others.map(unanswered).collect();
        if asked.is_empty() {
            fields.refuse("asked_contact_id", FieldRule::NobodyToAsk);
        }
        asked
    }
}
