//! Reads a maintenance from a request body (contract 4.11.2). Every field is read and every error collected; nothing is
//! stored.
//!
//! A window that is equal to the stored one is no change. It is never refused, however old it is, because declarative
//! clients send it repeatedly.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector, FieldPatch};
use crate::http::kit::linked_ids::{LinkedIds, NullEntries};
use crate::http::kit::rule::FieldRule;
use crate::http::kit::timestamp;
use crate::http::kit::translated::{read_nullable_translated, read_translated};
use crate::id::Id;
use crate::model::announcement::{SERVICES_MAX, STATUSPAGES_MAX};
use crate::model::maintenance::transition::RescheduleOptions;
use crate::model::maintenance::{
    MESSAGE_LENGTH, Maintenance, MaintenanceKind, MaintenanceNotices, MaintenanceStatus, MaintenanceWindow,
    TITLE_LENGTH,
};
use crate::model::service::ServiceKey;
use crate::model::translated_text::TranslatedText;
use crate::store::maintenances::effect as effects;
use crate::store::{StoreConnection, id_lookup};

/// The ids in a body that exist in the organisation, with their database keys.
#[derive(Debug, Default)]
pub(in crate::http::v1) struct MaintenanceLinks {
    services: HashMap<Id, ServiceKey>,
    statuspages: HashMap<Id, i64>,
}

impl MaintenanceLinks {
    /// Looks up every well-formed id in the body.
    pub(in crate::http::v1) async fn read(
        connection: &dyn StoreConnection,
        caller: &Caller,
        body: &Map<String, Value>,
    ) -> Result<Self, ApiError> {
        let visibility = caller.visibility();
        let services = named(body, "service_ids", SERVICES_MAX);
        let mut services = id_lookup::services_by_id(connection, visibility, &services).await?;
        let keys: Vec<ServiceKey> = services.values().copied().collect();
        // A service that was deleted after the lookup counts as missing.
        let held = effects::lock_services(connection, &keys).await?;
        services.retain(|_, key| held.contains(key));
        let pages = named(body, "statuspage_ids", STATUSPAGES_MAX);
        let pages = id_lookup::statuspages_to_link(connection, visibility, &pages).await?;
        let statuspages = pages.into_iter().map(|(id, page)| (id, page.key)).collect();
        Ok(Self { services, statuspages })
    }
}

fn named(body: &Map<String, Value>, list: &str, most: usize) -> Vec<Id> {
    let entries = body.get(list).and_then(Value::as_array).into_iter().flatten().take(most);
    entries.filter_map(|entry| entry.as_str()?.trim().parse().ok()).collect()
}

/// Returns the window that an update requests, as far as it is valid; invalid parts are refused as fields later.
pub(super) fn wanted_schedule(body: &Map<String, Value>, stored: MaintenanceWindow) -> MaintenanceWindow {
    let moment = |value: &Value| value.as_str().and_then(timestamp::parse);
    let start = body.get("scheduled_start").and_then(moment).unwrap_or(stored.start);
    let end = match body.get("scheduled_end") {
        Some(Value::Null) => None,
        Some(sent) => moment(sent).or(stored.end),
        None => stored.end,
    };
    MaintenanceWindow { start, end }
}

/// Reads maintenances of the caller's organisation.
pub(in crate::http::v1) struct MaintenanceParser<'a> {
    pub(in crate::http::v1) caller: &'a Caller,
    pub(in crate::http::v1) known: &'a MaintenanceLinks,
    pub(in crate::http::v1) now: Timestamp,
}

/// The contents of a create request.
pub(super) struct NewMaintenance {
    pub(super) maintenance: Maintenance,
    pub(super) message: Option<TranslatedText>,
    pub(super) services: Vec<ServiceKey>,
    pub(super) statuspages: Vec<i64>,
}

/// The contents of an update request; `None` for a missing list, which is kept.
pub(super) struct MaintenanceRevision {
    pub(super) maintenance: Maintenance,
    pub(super) services: Option<Vec<ServiceKey>>,
    pub(super) statuspages: Option<Vec<i64>>,
    pub(super) announcement: RescheduleOptions,
}

