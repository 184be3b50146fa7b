//! Compares outages with an oracle without stored state or due times. Each second the oracle derives the expected reports
//! from the whole history.
//!
//! Only reports that change the incident are compared: it is opened, or its impact becomes worse.

use proptest::prelude::*;

use super::*;
use crate::model::history::MeasuredStatus::{Degraded, Down, NoData, Up};
use crate::model::incident::{Impact, Severity};
use crate::model::incident_policy::IncidentRules;
use crate::model::outage::decision::{OutageCircumstances, OutageDecision};

/// Length of a history in seconds.
const LENGTH: i64 = 400;

/// A change of the status, or the end of flapping, at a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StatusEdge {
    second: i64,
    from: MeasuredStatus,
    to: MeasuredStatus,
    /// `Some(true)` if flapping starts with this change, `Some(false)` if it ends at this second.
    flapping: Option<bool>,
}

/// A report to an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ImpactReport {
    second: i64,
    kind: OutageKind,
    severity: Severity,
    /// Start of the incident if this report opens it; `None` for a worse impact.
    started_at: Option<i64>,
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_ms(second * 1_000)
}

/// The reports of the production code, which evaluates an outage when it is due.
fn real(edges: &[StatusEdge], rules: &IncidentRules) -> Vec<ImpactReport> {
    let (mut outage, mut known, mut reports) = (None, None, Vec::new());
    for second in 0..LENGTH {
        for edge in edges.iter().filter(|edge| edge.second == second) {
            for cause in causes(edge) {
                let change = StatusChange { service: 5, at: at(second), from: edge.from, to: edge.to, cause };
                outage = Outage::follow(outage, 1, &change).outage;
            }
        }
        if outage.is_none_or(|outage: Outage| outage.recovered_at.is_some()) {
            (outage, known) = (None, None);
        }
        for _ in 0..5 {
            let Some(due) =
                outage.filter(|outage| outage.evaluate_at.is_some_and(|due_at| due_at <= at(second)))
            else {
                break;
            };
            let circumstances = OutageCircumstances {
                rules: Some(rules),
                is_held_back: false,
                has_open_incident: known.is_some(),
            };
            let judged = due.judged(Some(rules), at(second));
            outage = Some(match judged.decide(circumstances, at(second)) {
                OutageDecision::Wait(evaluate_at) => Outage { evaluate_at, ..due },
                OutageDecision::Report(severity) => {
                    let started_at = judged.started_at(rules).ms() / 1_000;
                    let report =
                        ImpactReport { second, kind: judged.kind, severity, started_at: Some(started_at) };
                    note(&mut reports, &mut known, report);
                    judged.mark_reported(Some(1), at(second))
                }
            });
        }
        let is_due =
            outage.is_some_and(|outage| outage.evaluate_at.is_some_and(|due_at| due_at <= at(second)));
        assert!(!is_due, "it is looked at again and again: {outage:?}");
    }
    reports
}

fn causes(edge: &StatusEdge) -> Vec<ChangeCause> {
    let change = match edge.to {
        NoData => ChangeCause::Gap,
        _ => ChangeCause::Votes,
    };
    match edge.flapping {
        Some(true) => vec![change, ChangeCause::Flapping],
        Some(false) => vec![ChangeCause::Settled],
        None => vec![change],
    }
}

/// Adds a report if it changes the incident. `known` is the impact that the incident has, `None` without an incident.
fn note(reports: &mut Vec<ImpactReport>, known: &mut Option<Impact>, report: ImpactReport) {
    let impact = report.kind.impact();
    match *known {
        None => reports.push(report),
        Some(before) if before < impact => reports.push(ImpactReport { started_at: None, ..report }),
        Some(_) => return,
    }
    *known = Some(impact);
}

