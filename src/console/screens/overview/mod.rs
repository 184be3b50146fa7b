//! The first screen: what is wrong now, for how long and why, what is planned, who is on duty, and how the engine is.

mod heat_map;

use std::collections::HashMap;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::Value;

use crate::console::answer;
use crate::console::console_texts::ConsoleTexts;
use crate::console::fleet_sentence::FleetSentence;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::overview::heat_map::HeatMap;
use crate::console::screens::resources::field_texts::word_of;
use crate::console::screens::service::status_mark::tone_of;
use crate::console::visit::{UserVisit, VisibleFleet};
use crate::fleet_view::fleet_facts::IncidentPresence;
use crate::fleet_view::fleet_row::FleetRow;
use crate::fleet_view::listing::FleetPaging;
use crate::fleet_view::query_parser::parse;
use crate::fleet_view::view::FleetPage;
use crate::http::kit::error::ApiError;
use crate::model::access::Permission;
use crate::model::check::CheckType;
use crate::model::outage_evidence::{OutageEvidence, duration, seconds_between};
use crate::model::service::ServiceKey;
use crate::store::incidents::evidence;

/// Number of wrong services that are listed.
const SHOWN: usize = 100;

#[derive(Template)]
#[template(path = "screens/overview/overview.html")]
struct OverviewDocument {
    frame: ConsoleFrame,
    sentence: String,
    /// Class of the worst status.
    tone: &'static str,
    has_services: bool,
    may_create: bool,
    wrong: Vec<WrongRow>,
    /// Number of wrong services that are not listed.
    more: u64,
    map: HeatMap,
    incidents: Vec<LinkRow>,
    maintenances: Vec<LinkRow>,
    duty: Vec<String>,
    notices: Vec<NoticeRow>,
}

/// A notice that lasts.
struct NoticeRow {
    /// Its event, in words.
    event: String,
    title: String,
}

/// A service that is wrong.
struct WrongRow {
    link: String,
    name: String,
    tone: &'static str,
    status: String,
    since: String,
    mark: String,
    cause: String,
}

/// A link with a note.
struct LinkRow {
    link: String,
    text: String,
    note: String,
}

