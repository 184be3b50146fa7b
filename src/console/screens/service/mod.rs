//! A service: what its status is and why, what happened, and what can be done.

pub(in crate::console) mod actions;
mod chart_marks;
pub(in crate::console) mod checks;
mod condition_rows;
pub(in crate::console) mod creation;
mod edges;
pub(in crate::console) mod editor;
mod explanation;
mod neighbours;
mod open_matters;
mod past_figures;
pub(in crate::console) mod pasted_target;
mod service_form;
pub(in crate::console) mod status_mark;
mod trial;
mod what_if;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::{Value, json};

use crate::console::answer;
use crate::console::form_data::FormData;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::resources::changes::changes_of;
use crate::console::screens::resources::field_texts::word_of;
use crate::console::screens::sent_messages::{MessageRow, about_incident};
use crate::console::screens::service::checks::CheckRow;
use crate::console::screens::service::edges::{ChangeRow, EdgeView};
use crate::console::screens::service::explanation::ExplainedService;
use crate::console::screens::service::neighbours::NeighbourLink;
use crate::console::screens::service::open_matters::OpenMatter;
use crate::console::screens::service::past_figures::PeriodFigures;
use crate::console::screens::service::status_mark::tone_of;
use crate::console::screens::service::what_if::{WhatIfAnswer, WhatIfVariant};
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;
use crate::model::access::Permission;
use crate::model::check::CheckStatus;
use crate::model::service::{OverrideStatus, Service, ServiceStatus};
use crate::verdict_texts::explanation::{BallotRow, VerdictExplanation};

/// Number of results that the screen shows.
const CHECKS: usize = 10;
/// Number of messages that the screen shows.
const MESSAGES: usize = 20;

#[derive(Template)]
#[template(path = "screens/service/service.html")]
struct ServiceDocument {
    frame: ConsoleFrame,
    id: String,
    service: ServiceHead,
    explanation: VerdictExplanation,
    /// Open incidents and maintenances in progress.
    matters: Vec<OpenMatter>,
    votes: Vec<LocationVoteRow>,
    answer: Option<WhatIfAnswer>,
    variants: Vec<WhatIfVariant>,
    figures: Vec<PeriodFigures>,
    rows: Vec<CheckRow>,
    status_changes: Vec<ChangeRow>,
    edges: Vec<EdgeView>,
    parents: Vec<NeighbourLink>,
    children: Vec<NeighbourLink>,
    told: Vec<MessageRow>,
    changes: Vec<String>,
    may: ServiceActions,
    /// The statuses that a person can set.
    settable: Vec<StatusChoice>,
}

/// What a service is.
struct ServiceHead {
    target: String,
    kind: String,
    tone: &'static str,
    status: String,
    is_paused: bool,
    has_override: bool,
    tags: Vec<String>,
    ping_url: Option<String>,
    /// Days for which the certificate is valid, as the newest result says.
    certificate: Option<String>,
}

/// What the user may do with a service.
struct ServiceActions {
    /// Let all locations check at once.
    check_now: bool,
    pause: bool,
    edit: bool,
    delete: bool,
    silence: bool,
    /// Report an incident.
    report: bool,
}

/// A status that a person can set.
struct StatusChoice {
    word: &'static str,
    text: String,
}

/// The vote of a location.
struct LocationVoteRow {
    tone: &'static str,
    ballot: BallotRow,
}

/// Shows a service.
pub(super) async fn show(visit: &UserVisit, id: &str) -> Result<HttpResponse, ScreenError> {
    let watched = ExplainedService::read(visit, id).await?;
    render(visit, &watched, None).await
}

/// Shows a service with the answer to a what-if.
pub(super) async fn what_if(
    visit: &UserVisit,
    id: &str,
    form: &FormData,
) -> Result<HttpResponse, ScreenError> {
    let watched = ExplainedService::read(visit, id).await?;
    let answer = what_if::ask(visit, &watched.service, form).await?;
    render(visit, &watched, Some(answer)).await
}

async fn render(
    visit: &UserVisit,
    watched: &ExplainedService,
    answer: Option<WhatIfAnswer>,
) -> Result<HttpResponse, ScreenError> {
    let id = watched.service.id.to_string();
    let path = format!("/v1/services/{id}");
    let service = view_of(visit, watched).await?;
    let checks = visit.get(&format!("{path}/checks?per_page={CHECKS}")).await?;
    let changes = visit.get(&format!("{path}/status-changes?per_page={CHECKS}")).await?;
    let mut explanation = watched.explain(visit).await?;
    let votes = std::mem::take(&mut explanation.votes);
    let may_simulate = visit.may(Permission::ServicesSimulate);
    let document = ServiceDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Services, watched.service.name.clone()),
        service: ServiceHead::of(visit, &service, &checks),
        explanation,
        matters: open_matters::read(visit, &id).await?,
        votes: votes.into_iter().map(LocationVoteRow::of).collect(),
        answer,
        variants: if may_simulate { what_if::variants(visit.texts, &watched.service) } else { Vec::new() },
        figures: past_figures::read(visit, watched).await?,
        rows: checks::rows(visit, &checks),
        status_changes: edges::change_rows(visit.texts, &changes, visit.visit.state().now()),
        edges: edges::edges(visit, &watched.service).await?,
        parents: neighbours::parents(&service),
        children: neighbours::children(visit, &watched.service).await?,
        told: told(visit, &id).await?,
        changes: changes_of(visit, &id).await?,
        may: ServiceActions::of(visit, &watched.service),
        settable: OverrideStatus::WORDS
            .iter()
            .map(|word| StatusChoice { word, text: visit.texts.text(&format!("word-{word}")) })
            .collect(),
        id,
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
}

