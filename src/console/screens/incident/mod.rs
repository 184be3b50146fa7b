//! An incident: what it affects and since when, what was said about it, who was told, and what can be done.

pub(in crate::console) mod actions;
mod affected;
mod escalation;
mod public_links;
mod timeline;
mod update_form;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::Value;

use crate::console::answer;
use crate::console::console_texts::ConsoleTexts;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::incident::affected::AffectedServices;
use crate::console::screens::incident::escalation::EscalationState;
use crate::console::screens::incident::public_links::PublicLink;
use crate::console::screens::incident::timeline::TimelineRow;
use crate::console::screens::incident::update_form::{EnteredUpdate, UpdateForm};
use crate::console::screens::resources::changes::changes_of;
use crate::console::screens::sent_messages::{MessageRow, about_incident};
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;
use crate::http::kit::timestamp;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::incident::WholeIncident;
use crate::model::outage_evidence::{duration, seconds_between};
use crate::store::incidents;

/// Number of messages that the screen shows.
const MESSAGES: usize = 50;

#[derive(Template)]
#[template(path = "screens/incident/incident.html")]
struct IncidentDocument {
    frame: ConsoleFrame,
    id: String,
    head: IncidentHead,
    affected: AffectedServices,
    links: Vec<PublicLink>,
    form: Option<UpdateForm>,
    timeline: Vec<TimelineRow>,
    escalation: Option<EscalationState>,
    /// Says why nobody is told further.
    no_escalation: String,
    messages: Vec<MessageRow>,
    changes: Vec<String>,
    may: IncidentActions,
}

/// The state of an incident in words.
struct IncidentHead {
    severity: String,
    severity_tone: &'static str,
    status: String,
    /// Start, end and duration.
    period: String,
    acknowledged: Option<String>,
    is_published: bool,
    is_resolved: bool,
    /// Pages that were chosen for the incident.
    pages: Vec<String>,
}

/// Actions on an incident that are offered to the user.
struct IncidentActions {
    acknowledge: bool,
    resolve: bool,
    edit: bool,
    delete: bool,
}

/// Shows an incident.
pub(super) async fn show(visit: &UserVisit, id: &str) -> Result<HttpResponse, ScreenError> {
    render(visit, id, None, StatusCode::OK).await
}

async fn render(
    visit: &UserVisit,
    id: &str,
    entered: Option<&EnteredUpdate<'_>>,
    status: StatusCode,
) -> Result<HttpResponse, ScreenError> {
    let incident = visit.get(&format!("/v1/incidents/{id}")).await?["data"].take();
    let whole = seen_part(visit, id).await?;
    let head = IncidentHead::of(visit, &incident);
    let is_open = !head.is_resolved;
    let is_acknowledged = head.acknowledged.is_some();
    let document = IncidentDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Incidents, text(&incident["title"])),
        affected: AffectedServices::read(visit, &whole.incident, &whole.services).await?,
        links: public_links::read(visit, &whole).await?,
        form: UpdateForm::of(visit, &incident, entered),
        timeline: timeline::rows(visit.texts, &incident),
        escalation: escalation::read(visit, id).await?,
        no_escalation: visit.texts.text(match (is_open, is_acknowledged) {
            (false, _) => "no-escalation-resolved",
            (true, true) => "no-escalation-acknowledged",
            (true, false) => "no-escalation-policy",
        }),
        messages: about_incident(visit, id, MESSAGES).await?,
        changes: changes_of(visit, id).await?,
        may: IncidentActions {
            acknowledge: is_open && !is_acknowledged && visit.may(Permission::IncidentsAcknowledge),
            resolve: is_open && visit.may(Permission::IncidentsResolve),
            edit: visit.may(Permission::IncidentsEdit),
            delete: visit.may(Permission::IncidentsDelete),
        },
        id: id.to_owned(),
        head,
    };
    Ok(answer::document(status, document.render()?, &visit.visit.headers))
}

/// Reads the part of an incident that the user may see.
async fn seen_part(visit: &UserVisit, id: &str) -> Result<WholeIncident, ApiError> {
    let id: Id = id.parse().map_err(|_| ApiError::NotFound)?;
    let main = visit.visit.state().databases.main.reader();
    let visibility = visit.signed_in.caller.visibility();
    let incident = incidents::find(main, visibility, id).await?.ok_or(ApiError::NotFound)?;
    Ok(incidents::whole(main, visibility, incident).await?)
}

impl IncidentHead {
    fn of(visit: &UserVisit, incident: &Value) -> Self {
        let (texts, now) = (visit.texts, visit.visit.state().now());
        let severity = text(&incident["severity"]);
        let acknowledged = &incident["acknowledged"];
        let moment = |value: &Value| value.as_str().and_then(timestamp::parse);
        let (start, end) = (moment(&incident["started_at"]), moment(&incident["resolved_at"]));
        let lasted = start.map(|start| seconds_between(start.ms(), end.unwrap_or(now).ms()));
        let lasted = lasted.map(duration).unwrap_or_default();
        let mut period = format!("{} {}", texts.text("since"), seconds(&incident["started_at"]));
        if end.is_some() {
            period = format!("{} – {}", seconds(&incident["started_at"]), seconds(&incident["resolved_at"]));
        }
        Self {
            severity_tone: severity_tone(&severity),
            severity: word(texts, &severity),
            status: word(texts, &text(&incident["status"])),
            period: format!("{period} UTC ({lasted})"),
            acknowledged: acknowledged["at"].is_string().then(|| {
                let who = text(&acknowledged["by"]["name"]);
                format!("{} UTC", texts.about("acknowledged-by", &who) + " " + &seconds(&acknowledged["at"]))
            }),
            is_published: incident["is_published"] == true,
            is_resolved: end.is_some(),
            pages: incident["statuspages"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|page| text(&page["name"]))
                .collect(),
        }
    }
}

/// Returns the class of a mark for a severity.
pub(super) fn severity_tone(severity: &str) -> &'static str {
    match severity {
        "critical" => "major_outage",
        "major" => "partial_outage",
        _ => "degraded",
    }
}

fn word(texts: ConsoleTexts, word: &str) -> String {
    texts.text_or(&format!("word-{}", word.replace('_', "-")), word)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns a time of the API to the second.
fn seconds(time: &Value) -> String {
    let time = text(time);
    time.get(..19).unwrap_or(&time).replace('T', " ")
}