impl MaintenanceParser<'_> {
    /// Reads the body of a create request.
    pub(super) fn read_new(&self, body: &Map<String, Value>) -> Result<NewMaintenance, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let organisation = &self.caller.organisation;
        let title =
            fields.required("title").and_then(|field| read_translated(&field, TITLE_LENGTH, organisation));
        let message = read_nullable_translated(fields.nullable("message"), MESSAGE_LENGTH, organisation);
        let kind = read_kind(&fields);
        let start = fields.required("scheduled_start").and_then(|field| field.timestamp());
        let end = self.read_end(&fields, start, None);
        let auto_start = flag(&fields, "auto_start", true);
        let auto_complete = read_auto_complete(&fields, None);
        let services = self.read_services(body, &errors);
        let statuspages = self.read_statuspages(body, &errors);
        let announcement = flag(&fields, "notify_announcement", true);
        let notices = MaintenanceNotices { announcement, ..read_notices(&fields, &ALL_NOTICES) };
        let found = errors.into_inner();
        let (Some(title), Some(start)) = (title, start) else { return Err(found) };
        let maintenance = Maintenance {
            key: 0,
            id: Id::random(),
            organisation: organisation.key,
            title,
            kind: kind.unwrap_or(MaintenanceKind::Planned),
            status: MaintenanceStatus::Scheduled,
            schedule: MaintenanceWindow { start, end: end.or_stored(None) },
            actual_start: None,
            actual_end: None,
            auto_start,
            auto_complete,
            notices,
            created_by: Some(self.caller.author()),
            created_at: self.now,
            updated_at: self.now,
            origin: None,
        };
        found.into_result(NewMaintenance {
            maintenance,
            message: message.or_stored(None),
            services: services.unwrap_or_default(),
            statuspages: statuspages.unwrap_or_default(),
        })
    }

    /// Reads the body of an update request, and returns the stored maintenance with its changes.
    pub(super) fn read_changes(
        &self,
        body: &Map<String, Value>,
        stored: &Maintenance,
    ) -> Result<MaintenanceRevision, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let organisation = &self.caller.organisation;
        let title =
            fields.optional("title").and_then(|field| read_translated(&field, TITLE_LENGTH, organisation));
        let kind = read_kind(&fields);
        let start = fields.optional("scheduled_start");
        let start = start.map_or(Some(stored.schedule.start), |field| field.timestamp());
        let end = self.read_end(&fields, start, Some(stored.schedule));
        let auto_start = flag(&fields, "auto_start", stored.auto_start);
        let auto_complete = read_auto_complete(&fields, Some(stored));
        let services = body.get("service_ids").and_then(|_| self.read_services(body, &errors));
        let statuspages = self.read_statuspages(body, &errors);
        let notices = read_notices(&fields, &stored.notices);
        let is_posted = flag(&fields, "post_update", true);
        let notifies = flag(&fields, "notify_subscribers", false);
        let schedule = MaintenanceWindow {
            start: start.unwrap_or(stored.schedule.start),
            end: end.or_stored(stored.schedule.end),
        };
        let maintenance = Maintenance {
            title: title.unwrap_or_else(|| stored.title.clone()),
            kind: kind.unwrap_or(stored.kind),
            schedule,
            auto_start,
            auto_complete,
            notices,
            ..stored.clone()
        };
        let announcement = RescheduleOptions { is_posted, notifies };
        errors.into_inner().into_result(MaintenanceRevision {
            maintenance,
            services,
            statuspages,
            announcement,
        })
    }

    /// Reads the planned end, with the stored window as the default. If `start` is invalid (`None`), the end is only checked
    /// against the present.
    fn read_end(
        &self,
        fields: &BodyFields<'_>,
        start: Option<Timestamp>,
        stored: Option<MaintenanceWindow>,
    ) -> FieldPatch<Timestamp> {
        let sent = fields.nullable("scheduled_end").read(|field| field.timestamp());
        let stored_end = stored.and_then(|stored| stored.end);
        let Some(end) = sent.or_stored(stored_end) else { return sent };
        let is_new_end = stored_end != Some(end);
        let is_new_start = start.is_some_and(|start| stored.is_none_or(|stored| stored.start != start));
        if (is_new_end || is_new_start) && start.is_some_and(|start| end <= start) {
            fields.refuse("scheduled_end", FieldRule::After("scheduled_start"));
        } else if is_new_end && end <= self.now {
            fields.refuse("scheduled_end", FieldRule::NotPast);
        }
        sent
    }

    pub(in crate::http::v1) fn read_services(
        &self,
        body: &Map<String, Value>,
        errors: &ErrorCollector,
    ) -> Option<Vec<ServiceKey>> {
        let list = ErrorCollector::default();
        let sent = BodyFields::new(body, "", &list).optional("service_ids");
        let ids = sent.and_then(|sent| LinkedIds::read(&sent, SERVICES_MAX, NullEntries::Refused));
        let found = ids.map(|ids| ids.resolve("service", &self.known.services, &list));
        let list = list.into_inner();
        let is_empty = found.as_ref().map_or(!body.contains_key("service_ids"), Vec::is_empty);
        if self.caller.visibility().is_confined() && is_empty && list.is_empty() {
            errors.add("service_ids", FieldRule::ScopeService);
        }
        errors.extend(list.sorted_by_index());
        found
    }

    pub(in crate::http::v1) fn read_statuspages(
        &self,
        body: &Map<String, Value>,
        errors: &ErrorCollector,
    ) -> Option<Vec<i64>> {
        let list = ErrorCollector::default();
        let sent = BodyFields::new(body, "", &list).optional("statuspage_ids");
        let ids = sent.and_then(|sent| LinkedIds::read(&sent, STATUSPAGES_MAX, NullEntries::Ignored));
        let found = ids.map(|ids| ids.resolve("status page", &self.known.statuspages, &list));
        errors.extend(list.into_inner().sorted_by_index());
        found
    }
}

