//! The services that an incident affects: the impact, and the exact times at which each was down and up again.

use crate::clock::Timestamp;
use crate::console::console_texts::ConsoleTexts;
use crate::console::visit::UserVisit;
use crate::http::kit::error::ApiError;
use crate::model::history::{MeasuredStatus, StatusChange};
use crate::model::incident::{AffectedService, Impact, Incident};
use crate::model::outage_edges::OutageEdges;
use crate::model::outage_evidence::{duration, seconds_between};
use crate::store::history::changes;

/// Number of services whose outages are read.
const SERVICES: usize = 25;
/// Number of outages that are shown for a service: the last ones.
const OUTAGES: usize = 5;

/// A service that an incident affects.
pub(super) struct AffectedRow {
    pub(super) link: String,
    pub(super) name: String,
    pub(super) impact: String,
    pub(super) tone: &'static str,
    /// The outages during the incident, oldest first. Without a measured outage: the time for which the incident names
    /// the service.
    pub(super) outages: Vec<OutageTimes>,
}

/// The edges of an outage in UTC, to the millisecond.
pub(super) struct OutageTimes {
    pub(super) tone: &'static str,
    pub(super) status: String,
    pub(super) start: String,
    /// `None` while it lasts.
    pub(super) end: Option<String>,
    pub(super) lasted: String,
}

/// The affected services of an incident.
#[derive(Default)]
pub(super) struct AffectedServices {
    pub(super) rows: Vec<AffectedRow>,
    /// Number of services that are left out.
    pub(super) omitted: u64,
}

impl AffectedServices {
    /// Reads the outages of these services during an incident.
    ///
    /// # Errors
    /// When the history database fails.
    pub(super) async fn read(
        visit: &UserVisit,
        incident: &Incident,
        services: &[AffectedService],
    ) -> Result<Self, ApiError> {
        let history = visit.visit.state().databases.history.reader();
        let now = visit.visit.state().now();
        let mut rows = Vec::new();
        for affected in services.iter().take(SERVICES) {
            let from = incident.started_at.min(affected.added_at);
            let known = changes::since(history, affected.service, from).await?;
            let until = affected.recovered_at.or(incident.resolved_at).unwrap_or(now);
            let mut outages = OutageEdges::all(&known);
            outages.retain(|outage| outage.is_within(from, until));
            outages.drain(..outages.len().saturating_sub(OUTAGES));
            rows.push(AffectedRow::of(visit.texts, affected, &outages, now));
        }
        Ok(Self { omitted: services.len().saturating_sub(SERVICES) as u64, rows })
    }
}

impl AffectedRow {
    fn of(texts: ConsoleTexts, affected: &AffectedService, outages: &[OutageEdges], now: Timestamp) -> Self {
        let impact = affected.impact.map_or("no-impact", Impact::as_str);
        let tone = match affected.impact.filter(|_| affected.recovered_at.is_none()) {
            Some(Impact::Degraded) => "degraded",
            Some(Impact::PartialOutage) => "partial_outage",
            Some(Impact::MajorOutage) => "major_outage",
            None if affected.impact.is_some() => "operational",
            None => "unknown",
        };
        let impact = texts.text(&format!("word-{}", impact.replace('_', "-")));
        let impact = match affected.recovered_at.filter(|_| affected.impact.is_some()) {
            Some(_) => texts.about("recovered-from", &impact),
            None => impact,
        };
        let shown: Vec<OutageTimes> =
            outages.iter().map(|outage| OutageTimes::measured(texts, outage, now)).collect();
        Self {
            link: format!("/console/services/{}", affected.id),
            name: affected.name.clone(),
            impact,
            tone,
            outages: if shown.is_empty() { vec![OutageTimes::stated(texts, affected, now)] } else { shown },
        }
    }
}

