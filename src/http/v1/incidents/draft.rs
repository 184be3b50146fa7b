//! Reads an incident from a request body (contract 4.10.2, 4.10.3). Every field is read and every error collected; nothing
//! is stored.
//!
//! All rows that the body names are looked up before, at once ([`IncidentLinks`]).

use std::collections::HashMap;
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::field::BodyField;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector, FieldPatch};
use crate::http::kit::linked_ids::{LinkedIds, NullEntries};
use crate::http::kit::rule::FieldRule;
use crate::http::kit::translated::read_translated;
use crate::http::v1::incidents::sharing::HiddenIncidentPart;
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::announcement::{SERVICES_MAX, STATUSPAGES_MAX};
use crate::model::incident::{
    AffectedService, ChosenPage, Incident, IncidentKind, IncidentStatus, IncidentTimelineEntry,
    MESSAGE_LENGTH, Severity, TITLE_LENGTH, WholeIncident,
};
use crate::model::service::NamedService;
use crate::model::timeline_size::TimelineSize;
use crate::model::translated_text::TranslatedText;
use crate::model::visibility::Visibility;
use crate::store::Transaction;
use crate::store::id_lookup::{self, LinkedPage};

/// Tolerated clock difference in milliseconds: a time that is ahead by at most this does not count as future (contract 1.6).
const AHEAD_MS: i64 = 60_000;
/// The kinds of incidents that a client can create.
pub(super) const KINDS: [&str; 2] = [IncidentKind::Standard.as_str(), IncidentKind::Notice.as_str()];
/// The statuses that an update request can set.
pub(super) const OPEN_STATUSES: [&str; 3] = [
    IncidentStatus::Investigating.as_str(),
    IncidentStatus::Identified.as_str(),
    IncidentStatus::Monitoring.as_str(),
];

/// The rows of the ids in a body.
#[derive(Debug, Default)]
pub(super) struct IncidentLinks {
    services: HashMap<Id, NamedService>,
    statuspages: HashMap<Id, LinkedPage>,
    /// Links that are kept whatever the lists in the body contain.
    staying: (Vec<NamedService>, Vec<ChosenPage>),
    /// True if the list of services must not be empty.
    needs_service: bool,
}

impl IncidentLinks {
    /// Looks up every well-formed id in the body.
    pub(super) async fn find(
        transaction: &Transaction,
        visibility: Visibility,
        body: &Map<String, Value>,
    ) -> Result<Self, ApiError> {
        let ignored = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &ignored);
        let ids = |read: Option<LinkedIds>| read.map(|ids| ids.ids()).unwrap_or_default();
        let (services, pages) = (ids(service_ids(&fields)), ids(statuspage_ids(&fields)));
        Ok(Self {
            services: id_lookup::services_to_link(transaction, visibility, &services).await?,
            statuspages: id_lookup::statuspages_to_link(transaction, visibility, &pages).await?,
            staying: (Vec::new(), Vec::new()),
            needs_service: visibility.is_confined(),
        })
    }

    /// Adds the links of the incident that the caller does not see, so that they are kept.
    pub(super) fn with_hidden_links(self, hidden: &HiddenIncidentPart) -> Self {
        let named =
            |one: &AffectedService| NamedService { key: one.service, id: one.id, name: one.name.clone() };
        Self { staying: (hidden.services.iter().map(named).collect(), hidden.statuspages.clone()), ..self }
    }

    /// Reads the services in the body; `None` if it has no such list.
    fn read_services(&self, body: &Map<String, Value>, errors: &ErrorCollector) -> Option<Vec<NamedService>> {
        let list = ErrorCollector::default();
        let ids = service_ids(&BodyFields::new(body, "", &list));
        let known: HashMap<Id, &NamedService> = self.services.iter().map(|(id, row)| (*id, row)).collect();
        let found = ids.map(|ids| ids.resolve("service", &known, &list));
        let list = list.into_inner();
        let is_empty = found.as_ref().map_or(!body.contains_key("service_ids"), Vec::is_empty);
        if self.needs_service && is_empty && list.is_empty() {
            errors.add("service_ids", FieldRule::ScopeService);
        }
        errors.extend(list.sorted_by_index());
        Some(found?.into_iter().chain(&self.staying.0).cloned().collect())
    }

    /// Reads the status pages in the body; `None` if it has no such list.
    fn read_pages(&self, body: &Map<String, Value>, errors: &ErrorCollector) -> Option<Vec<ChosenPage>> {
        let list = ErrorCollector::default();
        let ids = statuspage_ids(&BodyFields::new(body, "", &list));
        let known: HashMap<Id, &LinkedPage> = self.statuspages.iter().map(|(id, row)| (*id, row)).collect();
        let found = ids.map(|ids| ids.resolve("status page", &known, &list));
        errors.extend(list.into_inner().sorted_by_index());
        let chosen = |page: &LinkedPage| ChosenPage { key: page.key, id: page.id, name: page.name.clone() };
        Some(found?.into_iter().map(chosen).chain(self.staying.1.iter().cloned()).collect())
    }
}