/// The reports of the oracle, which evaluates the whole history at each second.
fn naive(edges: &[StatusEdge], rules: &IncidentRules) -> Vec<ImpactReport> {
    let (mut reports, mut known) = (Vec::new(), None);
    for second in 0..LENGTH {
        let past: Vec<StatusEdge> = edges.iter().filter(|edge| edge.second <= second).copied().collect();
        let Some(last) = past.last() else { continue };
        if last.to == Up && !flaps(&past) {
            known = None;
            continue;
        }
        let steady_ms = rules.open_after_seconds.max(30).into();
        let changed = past.iter().rfind(|edge| edge.flapping != Some(false)).map_or(0, |edge| edge.second);
        let kind = match last.to {
            NoData => continue,
            Down if flaps(&past) && second - changed >= steady_ms && rules.down_severity.is_some() => {
                OutageKind::Down
            }
            _ if flaps(&past) => OutageKind::Unstable,
            Down => OutageKind::Down,
            _ => OutageKind::Degraded,
        };
        let Some(severity) = rules.severity(kind) else { continue };
        let is_wanted = |(kind, _): &(OutageKind, i64)| rules.severity(*kind).is_some();
        let started_at = firsts(&past, known.is_some()).into_iter().filter(is_wanted).map(|(_, at)| at).min();
        let started_at = started_at.expect("trouble has begun");
        if known.is_some() || second - started_at >= i64::from(rules.open_after_seconds) {
            let report = ImpactReport { second, kind, severity, started_at: Some(started_at) };
            note(&mut reports, &mut known, report);
        }
    }
    reports
}

fn flaps(past: &[StatusEdge]) -> bool {
    past.iter().rev().find_map(|edge| edge.flapping).unwrap_or_default()
}

/// The changes into trouble since the service was last up without flapping. Being up while flapping leaves only the start
/// of flapping. The end of a no-data period in an unreported outage leaves the same, and nothing if there is no flapping.
fn firsts(past: &[StatusEdge], is_reported: bool) -> Vec<(OutageKind, i64)> {
    let mut counting = Vec::new();
    for number in 0..past.len() {
        let (edge, flaps) = (past[number], flaps(&past[..=number]));
        let was_blind = edge.from == NoData && edge.to != NoData && !is_reported;
        match (edge.to, flaps) {
            (Up, false) => counting.clear(),
            // The service was up, and flaps from this change on.
            (Up, true) if edge.flapping == Some(true) => counting.clear(),
            (Up, true) => counting.retain(|(kind, _)| *kind == OutageKind::Unstable),
            (Down | Degraded, true) if was_blind => {
                counting.retain(|(kind, _)| *kind == OutageKind::Unstable);
            }
            (Down | Degraded, false) if was_blind => counting.clear(),
            _ => {}
        }
        match edge.to {
            Down => counting.push((OutageKind::Down, edge.second)),
            Degraded => counting.push((OutageKind::Degraded, edge.second)),
            _ => {}
        }
        if edge.flapping == Some(true) {
            counting.push((OutageKind::Unstable, edge.second));
        }
    }
    counting
}

/// Histories: steps with a status, a length in seconds, and whether flapping starts or ends with the step, where it can.
fn histories() -> impl Strategy<Value = Vec<StatusEdge>> {
    let status = prop::sample::select(vec![Up, Up, Down, Down, Down, Degraded, Degraded, NoData]);
    let step = (status, 1_i64..60, prop::bool::weighted(0.3));
    prop::collection::vec(step, 1..24).prop_map(|steps| {
        let (mut second, mut from, mut is_flapping, mut edges) = (0, Up, false, Vec::new());
        for (to, lasts, toggles) in steps {
            second += lasts;
            if to == from {
                if toggles && is_flapping {
                    is_flapping = false;
                    edges.push(StatusEdge { second, from, to, flapping: Some(false) });
                }
                continue;
            }
            let begins = toggles && !is_flapping && crate::model::flapping::is_transition(from, to);
            is_flapping |= begins;
            edges.push(StatusEdge { second, from, to, flapping: begins.then_some(true) });
            from = to;
        }
        edges
    })
}

fn policies() -> impl Strategy<Value = IncidentRules> {
    let severity = || prop::option::weighted(0.7, prop::sample::select(Severity::ALL.to_vec()));
    (0_u32..90, severity(), severity(), severity()).prop_map(
        |(open_after_seconds, down, degraded, unstable)| IncidentRules {
            open_after_seconds,
            down_severity: down,
            degraded_severity: degraded,
            unstable_severity: unstable,
            ..IncidentRules::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    /// For any history: the reports, their times and starts equal those of the oracle.
    #[test]
    fn reports_equal_those_of_the_whole_history(edges in histories(), rules in policies()) {
        prop_assert_eq!(real(&edges, &rules), naive(&edges, &rules));
    }
}
