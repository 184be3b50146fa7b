//! A service: what its status is and why, what happened, and what can be done.

pub(in crate::console) mod actions;
pub(in crate::console) mod checks;
pub(in crate::console) mod editor;
pub(in crate::console) mod pasted_target;
pub(in crate::console) mod status_mark;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::Value;

use crate::console::answer;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::changes::changes_of;
use crate::console::screens::service::checks::CheckRow;
use crate::console::screens::service::status_mark::tone_of;
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;
use crate::model::access::Permission;
use crate::model::service::ServiceStatus;

/// Number of results that the screen shows.
const CHECKS: usize = 10;

#[derive(Template)]
#[template(path = "screens/service/service.html")]
struct ServiceDocument {
    frame: ConsoleFrame,
    id: String,
    target: String,
    kind: String,
    tone: &'static str,
    status: String,
    is_paused: bool,
    has_override: bool,
    tags: Vec<String>,
    ping_url: Option<String>,
    figures: Vec<FigureRow>,
    rows: Vec<CheckRow>,
    status_changes: Vec<ChangeRow>,
    told: Vec<ToldRow>,
    changes: Vec<String>,
    may_pause: bool,
    may_edit: bool,
    may_delete: bool,
    may_silence: bool,
}

/// Figures of a period.
struct FigureRow {
    period: &'static str,
    uptime: String,
    median: String,
    p95: String,
    p99: String,
}

/// A change of the status.
struct ChangeRow {
    time: String,
    tone: &'static str,
    status: String,
    reason: String,
}

/// A message about an incident of the service.
struct ToldRow {
    time: String,
    channel: String,
    status: String,
    headline: String,
}

/// Shows a service.
pub(super) async fn show(visit: &UserVisit, id: &str) -> Result<HttpResponse, ScreenError> {
    let path = format!("/v1/services/{id}");
    let service = visit.get(&path).await?["data"].take();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let status = text(&service["effective_status"]);
    let checks = visit.get(&format!("{path}/checks?per_page={CHECKS}")).await?;
    let changes = visit.get(&format!("{path}/status-changes?per_page={CHECKS}")).await?;
    let mut figures = Vec::new();
    for period in ["24h", "7d", "30d"] {
        let body = visit.get(&format!("{path}/metrics?range={period}")).await?;
        figures.push(figure(period, &body["data"]));
    }
    let name = text(&service["name"]);
    let document = ServiceDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Services, name),
        id: id.to_owned(),
        target: text(&service["target"]),
        kind: text(&service["check_type_label"]),
        tone: tone_of(status.parse().unwrap_or(ServiceStatus::Unknown)),
        status: visit.texts.text(&format!("word-{status}")),
        is_paused: service["is_paused"] == true,
        has_override: !service["status_override"].is_null(),
        tags: service["tags"].as_array().into_iter().flatten().map(|tag| text(&tag["label"])).collect(),
        ping_url: service["heartbeat"]["ping_url"].as_str().map(str::to_owned),
        figures,
        rows: checks::rows(visit, &checks),
        status_changes: changes["data"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|row| change(visit, row))
            .collect(),
        told: told(visit, id).await?,
        changes: changes_of(visit, id).await?,
        may_pause: visit.may(Permission::ServicesPause) || visit.may(Permission::ServicesEdit),
        may_edit: visit.may(Permission::ServicesEdit),
        may_delete: visit.may(Permission::ServicesDelete),
        may_silence: visit.may(Permission::MaintenancesCreate),
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
}

fn figure(period: &'static str, data: &Value) -> FigureRow {
    FigureRow {
        period,
        uptime: data["uptime"].as_f64().map(|uptime| format!("{uptime} %")).unwrap_or_default(),
        median: milliseconds(&data["p50_ms"]),
        p95: milliseconds(&data["p95_ms"]),
        p99: milliseconds(&data["p99_ms"]),
    }
}

fn milliseconds(value: &Value) -> String {
    value.as_f64().map(|ms| format!("{ms:.0} ms")).unwrap_or_default()
}

fn change(visit: &UserVisit, row: &Value) -> ChangeRow {
    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let status = row["to"].as_str().or_else(|| row["status"].as_str()).unwrap_or("unknown").to_owned();
    let time =
        ["at", "changed_at", "started_at"].iter().find_map(|name| row[*name].as_str()).unwrap_or_default();
    ChangeRow {
        time: time.get(..19).unwrap_or(time).replace('T', " "),
        tone: tone_of(status.parse().unwrap_or(ServiceStatus::Unknown)),
        status: visit.texts.text_or(&format!("word-{status}"), &status),
        reason: text("reason"),
    }
}

/// Returns who was told about the newest incident of the service, and with what answer.
async fn told(visit: &UserVisit, id: &str) -> Result<Vec<ToldRow>, ScreenError> {
    let incidents = match visit.get(&format!("/v1/services/{id}/incidents?per_page=1")).await {
        Ok(body) => body,
        Err(ApiError::Forbidden(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let Some(incident) = incidents["data"][0]["id"].as_str() else { return Ok(Vec::new()) };
    let body = match visit.get(&format!("/v1/notifications?incident_id={incident}&per_page=20")).await {
        Ok(body) => body,
        Err(ApiError::Forbidden(_) | ApiError::Confined) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let row = |message: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let time = text(&message["created_at"]);
        let contact =
            message["contact"]["name"].as_str().map(|name| format!(" ({name})")).unwrap_or_default();
        ToldRow {
            time: time.get(..19).unwrap_or(&time).replace('T', " "),
            channel: format!("{}{contact}", text(&message["channel"]["name"])),
            status: visit
                .texts
                .text_or(&format!("word-{}", text(&message["status"])), &text(&message["status"])),
            headline: text(&message["headline"]),
        }
    };
    Ok(body["data"].as_array().into_iter().flatten().map(row).collect())
}
