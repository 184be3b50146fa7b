//! Incidents as clients see them (contract 4.10.1, 4.9).

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::openapi::shape::{
    ApiSchema, enum_of, id, list_of, named, timestamp, timestamp_or_null, translations, view,
};
use crate::http::v1::announcement::{AttachmentView, AuthorView, EntryView};
use crate::http::v1::incidents::sharing::VisibleIncident;
use crate::http::v1::named::NamedView;
use crate::id::Id;
use crate::model::incident::{
    Acknowledgement, AffectedService, Impact, Incident, IncidentKind, IncidentStatus, IncidentTimelineEntry,
    Severity,
};
use crate::model::service::ServiceKey;
use crate::model::translated_text::TranslatedText;

/// A single incident.
#[derive(Serialize, ToSchema)]
pub(super) struct IncidentView<'a> {
    #[serde(flatten)]
    #[schema(inline)]
    row: IncidentRowView<'a>,
    /// The status pages that were chosen for the incident.
    statuspages: Vec<NamedView<'a>>,
    #[schema(schema_with = updates)]
    updates: Vec<EntryView<'a>>,
    #[schema(schema_with = internal_updates)]
    internal_updates: Vec<EntryView<'a>>,
}

/// An incident in a list.
#[derive(Serialize, ToSchema)]
pub(super) struct IncidentRowView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    title: &'a str,
    #[schema(schema_with = translations)]
    title_translations: &'a TranslatedText,
    #[schema(schema_with = kind)]
    kind: &'static str,
    #[schema(schema_with = status)]
    status: &'static str,
    #[schema(schema_with = severity)]
    severity: &'static str,
    /// True if status pages show the incident; false if it is internal.
    is_published: bool,
    #[schema(schema_with = timestamp)]
    started_at: Timestamp,
    #[schema(schema_with = resolved_at, required)]
    resolved_at: Option<Timestamp>,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = created_by, required)]
    created_by: Option<AuthorView<'a>>,
    services: Vec<NamedView<'a>>,
    attachments: Vec<AttachmentView>,
    /// True if the incident counts as downtime for SLA targets.
    sla_counts_as_downtime: bool,
    #[schema(schema_with = acknowledged, required)]
    acknowledged: Option<AcknowledgementView<'a>>,
}

/// An acknowledgement, which says that somebody works on the incident.
#[derive(Serialize, ToSchema)]
pub(super) struct AcknowledgementView<'a> {
    #[schema(schema_with = timestamp)]
    at: Timestamp,
    #[schema(schema_with = author)]
    by: AuthorView<'a>,
}

/// An incident of a service, with its impact on that service.
#[derive(Serialize, ToSchema)]
pub(super) struct ServiceIncidentView<'a> {
    #[serde(flatten)]
    #[schema(inline)]
    row: IncidentRowView<'a>,
    #[schema(schema_with = service_impact, required)]
    service_impact: Option<ImpactView>,
}

/// The impact of an incident on a service.
#[derive(Serialize, ToSchema)]
pub(super) struct ImpactView {
    #[schema(schema_with = impact, required)]
    impact: Option<&'static str>,
    is_recovered: bool,
    #[schema(schema_with = timestamp)]
    added_at: Timestamp,
    #[schema(schema_with = timestamp_or_null, required)]
    recovered_at: Option<Timestamp>,
}

impl<'a> IncidentView<'a> {
    /// Creates the view of an incident with services, pages and timeline, as visible to the caller.
    pub(super) fn of(seen: &'a VisibleIncident, languages: &AnswerLanguage) -> Self {
        let whole = seen.whole();
        let pages = whole.statuspages.iter();
        Self {
            row: IncidentRowView::of(&whole.incident, &whole.services, languages),
            statuspages: pages.map(|page| NamedView::new(page.id, languages.text(&page.name))).collect(),
            updates: entries(&whole.updates, languages),
            internal_updates: entries(&whole.internal_updates, languages),
        }
    }
}

fn entries<'a>(entries: &'a [IncidentTimelineEntry], languages: &AnswerLanguage) -> Vec<EntryView<'a>> {
    entries.iter().map(|entry| EntryView::of(entry, IncidentStatus::as_str, languages)).collect()
}

impl<'a> IncidentRowView<'a> {
    /// Creates the view of an incident that affects these services.
    pub(super) fn of(
        incident: &'a Incident,
        services: &'a [AffectedService],
        languages: &AnswerLanguage,
    ) -> Self {
        let author = incident.created_by.as_ref();
        Self {
            id: incident.id,
            title: languages.text(&incident.title),
            title_translations: &incident.title,
            kind: incident.kind.as_str(),
            status: incident.status.as_str(),
            severity: incident.severity.as_str(),
            is_published: incident.is_published,
            started_at: incident.started_at,
            resolved_at: incident.resolved_at,
            created_at: incident.created_at,
            created_by: author.map(AuthorView::from),
            services: services.iter().map(|service| NamedView::new(service.id, &service.name)).collect(),
            attachments: Vec::new(),
            sla_counts_as_downtime: incident.sla_counts_as_downtime,
            acknowledged: incident.acknowledgement.as_ref().map(AcknowledgementView::from),
        }
    }
}

impl<'a> ServiceIncidentView<'a> {
    /// Creates the view of an incident that affects these services, with its impact on one of them.
    pub(super) fn of(
        incident: &'a Incident,
        services: &'a [AffectedService],
        service: ServiceKey,
        languages: &AnswerLanguage,
    ) -> Self {
        let affected = services.iter().find(|affected| affected.service == service);
        Self {
            row: IncidentRowView::of(incident, services, languages),
            service_impact: affected.map(ImpactView::of),
        }
    }
}

impl<'a> From<&'a Acknowledgement> for AcknowledgementView<'a> {
    fn from(one: &'a Acknowledgement) -> Self {
        Self { at: one.at, by: AuthorView::from(&one.by) }
    }
}

impl ImpactView {
    /// Creates the view of the impact on this service.
    fn of(affected: &AffectedService) -> Self {
        Self {
            impact: affected.impact.map(Impact::as_str),
            is_recovered: affected.recovered_at.is_some(),
            added_at: affected.added_at,
            recovered_at: affected.recovered_at,
        }
    }
}

/// Returns the schema of the kind of an incident.
pub(super) fn kind() -> ApiSchema {
    enum_of(IncidentKind::WORDS)
}

/// Returns the schema of the status of an incident.
pub(super) fn status() -> ApiSchema {
    enum_of(IncidentStatus::WORDS)
}

/// Returns the schema of the severity of an incident.
pub(super) fn severity() -> ApiSchema {
    enum_of(Severity::WORDS)
}

fn impact() -> ApiSchema {
    enum_of(Impact::WORDS).nullable()
}

fn created_by() -> ApiSchema {
    named("Author").nullable().says("Null: opened by the server.")
}

fn author() -> ApiSchema {
    named("Author")
}

fn acknowledged() -> ApiSchema {
    view::<AcknowledgementView<'_>>()
        .nullable()
        .says("Who acknowledged it, and when; never shown to visitors.")
}

fn service_impact() -> ApiSchema {
    view::<ImpactView>().nullable().says("Null: the incident no longer affects the service.")
}

fn resolved_at() -> ApiSchema {
    timestamp_or_null().says("Null while it is open.")
}

fn updates() -> ApiSchema {
    list_of(named("IncidentUpdate")).says("The timeline, the oldest entry first.")
}

fn internal_updates() -> ApiSchema {
    list_of(named("IncidentUpdate")).says("Internal entries, never shown to visitors, the oldest first.")
}
