//! Maintenances as clients see them (contract 4.11.1), in the order of the contract's table.
//!
//! Lists leave out pages and timeline; whatever they hold, they make one query for the services of all rows.

use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::http::kit::error::ApiError;
use crate::http::kit::languages::Languages;
use crate::model::maintenance::{Creator, Entry, Maintenance};
use crate::store::Connection;
use crate::store::maintenances::links::{self, NamedPage, NamedService};
use crate::store::maintenances::timeline;

/// The rows of a list.
pub(super) async fn rows(
    connection: &impl Connection,
    maintenances: &[Maintenance],
    languages: &Languages,
) -> Result<Vec<Value>, ApiError> {
    let keys: Vec<_> = maintenances.iter().map(|maintenance| maintenance.key).collect();
    let services = links::services_of(connection, &keys).await?;
    let of =
        |maintenance: &Maintenance| services.get(&maintenance.key).map(Vec::as_slice).unwrap_or_default();
    Ok(maintenances.iter().map(|maintenance| row(maintenance, of(maintenance), languages)).collect())
}

/// One maintenance with pages and timeline.
pub(super) async fn one(
    connection: &impl Connection,
    maintenance: &Maintenance,
    languages: &Languages,
) -> Result<Value, ApiError> {
    let mut shown = rows(connection, std::slice::from_ref(maintenance), languages).await?;
    let mut shown = shown.pop().ok_or(ApiError::NotFound)?;
    let pages = links::statuspages_of(connection, maintenance.key).await?;
    let entries = timeline::of(connection, maintenance.key).await?;
    shown["statuspages"] = pages.iter().map(|page| page_json(page, languages)).collect();
    shown["updates"] = entries.iter().map(|entry| entry_json(entry, languages)).collect();
    Ok(shown)
}

fn row(maintenance: &Maintenance, services: &[NamedService], languages: &Languages) -> Value {
    let moment = |at: Option<Timestamp>| at.map(|at| at.to_string());
    json!({
        "id": maintenance.id.as_str(),
        "title": languages.text(&maintenance.title),
        "title_translations": maintenance.title.to_json(),
        "type": maintenance.kind.as_str(),
        "status": maintenance.status.as_str(),
        "scheduled_start": maintenance.schedule.start.to_string(),
        "scheduled_end": moment(maintenance.schedule.end),
        "actual_start": moment(maintenance.actual_start),
        "actual_end": moment(maintenance.actual_end),
        "auto_start": maintenance.auto_start,
        "auto_complete": maintenance.auto_complete,
        "notify_24h": maintenance.notices.day_before,
        "notify_1h": maintenance.notices.hour_before,
        "notify_start": maintenance.notices.start,
        "notify_complete": maintenance.notices.complete,
        "created_at": maintenance.created_at.to_string(),
        "created_by": maintenance.created_by.as_ref().map(creator_json),
        "services": services.iter().map(service_json).collect::<Vec<_>>(),
        "attachments": [],
    })
}

fn creator_json(creator: &Creator) -> Value {
    json!({"id": creator.id.as_str(), "name": creator.name, "avatar_url": ""})
}

fn service_json(service: &NamedService) -> Value {
    json!({"id": service.id.as_str(), "name": service.name})
}

fn page_json(page: &NamedPage, languages: &Languages) -> Value {
    json!({"id": page.id.as_str(), "name": languages.text(&page.name)})
}

fn entry_json(entry: &Entry, languages: &Languages) -> Value {
    json!({
        "id": entry.id.as_str(),
        "status": entry.status.as_str(),
        "message": languages.text(&entry.message),
        "message_translations": entry.message.to_json(),
        "notify_subscribers": entry.notify_subscribers,
        "created_at": entry.created_at.to_string(),
    })
}