/// Shows the overview.
pub(super) async fn show(visit: &UserVisit) -> Result<HttpResponse, ScreenError> {
    let texts = visit.texts;
    let fleet = match visit.fleet().await {
        Ok(fleet) => Some(fleet),
        Err(ApiError::Forbidden(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let totals = fleet.as_ref().map(|fleet| fleet.view.totals(&fleet.visible)).unwrap_or_default();
    let state = FleetSentence::of(totals);
    let wrong = fleet.as_ref().map(wrong_services);
    let map = fleet
        .as_ref()
        .zip(wrong.as_ref())
        .map(|(fleet, wrong)| HeatMap::of(texts, fleet, visit.visit.query.text("group"), &wrong.rows));
    let more = wrong.as_ref().map_or(0, |page| page.total.saturating_sub(page.rows.len()));
    let wrong = match fleet.as_ref().zip(wrong.as_ref()) {
        Some((fleet, wrong)) => wrong_rows(visit, fleet, &wrong.rows).await?,
        None => Vec::new(),
    };
    let document = OverviewDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Overview, texts.text("nav-overview")),
        sentence: state.sentence(texts),
        tone: state.tone,
        has_services: totals.all() > 0,
        may_create: visit.may(Permission::ServicesCreate),
        wrong,
        more: u64::try_from(more).unwrap_or(u64::MAX),
        map: map.filter(|_| totals.all() > 0).unwrap_or_default(),
        incidents: links(visit, "/v1/incidents?resolved=false&per_page=20", "incidents", "started_at")
            .await?,
        maintenances: links(
            visit,
            "/v1/maintenances?status=in_progress&per_page=20",
            "maintenances",
            "scheduled_end",
        )
        .await?,
        duty: duty(visit).await?,
        notices: notices(visit).await?,
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
}

/// Returns the services that are wrong, those that have been for the longest time first.
fn wrong_services(fleet: &VisibleFleet) -> FleetPage {
    let query = parse("status:down,degraded sort:since").query;
    fleet.view.search(&query, &fleet.visible, &FleetPaging { after: None, limit: SHOWN }, fleet.now)
}

async fn wrong_rows(
    visit: &UserVisit,
    fleet: &VisibleFleet,
    rows: &[FleetRow],
) -> Result<Vec<WrongRow>, ScreenError> {
    let keys: Vec<ServiceKey> = rows.iter().map(|row| row.key).collect();
    let main = visit.visit.state().databases.main.reader();
    let evidence = match visit.may(Permission::IncidentsView) {
        true => evidence::of_open_incidents(main, &keys).await.map_err(ApiError::from)?,
        false => HashMap::new(),
    };
    Ok(rows.iter().map(|row| wrong_row(visit, row, fleet, evidence.get(&row.key))).collect())
}

fn wrong_row(
    visit: &UserVisit,
    row: &FleetRow,
    fleet: &VisibleFleet,
    evidence: Option<&OutageEvidence>,
) -> WrongRow {
    let mark = match row.incident {
        IncidentPresence::Absent => String::new(),
        IncidentPresence::Open => visit.texts.text("mark-incident"),
        IncidentPresence::Acknowledged => visit.texts.text("mark-acknowledged"),
    };
    WrongRow {
        link: format!("/console/services/{}", row.id),
        name: row.name.clone(),
        tone: tone_of(row.status),
        status: visit.texts.text(&format!("word-{}", row.status)),
        since: row.since.map(|at| duration(seconds_between(at.ms(), fleet.now.ms()))).unwrap_or_default(),
        mark,
        cause: evidence.map(|evidence| cause_of(visit.texts, row.check_type, evidence)).unwrap_or_default(),
    }
}

/// Returns why a service is wrong: what the failed check said when the outage began, or that no ping came.
fn cause_of(texts: ConsoleTexts, check_type: CheckType, evidence: &OutageEvidence) -> String {
    match &evidence.last_failure {
        Some(failure) => failure.message().to_owned(),
        None if check_type == CheckType::Heartbeat => texts.text("no-ping-came"),
        None => String::new(),
    }
}

/// Reads a list; an empty one if the user may not see it.
async fn seen(visit: &UserVisit, target: &str) -> Result<Value, ScreenError> {
    match visit.get(target).await {
        Ok(body) => Ok(body),
        Err(ApiError::Forbidden(_) | ApiError::Confined) => Ok(Value::Null),
        Err(error) => Err(error.into()),
    }
}

async fn links(
    visit: &UserVisit,
    target: &str,
    screen: &str,
    note: &str,
) -> Result<Vec<LinkRow>, ScreenError> {
    let body = seen(visit, target).await?;
    let rows = body["data"].as_array().cloned().unwrap_or_default();
    let row = |row: &Value| LinkRow {
        link: format!("/console/{screen}/{}", text(&row["id"])),
        text: text(&row["title"]),
        note: row[note].as_str().map(|at| format!("{} {} UTC", &at[..10], &at[11..16])).unwrap_or_default(),
    };
    Ok(rows.iter().map(row).collect())
}

async fn duty(visit: &UserVisit) -> Result<Vec<String>, ScreenError> {
    let body = seen(visit, "/v1/oncall/current").await?;
    let rows = body["data"].as_array().cloned().unwrap_or_default();
    let line = |row: &Value| {
        let contact = row["on_duty"]["contact_name"].as_str().unwrap_or("–");
        format!("{}: {contact}", text(&row["schedule_name"]))
    };
    Ok(rows.iter().map(line).collect())
}

async fn notices(visit: &UserVisit) -> Result<Vec<NoticeRow>, ScreenError> {
    let body = seen(visit, "/v1/notices?lasts=true&per_page=20").await?;
    let row = |row: &Value| NoticeRow {
        event: word_of(visit.texts, "event", row["event"].as_str().unwrap_or_default()),
        title: text(&row["title"]),
    };
    Ok(body["data"].as_array().into_iter().flatten().map(row).collect())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case(json!({"error_code": "connect_refused", "error_message": "Connection refused"}), CheckType::Tcp, "Connection refused")]
    #[case(json!({"error_code": "timeout", "error_message": ""}), CheckType::Http, "timeout")]
    #[case(json!(null), CheckType::Heartbeat, "No ping came in time.")]
    #[case(json!(null), CheckType::Http, "")]
    fn the_cause_is_what_failed_first(
        #[case] failure: Value,
        #[case] check_type: CheckType,
        #[case] expected: &str,
    ) {
        let mut stored = json!({"since": 0, "last_failure": failure});
        if !failure.is_null() {
            stored["last_failure"]["at"] = json!(0);
        }
        let evidence: OutageEvidence = serde_json::from_value(stored).unwrap();
        assert_eq!(cause_of(ConsoleTexts::of("en"), check_type, &evidence), expected);
    }
}
