//! The board: open incidents by the progress of the work on them, and those that were resolved lately.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::Value;

use crate::clock::{DAY_MS, Timestamp};
use crate::console::answer;
use crate::console::console_texts::ConsoleTexts;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::incident::severity_tone;
use crate::console::screens::resources::view::{ListLink, lists_of};
use crate::console::visit::UserVisit;
use crate::http::kit::timestamp;
use crate::model::access::Permission;
use crate::model::outage_evidence::{duration, seconds_between};

/// Number of open incidents on the board.
const OPEN: usize = 100;
/// Number of resolved incidents on the board.
const RESOLVED: usize = 20;
/// Days for which a resolved incident is on the board.
const DAYS: i64 = 7;
/// Number of services that a card names.
const SERVICES: usize = 3;
/// The columns from the first to the last state; the first one is for incidents on which nobody works yet.
const COLUMNS: [&str; 5] = ["waiting", "investigating", "identified", "monitoring", "resolved"];

#[derive(Template)]
#[template(path = "screens/incidents/board.html")]
struct BoardDocument {
    frame: ConsoleFrame,
    columns: Vec<BoardColumn>,
    /// Number of open incidents that are not on the board.
    more: u64,
    may_create: bool,
    screen: &'static str,
    lists: Vec<ListLink>,
    new: String,
}

impl BoardDocument {
    fn is_empty(&self) -> bool {
        self.columns.iter().all(|column| column.cards.is_empty())
    }
}

/// A column of the board.
struct BoardColumn {
    name: &'static str,
    title: String,
    cards: Vec<IncidentCard>,
}

/// An incident on the board.
struct IncidentCard {
    link: String,
    title: String,
    tone: &'static str,
    severity: String,
    /// Age, or duration of a resolved incident.
    age: String,
    services: Vec<String>,
    /// Number of services that are not named.
    others: u64,
    acknowledged: Option<String>,
    is_internal: bool,
}

/// Shows the board.
pub(in crate::console) async fn show(visit: &UserVisit) -> Result<HttpResponse, ScreenError> {
    let now = visit.visit.state().now();
    let open = visit.get(&format!("/v1/incidents?resolved=false&per_page={OPEN}")).await?;
    let since = now.plus_ms(-DAYS * DAY_MS);
    let target = format!("/v1/incidents?resolved=true&from={since}&per_page={RESOLVED}");
    let resolved = visit.get(&target).await?;
    let rows = |body: &Value| body["data"].as_array().cloned().unwrap_or_default();
    let (open_rows, mut resolved_rows) = (rows(&open), rows(&resolved));
    resolved_rows.sort_by_key(|row| std::cmp::Reverse(text(&row["resolved_at"])));
    let total = open["meta"]["total"].as_u64().unwrap_or_default();
    let document = BoardDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Incidents, visit.texts.text("title-incidents")),
        more: total.saturating_sub(open_rows.len() as u64),
        columns: columns(visit.texts, open_rows.iter().chain(&resolved_rows), now),
        may_create: visit.may(Permission::IncidentsCreate),
        screen: "/incidents",
        lists: lists_of(visit, ConsoleSection::Incidents, "/incidents"),
        new: visit.texts.text("new-incidents"),
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
}

/// Returns the columns with the incidents of the API in their order.
fn columns<'a>(
    texts: ConsoleTexts,
    incidents: impl Iterator<Item = &'a Value>,
    now: Timestamp,
) -> Vec<BoardColumn> {
    let mut columns: Vec<BoardColumn> = COLUMNS
        .map(|name| BoardColumn { name, title: texts.text(&format!("column-{name}")), cards: Vec::new() })
        .into();
    for incident in incidents {
        let name = column_of(incident);
        if let Some(column) = columns.iter_mut().find(|column| column.name == name) {
            column.cards.push(IncidentCard::of(texts, incident, now));
        }
    }
    columns
}

/// Returns the name of the column of an incident: that of its status, but an incident waits as long as it is neither
/// acknowledged nor further than under investigation. A notice waits for nobody.
fn column_of(incident: &Value) -> &str {
    let status = incident["status"].as_str().unwrap_or_default();
    let waits = incident["acknowledged"].is_null() && incident["kind"] != "notice";
    if status == "investigating" && waits { COLUMNS[0] } else { status }
}

impl IncidentCard {
    fn of(texts: ConsoleTexts, incident: &Value, now: Timestamp) -> Self {
        let moment = |value: &Value| value.as_str().and_then(timestamp::parse);
        let (start, end) = (moment(&incident["started_at"]), moment(&incident["resolved_at"]));
        let seconds = start.map(|start| seconds_between(start.ms(), end.unwrap_or(now).ms()));
        let severity = text(&incident["severity"]);
        let services = incident["services"].as_array().map(Vec::as_slice).unwrap_or_default();
        let acknowledged = incident["acknowledged"]["by"]["name"].as_str();
        Self {
            link: format!("/console/incidents/{}", text(&incident["id"])),
            title: text(&incident["title"]),
            tone: if end.is_some() { "operational" } else { severity_tone(&severity) },
            severity: texts.text_or(&format!("word-{severity}"), &severity),
            age: seconds.map(duration).unwrap_or_default(),
            services: services.iter().take(SERVICES).map(|service| text(&service["name"])).collect(),
            others: services.len().saturating_sub(SERVICES) as u64,
            acknowledged: acknowledged.map(|name| texts.about("taken-by", name)),
            is_internal: incident["is_published"] == false,
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

    #[rstest]
    #[case("investigating", "standard", false, "waiting")]
    #[case("investigating", "standard", true, "investigating")]
    #[case("investigating", "notice", false, "investigating")]
    #[case("identified", "standard", false, "identified")]
    #[case("monitoring", "standard", true, "monitoring")]
    #[case("resolved", "standard", false, "resolved")]
    fn an_incident_is_in_the_column_of_its_state(
        #[case] status: &str,
        #[case] kind: &str,
        #[case] is_acknowledged: bool,
        #[case] expected: &str,
    ) {
        let acknowledged = if is_acknowledged { json!({"by": {"name": "Anna"}}) } else { Value::Null };
        let incident = json!({"status": status, "kind": kind, "acknowledged": acknowledged});
        assert_eq!(column_of(&incident), expected);
        let columns = columns(ConsoleTexts::of("en"), [incident].iter(), Timestamp::from_ms(0));
        let filled: Vec<&str> =
            columns.iter().filter(|column| !column.cards.is_empty()).map(|column| column.name).collect();
        assert_eq!(filled, [expected]);
    }

    #[test]
    fn a_card_names_some_services() {
        let names = ["A", "B", "C", "D", "E"].map(|name| json!({"name": name}));
        let incident = json!({
            "id": "x", "title": "Slow", "severity": "major", "services": names, "is_published": false,
            "acknowledged": {"by": {"name": "Anna"}}, "started_at": "2026-11-28T10:00:00.000Z", "resolved_at": null,
        });
        let now = timestamp::parse("2026-11-28T10:02:05Z").unwrap();
        let card = IncidentCard::of(ConsoleTexts::of("en"), &incident, now);
        assert_eq!(
            (card.age.as_str(), card.services.join(" "), card.others),
            ("2 min 5 s", "A B C".into(), 2)
        );
        assert!(card.is_internal && card.acknowledged.is_some_and(|text| text.contains("Anna")));
    }
}
