//! The plan by which a service is monitored: its rhythm, its retries, and how long a single result is valid.
//!
//! Made from the settings of a service and the limits of the installation. It is independent of time and results.

use crate::clock::{STEP_MS, Timestamp};
use crate::model::schedule::CheckSchedule;
use crate::model::service::ProbeRole;
use crate::model::status_rules::StatusRules;

/// Slack before a missing result counts as no data: a result that is late by less than this is only late.
const GAP_SLACK_MS: i64 = 5_000;
/// The time that a result may be on its way before it is late.
const PUNCTUAL_MS: i64 = 10_000;

/// The schedule and the limits of the checks of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchPlan {
    /// Stable hash of the service's id: its phase.
    pub hash: u64,
    /// Milliseconds between two checks of one location.
    pub interval_ms: i64,
    /// Milliseconds that one attempt may take.
    pub timeout_ms: i64,
    /// Attempts before a bad result counts, from 1.
    pub attempts: u8,
    /// Wait before the second attempt; it doubles.
    pub backoff_ms: i64,
    /// Longest wait before a further attempt.
    pub backoff_max_ms: i64,
    /// Time between two checks of one location while the state is uncertain and the recheck budget allows, in
    /// milliseconds.
    pub uncertain_interval_ms: i64,
    /// The rules for the status.
    pub rules: StatusRules,
    /// The locations that check, in their order. While none of them is known no check is made, and earlier results
    /// age.
    pub locations: Box<[PlannedLocation]>,
}

/// A location of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedLocation {
    /// Role of the location in the verdict.
    pub role: ProbeRole,
    /// The keeper of its schedule.
    pub round: RoundKeeper,
}

/// The keeper of a location's schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundKeeper {
    /// The watch itself: it decides when the location checks.
    Watch,
    /// The location, which is another process: its results arrive without a request.
    Location,
}

impl WatchPlan {
    /// Returns the milliseconds for which one result is valid before the time after it is a no-data period.
    pub(super) fn coverage_ms(&self) -> i64 {
        let attempts = i64::from(self.attempts);
        // A result that may still arrive leaves no gap while it is on its way.
        let is_on_its_way = self.locations.iter().any(|location| location.round == RoundKeeper::Location);
        let on_its_way_ms = if is_on_its_way { PUNCTUAL_MS } else { 0 };
        self.interval_ms + attempts * (self.timeout_ms + self.backoff_max_ms) + GAP_SLACK_MS + on_its_way_ms
    }

    /// Returns true if no check can have been made for a while before a start at `now`, after the newest result at
    /// `last`: attempts of the process before ended with it, so none is running. Locations in other processes
    /// continue meanwhile.
    #[must_use]
    pub fn was_interrupted(&self, last: Timestamp, now: Timestamp) -> bool {
        let is_checked_remotely =
            self.locations.iter().any(|location| location.round == RoundKeeper::Location);
        !is_checked_remotely && now.ms_since(last) > self.interval_ms + GAP_SLACK_MS
    }

    /// Returns the time until which a result from `last` backs the status at that time, as of `now`: up to now while
    /// the next result may still be on its way, otherwise only until the first one was due that did not come.
    #[must_use]
    pub fn backed_until(&self, last: Timestamp, now: Timestamp) -> Timestamp {
        if now.ms_since(last) > self.coverage_ms() { last.plus_ms(self.interval_ms) } else { now }
    }

    /// Returns the plan of one of its locations that keeps its own schedule: the same due times, and no other
    /// location.
    #[must_use]
    pub fn of_location(&self, slot: usize) -> Option<Self> {
        let role = self.locations.get(slot)?.role;
        let schedule = CheckSchedule::new(self.hash, self.interval_ms, slot, self.locations.len());
        let alone = PlannedLocation { role, round: RoundKeeper::Watch };
        let hash = schedule.phase_ms().unsigned_abs();
        // It only measures; the consensus is reached by the owner.
        Some(Self { hash, rules: StatusRules::default(), locations: [alone].into(), ..self.clone() })
    }

    /// Returns true if a result that was measured at `checked_at` came in time to count for the present. One that
    /// comes later, because its location was cut off, is history; one of the future has a wrong clock.
    #[must_use]
    pub fn is_punctual(&self, checked_at: Timestamp, now: Timestamp) -> bool {
        (-STEP_MS..=self.timeout_ms + PUNCTUAL_MS).contains(&now.ms_since(checked_at))
    }

    pub(super) fn backoff_after_ms(&self, attempt: u8) -> i64 {
        let doubled = self.backoff_ms << u32::from(attempt.saturating_sub(1)).min(16);
        doubled.min(self.backoff_max_ms)
    }
}
