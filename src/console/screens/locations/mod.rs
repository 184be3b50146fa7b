//! The locations that check services, and their last reports.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::Value;

use crate::console::answer;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::member_figure::MemberFigure;
use crate::console::visit::UserVisit;

/// Figures of the report of a location, in the order in which they are shown.
const FIGURES: [MemberFigure; 8] = [
    MemberFigure { member: "version", text: "version", unit: "" },
    MemberFigure { member: "clock_ahead_ms", text: "clock-ahead", unit: " ms" },
    MemberFigure { member: "services", text: "services", unit: "" },
    MemberFigure { member: "lateness_p99_ms", text: "lateness-p99", unit: " ms" },
    MemberFigure { member: "missed_runs", text: "missed-runs", unit: "" },
    MemberFigure { member: "waiting_results", text: "waiting-results", unit: "" },
    MemberFigure { member: "spool_bytes", text: "spool-bytes", unit: "" },
    MemberFigure { member: "lost_results", text: "lost-results", unit: "" },
];

/// Country code of a location whose country is unknown.
const UNKNOWN_COUNTRY: &str = "ZZ";

#[derive(Template)]
#[template(path = "screens/locations/locations.html")]
struct LocationsDocument {
    frame: ConsoleFrame,
    columns: Vec<String>,
    rows: Vec<LocationEntry>,
}

struct LocationEntry {
    name: String,
    code: String,
    place: String,
    tone: &'static str,
    status: String,
    /// Why the location is impaired.
    reason: String,
    last_seen: String,
    figures: Vec<String>,
}

/// Shows the locations.
pub(in crate::console) async fn show(visit: &UserVisit) -> Result<HttpResponse, ScreenError> {
    let body = visit.get("/v1/probes").await?;
    let known = body["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    // A figure that no location reports, or that the user may not see, has no column.
    let shown: Vec<&MemberFigure> = FIGURES
        .iter()
        .filter(|figure| known.iter().any(|one| !one["agent"][figure.member].is_null()))
        .collect();
    let document = LocationsDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Locations, visit.texts.text("nav-locations")),
        columns: shown.iter().map(|figure| visit.texts.text(&format!("field-{}", figure.text))).collect(),
        rows: known.iter().map(|location| LocationEntry::of(visit, location, &shown)).collect(),
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
}

impl LocationEntry {
    fn of(visit: &UserVisit, location: &Value, shown: &[&MemberFigure]) -> Self {
        let text = |name: &str| location[name].as_str().unwrap_or_default().to_owned();
        let status = text("status");
        let last_seen = text("last_seen_at");
        let figure = |figure: &&MemberFigure| match &location["agent"][figure.member] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            number => format!("{number}{}", figure.unit),
        };
        Self {
            name: text("name"),
            code: text("code"),
            place: place_of(&text("location"), &text("country_code")),
            tone: location_tone(&status),
            status: visit.texts.text_or(&format!("word-{status}"), &status),
            reason: text("impaired_by"),
            last_seen: last_seen
                .get(..19)
                .map(|at| format!("{} UTC", at.replace('T', " ")))
                .unwrap_or_default(),
            figures: shown.iter().map(figure).collect(),
        }
    }
}

/// Returns the town and the country, as far as they are known.
fn place_of(town: &str, country: &str) -> String {
    let known = [town, country].into_iter().filter(|part| !part.is_empty() && *part != UNKNOWN_COUNTRY);
    known.collect::<Vec<_>>().join(", ")
}

/// Returns the class of a mark for the status of a location.
fn location_tone(status: &str) -> &'static str {
    match status {
        "online" => "operational",
        "impaired" => "degraded",
        _ => "major_outage",
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Frankfurt", "DE", "Frankfurt, DE")]
    #[case("Frankfurt", "ZZ", "Frankfurt")]
    #[case("", "DE", "DE")]
    #[case("", "ZZ", "")]
    fn an_unknown_place_is_left_out(#[case] town: &str, #[case] country: &str, #[case] expected: &str) {
        assert_eq!(place_of(town, country), expected);
    }
}