fn service_ids(fields: &BodyFields<'_>) -> Option<LinkedIds> {
    LinkedIds::read(&fields.optional("service_ids")?, SERVICES_MAX, NullEntries::Refused)
}

fn statuspage_ids(fields: &BodyFields<'_>) -> Option<LinkedIds> {
    LinkedIds::read(&fields.optional("statuspage_ids")?, STATUSPAGES_MAX, NullEntries::Ignored)
}

/// Reads incidents of the caller's organisation.
pub(super) struct IncidentParser<'a> {
    pub(super) caller: &'a Caller,
    /// Rows named in the body.
    pub(super) links: &'a IncidentLinks,
    pub(super) now: Timestamp,
}

impl IncidentParser<'_> {
    /// Reads the body of a create request.
    pub(super) fn read_new(&self, body: &Map<String, Value>) -> Result<WholeIncident, FieldErrors> {
        let (errors, organisation) = (ErrorCollector::default(), &self.caller.organisation);
        let fields = BodyFields::new(body, "", &errors);
        let title = fields.required("title").and_then(|field| read_title(&field, organisation));
        let message = read_message(&fields, organisation);
        let status = optional_word(&fields, "status", IncidentStatus::WORDS);
        let status = status.unwrap_or(IncidentStatus::Investigating);
        let severity = optional_word(&fields, "severity", Severity::WORDS).unwrap_or(Severity::Minor);
        let kind = fields.optional("kind").and_then(|field| read_kind(&field));
        let kind = kind.unwrap_or(IncidentKind::Standard);
        let is_published = read_flag(&fields, "is_published", false);
        let started_at = self.read_start(&fields);
        let resolved_at = match status {
            IncidentStatus::Resolved => self.read_first_end(&fields, started_at),
            _ => None,
        };
        let services = self.links.read_services(body, &errors).unwrap_or_default();
        let statuspages = self.links.read_pages(body, &errors).unwrap_or_default();
        let notify_subscribers = read_flag(&fields, "notify_subscribers", true);
        let sla_counts_as_downtime = read_flag(&fields, "sla_counts_as_downtime", false);
        let found = errors.into_inner();
        let (Some(title), Some(message), Some(started_at)) = (title, message, started_at) else {
            return Err(found);
        };
        let (id, created_at) = (Id::random(), self.now);
        let incident = Incident {
            key: 0,
            id,
            organisation: organisation.key,
            title,
            kind,
            status,
            severity: kind.severity(severity),
            is_published,
            started_at,
            resolved_at,
            sla_counts_as_downtime,
            created_by: Some(self.caller.author()),
            acknowledgement: None,
            created_at,
            updated_at: created_at,
        };
        let first =
            IncidentTimelineEntry { id: Id::random(), status, message, notify_subscribers, created_at };
        let mut made = WholeIncident {
            incident,
            services: Vec::new(),
            others: 0,
            statuspages,
            updates: vec![first],
            unread_updates: TimelineSize::default(),
            internal_updates: Vec::new(),
            automation: None,
        };
        made.affect(services, self.now);
        found.into_result(made)
    }

    /// Reads the body of an update request, and returns the stored incident with its changes. The caller of this function
    /// has checked that the state of the incident allows changes.
    pub(super) fn read_changes(
        &self,
        body: &Map<String, Value>,
        stored: &WholeIncident,
    ) -> Result<WholeIncident, FieldErrors> {
        let (errors, organisation) = (ErrorCollector::default(), &self.caller.organisation);
        let fields = BodyFields::new(body, "", &errors);
        let mut changed = stored.clone();
        if let Some(title) = fields.optional("title").and_then(|field| read_title(&field, organisation)) {
            changed.incident.title = title;
        }
        if let Some(severity) = optional_word(&fields, "severity", Severity::WORDS) {
            changed.set_severity(severity);
        }
        changed.incident.is_published = read_flag(&fields, "is_published", stored.incident.is_published);
        if let Some(status) = fields.optional("status").and_then(|field| read_open_status(&field)) {
            changed.incident.status = status;
        }
        // The start is read first, because the end is checked against it; but errors of the start are listed later.
        let late = ErrorCollector::default();
        if fields.has("started_at") {
            let start = self.read_start(&BodyFields::new(body, "", &late));
            changed.move_start(start.unwrap_or(stored.incident.started_at));
        }
        self.read_moved_end(&fields, &mut changed);
        if let Some(sent) = fields.optional("kind")
            && sent.string().is_some_and(|sent| sent != stored.incident.kind.as_str())
        {
            errors.add("kind", FieldRule::Immutable);
        }
        errors.extend(late.into_inner());
        if body.contains_key("service_ids")
            && let Some(services) = self.links.read_services(body, &errors)
        {
            changed.affect(services, self.now);
        }
        if let Some(pages) = self.links.read_pages(body, &errors) {
            changed.statuspages = pages;
        }
        changed.incident.sla_counts_as_downtime =
            read_flag(&fields, "sla_counts_as_downtime", stored.incident.sla_counts_as_downtime);
        changed.note_edits(&stored.incident);
        errors.into_inner().into_result(changed)
    }

    /// Reads `started_at`, with the present as the default.
    fn read_start(&self, fields: &BodyFields<'_>) -> Option<Timestamp> {
        match fields.nullable("started_at") {
            FieldPatch::Absent | FieldPatch::Null => Some(self.now),
            FieldPatch::Value(field) => not_ahead(&field, field.timestamp()?, self.now),
        }
    }

    /// Reads `resolved_at` of an incident that is created as resolved, with its start as the default.
    fn read_first_end(&self, fields: &BodyFields<'_>, start: Option<Timestamp>) -> Option<Timestamp> {
        match fields.nullable("resolved_at") {
            FieldPatch::Absent | FieldPatch::Null => start,
            FieldPatch::Value(field) => read_end(&field, start, self.now),
        }
    }

    /// Reads `resolved_at` of an update: only a resolved incident has an end, which must not be before the start.
    fn read_moved_end(&self, fields: &BodyFields<'_>, changed: &mut WholeIncident) {
        let start = changed.incident.started_at;
        match (fields.optional("resolved_at"), changed.incident.resolved_at) {
            (Some(field), Some(_)) => {
                if let Some(end) = read_end(&field, Some(start), self.now) {
                    changed.move_end(end);
                }
            }
            (Some(field), None) => {
                let _ = field.timestamp().and_then(|_| field.refuse::<()>(FieldRule::NotResolved));
            }
            (None, Some(end)) if end < start => {
                fields.refuse("resolved_at", FieldRule::NotBefore("started_at"));
            }
            (None, _) => {}
        }
    }
}

