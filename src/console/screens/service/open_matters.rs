//! What concerns a service now: its open incidents, and the maintenances in progress, one of which may be a silence.

use serde_json::Value;

use crate::console::console_texts::ConsoleTexts;
use crate::console::screen_error::ScreenError;
use crate::console::screens::sent_messages::seconds;
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;
use crate::model::access::Permission;

/// Number of incidents, and of maintenances, that are shown.
const SHOWN: usize = 20;

/// An open incident, or a maintenance in progress.
pub(super) struct OpenMatter {
    pub(super) tone: &'static str,
    pub(super) kind: String,
    pub(super) title: String,
    pub(super) link: String,
    /// Since when, or until when.
    pub(super) time: String,
    /// Id of the maintenance, if the user may end it here: it covers nothing but this service.
    pub(super) ends: Option<String>,
}

/// Reads what concerns a service now; only what the user may see.
///
/// # Errors
/// When the API fails.
pub(super) async fn read(visit: &UserVisit, service: &str) -> Result<Vec<OpenMatter>, ScreenError> {
    let path = format!("/v1/services/{service}");
    let incidents = rows(visit, &format!("{path}/incidents?resolved=false&per_page={SHOWN}")).await?;
    let running = rows(visit, &format!("{path}/maintenances?status=in_progress&per_page={SHOWN}")).await?;
    // A confined user does not see all services of a maintenance.
    let is_confined = visit.signed_in.caller.visibility().is_confined();
    let may_end = !is_confined && visit.may(Permission::MaintenancesEdit);
    let texts = visit.texts;
    let incidents = incidents.iter().map(|incident| OpenMatter::incident(texts, incident));
    let running = running.iter().map(|work| OpenMatter::maintenance(texts, work, may_end.then_some(service)));
    Ok(incidents.chain(running).collect())
}

async fn rows(visit: &UserVisit, target: &str) -> Result<Vec<Value>, ScreenError> {
    match visit.get(target).await {
        Ok(body) => Ok(body["data"].as_array().cloned().unwrap_or_default()),
        Err(ApiError::Forbidden(_) | ApiError::Confined) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

impl OpenMatter {
    fn incident(texts: ConsoleTexts, incident: &Value) -> Self {
        Self {
            tone: "major_outage",
            kind: texts.text("message-incident"),
            title: text(&incident["title"]),
            link: format!("/console/incidents/{}", text(&incident["id"])),
            time: texts.about("open-since", &seconds(&incident["started_at"])),
            ends: None,
        }
    }

    /// The line of a maintenance; `ended_by` is the service on whose screen the user may end it.
    fn maintenance(texts: ConsoleTexts, work: &Value, ended_by: Option<&str>) -> Self {
        let id = text(&work["id"]);
        let end = seconds(&work["scheduled_end"]);
        Self {
            tone: "under_maintenance",
            kind: texts.text("word-maintenance"),
            title: text(&work["title"]),
            link: format!("/console/maintenances/{id}"),
            time: if end.is_empty() { texts.text("open-end") } else { texts.about("open-until", &end) },
            ends: ended_by.filter(|service| covers_only(work, service)).map(|_| id),
        }
    }
}

/// Returns true if a maintenance of the API covers this service and no other.
pub(super) fn covers_only(work: &Value, service: &str) -> bool {
    let services = work["services"].as_array().map(Vec::as_slice).unwrap_or_default();
    matches!(services, [only] if only["id"] == service)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// A button ends a maintenance only where it can surprise nobody: of one service, by somebody who may.
    #[rstest]
    #[case(&["SHOP"], Some("SHOP"), true)]
    #[case(&["SHOP", "BLOG"], Some("SHOP"), false)]
    #[case(&["BLOG"], Some("SHOP"), false)]
    #[case(&["SHOP"], None, false)]
    fn work_on_one_service_can_be_ended(
        #[case] services: &[&str],
        #[case] ended_by: Option<&str>,
        #[case] ends: bool,
    ) {
        let services: Vec<Value> = services.iter().map(|id| json!({"id": id})).collect();
        let work = json!({"id": "WORK", "title": "Silence", "scheduled_end": "2026-11-28T11:00:00.000Z",
            "services": services});
        let matter = OpenMatter::maintenance(ConsoleTexts::of("en"), &work, ended_by);
        assert_eq!(matter.ends.is_some(), ends);
        assert_eq!(matter.time, "until 2026-11-28 11:00:00 UTC");
    }
}
