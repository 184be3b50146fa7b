//! The first screen: what is wrong now, for how long and why, what is planned, who is on duty, and how the engine is.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::Value;

use crate::console::answer;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;

/// Statuses that are wrong, worst first, with the class of their colour.
const WRONG: [(&str, &str); 2] = [("down", "major_outage"), ("degraded", "degraded")];
/// Number of services with the same status that are listed.
const SHOWN: u64 = 50;

#[derive(Template)]
#[template(path = "screens/overview/overview.html")]
struct OverviewDocument {
    frame: ConsoleFrame,
    sentence: String,
    /// Class of the worst status.
    tone: &'static str,
    has_services: bool,
    may_create: bool,
    wrong: Vec<WrongRow>,
    incidents: Vec<LinkRow>,
    maintenances: Vec<LinkRow>,
    duty: Vec<String>,
    notices: Vec<String>,
}

/// A service that is wrong.
struct WrongRow {
    link: String,
    name: String,
    tone: &'static str,
    status: String,
    target: String,
}

/// A link with a note.
struct LinkRow {
    link: String,
    text: String,
    note: String,
}

/// Shows the overview.
pub(super) async fn show(visit: &UserVisit) -> Result<HttpResponse, ScreenError> {
    let texts = visit.texts;
    let total = seen(visit, "/v1/services?per_page=1").await?["meta"]["total"].as_u64().unwrap_or_default();
    let (mut wrong, mut counts) = (Vec::new(), Vec::new());
    for (status, tone) in WRONG {
        let target = format!("/v1/services?status={status}&per_page={SHOWN}");
        let page = seen(visit, &target).await?;
        counts.push(page["meta"]["total"].as_u64().unwrap_or_default());
        let rows = page["data"].as_array().cloned().unwrap_or_default();
        wrong.extend(rows.iter().map(|row| WrongRow {
            link: format!("/console/services/{}", text(&row["id"])),
            name: text(&row["name"]),
            tone,
            status: texts.text(&format!("word-{status}")),
            target: text(&row["target"]),
        }));
    }
    let is_down = counts.first().is_some_and(|count| *count > 0);
    let worst = counts.iter().zip(WRONG).find(|(count, _)| **count > 0).map(|(_, (_, tone))| tone);
    let sentence = match counts.as_slice() {
        _ if total == 0 => texts.text("overview-empty"),
        [down, _] if is_down => texts.counted("overview-down", *down),
        [_, degraded] if *degraded > 0 => texts.counted("overview-degraded", *degraded),
        _ => texts.counted("overview-up", total),
    };
    let document = OverviewDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Overview, texts.text("nav-overview")),
        sentence,
        tone: worst.unwrap_or(if total == 0 { "unknown" } else { "operational" }),
        has_services: total > 0,
        may_create: visit.may(crate::model::access::Permission::ServicesCreate),
        wrong,
        incidents: links(visit, "/v1/incidents?resolved=false&per_page=20", "incidents", "started_at")
            .await?,
        maintenances: links(
            visit,
            "/v1/maintenances?status=in_progress&per_page=20",
            "maintenances",
            "scheduled_end",
        )
        .await?,
        duty: duty(visit).await?,
        notices: notices(visit).await?,
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
}

/// Reads a list; an empty one if the user may not see it.
async fn seen(visit: &UserVisit, target: &str) -> Result<Value, ScreenError> {
    match visit.get(target).await {
        Ok(body) => Ok(body),
        Err(ApiError::Forbidden(_) | ApiError::Confined) => Ok(Value::Null),
        Err(error) => Err(error.into()),
    }
}

async fn links(
    visit: &UserVisit,
    target: &str,
    screen: &str,
    note: &str,
) -> Result<Vec<LinkRow>, ScreenError> {
    let body = seen(visit, target).await?;
    let rows = body["data"].as_array().cloned().unwrap_or_default();
    let row = |row: &Value| LinkRow {
        link: format!("/console/{screen}/{}", text(&row["id"])),
        text: text(&row["title"]),
        note: row[note].as_str().map(|at| format!("{} {} UTC", &at[..10], &at[11..16])).unwrap_or_default(),
    };
    Ok(rows.iter().map(row).collect())
}

async fn duty(visit: &UserVisit) -> Result<Vec<String>, ScreenError> {
    let body = seen(visit, "/v1/oncall/current").await?;
    let rows = body["data"].as_array().cloned().unwrap_or_default();
    let line = |row: &Value| {
        let contact = row["on_duty"]["contact_name"].as_str().unwrap_or("–");
        format!("{}: {contact}", text(&row["schedule_name"]))
    };
    Ok(rows.iter().map(line).collect())
}

async fn notices(visit: &UserVisit) -> Result<Vec<String>, ScreenError> {
    let body = seen(visit, "/v1/notices?lasts=true&per_page=20").await?;
    let rows = body["data"].as_array().cloned().unwrap_or_default();
    Ok(rows
        .iter()
        .map(|row| row["title"].as_str().unwrap_or_default().to_owned())
        .filter(|line| !line.is_empty())
        .collect())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
