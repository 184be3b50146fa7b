//! The forms of the tree: each move, rename or new component becomes requests to the API.

use actix_web::HttpResponse;
use serde_json::{Value, json};

use crate::console::answer;
use crate::console::form_data::FormData;
use crate::console::screen_error::ScreenError;
use crate::console::screens::statuspage::render;
use crate::console::screens::statuspage::tree::{ComponentOutline, TreeMove};
use crate::console::visit::UserVisit;
use crate::http::gate::route::HttpVerb;
use crate::http::kit::error::ApiError;
use crate::id::Id;
use crate::model::access::Permission;

/// Carries out what a form of the tree asks for.
pub(in crate::console) async fn run(
    visit: &UserVisit,
    page: &str,
    form: &FormData,
) -> Result<HttpResponse, ScreenError> {
    // A move that changes nothing sends no request to the API, which would refuse others.
    visit.signed_in.caller.require(Permission::StatuspagesEdit)?;
    let (action, id) = (form.text("move"), form.text("id"));
    if action != "add" && id.parse::<Id>().is_err() {
        return Err(ScreenError::Unknown);
    }
    let done = match (action, TreeMove::parse(action)) {
        (_, Some(direction)) => shift(visit, page, id, direction).await,
        ("rename", _) => rename(visit, page, id, form.text("name")).await,
        ("add", _) => add(visit, page, form).await,
        _ => return Err(ScreenError::Unknown),
    };
    match done {
        Ok(id) => Ok(answer::see_other(&format!("/statuspages/{page}?at={id}&by={action}#c-{id}"))),
        Err(ApiError::Fields(errors)) => {
            let rules: Vec<String> = errors.iter().map(|(_, rule)| visit.texts.of_rule(rule)).collect();
            render(visit, page, Some(rules.join(" "))).await
        }
        Err(error @ (ApiError::Conflict(_) | ApiError::Quota(_) | ApiError::Shared(_))) => {
            render(visit, page, Some(visit.texts.of_refusal(&error))).await
        }
        Err(error) => Err(error.into()),
    }
}

/// Moves a component. What cannot be moved like this, for example because somebody else has moved it, stays.
async fn shift(visit: &UserVisit, page: &str, id: &str, direction: TreeMove) -> Result<String, ApiError> {
    let stored = visit.get(&format!("/v1/statuspages/{page}")).await?;
    let outline = ComponentOutline::of(&stored["data"]["components"]);
    for placement in outline.moved(id, direction).unwrap_or_default() {
        let mut body = json!({"display_order": placement.order});
        if placement.has_new_parent {
            body["parent_id"] = json!(placement.parent);
        }
        let target = format!("/v1/statuspages/{page}/components/{}", placement.id);
        visit.write(HttpVerb::Patch, &target, &body, None).await?;
    }
    Ok(id.to_owned())
}

async fn rename(visit: &UserVisit, page: &str, id: &str, name: &str) -> Result<String, ApiError> {
    let target = format!("/v1/statuspages/{page}/components/{id}");
    visit.write(HttpVerb::Patch, &target, &json!({"name": name}), None).await?;
    Ok(id.to_owned())
}

/// Creates a component or a group, and returns its id.
async fn add(visit: &UserVisit, page: &str, form: &FormData) -> Result<String, ApiError> {
    let chosen = |name: &str| Some(form.text(name)).filter(|value| !value.is_empty());
    let is_group = form.text("kind") == "group";
    let body = json!({
        "name": form.text("name"),
        "is_group": is_group,
        "service_id": chosen("service_id").filter(|_| !is_group),
        "parent_id": chosen("parent_id"),
    });
    let target = format!("/v1/statuspages/{page}/components");
    let made: Value = visit.write(HttpVerb::Post, &target, &body, chosen("form-key")).await?;
    Ok(made["data"]["id"].as_str().unwrap_or_default().to_owned())
}
