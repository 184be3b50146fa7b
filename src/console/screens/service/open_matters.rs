//! What concerns a service now: its open incidents, and the maintenances in progress, one of which may be a silence.

use serde_json::Value;

use crate::console::console_texts::ConsoleTexts;
use crate::console::screen_error::ScreenError;
use crate::console::screens::sent_messages::seconds;
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;
use crate::model::access::Permission;

/// Number of incidents, and of maintenances, that are shown.
const SHOWN: usize = 5;

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
    let may_end = visit.may(Permission::MaintenancesEdit);
    let texts = visit.texts;
    let incidents = incidents.iter().map(|incident| OpenMatter::incident(texts, incident));
    let running = running.iter().map(|work| OpenMatter::maintenance(texts, work, may_end));
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

    fn maintenance(texts: ConsoleTexts, work: &Value, may_end: bool) -> Self {
        let id = text(&work["id"]);
        let end = seconds(&work["scheduled_end"]);
        let covers_one = work["services"].as_array().is_some_and(|services| services.len() == 1);
        Self {
            tone: "under_maintenance",
            kind: texts.text("word-maintenance"),
            title: text(&work["title"]),
            link: format!("/console/maintenances/{id}"),
            time: if end.is_empty() { texts.text("open-end") } else { texts.about("open-until", &end) },
            ends: (may_end && covers_one).then_some(id),
        }
    }
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
    #[case(1, true, true)]
    #[case(2, true, false)]
    #[case(1, false, false)]
    fn work_on_one_service_can_be_ended(#[case] services: usize, #[case] may: bool, #[case] ends: bool) {
        let services: Vec<Value> = (0..services).map(|_| json!({"id": "x"})).collect();
        let work = json!({"id": "WORK", "title": "Silence", "scheduled_end": "2026-11-28T11:00:00.000Z",
            "services": services});
        let matter = OpenMatter::maintenance(ConsoleTexts::of("en"), &work, may);
        assert_eq!(matter.ends.is_some(), ends);
        assert_eq!(matter.time, "until 2026-11-28 11:00:00 UTC");
    }
}
