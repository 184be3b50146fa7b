//! The results of a service, newest first.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::Value;

use crate::console::answer;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::service::status_mark::tone_of;
use crate::console::visit::UserVisit;
use crate::http::kit::query::encode;
use crate::model::service::ServiceStatus;

#[derive(Template)]
#[template(path = "screens/service/checks.html")]
struct ChecksDocument {
    frame: ConsoleFrame,
    id: String,
    rows: Vec<CheckRow>,
    next: Option<String>,
}

/// A result.
pub(in crate::console) struct CheckRow {
    pub(in crate::console) time: String,
    pub(in crate::console) location: String,
    pub(in crate::console) tone: &'static str,
    pub(in crate::console) status: String,
    pub(in crate::console) response_time: String,
    pub(in crate::console) error: String,
}

/// Shows a page of results.
pub(in crate::console) async fn show(visit: &UserVisit, id: &str) -> Result<HttpResponse, ScreenError> {
    let mut target = format!("/v1/services/{id}/checks?per_page=100");
    let cursor = visit.visit.query.text("cursor");
    if !cursor.is_empty() {
        target.push_str(&format!("&cursor={}", encode(cursor)));
    }
    let service = visit.get(&format!("/v1/services/{id}")).await?;
    let body = visit.get(&target).await?;
    let next = body["meta"]["next_cursor"].as_str().map(encode);
    let title = service["data"]["name"].as_str().unwrap_or_default().to_owned();
    let document = ChecksDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Services, title),
        id: id.to_owned(),
        rows: rows(visit, &body),
        next,
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
}

/// Returns the results of an answer.
pub(in crate::console) fn rows(visit: &UserVisit, body: &Value) -> Vec<CheckRow> {
    body["data"].as_array().into_iter().flatten().map(|check| row_of(visit, check)).collect()
}

fn row_of(visit: &UserVisit, check: &Value) -> CheckRow {
    let text = |name: &str| check[name].as_str().unwrap_or_default().to_owned();
    let status = text("status");
    let time = text("checked_at");
    CheckRow {
        time: time.get(..23).unwrap_or(&time).replace('T', " "),
        location: text("probe"),
        tone: tone_of(status.parse().unwrap_or(ServiceStatus::Unknown)),
        status: visit.texts.text_or(&format!("word-{status}"), &status),
        response_time: check["response_time_ms"].as_f64().map(|ms| format!("{ms:.0} ms")).unwrap_or_default(),
        error: [text("error_code"), text("error_message")]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(": "),
    }
}
