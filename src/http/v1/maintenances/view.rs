//! Maintenances as clients see them (contract 4.11.1), in the order of the contract's table.
//!
//! Lists leave out pages and timeline. The services of all rows are read with one query.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::kit::error::ApiError;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::view::to_json;
use crate::http::openapi::shape::{
    ApiSchema, enum_of, id, list_of, named, timestamp, timestamp_or_null, translations,
};
use crate::http::v1::announcement::{AttachmentView, AuthorView, EntryView};
use crate::http::v1::named::NamedView;
use crate::id::Id;
use crate::model::maintenance::origin::{SeriesKey, SeriesOrigin};
use crate::model::maintenance::{
    Maintenance, MaintenanceKey, MaintenanceKind, MaintenanceStatus, MaintenanceTimelineEntry,
};
use crate::model::service::NamedService;
use crate::model::translated_text::TranslatedText;
use crate::model::visibility::Visibility;
use crate::store::StoreConnection;
use crate::store::maintenances::links::{self, NamedPage};
use crate::store::maintenances::series::{self, SeriesName};
use crate::store::maintenances::timeline;

/// A single maintenance.
#[derive(Serialize, ToSchema)]
pub(super) struct MaintenanceView<'a> {
    #[serde(flatten)]
    #[schema(inline)]
    body: BodyView<'a>,
    /// The status pages that were chosen for the maintenance.
    statuspages: Vec<NamedView<'a>>,
    #[schema(schema_with = updates)]
    updates: Vec<EntryView<'a>>,
    #[schema(schema_with = recurrence, required)]
    recurrence: Option<RecurrenceView<'a>>,
}

/// A maintenance in a list.
#[derive(Serialize, ToSchema)]
pub(super) struct MaintenanceRowView<'a> {
    #[serde(flatten)]
    #[schema(inline)]
    body: BodyView<'a>,
    #[schema(schema_with = recurrence, required)]
    recurrence: Option<RecurrenceView<'a>>,
}

/// The series of a maintenance, and the position of the maintenance in it.
#[derive(Serialize, ToSchema)]
#[schema(as = MaintenanceRecurrence)]
pub(super) struct RecurrenceView<'a> {
    #[schema(schema_with = id)]
    series_id: Id,
    /// The rule in the form of RFC 5545.
    rrule: &'a str,
    /// The time zone in which the rule is evaluated.
    time_zone: &'a str,
    /// The start of the maintenance as given by the rule; it stays the same when the maintenance is moved.
    #[schema(schema_with = timestamp)]
    occurrence: Timestamp,
}

/// The members of a maintenance that lists show as well.
#[derive(Serialize, ToSchema)]
struct BodyView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    title: &'a str,
    #[schema(schema_with = translations)]
    title_translations: &'a TranslatedText,
    #[schema(schema_with = shown_kind)]
    r#type: &'static str,
    #[schema(schema_with = status)]
    status: &'static str,
    #[schema(schema_with = timestamp)]
    scheduled_start: Timestamp,
    #[schema(schema_with = scheduled_end, required)]
    scheduled_end: Option<Timestamp>,
    #[schema(schema_with = timestamp_or_null, required)]
    actual_start: Option<Timestamp>,
    #[schema(schema_with = timestamp_or_null, required)]
    actual_end: Option<Timestamp>,
    auto_start: bool,
    auto_complete: bool,
    notify_24h: bool,
    notify_1h: bool,
    notify_start: bool,
    notify_complete: bool,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = created_by, required)]
    created_by: Option<AuthorView<'a>>,
    services: Vec<NamedView<'a>>,
    attachments: Vec<AttachmentView>,
}

impl<'a> MaintenanceRowView<'a> {
    /// Creates the view of a maintenance in a list.
    fn of(maintenance: &'a Maintenance, beside: &'a MaintenanceDetails, languages: &AnswerLanguage) -> Self {
        let services = beside.services.get(&maintenance.key).map(Vec::as_slice).unwrap_or_default();
        Self {
            body: BodyView::of(maintenance, services, languages),
            recurrence: maintenance.origin.and_then(|origin| RecurrenceView::of(origin, &beside.series)),
        }
    }

    /// Creates the view of a single maintenance, with its pages and its timeline.
    fn with(
        self,
        pages: &'a [NamedPage],
        entries: &'a [MaintenanceTimelineEntry],
        languages: &AnswerLanguage,
    ) -> MaintenanceView<'a> {
        MaintenanceView {
            body: self.body,
            statuspages: pages
                .iter()
                .map(|page| NamedView::new(page.id, languages.text(&page.name)))
                .collect(),
            updates: entries
                .iter()
                .map(|entry| EntryView::of(entry, MaintenanceStatus::as_str, languages))
                .collect(),
            recurrence: self.recurrence,
        }
    }
}

