//! What can be done with an incident: acknowledge it, and post an update, also as a preview.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use serde_json::json;

use crate::console::answer;
use crate::console::form_data::FormData;
use crate::console::screen_error::ScreenError;
use crate::console::screens::incident::render;
use crate::console::screens::incident::update_form::EnteredUpdate;
use crate::console::visit::UserVisit;
use crate::http::gate::route::HttpVerb;
use crate::http::kit::error::ApiError;

/// Runs an action on an incident: acknowledges it, or posts an update. An update can also be shown as a preview.
pub(in crate::console) async fn run(
    visit: &UserVisit,
    id: &str,
    action: &str,
    form: &FormData,
) -> Result<HttpResponse, ScreenError> {
    let path = format!("/v1/incidents/{id}");
    if action == "acknowledge" {
        let note = form.text("note");
        let body = if note.is_empty() { json!({}) } else { json!({"note": note}) };
        visit.write(HttpVerb::Post, &format!("{path}/acknowledge"), &body, None).await?;
        return Ok(answer::see_other(&format!("/incidents/{id}?done=done")));
    }
    let status = if action == "resolve" { "resolved" } else { form.text("status") };
    let mut entered = EnteredUpdate { form, status: status.to_owned(), problem: None, has_preview: false };
    if form.has("preview") {
        entered.has_preview = true;
        return render(visit, id, Some(&entered), StatusCode::OK).await;
    }
    match post(visit, &path, &entered).await {
        Ok(()) => Ok(answer::see_other(&format!("/incidents/{id}?done=done"))),
        Err(ApiError::Fields(errors)) => {
            let rules: Vec<String> = errors.iter().map(|(_, rule)| visit.texts.of_rule(rule)).collect();
            entered.problem = Some(rules.join(" "));
            render(visit, id, Some(&entered), StatusCode::UNPROCESSABLE_ENTITY).await
        }
        Err(error @ (ApiError::Conflict(_) | ApiError::Shared(_))) => {
            entered.problem = Some(visit.texts.of_refusal(&error));
            render(visit, id, Some(&entered), error.status()).await
        }
        Err(error) => Err(error.into()),
    }
}

/// Sends an update to the API. An open incident is resolved by an operation of its own, for which a smaller permission is
/// enough.
async fn post(visit: &UserVisit, path: &str, entered: &EnteredUpdate<'_>) -> Result<(), ApiError> {
    let form = entered.form;
    let mut body = json!({
        "message": form.text("message"),
        "notify_subscribers": form.has("notify_subscribers"),
    });
    let is_open = || async { Ok::<_, ApiError>(visit.get(path).await?["data"]["resolved_at"].is_null()) };
    let key = Some(form.text("form-key")).filter(|key| !key.is_empty());
    let operation = if entered.status == "resolved" && is_open().await? {
        "resolve"
    } else {
        body["status"] = json!(entered.status);
        "updates"
    };
    visit.write(HttpVerb::Post, &format!("{path}/{operation}"), &body, key).await?;
    Ok(())
}
