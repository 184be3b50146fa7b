//! Admission of a location's results: only of services that are or were assigned to the location, in the
//! assigned version, with plausible times, and no more than the location can have measured.
//!
//! The functions are pure: they take a batch, the assignments and the times, and return results. A result that
//! was measured in an earlier version, while that version was in effect, belongs to the history: it is stored,
//! but does not affect the current status.

use std::collections::{HashMap, HashSet};

use crate::bus::messages::results::ResultBatch;
use crate::clock::{STEP_MS, Timestamp};
use crate::id::Id;
use crate::model::history::CheckRecord;
use crate::model::location::LocationCode;
use crate::model::service::ServiceKey;
use crate::remote::assignments::{LocationAssignments, OLDEST_MS};
use crate::remote::counters::ResultRefusal;

/// Maximum number of attempts of one check.
const MOST_ATTEMPTS: u8 = 6;
/// Allowed rate as a multiple of the schedule: fast rechecks, and results stored while the location was disconnected.
const RATE_FACTOR: f64 = 20.0;
/// Seconds of a location's schedule whose results may arrive at once: twice the maximum age of results.
const BURST_SECONDS: f64 = 2.0 * OLDEST_MS as f64 / 1_000.0;
/// Checks of one service in a burst, and per second: fast rechecks run once a second, requested checks come in
/// addition.
const REQUESTS_AT_ONCE: i64 = 10;
const REQUESTS_PER_SECOND: i64 = 2;
/// Number of results that may always arrive at once, even if the location checks few services.
const BURST_LEAST: f64 = 1_000.0;

/// A received batch, with sender and time.
#[derive(Clone, Debug)]
pub struct ArrivedBatch {
    /// The sender, from the subject.
    pub location: LocationCode,
    /// The batch as it was parsed.
    pub batch: ResultBatch,
    /// The time at which the bus received the batch.
    pub received_at: Timestamp,
    /// Milliseconds by which the clock of the location is ahead, if that has to be corrected.
    pub clock_ahead_ms: i64,
}

/// The accepted results of one service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenResults {
    /// Id of the service.
    pub id: Id,
    /// The results, oldest first.
    pub records: Vec<CheckRecord>,
    /// False for results of an earlier version.
    pub is_present: bool,
}

/// The judgement of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgedBatch {
    /// Accepted results, by service in the order of the batch.
    pub taken: Vec<TakenResults>,
    /// Reasons of the refused results, one for each.
    pub refused: Vec<ResultRefusal>,
}

/// Judges each result of a batch.
#[must_use]
pub fn judge(arrival: ArrivedBatch, of_location: &LocationAssignments, now: Timestamp) -> JudgedBatch {
    let ArrivedBatch { location, batch, received_at, clock_ahead_ms } = arrival;
    let mut judged = JudgedBatch::default();
    let crowded = services_with_excess(&batch.records);
    let mut indexes: HashMap<(Id, bool), usize> = HashMap::new();
    for mut record in batch.records {
        record.checked_at = record.checked_at.plus_ms(-clock_ahead_ms);
        record.scheduled_at = record.scheduled_at.plus_ms(-clock_ahead_ms);
        let version = batch.versions.get(&record.service).copied().unwrap_or_default();
        let present = of_location.get(record.service);
        let assigned = present.filter(|present| present.version == version);
        let is_present = assigned.is_some();
        let assigned = assigned.or_else(|| of_location.earlier(record.service, version, record.checked_at));
        let refusal = match assigned {
            _ if record.location != location => Some(ResultRefusal::Malformed),
            _ if crowded.contains(&record.service) => Some(ResultRefusal::TooMany),
            None if present.is_none() => Some(ResultRefusal::NotAssigned),
            None => Some(ResultRefusal::OldVersion),
            Some(_) if !is_plausible(&record, received_at, now) => Some(ResultRefusal::Implausible),
            Some(_) => None,
        };
        let (Some(assigned), None) = (assigned, refusal) else {
            judged.refused.extend(refusal);
            continue;
        };
        record.role = assigned.role;
        let index = *indexes.entry((assigned.id, is_present)).or_insert(judged.taken.len());
        if index == judged.taken.len() {
            judged.taken.push(TakenResults { id: assigned.id, records: Vec::new(), is_present });
        }
        judged.taken[index].records.push(record);
    }
    judged
}

