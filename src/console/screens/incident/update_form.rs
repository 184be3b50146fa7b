//! The form for an update of an incident: its fields, the preview of its text, and what the API gets.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use serde_json::{Value, json};

use crate::console::answer;
use crate::console::form_data::FormData;
use crate::console::screen_error::ScreenError;
use crate::console::screens::incident::render;
use crate::console::visit::UserVisit;
use crate::http::gate::route::HttpVerb;
use crate::http::kit::error::ApiError;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::incident::IncidentStatus;
use crate::texts::markdown;

/// The form for an update.
pub(super) struct UpdateForm {
    pub(super) statuses: Vec<UpdateStatus>,
    pub(super) message: String,
    pub(super) notifies: bool,
    /// Reason for which the last attempt was refused.
    pub(super) problem: Option<String>,
    /// The text as HTML, as status pages show it.
    pub(super) preview: Option<String>,
    /// Makes a form that is sent twice have no second effect.
    pub(super) key: String,
}

/// A status that an update can state.
pub(super) struct UpdateStatus {
    pub(super) word: &'static str,
    pub(super) text: String,
    pub(super) is_chosen: bool,
}

/// A filled form for an update.
pub(super) struct EnteredUpdate<'a> {
    pub(super) form: &'a FormData,
    /// The status that the form states.
    pub(super) status: String,
    pub(super) problem: Option<String>,
    pub(super) has_preview: bool,
}

impl UpdateForm {
    /// Returns the form of an incident, empty or filled; `None` if the user may not post updates.
    pub(super) fn of(
        visit: &UserVisit,
        incident: &Value,
        entered: Option<&EnteredUpdate<'_>>,
    ) -> Option<Self> {
        let (may_post, may_resolve) =
            (visit.may(Permission::IncidentsEdit), visit.may(Permission::IncidentsResolve));
        if !may_post && !may_resolve {
            return None;
        }
        let asked = visit.visit.query.text("status");
        let present = incident["status"].as_str().unwrap_or_default();
        let chosen = match entered {
            Some(entered) => &entered.status,
            None if IncidentStatus::WORDS.contains(&asked) => asked,
            None => present,
        };
        let is_allowed = |word: &str| if word == "resolved" { may_resolve } else { may_post };
        let statuses = IncidentStatus::WORDS.iter().copied().filter(|word| is_allowed(word));
        let message = entered.map(|entered| entered.form.text("message")).unwrap_or_default();
        Some(Self {
            statuses: statuses
                .map(|word| UpdateStatus {
                    word,
                    text: visit.texts.text(&format!("word-{word}")),
                    is_chosen: word == chosen,
                })
                .collect(),
            notifies: entered.is_none_or(|entered| entered.form.has("notify_subscribers")),
            problem: entered.and_then(|entered| entered.problem.clone()),
            preview: entered.filter(|entered| entered.has_preview).map(|_| markdown::to_html(message)),
            message: message.to_owned(),
            key: Id::random().to_string(),
        })
    }
}

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
            let rules: Vec<String> = errors.iter().map(|(_, rule)| rule.to_string()).collect();
            entered.problem = Some(rules.join(" "));
            render(visit, id, Some(&entered), StatusCode::UNPROCESSABLE_ENTITY).await
        }
        Err(error @ (ApiError::Conflict(_) | ApiError::Shared(_))) => {
            entered.problem = Some(error.to_string());
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