impl<'a> RecurrenceView<'a> {
    fn of(origin: SeriesOrigin, series: &'a HashMap<SeriesKey, SeriesName>) -> Option<Self> {
        let SeriesName { id, rrule, time_zone } = series.get(&origin.series)?;
        Some(Self { series_id: *id, rrule, time_zone, occurrence: origin.occurrence })
    }
}

/// Data of maintenances in addition to their rows.
struct MaintenanceDetails {
    services: HashMap<MaintenanceKey, Vec<NamedService>>,
    series: HashMap<SeriesKey, SeriesName>,
}

impl MaintenanceDetails {
    async fn read(
        connection: &dyn StoreConnection,
        visibility: Visibility,
        maintenances: &[Maintenance],
    ) -> Result<Self, ApiError> {
        let keys: Vec<_> = maintenances.iter().map(|maintenance| maintenance.key).collect();
        let series: BTreeSet<_> =
            maintenances.iter().filter_map(|maintenance| Some(maintenance.origin?.series)).collect();
        let series: Vec<_> = series.into_iter().collect();
        Ok(Self {
            services: links::services_of(connection, visibility, &keys).await?,
            series: series::names(connection, &series).await?,
        })
    }
}

impl<'a> BodyView<'a> {
    /// Creates the view of a maintenance that covers these services.
    fn of(maintenance: &'a Maintenance, services: &'a [NamedService], languages: &AnswerLanguage) -> Self {
        let Maintenance { schedule, notices, .. } = maintenance;
        let creator = maintenance.created_by.as_ref();
        Self {
            id: maintenance.id,
            title: languages.text(&maintenance.title),
            title_translations: &maintenance.title,
            r#type: maintenance.kind.as_str(),
            status: maintenance.status.as_str(),
            scheduled_start: schedule.start,
            scheduled_end: schedule.end,
            actual_start: maintenance.actual_start,
            actual_end: maintenance.actual_end,
            auto_start: maintenance.auto_start,
            auto_complete: maintenance.auto_complete,
            notify_24h: notices.day_before,
            notify_1h: notices.hour_before,
            notify_start: notices.start,
            notify_complete: notices.complete,
            created_at: maintenance.created_at,
            created_by: creator.map(AuthorView::from),
            services: services.iter().map(|service| NamedView::new(service.id, &service.name)).collect(),
            attachments: Vec::new(),
        }
    }
}

/// Renders the maintenances of a list.
pub(super) async fn rows(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    maintenances: &[Maintenance],
    languages: &AnswerLanguage,
) -> Result<Vec<Value>, ApiError> {
    let beside = MaintenanceDetails::read(connection, visibility, maintenances).await?;
    let row = |maintenance| to_json(&MaintenanceRowView::of(maintenance, &beside, languages));
    Ok(maintenances.iter().map(row).collect())
}

/// Renders one maintenance with pages and timeline.
pub(super) async fn one(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    maintenance: &Maintenance,
    languages: &AnswerLanguage,
) -> Result<Value, ApiError> {
    let beside = MaintenanceDetails::read(connection, visibility, std::slice::from_ref(maintenance)).await?;
    let pages = links::statuspages_of(connection, visibility, maintenance.key).await?;
    let entries = timeline::of(connection, maintenance.key).await?;
    let row = MaintenanceRowView::of(maintenance, &beside, languages);
    Ok(to_json(&row.with(&pages, &entries, languages)))
}

/// Returns the schema of the status of a maintenance.
pub(in crate::http::v1) fn status() -> ApiSchema {
    enum_of(&MaintenanceStatus::ALL.map(MaintenanceStatus::as_str))
}

/// Returns the schema of the kind of a maintenance.
pub(in crate::http::v1) fn kind() -> ApiSchema {
    enum_of(&MaintenanceKind::ALL.map(MaintenanceKind::as_str))
}

pub(in crate::http::v1) fn shown_kind() -> ApiSchema {
    kind().says("`planned` is left out of uptime, `emergency` is not.")
}

pub(in crate::http::v1) fn created_by() -> ApiSchema {
    named("Author").nullable().says("Null: created by the server.")
}

fn scheduled_end() -> ApiSchema {
    timestamp_or_null().says("Null: open end.")
}

fn recurrence() -> ApiSchema {
    named("MaintenanceRecurrence").nullable().says("Null: it belongs to no series.")
}

fn updates() -> ApiSchema {
    list_of(named("MaintenanceUpdate")).says("The timeline, the oldest entry first.")
}