/// Returns the services with more results in a batch than can have been measured in the time that it covers.
fn services_with_excess(records: &[CheckRecord]) -> HashSet<ServiceKey> {
    let mut spans: HashMap<ServiceKey, (Timestamp, Timestamp, i64)> = HashMap::new();
    for CheckRecord { service, checked_at, .. } in records {
        let (first, last, count) = spans.entry(*service).or_insert((*checked_at, *checked_at, 0));
        (*first, *last, *count) = ((*first).min(*checked_at), (*last).max(*checked_at), *count + 1);
    }
    let is_crowded = |(first, last, count): (Timestamp, Timestamp, i64)| {
        let seconds = last.ms_since(first) / 1_000;
        count > REQUESTS_AT_ONCE + seconds * REQUESTS_PER_SECOND
    };
    spans.into_iter().filter(|(_, span)| is_crowded(*span)).map(|(service, _)| service).collect()
}

/// Returns true if the times and the attempt of a result are plausible. A result is measured before the bus
/// receives it, which limits times in the future.
fn is_plausible(record: &CheckRecord, received_at: Timestamp, now: Timestamp) -> bool {
    let early_ms = record.checked_at.ms_since(received_at);
    let late_ms = record.checked_at.ms_since(record.scheduled_at);
    early_ms <= STEP_MS
        && now.ms_since(record.checked_at) <= OLDEST_MS
        && (-STEP_MS..=OLDEST_MS).contains(&late_ms)
        && (1..=MOST_ATTEMPTS).contains(&record.attempt)
}

/// Rate limit of a location's results: a multiple of its schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResultAllowance {
    results: f64,
    at: Timestamp,
}

impl ResultAllowance {
    /// The full allowance, for a location that has sent nothing yet, or nothing for a long time.
    #[must_use]
    pub fn full(checks_per_second: f64, now: Timestamp) -> Self {
        Self { results: burst(checks_per_second), at: now }
    }

    /// Takes `results` from the allowance; returns false, and takes none, if fewer are left.
    pub fn take(&mut self, results: usize, checks_per_second: f64, now: Timestamp) -> bool {
        let seconds = now.ms_since(self.at).max(0) as f64 / 1_000.0;
        let grown = self.results + seconds * checks_per_second * RATE_FACTOR;
        (self.results, self.at) = (grown.min(burst(checks_per_second)), now);
        let is_enough = self.results >= results as f64;
        if is_enough {
            self.results -= results as f64;
        }
        is_enough
    }
}

