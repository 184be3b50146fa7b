//! Builds the facts of an explanation from what the engine and the store know about a service.
//!
//! The engine does not report retries that are running, nor the end of a certificate; the caller adds them if it knows them.

use crate::clock::Timestamp;
use crate::engine::aggregator::ServiceSnapshot;
use crate::model::ballot::{BallotTime, LocationBallot, LocationOutlook, ballots};
use crate::model::check::CheckType;
use crate::model::dependency::UnreachableState;
use crate::model::heartbeat::{HeartbeatPlan, StoredPings};
use crate::model::history::{MeasuredStatus, StatusChange, StoredCheck};
use crate::model::service::{Service, ServiceSettings, StatusOverride};
use crate::verdict_texts::facts::{
    AbsentOwner, HeartbeatFacts, RunningMaintenance, StatedStatus, UnreachableReason, VerdictFacts,
};

/// The state of a service as the engine and the store know it.
#[derive(Clone, Debug)]
pub struct KnownState<'a> {
    /// The row of the service.
    pub service: &'a Service,
    /// The time for which the status is explained.
    pub now: Timestamp,
    /// The state in the engine, or how long the node that checks the service has been silent.
    pub snapshot: Result<ServiceSnapshot, AbsentOwner>,
    /// The newest recorded status change; `None` if there is none.
    pub last_change: Option<StatusChange>,
    /// The locations that check the service, from `LocationRegistry::outlooks`.
    pub locations: &'a [LocationOutlook],
    /// Recent finished checks, newest first; enough that the newest of each location is among them.
    pub checks: &'a [StoredCheck],
    /// Pings of a heartbeat; the default for other services.
    pub pings: StoredPings,
    /// The stored state of a service that is unreachable.
    pub unreachable: Option<&'a UnreachableState>,
    /// True if the names of other services are hidden from the reader.
    pub is_confined: bool,
    /// The maintenance in progress that covers the service.
    pub maintenance: Option<RunningMaintenance>,
}

impl From<&KnownState<'_>> for VerdictFacts {
    fn from(known: &KnownState<'_>) -> Self {
        let KnownState { service, now, ref snapshot, last_change, .. } = *known;
        let shown = snapshot.unwrap_or_default();
        let is_away = snapshot.is_err();
        // The engine is ahead of the record by a moment: a start that belongs to another status is left out.
        let last_change = last_change.filter(|change| {
            is_away || change.to == MeasuredStatus::NoData || change.to.verdict() == shown.verdict
        });
        let settings = service.settings.as_ref();
        Self {
            service: service.name.clone(),
            target: service.target.clone(),
            check_type: service.check_type,
            is_configured: service.is_configured(),
            now,
            verdict: shown.verdict,
            measured: last_change.map_or_else(|| shown.verdict.into(), |change| change.to),
            since: last_change.map(|change| change.at),
            cause: last_change.map(|change| change.cause),
            rules: settings.map(|settings| settings.rules).unwrap_or_default(),
            ballots: settings.map(|settings| known.ballots(settings)).unwrap_or_default(),
            retries: Vec::new(),
            good_results: shown.good_results,
            pause: service.pause,
            stated: service.status_override.as_ref().map(StatedStatus::from),
            maintenance: known.maintenance.clone(),
            unreachable: known.unreachable.map(|state| unreachable_reason(state, known.is_confined)),
            is_flapping: shown.is_flapping && service.pause.is_none(),
            heartbeat: settings
                .filter(|_| service.check_type == CheckType::Heartbeat)
                .map(|settings| known.heartbeat(settings, shown.measured_until)),
            certificate_ends_at: None,
            owner_absence: snapshot.err(),
        }
    }
}

impl KnownState<'_> {
    fn ballots(&self, settings: &ServiceSettings) -> Vec<LocationBallot> {
        if !self.service.check_type.is_probed() {
            return Vec::new();
        }
        let interval_ms = i64::from(settings.interval_seconds) * 1_000;
        ballots(self.locations, self.checks, BallotTime { now: self.now, interval_ms })
    }

    /// The pings of a heartbeat. The engine knows the deadline, which listening gaps move.
    fn heartbeat(&self, settings: &ServiceSettings, measured_until: Option<Timestamp>) -> HeartbeatFacts {
        let plan = HeartbeatPlan { stored: self.pings, ..HeartbeatPlan::new(settings) };
        HeartbeatFacts {
            last_ping: self.pings.last,
            interval_ms: plan.interval_ms,
            grace_ms: plan.grace_ms,
            deadline: plan.deadline().max(measured_until.filter(|_| self.pings.last.is_some())),
        }
    }
}

impl From<&StatusOverride> for StatedStatus {
    fn from(stated: &StatusOverride) -> Self {
        let StatusOverride { status, reason, at, by } = stated;
        Self { status: *status, by: by.clone(), reason: reason.clone(), at: *at, until: None }
    }
}

fn unreachable_reason(state: &UnreachableState, is_confined: bool) -> UnreachableReason {
    if state.because_of.is_empty() {
        UnreachableReason::NotCheckedSince
    } else if is_confined {
        UnreachableReason::HiddenParent
    } else {
        let names = state.because_of.iter().map(|service| service.name.clone());
        UnreachableReason::ParentsDown(names.collect())
    }
}

#[cfg(test)]
mod tests;
