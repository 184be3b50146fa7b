//! The incidents that status changes would have opened, with their start and end.
//!
//! This does for one service what `crate::incidents` does for all. There is no grouping with other services. The state of
//! dependencies, and the maintenances and overrides that hold incidents back, are known from the recorded windows.

use crate::clock::Timestamp;
use crate::model::history::MeasuredStatus;
use crate::model::incident::Severity;
use crate::model::incident_policy::{IncidentRules, OutageKind};
use crate::model::outage::Outage;
use crate::model::outage::decision::{OutageCircumstances, OutageDecision};
use crate::model::service::ServiceKey;
use crate::model::service_window::{ServiceWindow, WindowKind};
use crate::model::simulation::replay::{PriorStatus, ReplayedChange};
use crate::model::time_range::TimeRange;

/// Key of the one incident that can be open.
const INCIDENT: Option<i64> = Some(1);
const NO_ORGANISATION: i64 = 0;

/// An incident that would have been opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HypotheticalIncident {
    /// Highest severity that the incident would have had.
    pub severity: Severity,
    /// Start of the outage.
    pub started_at: Timestamp,
    /// The time at which it would have been opened.
    pub opened_at: Timestamp,
    /// End of the outage; `None` if the incident would still be open.
    pub resolved_at: Option<Timestamp>,
}

/// The service whose incidents are simulated, with everything except its status changes.
#[derive(Clone, Copy, Debug)]
pub struct IncidentSimulation<'a> {
    /// The simulated service.
    pub service: ServiceKey,
    /// The status at the start of the simulated range.
    pub known: PriorStatus,
    /// The rules of the policy that matches the service; `None` if none matches.
    pub rules: Option<&'a IncidentRules>,
    /// Service windows, including the times at which it was unreachable.
    pub windows: &'a [ServiceWindow],
}

impl IncidentSimulation<'_> {
    /// The incidents that these changes would have opened in the range, in the order in which they end. The open one is
    /// last.
    #[must_use]
    pub fn incidents(
        &self,
        status_changes: &[ReplayedChange],
        range: TimeRange,
    ) -> Vec<HypotheticalIncident> {
        let kind = match self.known.status {
            MeasuredStatus::Down => Some(OutageKind::Down),
            MeasuredStatus::Degraded => Some(OutageKind::Degraded),
            MeasuredStatus::Up | MeasuredStatus::Unknown | MeasuredStatus::NoData => None,
        };
        let since = self.known.since.unwrap_or(range.from);
        let begun = kind.map(|kind| Outage::begun(NO_ORGANISATION, self.service, kind, since));
        let mut follower =
            SimulationProgress { case: self, outage: begun, open: None, over: Vec::new(), now: range.from };
        for ReplayedChange { change, known_at } in status_changes {
            follower.pass(*known_at);
            follower.outage = Outage::follow(follower.outage, NO_ORGANISATION, change).outage;
        }
        follower.pass(range.to);
        follower.over.extend(follower.open);
        follower.over
    }

    /// The latest end of the windows of this kind that are open at `at`; `None` if none is open. Windows without end last
    /// for ever.
    fn covered_until(&self, at: Timestamp, is_kind: impl Fn(WindowKind) -> bool) -> Option<Timestamp> {
        let end = |window: &ServiceWindow| window.to.unwrap_or(Timestamp::from_ms(i64::MAX));
        let covers = |window: &&ServiceWindow| window.from <= at && at < end(window) && is_kind(window.kind);
        self.windows.iter().filter(covers).map(end).max()
    }
}

/// The state of the simulation while time passes.
struct SimulationProgress<'a> {
    case: &'a IncidentSimulation<'a>,
    outage: Option<Outage>,
    open: Option<HypotheticalIncident>,
    over: Vec<HypotheticalIncident>,
    now: Timestamp,
}

impl SimulationProgress<'_> {
    /// Makes the decisions that are due before `until`.
    fn pass(&mut self, until: Timestamp) {
        while let Some(outage) = self.outage {
            let Some(at) = outage.evaluate_at.map(|at| at.max(self.now)).filter(|at| *at < until) else {
                break;
            };
            self.now = at;
            self.outage =
                if outage.is_undecided() { Some(self.decide_outage(outage)) } else { self.settle(outage) };
        }
        self.now = self.now.max(until);
    }

    /// Decides about the outage that is due: reports it, opening an incident if none is open, or postpones the decision.
    fn decide_outage(&mut self, outage: Outage) -> Outage {
        let unreachable = |kind| kind == WindowKind::Unreachable;
        match self.case.covered_until(self.now, unreachable).filter(|_| outage.is_measured) {
            Some(until) if outage.is_unreported() => return outage.unreachable(until),
            Some(until) => return Outage { evaluate_at: Some(until), ..outage },
            None if outage.is_unreachable() => return outage.become_own_outage(self.now),
            None => {}
        }
        let holds_back = |kind| matches!(kind, WindowKind::Maintenance | WindowKind::Override(_));
        let held_back_until = self.case.covered_until(self.now, holds_back);
        let circumstances = OutageCircumstances {
            rules: self.case.rules,
            is_held_back: held_back_until.is_some(),
            has_open_incident: self.open.is_some(),
        };
        let judged = outage.judged(self.case.rules, self.now);
        match judged.decide(circumstances, self.now) {
            OutageDecision::Wait(evaluate_at) => {
                Outage { evaluate_at: evaluate_at.max(held_back_until), ..outage }
            }
            OutageDecision::Report(severity) => {
                let started_at = self.case.rules.map_or(judged.began_at, |rules| judged.started_at(rules));
                let opened_at = self.now;
                let new = HypotheticalIncident { severity, started_at, opened_at, resolved_at: None };
                let open = self.open.get_or_insert(new);
                open.severity = open.severity.max(severity);
                judged.mark_reported(INCIDENT, self.now)
            }
        }
    }

    /// Resolves the incident of an outage that has ended, if the recovery has lasted long enough.
    fn settle(&mut self, outage: Outage) -> Option<Outage> {
        let Some(recovered_at) = outage.recovered_at else {
            return Some(Outage { evaluate_at: None, ..outage });
        };
        let resolves_at = self.case.rules.and_then(|rules| rules.resolves_at(recovered_at));
        if resolves_at.is_none_or(|at| self.now < at) {
            return Some(Outage { evaluate_at: resolves_at, ..outage });
        }
        let resolved = |open: HypotheticalIncident| HypotheticalIncident {
            resolved_at: Some(recovered_at.max(open.started_at)),
            ..open
        };
        self.over.extend(self.open.take().map(resolved));
        None
    }
}