fn burst(checks_per_second: f64) -> f64 {
    (checks_per_second * BURST_SECONDS).max(BURST_LEAST)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rstest::rstest;

    use super::*;
    use crate::model::check::{ErrorCode, Measurement, PhaseTimings};
    use crate::model::service::ProbeRole;
    use crate::remote::assignments::{AssignmentRegistry, RemoteAssignment};

    const NOW: i64 = 1_000_000_000;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    /// A service in version 3, every minute.
    fn assigned() -> RemoteAssignment {
        RemoteAssignment { id: Id::random(), version: 3, role: ProbeRole::Reachability, interval_ms: 60_000 }
    }

    fn record(service: i64, scheduled_at: i64, checked_at: i64, attempt: u8) -> CheckRecord {
        CheckRecord {
            service,
            location: "fra".parse().unwrap(),
            role: ProbeRole::Full,
            scheduled_at: at(scheduled_at),
            checked_at: at(checked_at),
            attempt,
            measurement: Measurement::unanswered(ErrorCode::ALL[0], "", PhaseTimings::default()),
        }
    }

    fn judged(record: CheckRecord, version: u64, clock_ahead_ms: i64) -> JudgedBatch {
        let assignments = AssignmentRegistry::default();
        let fra: LocationCode = "fra".parse().unwrap();
        let older = RemoteAssignment { version: 2, ..assigned() };
        assignments.set(&fra, 7, Some(older), at(0));
        assignments.set(&fra, 7, Some(assigned()), at(NOW - 60_000));
        let versions = BTreeMap::from([(record.service, version)]);
        let batch = ResultBatch { sent_at: at(NOW), versions, records: vec![record] };
        let of_fra = assignments.of(&fra).unwrap();
        let of_fra = of_fra.read().unwrap();
        judge(ArrivedBatch { location: fra, batch, received_at: at(NOW), clock_ahead_ms }, &of_fra, at(NOW))
    }

    #[rstest]
    #[case::now(record(7, NOW, NOW, 1), 3, None)]
    #[case::of_the_last_attempt(record(7, NOW - 90_000, NOW, 6), 3, None)]
    #[case::of_a_week_ago(record(7, NOW - OLDEST_MS, NOW - OLDEST_MS, 1), 3, None)]
    #[case::older_than_a_week(record(7, NOW - OLDEST_MS - 1, NOW - OLDEST_MS - 1, 1), 3, Some(ResultRefusal::Implausible))]
    #[case::of_the_future(record(7, NOW + STEP_MS + 1, NOW + STEP_MS + 1, 1), 3, Some(ResultRefusal::Implausible))]
    #[case::long_before_it_was_due(record(7, NOW, NOW - STEP_MS - 1, 1), 3, Some(ResultRefusal::Implausible))]
    #[case::an_attempt_too_many(record(7, NOW, NOW, 7), 3, Some(ResultRefusal::Implausible))]
    #[case::no_attempt(record(7, NOW, NOW, 0), 3, Some(ResultRefusal::Implausible))]
    #[case::of_an_older_version(record(7, NOW, NOW, 1), 2, Some(ResultRefusal::OldVersion))]
    #[case::of_an_older_version_in_its_time(record(7, NOW - 60_000, NOW - 60_000, 1), 2, None)]
    #[case::of_no_version(record(7, NOW - 60_000, NOW - 60_000, 1), 1, Some(ResultRefusal::OldVersion))]
    #[case::of_a_foreign_service(record(8, NOW, NOW, 1), 3, Some(ResultRefusal::NotAssigned))]
    fn a_result_is_accepted_or_refused(
        #[case] record: CheckRecord,
        #[case] version: u64,
        #[case] refusal: Option<ResultRefusal>,
    ) {
        let judged = judged(record, version, 0);
        assert_eq!(
            (judged.taken.len(), judged.refused),
            (usize::from(refusal.is_none()), refusal.into_iter().collect())
        );
    }

    #[test]
    fn a_result_of_another_sender_is_refused() {
        let foreign = CheckRecord { location: "ams".parse().unwrap(), ..record(7, NOW, NOW, 1) };
        assert_eq!(judged(foreign, 3, 0).refused, [ResultRefusal::Malformed]);
    }

    /// A number of results of a service, and the time between them.
    #[rstest]
    #[case::fast_rechecks(512, 1_000, true)]
    #[case::fast_rechecks_requested_by_others(512, 500, true)]
    #[case::votes_that_came_together(10, 0, true)]
    #[case::forged(512, 1, false)]
    fn results_exceed_neither_schedule_nor_two_per_second(
        #[case] count: i64,
        #[case] ms: i64,
        #[case] is_taken: bool,
    ) {
        let records: Vec<CheckRecord> =
            (0..count).map(|number| NOW - number * ms).map(|at| record(7, at, at, 1)).collect();
        assert_eq!(services_with_excess(&records).is_empty(), is_taken);
    }

    #[test]
    fn the_role_of_a_location_comes_from_its_assignment() {
        let judged = judged(record(7, NOW, NOW, 1), 3, 0);
        assert_eq!(judged.taken[0].records[0].role, ProbeRole::Reachability);
    }

    #[test]
    fn the_times_of_a_wrong_clock_are_corrected() {
        let judged = judged(record(7, NOW + 90_000, NOW + 90_004, 1), 3, 90_000);
        let found = &judged.taken[0].records[0];
        assert_eq!((found.checked_at, found.scheduled_at), (at(NOW + 4), at(NOW)));
    }

    #[test]
    fn results_of_an_earlier_version_do_not_count_as_present() {
        let judged = judged(record(7, NOW - 60_000, NOW - 60_000, 1), 2, 0);
        assert!(!judged.taken[0].is_present);
    }

    #[test]
    fn a_flood_is_limited_by_the_schedule() {
        let mut allowance = ResultAllowance::full(0.001, at(0));
        assert!(allowance.take(1_209, 0.001, at(0)), "two weeks of its schedule");
        assert!(!allowance.take(1, 0.001, at(0)), "nothing is left");
        assert!(allowance.take(1, 0.001, at(50_000)), "0.02 a second");
        assert!(!allowance.take(1, 0.001, at(50_000)));
        assert!(!allowance.take(1, 0.001, at(0)), "a clock that was set back gives nothing");
        let mut large = ResultAllowance::full(100.0, at(0));
        assert!(large.take(600 * 100, 100.0, at(0)), "what gathered in ten minutes comes at once");
    }
}
