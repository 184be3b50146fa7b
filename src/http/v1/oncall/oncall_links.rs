//! Contacts and schedules that a body may reference.

use std::collections::HashMap;

use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::field::BodyField;
use crate::http::kit::linked_ids::read_id;
use crate::http::kit::rule::FieldRule;
use crate::id::Id;
use crate::model::contact::NamedContact;
use crate::model::oncall::entry::NamedSchedule;
use crate::store::oncall::schedules;
use crate::store::{StoreConnection, contacts};

/// The contacts and schedules of the caller's organisation, by id.
pub(super) struct OncallLinks {
    contacts: HashMap<Id, NamedContact>,
    schedules: HashMap<Id, NamedSchedule>,
}

impl OncallLinks {
    pub(super) async fn find(connection: &dyn StoreConnection, caller: &Caller) -> Result<Self, ApiError> {
        let organisation = caller.organisation.key;
        let schedules = schedules::by_key(connection, organisation).await?;
        Ok(Self {
            contacts: contacts::by_id(connection, organisation).await?,
            schedules: schedules.into_values().map(|schedule| (schedule.id, schedule)).collect(),
        })
    }

    /// Reads the id of a contact; an unknown id is an error.
    pub(super) fn read_contact(&self, field: &BodyField<'_>) -> Option<NamedContact> {
        let id = read_id(field)?;
        let unknown = || FieldRule::UnknownId { kind: "contact", id: id.to_string() };
        self.contacts.get(&id).cloned().or_else(|| field.refuse(unknown()))
    }

    /// Reads the id of a schedule; an unknown id is an error.
    pub(super) fn read_schedule(&self, field: &BodyField<'_>) -> Option<NamedSchedule> {
        let id = read_id(field)?;
        let unknown = || FieldRule::UnknownId { kind: "on-call schedule", id: id.to_string() };
        self.schedules.get(&id).cloned().or_else(|| field.refuse(unknown()))
    }

    /// Returns the database keys of those ids that belong to contacts.
    pub(super) fn contact_keys(&self, ids: &[Id]) -> Vec<i64> {
        ids.iter().filter_map(|id| self.contacts.get(id)).map(|contact| contact.key).collect()
    }

    /// Returns the database keys of those ids that belong to schedules.
    pub(super) fn schedule_keys(&self, ids: &[Id]) -> Vec<i64> {
        ids.iter().filter_map(|id| self.schedules.get(id)).map(|schedule| schedule.key).collect()
    }
}