impl OutageTimes {
    /// Returns the times of an outage that was measured.
    fn measured(texts: ConsoleTexts, outage: &OutageEdges, now: Timestamp) -> Self {
        let is_down = |edge: &StatusChange| edge.to == MeasuredStatus::Down;
        let (tone, word) = match outage.in_order().any(|edge| is_down(&edge)) {
            true => ("major_outage", "word-down"),
            false => ("degraded", "word-degraded"),
        };
        let end = outage.end.map(|end| end.at);
        // What has ended is not red: the row may be about a service that works again.
        let tone = if end.is_some() { "unknown" } else { tone };
        Self { tone, status: texts.text(word), ..Self::between(outage.start.at, end, now) }
    }

    /// Returns the times for which an incident names a service without a measured outage.
    fn stated(texts: ConsoleTexts, affected: &AffectedService, now: Timestamp) -> Self {
        let times = Self::between(affected.added_at, affected.recovered_at, now);
        Self { status: texts.text("affected-as-stated"), ..times }
    }

    fn between(start: Timestamp, end: Option<Timestamp>, now: Timestamp) -> Self {
        Self {
            tone: "unknown",
            status: String::new(),
            start: exact(start),
            end: end.map(exact),
            lasted: duration(seconds_between(start.ms(), end.unwrap_or(now).ms())),
        }
    }
}

/// Returns a time with its day, to the millisecond.
fn exact(at: Timestamp) -> String {
    at.format("%Y-%m-%d %H:%M:%S%.3f")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::http::kit::timestamp;
    use crate::id::Id;
    use crate::model::history::ChangeCause;

    fn at(time: &str) -> Timestamp {
        timestamp::parse(&format!("2026-11-28T{time}Z")).unwrap()
    }

    fn change(time: &str, to: MeasuredStatus) -> StatusChange {
        let cause = ChangeCause::Votes;
        StatusChange { service: 1, at: at(time), from: MeasuredStatus::Unknown, to, cause }
    }

    fn affected(recovered_at: Option<Timestamp>) -> AffectedService {
        AffectedService {
            service: 1,
            id: Id::random(),
            name: "Shop".into(),
            impact: Some(Impact::MajorOutage),
            is_derived: true,
            added_at: at("14:03:07.123"),
            recovered_at,
            evidence: None,
        }
    }

    fn lines(row: &AffectedRow) -> Vec<String> {
        let line = |times: &OutageTimes| {
            let end = times.end.as_deref().unwrap_or("…");
            format!("{} {} to {end}, {}", times.status, times.start, times.lasted)
        };
        row.outages.iter().map(line).collect()
    }

    #[test]
    fn outages_have_exact_edges() {
        use MeasuredStatus::{Degraded, Down, Up};
        let changes = [
            change("14:03:07.123", Degraded),
            change("14:04:00.000", Down),
            change("14:05:00.500", Up),
            change("14:06:00.001", Degraded),
        ];
        let outages = OutageEdges::all(&changes);
        let row = AffectedRow::of(ConsoleTexts::of("en"), &affected(None), &outages, at("14:07:00"));
        assert_eq!(
            lines(&row),
            [
                "down 2026-11-28 14:03:07.123 to 2026-11-28 14:05:00.500, 1 min 53 s",
                "degraded 2026-11-28 14:06:00.001 to …, 59 s",
            ]
        );
    }

    #[rstest]
    #[case(None, "major_outage", "…")]
    #[case(Some("14:04:07.123"), "operational", "2026-11-28 14:04:07.123")]
    fn a_service_without_measured_outage_has_the_times_of_the_incident(
        #[case] recovered: Option<&str>,
        #[case] tone: &str,
        #[case] end: &str,
    ) {
        let row =
            AffectedRow::of(ConsoleTexts::of("en"), &affected(recovered.map(at)), &[], at("14:04:07.123"));
        assert_eq!(row.tone, tone);
        let is_over = recovered.is_some();
        assert_eq!(row.impact, if is_over { "recovered (outage)" } else { "outage" });
        assert_eq!(
            lines(&row),
            [format!("named by the incident 2026-11-28 14:03:07.123 to {end}, 1 min 0 s")]
        );
    }
}
