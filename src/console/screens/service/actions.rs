//! What can be done with a service at once: check now, pause, resume, silence, end of a silence, delete.

use actix_web::HttpResponse;
use serde_json::json;

use crate::console::answer;
use crate::console::console_texts::ConsoleTexts;
use crate::console::form_data::FormData;
use crate::console::screen_error::ScreenError;
use crate::console::screens::service::open_matters::covers_only;
use crate::console::visit::UserVisit;
use crate::http::gate::route::HttpVerb;
use crate::http::kit::error::ApiError;
use crate::id::Id;

const HOUR_MS: i64 = 3_600_000;

/// Runs an action on a service.
pub(in crate::console) async fn run(
    visit: &UserVisit,
    id: &str,
    action: &str,
    form: &FormData,
) -> Result<HttpResponse, ScreenError> {
    let path = format!("/v1/services/{id}");
    match action {
        "pause" | "resume" => {
            visit.write(HttpVerb::Post, &format!("{path}/{action}"), &json!({}), None).await?;
        }
        "check-now" => {
            visit.write(HttpVerb::Post, &format!("{path}/check-now"), &json!({}), None).await?;
            return Ok(answer::see_other(&format!("/services/{id}?done=check-now")));
        }
        "silence" => silence(visit, id, form).await?,
        "end-maintenance" => {
            let maintenance: Id = form.text("maintenance").parse().map_err(|_| ScreenError::Unknown)?;
            return end_maintenance(visit, id, maintenance).await;
        }
        "override" => {
            let body = json!({"status": form.text("status"), "reason": form.text("reason")});
            visit.write(HttpVerb::Post, &format!("{path}/status-override"), &body, None).await?;
        }
        "remove-override" => {
            visit.write(HttpVerb::Delete, &format!("{path}/status-override"), &json!({}), None).await?;
        }
        "delete" => {
            visit.write(HttpVerb::Delete, &path, &json!({}), None).await?;
            return Ok(answer::see_other("/services?done=deleted"));
        }
        _ => return Err(ScreenError::Unknown),
    }
    Ok(answer::see_other(&format!("/services/{id}?done=done")))
}

/// Ends a maintenance of this service alone. One that covers others too is shown instead; one that has ended meanwhile is over.
async fn end_maintenance(visit: &UserVisit, id: &str, maintenance: Id) -> Result<HttpResponse, ScreenError> {
    let path = format!("/v1/maintenances/{maintenance}");
    let stored = visit.get(&path).await?;
    if !covers_only(&stored["data"], id) {
        return Ok(answer::see_other(&format!("/maintenances/{maintenance}")));
    }
    match visit.write(HttpVerb::Post, &format!("{path}/complete"), &json!({}), None).await {
        Ok(_) | Err(ApiError::Conflict(_)) => Ok(answer::see_other(&format!("/services/{id}?done=done"))),
        Err(error) => Err(error.into()),
    }
}

/// Silences a service for some hours: an emergency maintenance that starts now and is announced to nobody.
async fn silence(visit: &UserVisit, id: &str, form: &FormData) -> Result<(), ScreenError> {
    let hours = form.text("hours").parse::<i64>().unwrap_or(1).clamp(1, 72);
    let now = visit.visit.state().now();
    // Visitors of status pages read the title: it is in the language of the organisation, not in that of the user.
    let texts = ConsoleTexts::of(&visit.signed_in.caller.organisation.default_locale);
    let body = json!({
        "title": texts.text("silence-title"),
        "type": "emergency",
        "scheduled_start": now.to_string(),
        "scheduled_end": now.plus_ms(hours * HOUR_MS).to_string(),
        "auto_start": true,
        "auto_complete": true,
        "notify_announcement": false,
        "service_ids": [id],
    });
    visit.write(HttpVerb::Post, "/v1/maintenances", &body, None).await?;
    Ok(())
}
