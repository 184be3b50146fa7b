//! Maintenances as clients see them (contract 4.11.1), in the order of the contract's table.
//!
//! Lists leave out pages and timeline; whatever they hold, they make one query for the services of all rows.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::kit::error::ApiError;
use crate::http::kit::languages::Languages;
use crate::http::kit::view::to_json;
use crate::http::openapi::shape::{
    Shape, id, list_of, named, one_of, timestamp, timestamp_or_null, translations,
};
use crate::http::v1::announcement::{AttachmentView, AuthorView, EntryView};
use crate::http::v1::named::NamedView;
use crate::id::Id;
use crate::model::maintenance::{Maintenance, MaintenanceKind, MaintenanceStatus, TimelineEntry};
use crate::model::service::NamedService;
use crate::model::translated::Translated;
use crate::store::Connection;
use crate::store::maintenances::links::{self, NamedPage};
use crate::store::maintenances::timeline;

/// A maintenance by itself.
#[derive(Serialize, ToSchema)]
pub(super) struct MaintenanceView<'a> {
    #[serde(flatten)]
    #[schema(inline)]
    row: MaintenanceRowView<'a>,
    /// The pages that were chosen explicitly.
    statuspages: Vec<NamedView<'a>>,
    #[schema(schema_with = updates)]
    updates: Vec<EntryView<'a>>,
}

/// A maintenance in a list.
#[derive(Serialize, ToSchema)]
pub(super) struct MaintenanceRowView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    title: &'a str,
    #[schema(schema_with = translations)]
    title_translations: &'a Translated,
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

impl<'a> MaintenanceView<'a> {
    /// The view of a maintenance with its pages and its timeline.
    fn of(
        row: MaintenanceRowView<'a>,
        pages: &'a [NamedPage],
        entries: &'a [TimelineEntry],
        languages: &Languages,
    ) -> Self {
        Self {
            row,
            statuspages: pages
                .iter()
                .map(|page| NamedView::new(page.id, languages.text(&page.name)))
                .collect(),
            updates: entries
                .iter()
                .map(|entry| EntryView::of(entry, MaintenanceStatus::as_str, languages))
                .collect(),
        }
    }
}

impl<'a> MaintenanceRowView<'a> {
    /// The view of a maintenance that covers these services.
    fn of(maintenance: &'a Maintenance, services: &'a [NamedService], languages: &Languages) -> Self {
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

/// The rows of a list.
pub(super) async fn rows(
    connection: &impl Connection,
    maintenances: &[Maintenance],
    languages: &Languages,
) -> Result<Vec<Value>, ApiError> {
    let keys: Vec<_> = maintenances.iter().map(|maintenance| maintenance.key).collect();
    let services = links::services_of(connection, &keys).await?;
    let row = |maintenance: &Maintenance| {
        let services = services.get(&maintenance.key).map(Vec::as_slice).unwrap_or_default();
        to_json(&MaintenanceRowView::of(maintenance, services, languages))
    };
    Ok(maintenances.iter().map(row).collect())
}

/// One maintenance with pages and timeline.
pub(super) async fn one(
    connection: &impl Connection,
    maintenance: &Maintenance,
    languages: &Languages,
) -> Result<Value, ApiError> {
    let services = links::services_of(connection, &[maintenance.key]).await?;
    let services = services.get(&maintenance.key).map(Vec::as_slice).unwrap_or_default();
    let pages = links::statuspages_of(connection, maintenance.key).await?;
    let entries = timeline::of(connection, maintenance.key).await?;
    let row = MaintenanceRowView::of(maintenance, services, languages);
    Ok(to_json(&MaintenanceView::of(row, &pages, &entries, languages)))
}

/// The states of a maintenance.
pub(super) fn status() -> Shape {
    one_of(&MaintenanceStatus::ALL.map(MaintenanceStatus::as_str))
}

/// Returns the schema of the kind of a maintenance.
pub(super) fn kind() -> Shape {
    one_of(&MaintenanceKind::ALL.map(MaintenanceKind::as_str))
}

fn shown_kind() -> Shape {
    kind().says("`planned` is left out of uptime, `emergency` is not.")
}

fn created_by() -> Shape {
    named("Author").nullable().says("Null: made by the server.")
}

fn scheduled_end() -> Shape {
    timestamp_or_null().says("Null: open end.")
}

fn updates() -> Shape {
    list_of(named("MaintenanceUpdate")).says("The timeline, the oldest entry first.")
}