/// Returns true if an update sets one of the open statuses, which a resolved incident does not accept (contract 4.10.3).
pub(super) fn sets_open_status(body: &Map<String, Value>) -> bool {
    body.get("status").and_then(Value::as_str).is_some_and(|status| OPEN_STATUSES.contains(&status))
}

/// Reads `message`, which every timeline entry has.
pub(super) fn read_message(fields: &BodyFields<'_>, organisation: &Organisation) -> Option<TranslatedText> {
    fields.required("message").and_then(|field| read_translated(&field, MESSAGE_LENGTH, organisation))
}

pub(super) fn read_flag(fields: &BodyFields<'_>, name: &str, default: bool) -> bool {
    fields.optional(name).and_then(|field| field.boolean()).unwrap_or(default)
}

pub(super) fn read_word<T: FromStr>(field: &BodyField<'_>, words: &[&str]) -> Option<T> {
    field.word(words)?.parse().ok()
}

/// Reads an end, which must not be in the future, nor before `start` if that is known.
pub(super) fn read_end(field: &BodyField<'_>, start: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    let end = field.timestamp()?;
    if start.is_some_and(|start| end < start) {
        return field.refuse(FieldRule::NotBefore("started_at"));
    }
    not_ahead(field, end, now)
}

fn not_ahead(field: &BodyField<'_>, at: Timestamp, now: Timestamp) -> Option<Timestamp> {
    if at.ms_since(now) > AHEAD_MS { field.refuse(FieldRule::NotFuture) } else { Some(at) }
}

fn read_title(field: &BodyField<'_>, organisation: &Organisation) -> Option<TranslatedText> {
    read_translated(field, TITLE_LENGTH, organisation)
}

fn optional_word<T: FromStr>(fields: &BodyFields<'_>, name: &str, words: &[&str]) -> Option<T> {
    fields.optional(name).and_then(|field| read_word(&field, words))
}

fn read_kind(field: &BodyField<'_>) -> Option<IncidentKind> {
    if field.value() == IncidentKind::AgentLiveness.as_str() {
        return field.refuse(FieldRule::KindServer);
    }
    read_word(field, &KINDS)
}

fn read_open_status(field: &BodyField<'_>) -> Option<IncidentStatus> {
    if field.value() == IncidentStatus::Resolved.as_str() {
        return field.refuse(FieldRule::ResolveHere);
    }
    read_word(field, &OPEN_STATUSES)
}
