//! Changes of several services by one form.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::{Value, json};

use crate::console::answer;
use crate::console::console_texts::ConsoleTexts;
use crate::console::form_data::FormData;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::visit::UserVisit;
use crate::http::gate::route::HttpVerb;
use crate::http::kit::error::ApiError;
use crate::http::kit::query::encode;
use crate::id::Id;
use crate::model::access::Permission;

/// The question before services are deleted.
#[derive(Template)]
#[template(path = "screens/services/confirm.html")]
struct ConfirmBulkDocument<'a> {
    frame: ConsoleFrame,
    query: &'a str,
    services: Vec<NamedRow>,
}

/// A service with its name.
struct NamedRow {
    id: String,
    name: String,
}

/// Maximum number of services that one form changes.
const AT_ONCE: usize = 100;
/// Reasons for which nothing is changed.
const PROBLEMS: [&str; 2] = ["nothing-chosen", "tag-missing"];

/// Changes the chosen services.
pub(in crate::console) async fn change(
    visit: &UserVisit,
    form: &FormData,
) -> Result<HttpResponse, ScreenError> {
    let ids: Vec<&str> = form.all("id").filter(|id| id.parse::<Id>().is_ok()).take(AT_ONCE).collect();
    let action = form.text("action");
    if ids.is_empty() {
        return Ok(list(form.text("q"), "nothing-chosen"));
    }
    if action == "tag" && form.text("tag").is_empty() {
        return Ok(list(form.text("q"), "tag-missing"));
    }
    if action == "delete" && form.text("is-confirmed") != "true" {
        return confirm(visit, form, &ids).await;
    }
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
    Ok(answer::see_other(&format!("/services?done=done&q={}", encode(form.text("q")))))
}

/// Returns why nothing was changed, by the name of the problem in the address of the list.
pub(super) fn problem_of(texts: ConsoleTexts, name: &str) -> Option<String> {
    PROBLEMS.contains(&name).then(|| texts.text(&format!("problem-{name}")))
}

/// Leads back to the list, which says why nothing was changed.
fn list(query: &str, problem: &str) -> HttpResponse {
    answer::see_other(&format!("/services?problem={problem}&q={}", encode(query)))
}

/// Asks before services are deleted with their history.
async fn confirm(visit: &UserVisit, form: &FormData, ids: &[&str]) -> Result<HttpResponse, ScreenError> {
    visit.signed_in.caller.require(Permission::ServicesDelete)?;
    let mut services = Vec::new();
    for id in ids {
        let name = match visit.get(&format!("/v1/services/{id}")).await {
            Ok(body) => body["data"]["name"].as_str().unwrap_or_default().to_owned(),
            Err(ApiError::NotFound) => continue,
            Err(error) => return Err(error.into()),
        };
        services.push(NamedRow { id: (*id).to_owned(), name });
    }
    let frame = ConsoleFrame::of(visit, ConsoleSection::Services, visit.texts.text("delete"));
    let document = ConfirmBulkDocument { frame, query: form.text("q"), services };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
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
