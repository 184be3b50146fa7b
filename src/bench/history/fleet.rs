//! The results of many series, of all services from all locations, in order of time.

use std::sync::Arc;

use crate::bench::history::generator::{CheckProfile, ResultSeries};
use crate::bench::history::plan::HistoryBenchPlan;
use crate::clock::{DAY_MS, Timestamp};
use crate::engine::aggregator::RecordBatch;
use crate::model::check::CheckStatus;
use crate::model::history::{ChangeCause, CheckRecord, MeasuredStatus, StatusChange};
use crate::model::location::LocationCode;
use crate::model::service::ServiceKey;
use crate::store::history::blocks::CheckEntry;

/// Start of the simulated time, a midnight.
const START_MS: i64 = 20_000 * DAY_MS;

#[derive(Debug)]
pub(super) struct SimulatedFleet {
    codes: Arc<[LocationCode]>,
    members: Vec<SimulatedMember>,
    /// Index of the next member.
    next: usize,
    now: Timestamp,
}

/// One service at one location.
#[derive(Debug)]
struct SimulatedMember {
    service: ServiceKey,
    location_index: usize,
    series: ResultSeries,
    status: MeasuredStatus,
}

impl SimulatedFleet {
    /// Creates the fleet of the planned services, numbered from 1; their checks are spread over the interval.
    pub(super) fn new(plan: &HistoryBenchPlan) -> anyhow::Result<Self> {
        let services: Vec<ServiceKey> = (1..=i64::from(plan.services)).collect();
        Ok(Self::of(&services, plan.interval_ms(), plan.codes()?, Timestamp::from_ms(START_MS)))
    }

    /// Creates a fleet of these services, checked from these locations, from `start` on.
    pub(super) fn of(
        services: &[ServiceKey],
        interval_ms: u32,
        codes: Vec<LocationCode>,
        start: Timestamp,
    ) -> Self {
        let mut members = Vec::with_capacity(services.len() * codes.len());
        for (rank, service) in services.iter().enumerate() {
            let phase_ms = i64::from(interval_ms) * rank as i64 / services.len().max(1) as i64;
            let profile = CheckProfile::of_seed(service.unsigned_abs());
            for location_index in 0..codes.len() {
                let seed = service.unsigned_abs() << 8 | location_index as u64;
                let series = ResultSeries::new(seed, profile, interval_ms, start.plus_ms(phase_ms));
                members.push(SimulatedMember {
                    service: *service,
                    location_index,
                    series,
                    status: MeasuredStatus::Unknown,
                });
            }
        }
        Self { codes: codes.into(), members, next: 0, now: start }
    }

    /// Returns the time of the newest result.
    pub(super) const fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the next `results` results. The first location decides the status of a service.
    pub(super) fn batch(&mut self, results: usize) -> RecordBatch {
        let mut batch = RecordBatch { checks: Vec::with_capacity(results), changes: Vec::new() };
        for _ in 0..results {
            let turn = self.next;
            self.next = (turn + 1) % self.members.len();
            let member = &mut self.members[turn];
            let Some(entry) = member.series.next() else { break };
            self.now = self.now.max(entry.scheduled_at);
            if member.location_index == 0 {
                batch.changes.extend(member.change(&entry));
            }
            batch.checks.push(record(member.service, self.codes[member.location_index].clone(), entry));
        }
        batch
    }

    /// Skips all checks until `moment`.
    pub(super) fn rest_until(&mut self, moment: Timestamp) {
        let pause_ms = moment.ms_since(self.now).max(0);
        for member in &mut self.members {
            member.series.skip_ms(pause_ms);
        }
    }
}

impl SimulatedMember {
    fn change(&mut self, entry: &CheckEntry) -> Option<StatusChange> {
        let to = match entry.measurement.status {
            CheckStatus::Up => MeasuredStatus::Up,
            CheckStatus::Degraded => MeasuredStatus::Degraded,
            CheckStatus::Down => MeasuredStatus::Down,
        };
        let from = std::mem::replace(&mut self.status, to);
        let change =
            StatusChange { service: self.service, at: entry.checked_at, from, to, cause: ChangeCause::Votes };
        (from != to).then_some(change)
    }
}

fn record(service: ServiceKey, location: LocationCode, entry: CheckEntry) -> CheckRecord {
    let CheckEntry { checked_at, scheduled_at, attempt, role, measurement } = entry;
    CheckRecord { service, location, role, scheduled_at, checked_at, attempt, measurement }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_their_due_times_and_once() {
        let plan = HistoryBenchPlan {
            services: 7,
            locations: 2,
            interval_seconds: 60,
            ..HistoryBenchPlan::default()
        };
        let mut fleet = SimulatedFleet::new(&plan).unwrap();
        let mut checks = fleet.batch(100).checks;
        checks.extend(fleet.batch(40).checks);
        assert!(checks.is_sorted_by_key(|check| check.scheduled_at));
        let keys: BTreeSet<_> = checks
            .iter()
            .map(|check| (check.service, check.location.to_string(), check.checked_at))
            .collect();
        assert_eq!((keys.len(), checks.last().unwrap().scheduled_at), (140, fleet.now()));
        let moment = fleet.now().plus_ms(DAY_MS);
        fleet.rest_until(moment);
        assert!(fleet.batch(14).checks.iter().all(|check| check.scheduled_at > moment.plus_ms(-60_000)));
    }
}
