//! Which results of a location are taken: those of services that it is assigned, in their present version, with times that
//! can be right, and not more than it can have measured.
//!
//! Pure: a batch, what is assigned and the times go in, results come out. The same batch gives the same results, also when
//! it comes again: a result is known by its time, so the correction of a wrong clock depends on the message alone.

use std::collections::HashMap;

use crate::bus::messages::results::ResultBatch;
use crate::clock::{STEP_MS, Timestamp};
use crate::id::Id;
use crate::model::history::CheckRecord;
use crate::model::location::LocationCode;
use crate::remote::assignments::{Assigned, OfLocation};
use crate::remote::counters::Refusal;

/// A clock that differs by no more is not corrected: messages take their time too.
pub const CLOCK_TOLERANCE_MS: i64 = 2_000;
/// The oldest result that is taken: a location that was cut off for longer has lost something.
pub const OLDEST_MS: i64 = 7 * 86_400_000;
/// What a location may send beyond its schedule, as a multiple: hurries, and what gathered while it was cut off.
const RATE_FACTOR: f64 = 20.0;
/// Seconds of the same that may come at once.
const BURST_SECONDS: f64 = 3_600.0;
/// Results that may come at once in any case.
const BURST_LEAST: f64 = 1_000.0;

/// A batch on its way in.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The sender, as the bus names it.
    pub location: LocationCode,
    /// The batch.
    pub batch: ResultBatch,
    /// The time at which the bus took it in.
    pub received_at: Timestamp,
}

/// The results of one service that are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenResults {
    /// The service.
    pub id: Id,
    /// Its results, oldest first.
    pub records: Vec<CheckRecord>,
}

/// A batch, judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// What is taken, by service in the order of the batch.
    pub taken: Vec<TakenResults>,
    /// What is not.
    pub refused: Vec<Refusal>,
}

/// Milliseconds by which the clock of a location is ahead, in whole seconds; 0 as long as it hardly differs.
#[must_use]
pub fn clock_ahead_ms(sent_at: Timestamp, received_at: Timestamp) -> i64 {
    let ahead_ms = sent_at.ms_since(received_at);
    // On its way a message only gets older, so what is left of a small difference is not the clock's.
    if ahead_ms.abs() <= CLOCK_TOLERANCE_MS { 0 } else { (ahead_ms + 500).div_euclid(1_000) * 1_000 }
}

/// Judges every result of a batch by itself.
#[must_use]
pub fn judge(arrival: Arrival, assigned: &OfLocation, now: Timestamp) -> Judged {
    let Arrival { location, batch, received_at } = arrival;
    let ahead_ms = clock_ahead_ms(batch.sent_at, received_at);
    let mut judged = Judged::default();
    let mut places: HashMap<Id, usize> = HashMap::new();
    for mut record in batch.records {
        let known = assigned.get(record.service);
        let verdict = match (known, batch.versions.get(&record.service)) {
            _ if record.location != location => Err(Refusal::Malformed),
            (None, _) => Err(Refusal::NotAssigned),
            (Some(known), version) if version != Some(&known.version) => Err(Refusal::OldVersion),
            (Some(known), _) => {
                record.checked_at = record.checked_at.plus_ms(-ahead_ms);
                record.scheduled_at = record.scheduled_at.plus_ms(-ahead_ms);
                record.role = known.role;
                is_plausible(&record, known, now).then_some(known).ok_or(Refusal::Implausible)
            }
        };
        match verdict {
            Err(refusal) => judged.refused.push(refusal),
            Ok(known) => {
                let place = *places.entry(known.id).or_insert(judged.taken.len());
                if place == judged.taken.len() {
                    judged.taken.push(TakenResults { id: known.id, records: Vec::new() });
                }
                judged.taken[place].records.push(record);
            }
        }
    }
    judged
}

fn is_plausible(record: &CheckRecord, known: &Assigned, now: Timestamp) -> bool {
    let age_ms = now.ms_since(record.checked_at);
    let late_ms = record.checked_at.ms_since(record.scheduled_at);
    (-STEP_MS..=OLDEST_MS).contains(&age_ms)
        && (-STEP_MS..=known.longest_ms).contains(&late_ms)
        && (1..=known.attempts).contains(&record.attempt)
}

/// Results that a location may send: as many as its schedule allows, several times over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    results: f64,
    at: Timestamp,
}

impl Allowance {
    /// The allowance of a location that has sent nothing yet, or not for long.
    #[must_use]
    pub fn full(checks_per_second: f64, now: Timestamp) -> Self {
        Self { results: burst(checks_per_second), at: now }
    }

    /// Takes so many results from it; false if there are not as many left, and then none is taken.
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
    (checks_per_second * RATE_FACTOR * BURST_SECONDS).max(BURST_LEAST)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rstest::rstest;

    use super::*;
    use crate::model::check::{ErrorCode, Measurement, Timings};
    use crate::model::service::ProbeRole;
    use crate::remote::assignments::Assignments;