/// Returns what the API says about the service. While no node answers for it, the API refuses: then only what is stored, with
/// an unknown status.
async fn view_of(visit: &UserVisit, watched: &ExplainedService) -> Result<Value, ScreenError> {
    let service = &watched.service;
    match visit.get(&format!("/v1/services/{}", service.id)).await {
        Ok(mut body) => Ok(body["data"].take()),
        Err(error) if error.status() == StatusCode::SERVICE_UNAVAILABLE && watched.snapshot.is_none() => {
            Ok(json!({
                "target": service.target,
                "check_type": service.check_type.as_str(),
                "effective_status": ServiceStatus::Unknown.as_str(),
                "is_paused": service.pause.is_some(),
            }))
        }
        Err(error) => Err(error.into()),
    }
}

impl ServiceHead {
    fn of(visit: &UserVisit, service: &Value, checks: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let status = text(&service["effective_status"]);
        let days = checks["data"][0]["error_message"].as_str().and_then(certificate_days);
        Self {
            target: text(&service["target"]),
            kind: word_of(visit.texts, "check_type", &text(&service["check_type"])),
            tone: tone_of(status.parse().unwrap_or(ServiceStatus::Unknown)),
            status: visit.texts.text(&format!("word-{status}")),
            is_paused: service["is_paused"] == true,
            has_override: !service["status_override"].is_null(),
            tags: service["tags"].as_array().into_iter().flatten().map(|tag| text(&tag["label"])).collect(),
            ping_url: service["heartbeat"]["ping_url"].as_str().map(str::to_owned),
            certificate: days.map(|days| visit.texts.counted("certificate-days", days)),
        }
    }
}

impl ServiceActions {
    fn of(visit: &UserVisit, service: &Service) -> Self {
        let pause = visit.may(Permission::ServicesPause) || visit.may(Permission::ServicesEdit);
        let is_checked =
            service.check_type.is_probed() && service.settings.is_some() && service.pause.is_none();
        Self {
            check_now: pause && is_checked,
            pause,
            edit: visit.may(Permission::ServicesEdit),
            delete: visit.may(Permission::ServicesDelete),
            silence: visit.may(Permission::MaintenancesCreate),
            report: visit.may(Permission::IncidentsCreate),
        }
    }
}

impl LocationVoteRow {
    fn of(ballot: BallotRow) -> Self {
        let tone = match ballot.vote {
            Some(CheckStatus::Up) => "operational",
            Some(CheckStatus::Degraded) => "degraded",
            Some(CheckStatus::Down) => "major_outage",
            None => "unknown",
        };
        Self { tone, ballot }
    }
}

/// Reads the days for which a certificate is valid from the message of a condition about it. The days of a certificate that
/// no condition refuses are not stored.
fn certificate_days(message: &str) -> Option<u64> {
    let condition = message.split_once("metadata.days_until_expiry ")?.1;
    let measured = condition.split_once("(measured ")?.1;
    measured.split_once(')')?.0.split('.').next()?.parse().ok()
}

/// Returns who was told about the newest incident of the service, and with what answer.
async fn told(visit: &UserVisit, id: &str) -> Result<Vec<MessageRow>, ScreenError> {
    let incidents = match visit.get(&format!("/v1/services/{id}/incidents?per_page=1")).await {
        Ok(body) => body,
        Err(ApiError::Forbidden(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    match incidents["data"][0]["id"].as_str() {
        Some(incident) => about_incident(visit, incident, MESSAGES).await,
        None => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Condition met: metadata.days_until_expiry lt 14 (measured 9)", Some(9))]
    #[case("Condition met: metadata.days_until_expiry lt 14 (measured 9.0)", Some(9))]
    #[case("Condition met: metadata.days_until_expiry lt 14 (measured -3)", None)]
    #[case("Condition met: response_time_ms gt 900 (measured 1240.4)", None)]
    #[case("Connection refused", None)]
    fn the_days_of_a_certificate_are_in_the_message(#[case] message: &str, #[case] days: Option<u64>) {
        assert_eq!(certificate_days(message), days);
    }
}
