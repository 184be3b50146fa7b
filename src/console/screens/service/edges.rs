//! The status changes of a service, and the checks around the edges of its newest outage.

use serde_json::Value;

use crate::clock::{DAY_MS, Timestamp};
use crate::console::console_texts::ConsoleTexts;
use crate::console::screens::service::status_mark::tone_of;
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;
use crate::http::kit::timestamp;
use crate::model::history::StatusChange;
use crate::model::outage_edges::{EdgeCheck, EdgeNeighbourhood, EdgePart, OutageEdges};
use crate::model::outage_evidence::{duration, seconds_between};
use crate::model::service::{Service, ServiceStatus};
use crate::model::verdict::freshness_ms;
use crate::store::history::changes;
use crate::store::history::checks::{CheckFilter, page};

/// Days in which the newest outage is looked for.
const DAYS: i64 = 30;
/// Maximum number of checks that are read for an edge.
const CHECKS_MAX: u64 = 400;
/// Time after an edge within which the deciding check is looked for, as a multiple of the age at which votes are stale.
const AHEAD: i64 = 3;

/// A change of the status.
pub(super) struct ChangeRow {
    /// Start to the millisecond.
    pub(super) time: String,
    pub(super) tone: &'static str,
    pub(super) status: String,
    /// How long the status lasted.
    pub(super) lasted: String,
    pub(super) cause: String,
}

/// An edge of the newest outage with the checks around it.
pub(super) struct EdgeView {
    pub(super) time: String,
    pub(super) tone: &'static str,
    pub(super) status: String,
    pub(super) rows: Vec<EdgeRow>,
    /// Says how many checks are left out.
    pub(super) omitted: Option<String>,
}

/// A check near an edge.
pub(super) struct EdgeRow {
    pub(super) part: String,
    pub(super) is_deciding: bool,
    pub(super) location: String,
    pub(super) tone: &'static str,
    pub(super) status: String,
    pub(super) due: String,
    pub(super) started: String,
    pub(super) finished: String,
    pub(super) lateness: String,
    pub(super) attempt: u8,
    pub(super) error: String,
}

/// Returns the status changes of an answer of the API.
pub(super) fn change_rows(texts: ConsoleTexts, body: &Value, now: Timestamp) -> Vec<ChangeRow> {
    let moment = |value: &Value| value.as_str().and_then(timestamp::parse);
    let row = |change: &Value| {
        let status = change["to"].as_str().unwrap_or("unknown");
        let (at, until) = (moment(&change["at"]), moment(&change["until"]).unwrap_or(now));
        let cause = change["cause"].as_str().unwrap_or_default();
        ChangeRow {
            time: at.map(exact).unwrap_or_default(),
            tone: tone_of(status.parse().unwrap_or(ServiceStatus::Unknown)),
            status: texts.text_or(&format!("word-{status}"), status),
            lasted: at.map(|at| duration(seconds_between(at.ms(), until.ms()))).unwrap_or_default(),
            cause: texts.text_or(&format!("cause-{cause}"), cause),
        }
    };
    body["data"].as_array().into_iter().flatten().map(row).collect()
}

/// Reads the edges of the newest outage of a service; none if it had no outage lately.
///
/// # Errors
/// When the history database fails.
pub(super) async fn edges(visit: &UserVisit, service: &Service) -> Result<Vec<EdgeView>, ApiError> {
    let Some(settings) = service.settings.as_ref().filter(|_| service.check_type.is_probed()) else {
        return Ok(Vec::new());
    };
    let state = visit.visit.state();
    let days = DAYS.min(i64::from(visit.signed_in.caller.limits.retention_days));
    let from = state.now().plus_ms(-days * DAY_MS);
    let history = &state.databases.history;
    let known = changes::since(history.reader(), service.key, from).await?;
    let Some(outage) = OutageEdges::newest(&known) else { return Ok(Vec::new()) };
    let interval_ms = i64::from(settings.interval_seconds) * 1_000;
    let fresh_ms = freshness_ms(interval_ms);
    let mut views = Vec::new();
    for edge in outage.in_order().filter(|edge| edge.at >= from) {
        let filter = CheckFilter {
            from: Some(edge.at.plus_ms(-fresh_ms)),
            to: Some(edge.at.plus_ms(AHEAD * fresh_ms)),
            ..CheckFilter::default()
        };
        let checks = page(history, service.key, &filter, CHECKS_MAX).await?;
        let around = EdgeNeighbourhood::select(edge, &checks, &settings.rules, interval_ms);
        views.push(EdgeView::of(visit.texts, &around));
    }
    Ok(views)
}

impl EdgeView {
    fn of(texts: ConsoleTexts, around: &EdgeNeighbourhood) -> Self {
        let EdgeNeighbourhood { edge: StatusChange { at, to, .. }, ref checks, omitted } = *around;
        Self {
            time: exact(at),
            tone: tone_of(to.as_str().parse().unwrap_or(ServiceStatus::Unknown)),
            status: texts.text(&format!("word-{}", to.as_str())),
            rows: checks.iter().map(|shown| EdgeRow::of(texts, shown)).collect(),
            omitted: (omitted > 0).then(|| texts.counted("edge-omitted", omitted as u64)),
        }
    }
}

impl EdgeRow {
    fn of(texts: ConsoleTexts, shown: &EdgeCheck) -> Self {
        let check = &shown.check;
        let status = check.measurement.status.as_str();
        let error = check.measurement.failure.as_ref();
        let part = match shown.part {
            EdgePart::Before => "edge-before",
            EdgePart::Leading => "edge-leading",
            EdgePart::Deciding => "edge-deciding",
            EdgePart::After => "edge-after",
        };
        Self {
            part: texts.text(part),
            is_deciding: shown.part == EdgePart::Deciding,
            location: check.probe.clone(),
            tone: tone_of(status.parse().unwrap_or(ServiceStatus::Unknown)),
            status: texts.text(&format!("word-{status}")),
            due: clock(check.scheduled_at),
            started: clock(check.checked_at),
            finished: clock(shown.finished_at()),
            lateness: format!("{} ms", shown.lateness_ms()),
            attempt: check.attempt,
            error: error
                .map(|failure| format!("{}: {}", failure.code.as_str(), failure.message))
                .unwrap_or_default(),
        }
    }
}

/// Returns a time with its day, to the millisecond.
fn exact(at: Timestamp) -> String {
    at.format("%Y-%m-%d %H:%M:%S%.3f")
}

/// Returns a time of the day, to the millisecond.
fn clock(at: Timestamp) -> String {
    at.format("%H:%M:%S%.3f")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_is_shown_to_the_millisecond() {
        let body = json!({"data": [
            {"at": "2026-11-28T14:03:07.123Z", "from": "up", "to": "down", "cause": "votes", "until": null},
            {"at": "2026-11-28T14:00:00.000Z", "from": "unknown", "to": "no_data", "cause": "gap",
             "until": "2026-11-28T14:03:07.123Z"},
        ]});
        let now = timestamp::parse("2026-11-28T14:09:52.123Z").unwrap();
        let rows = change_rows(ConsoleTexts::of("en"), &body, now);
        let lines: Vec<String> = rows
            .iter()
            .map(|row| format!("{} {} {} ({})", row.time, row.status, row.lasted, row.cause))
            .collect();
        assert_eq!(
            lines,
            [
                "2026-11-28 14:03:07.123 down 6 min 45 s (the votes of the locations)",
                "2026-11-28 14:00:00.000 no data 3 min 7 s (no result came when one was due)",
            ]
        );
    }
}