/// Notices of a maintenance whose create request does not specify any.
const ALL_NOTICES: MaintenanceNotices = MaintenanceNotices {
    announcement: true,
    day_before: true,
    hour_before: true,
    start: true,
    complete: true,
};

pub(in crate::http::v1) fn read_kind(fields: &BodyFields<'_>) -> Option<MaintenanceKind> {
    fields.optional("type")?.word(MaintenanceKind::WORDS)?.parse().ok()
}

/// Reads an optional boolean that must not be null.
pub(in crate::http::v1) fn flag(fields: &BodyFields<'_>, name: &str, unless_sent: bool) -> bool {
    fields.optional(name).and_then(|field| field.boolean()).unwrap_or(unless_sent)
}

/// Reads the notices except the announcement, which has been sent already, or is read by the caller of this function.
pub(in crate::http::v1) fn read_notices(
    fields: &BodyFields<'_>,
    stored: &MaintenanceNotices,
) -> MaintenanceNotices {
    MaintenanceNotices {
        announcement: stored.announcement,
        day_before: flag(fields, "notify_24h", stored.day_before),
        hour_before: flag(fields, "notify_1h", stored.hour_before),
        start: flag(fields, "notify_start", stored.start),
        complete: flag(fields, "notify_complete", stored.complete),
    }
}

/// Reads `auto_complete`, which requires an end. Clearing the end disables it, unless the same request enables it.
fn read_auto_complete(fields: &BodyFields<'_>, stored: Option<&Maintenance>) -> bool {
    let has_end = match fields.nullable("scheduled_end") {
        FieldPatch::Absent => stored.is_some_and(|stored| stored.schedule.end.is_some()),
        FieldPatch::Null => false,
        FieldPatch::Value(_) => true,
    };
    let sent = fields.optional("auto_complete").and_then(|field| field.boolean());
    if sent == Some(true) && !has_end {
        fields.refuse("auto_complete", FieldRule::AutoCompleteEnd);
    }
    sent.unwrap_or_else(|| has_end && stored.is_some_and(|stored| stored.auto_complete))
}

#[cfg(test)]
mod tests;
