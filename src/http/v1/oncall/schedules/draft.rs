//! Reads an on-call schedule from a request body. Every field is read and every error collected; nothing is stored.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::v1::oncall::schedules::layers::read_layers;
use crate::http::v1::weekly_hours::read_zone;
use crate::id::Id;
use crate::model::oncall::schedule::{NAME_LENGTH, OncallSchedule};
use crate::model::recurrence::zone::IanaZone;
use crate::store::{StoreConnection, contacts};

/// Reads on-call schedules of one organisation.
pub(in crate::http::v1::oncall) struct OncallScheduleParser {
    organisation: i64,
    /// Database keys of the existing contacts, by id.
    contacts: HashMap<Id, i64>,
    now: Timestamp,
}

impl OncallScheduleParser {
    /// Creates a parser for a caller, which knows the contacts of the organisation.
    pub(in crate::http::v1::oncall) async fn begin(
        connection: &dyn StoreConnection,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<Self, ApiError> {
        let organisation = caller.organisation.key;
        let contacts = contacts::by_id(connection, organisation).await?;
        let contacts = contacts.into_values().map(|contact| (contact.id, contact.key)).collect();
        Ok(Self { organisation, contacts, now })
    }

    /// Reads the body of a create request.
    pub(in crate::http::v1::oncall) fn read_new(
        &self,
        body: &Map<String, Value>,
    ) -> Result<OncallSchedule, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.required("name").and_then(|field| field.text(NAME_LENGTH));
        let zone = fields.optional("time_zone").and_then(|field| read_zone(&field));
        let layers = fields.required("layers").and_then(|field| read_layers(&field, &self.contacts));
        let schedule = OncallSchedule {
            key: 0,
            id: Id::random(),
            organisation: self.organisation,
            name: name.unwrap_or_default(),
            zone: zone.unwrap_or(IanaZone::UTC),
            layers: layers.unwrap_or_default(),
            created_at: self.now,
            updated_at: self.now,
        };
        errors.into_inner().into_result(schedule)
    }

    /// Reads the body of an update request, and returns the stored schedule with its changes.
    pub(in crate::http::v1::oncall) fn read_changes(
        &self,
        body: &Map<String, Value>,
        stored: &OncallSchedule,
    ) -> Result<OncallSchedule, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.optional("name").and_then(|field| field.text(NAME_LENGTH));
        let zone = fields.optional("time_zone").and_then(|field| read_zone(&field));
        let layers = fields.optional("layers").and_then(|field| read_layers(&field, &self.contacts));
        let stored = stored.clone();
        let schedule = OncallSchedule {
            name: name.unwrap_or(stored.name),
            zone: zone.unwrap_or(stored.zone),
            layers: layers.unwrap_or(stored.layers),
            ..stored
        };
        errors.into_inner().into_result(schedule)
    }
}
