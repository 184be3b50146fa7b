//! Reads a contact from a request body. Every field is read and every error collected; nothing is stored.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::http::kit::field::BodyField;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::rule::FieldRule;
use crate::http::v1::quiet_hours::read_own_quiet_hours;
use crate::http::v1::routed_services::{LinkableRows, read_links};
use crate::http::v1::weekly_hours::read_zone;
use crate::id::Id;
use crate::model::contact::{CHANNELS_MAX, Contact, NAME_LENGTH};
use crate::model::email::is_address;
use crate::model::notification::quiet_hours::QuietHours;
use crate::model::recurrence::zone::IanaZone;

/// Reads contacts of one organisation.
pub(super) struct ContactParser<'a> {
    /// The caller, whose organisation owns the contact.
    pub(super) caller: &'a Caller,
    /// Database keys of the existing channels, by id.
    pub(super) channels: HashMap<Id, i64>,
    pub(super) now: Timestamp,
}

impl ContactParser<'_> {
    /// Reads the body of a create request.
    pub(super) fn read_new(&self, body: &Map<String, Value>) -> Result<Contact, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.required("name").and_then(|field| field.text(NAME_LENGTH));
        let email = fields.required("email").and_then(|field| read_email(&field));
        let contact = Contact {
            key: 0,
            id: Id::random(),
            organisation: self.caller.organisation.key,
            name: name.unwrap_or_default(),
            email: email.unwrap_or_default(),
            zone: IanaZone::UTC,
            language: self.caller.organisation.default_locale.clone(),
            channels: Vec::new(),
            quiet: None,
            created_at: self.now,
            updated_at: self.now,
        };
        let contact = self.read(&fields, contact);
        errors.into_inner().into_result(contact)
    }

    /// Reads the body of an update request, and returns the stored contact with its changes.
    pub(super) fn read_changes(
        &self,
        body: &Map<String, Value>,
        stored: &Contact,
    ) -> Result<Contact, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let name = fields.optional("name").and_then(|field| field.text(NAME_LENGTH));
        let email = fields.optional("email").and_then(|field| read_email(&field));
        let stored = stored.clone();
        let contact =
            Contact { name: name.unwrap_or(stored.name), email: email.unwrap_or(stored.email), ..stored };
        let contact = self.read(&fields, contact);
        errors.into_inner().into_result(contact)
    }

    /// Reads all fields except name and e-mail address. Quiet hours use the time zone of the contact.
    fn read(&self, fields: &BodyFields<'_>, contact: Contact) -> Contact {
        let zone = fields.optional("time_zone").and_then(|field| read_zone(&field)).unwrap_or(contact.zone);
        let language = fields.optional("language").and_then(|field| self.read_language(&field));
        let known = LinkableRows { kind: "notification channel", keys: &self.channels };
        let channels = read_links(fields, "channel_ids", CHANNELS_MAX, &known);
        let quiet = fields.nullable("quiet_hours").read(|field| read_own_quiet_hours(&field, zone));
        Contact {
            zone,
            language: language.unwrap_or(contact.language),
            channels: channels.unwrap_or(contact.channels),
            quiet: quiet.or_stored(contact.quiet).map(|quiet| QuietHours { zone, ..quiet }),
            ..contact
        }
    }

    fn read_language(&self, field: &BodyField<'_>) -> Option<String> {
        let language = field.string()?.trim();
        let known = self.caller.organisation.locales.iter().find(|locale| *locale == language);
        known.cloned().or_else(|| field.refuse(FieldRule::LocaleUnknown(language.to_owned())))
    }
}

fn read_email(field: &BodyField<'_>) -> Option<String> {
    let address = field.string()?.trim();
    if is_address(address) && address.is_ascii() {
        Some(address.to_owned())
    } else {
        field.refuse(FieldRule::Email)
    }
}