    const NOW: i64 = 1_000_000_000;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    /// Service 7 in version 3, every minute, three attempts.
    fn assigned() -> Assigned {
        let (id, role) = (Id::random(), ProbeRole::Reachability);
        Assigned { id, version: 3, role, attempts: 3, interval_ms: 60_000, longest_ms: 90_000 }
    }

    fn record(service: i64, scheduled_at: i64, checked_at: i64, attempt: u8) -> CheckRecord {
        CheckRecord {
            service,
            location: "fra".parse().unwrap(),
            role: ProbeRole::Full,
            scheduled_at: at(scheduled_at),
            checked_at: at(checked_at),
            attempt,
            measurement: Measurement::unanswered(ErrorCode::ALL[0], "", Timings::default()),
        }
    }

    fn judged(record: CheckRecord, version: u64, sent_at: i64) -> Judged {
        let assignments = Assignments::default();
        let fra: LocationCode = "fra".parse().unwrap();
        assignments.set(&fra, 7, Some(assigned()));
        let versions = BTreeMap::from([(record.service, version)]);
        let batch = ResultBatch { sent_at: at(sent_at), versions, records: vec![record] };
        let of_fra = assignments.of(&fra).unwrap();
        let of_fra = of_fra.read().unwrap();
        judge(Arrival { location: fra, batch, received_at: at(NOW) }, &of_fra, at(NOW))
    }

    #[rstest]
    #[case::now(record(7, NOW, NOW, 1), 3, None)]
    #[case::of_the_last_attempt(record(7, NOW - 90_000, NOW, 3), 3, None)]
    #[case::of_a_week_ago(record(7, NOW - OLDEST_MS, NOW - OLDEST_MS, 1), 3, None)]
    #[case::older_than_a_week(record(7, NOW - OLDEST_MS - 1, NOW - OLDEST_MS - 1, 1), 3, Some(Refusal::Implausible))]
    #[case::of_the_future(record(7, NOW + STEP_MS + 1, NOW + STEP_MS + 1, 1), 3, Some(Refusal::Implausible))]
    #[case::long_before_it_was_due(record(7, NOW, NOW - STEP_MS - 1, 1), 3, Some(Refusal::Implausible))]
    #[case::long_after_it_was_due(record(7, NOW - 90_001, NOW, 1), 3, Some(Refusal::Implausible))]
    #[case::an_attempt_too_many(record(7, NOW, NOW, 4), 3, Some(Refusal::Implausible))]
    #[case::no_attempt(record(7, NOW, NOW, 0), 3, Some(Refusal::Implausible))]
    #[case::of_an_older_version(record(7, NOW, NOW, 1), 2, Some(Refusal::OldVersion))]
    #[case::of_a_foreign_service(record(8, NOW, NOW, 1), 3, Some(Refusal::NotAssigned))]
    fn a_result_is_taken_or_refused(
        #[case] record: CheckRecord,
        #[case] version: u64,
        #[case] refusal: Option<Refusal>,
    ) {
        let judged = judged(record, version, NOW);
        assert_eq!(
            (judged.taken.len(), judged.refused),
            (usize::from(refusal.is_none()), refusal.into_iter().collect())
        );
    }

    #[test]
    fn a_result_of_another_sender_is_refused() {
        let foreign = CheckRecord { location: "ams".parse().unwrap(), ..record(7, NOW, NOW, 1) };
        assert_eq!(judged(foreign, 3, NOW).refused, [Refusal::Malformed]);
    }

    #[test]
    fn the_engine_says_what_a_location_counts_for() {
        let judged = judged(record(7, NOW, NOW, 1), 3, NOW);
        assert_eq!(judged.taken[0].records[0].role, ProbeRole::Reachability);
    }

    /// (clock ahead, what remains of the result's time)
    #[rstest]
    #[case(0, 0)]
    #[case(CLOCK_TOLERANCE_MS, CLOCK_TOLERANCE_MS)]
    #[case(90_004, 4)]
    #[case(-90_004, -4)]
    #[case(3_600_499, 499)]
    fn a_clock_that_is_far_off_is_corrected(#[case] ahead_ms: i64, #[case] left_ms: i64) {
        let time = NOW + ahead_ms;
        let judged = judged(record(7, time, time, 1), 3, time);
        let found = &judged.taken[0].records[0];
        assert_eq!((found.checked_at, found.scheduled_at), (at(NOW + left_ms), at(NOW + left_ms)));
    }

    #[test]
    fn a_flood_ends_at_what_the_schedule_allows() {
        let mut allowance = Allowance::full(0.001, at(0));
        assert!(allowance.take(1_000, 0.001, at(0)));
        assert!(!allowance.take(1, 0.001, at(0)), "nothing is left");
        assert!(allowance.take(1, 0.001, at(50_000)), "0.02 a second");
        assert!(!allowance.take(1, 0.001, at(50_000)));
        assert!(!allowance.take(1, 0.001, at(0)), "a clock that was set back gives nothing");
        let mut large = Allowance::full(100.0, at(0));
        assert!(large.take(600 * 100, 100.0, at(0)), "what gathered in ten minutes comes at once");
    }
}
