//! The list of services: searched, and changed several at a time.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::{Value, json};

use crate::console::answer;
use crate::console::form_data::FormData;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::service::status_mark::tone_of;
use crate::console::visit::UserVisit;
use crate::http::gate::route::HttpVerb;
use crate::http::kit::error::ApiError;
use crate::http::kit::query::encode;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::service::ServiceStatus;

/// Maximum number of services that one form changes.
const AT_ONCE: usize = 100;

#[derive(Template)]
#[template(path = "screens/services/services.html")]
struct ServicesDocument {
    frame: ConsoleFrame,
    query: String,
    statuses: Vec<StatusLink>,
    rows: Vec<ServiceRow>,
    total: u64,
    previous: Option<String>,
    next: Option<String>,
    may_create: bool,
    may_pause: bool,
    may_edit: bool,
    may_delete: bool,
}

struct StatusLink {
    address: String,
    text: String,
    is_current: bool,
}

struct ServiceRow {
    id: String,
    name: String,
    target: String,
    kind: String,
    tone: &'static str,
    status: String,
    uptime: String,
    tags: Vec<String>,
}

/// Shows the list.
pub(super) async fn show(visit: &UserVisit) -> Result<HttpResponse, ScreenError> {
    let texts = visit.texts;
    let (query, status) = (visit.visit.query.text("q"), visit.visit.query.text("status"));
    let page: u64 = visit.visit.query.text("page").parse().unwrap_or(1);
    let mut target = format!("/v1/services?per_page=100&page={page}");
    for (name, value) in [("q", query), ("status", status), ("tag", visit.visit.query.text("tag"))] {
        if !value.is_empty() {
            target.push_str(&format!("&{name}={}", encode(value)));
        }
    }
    let body = visit.get(&target).await?;
    let rows = body["data"].as_array().cloned().unwrap_or_default();
    let last = body["meta"]["last_page"].as_u64().unwrap_or(1);
    let address = |page: u64| {
        format!("/console/services?{}", visit.visit.query.encoded_with("page", &page.to_string()))
    };
    let link = |word: &str| StatusLink {
        address: format!(
            "/console/services?{}",
            FormData::parse(format!("q={}", encode(query)).as_bytes()).encoded_with("status", word)
        ),
        text: if word.is_empty() { texts.text("all") } else { texts.text(&format!("word-{word}")) },
        is_current: word == status,
    };
    let words = ["", "down", "degraded", "unknown", "up", "paused", "maintenance"];
    let document = ServicesDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Services, texts.text("nav-services")),
        query: query.to_owned(),
        statuses: words.iter().map(|word| link(word)).collect(),
        rows: rows.iter().map(|row| row_of(visit, row)).collect(),
        total: body["meta"]["total"].as_u64().unwrap_or_default(),
        previous: (page > 1).then(|| address(page - 1)),
        next: (page < last).then(|| address(page + 1)),
        may_create: visit.may(Permission::ServicesCreate),
        may_pause: visit.may(Permission::ServicesPause) || visit.may(Permission::ServicesEdit),
        may_edit: visit.may(Permission::ServicesEdit),
        may_delete: visit.may(Permission::ServicesDelete),
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
}

fn row_of(visit: &UserVisit, row: &Value) -> ServiceRow {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let status = text(&row["effective_status"]);
    let tags = row["tags"].as_array().into_iter().flatten();
    ServiceRow {
        id: text(&row["id"]),
        name: text(&row["name"]),
        target: text(&row["target"]),
        kind: text(&row["check_type_label"]),
        tone: tone_of(status.parse().unwrap_or(ServiceStatus::Unknown)),
        status: visit.texts.text(&format!("word-{status}")),
        uptime: row["uptime_30d"].as_f64().map(|uptime| format!("{uptime} %")).unwrap_or_default(),
        tags: tags.map(|tag| text(&tag["label"])).collect(),
    }
}

/// Changes the chosen services.
pub(super) async fn change(visit: &UserVisit, form: &FormData) -> Result<HttpResponse, ScreenError> {
    let ids: Vec<&str> = form.all("id").filter(|id| id.parse::<Id>().is_ok()).take(AT_ONCE).collect();
    let action = form.text("action");
    for id in &ids {
        let path = format!("/v1/services/{id}");
        let (verb, target, body) = match action {
            "pause" | "resume" => (HttpVerb::Post, format!("{path}/{action}"), json!({})),
            "delete" => (HttpVerb::Delete, path, json!({})),
            "tag" => (HttpVerb::Patch, path.clone(), tagged(visit, &path, form.text("tag")).await?),
            _ => return Err(ScreenError::Unknown),
        };
        match visit.write(verb, &target, &body, None).await {
            // Somebody else has deleted it meanwhile.
            Ok(_) | Err(ApiError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let back = form.text("back");
    let back = if back.is_empty() { String::new() } else { format!("&{back}") };
    Ok(answer::see_other(&format!("/services?done=done{back}")))
}

/// Returns the change that adds a tag to a service; the tag is created if it does not exist.
async fn tagged(visit: &UserVisit, path: &str, tag: &str) -> Result<Value, ScreenError> {
    let (key, value) = tag.split_once(':').unwrap_or((tag, ""));
    let body = json!({"key": key, "value": value});
    let ensured = visit.write(HttpVerb::Post, "/v1/tags/ensure", &body, None).await?;
    let stored = visit.get(path).await?;
    let known = stored["data"]["tags"].as_array().into_iter().flatten().map(|tag| tag["id"].clone());
    let tags: Vec<Value> = known.chain([ensured["data"]["id"].clone()]).collect();
    Ok(json!({ "tags": tags }))
}
