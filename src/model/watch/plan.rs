//! The plan by which a service is monitored: interval, retries, locations, and how long one result is valid.
//!
//! It is made from the settings of a service and the limits of the installation, and depends on neither time nor results.

use crate::clock::{STEP_MS, Timestamp};
use crate::model::schedule::CheckSchedule;
use crate::model::service::ProbeRole;
use crate::model::status_rules::StatusRules;

/// Tolerance before a missing result counts as no data, in milliseconds.
const GAP_SLACK_MS: i64 = 5_000;
/// The longest time that a result may take from its location to its owner to count as punctual, in milliseconds.
const PUNCTUAL_MS: i64 = 10_000;

/// How a service is checked, and by which rules its status is decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchPlan {
    /// Stable hash of the service's id, from which the phase of its schedule follows.
    pub hash: u64,
    /// Milliseconds between two checks of one location.
    pub interval_ms: i64,
    /// Milliseconds that one attempt may take.
    pub timeout_ms: i64,
    /// Maximum number of attempts of a check, from 1; a bad result counts after the last one.
    pub attempts: u8,
    /// Wait before the second attempt, in milliseconds; doubled for each further attempt.
    pub backoff_ms: i64,
    /// Longest wait before a further attempt, in milliseconds.
    pub backoff_max_ms: i64,
    /// Time between two checks of one location while the state is uncertain and the recheck budget allows, in
    /// milliseconds.
    pub uncertain_interval_ms: i64,
    /// The rules by which the status is decided.
    pub rules: StatusRules,
    /// The locations that check, in order. While this is empty, no check is made and earlier results age.
    pub locations: Box<[PlannedLocation]>,
}

/// A location of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedLocation {
    /// What the results of the location count for.
    pub role: ProbeRole,
    /// Who decides when the location checks.
    pub round: RoundKeeper,
}

/// Who decides when a location checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundKeeper {
    /// The watch itself.
    Watch,
    /// The location, which is in another process and sends results without a request.
    Location,
}

impl WatchPlan {
    /// Returns how long one result is valid, in milliseconds; a no-data period starts if the next result takes longer.
    pub(super) fn coverage_ms(&self) -> i64 {
        let attempts = i64::from(self.attempts);
        // A result that is still on its way must not leave a no-data period.
        let is_on_its_way = self.locations.iter().any(|location| location.round == RoundKeeper::Location);
        let on_its_way_ms = if is_on_its_way { PUNCTUAL_MS } else { 0 };
        self.interval_ms + attempts * (self.timeout_ms + self.backoff_max_ms) + GAP_SLACK_MS + on_its_way_ms
    }

    /// Returns true if no check was made for a while before a start at `now`; `last` is the time of the newest result.
    /// Attempts of the previous process ended with that process. Locations in other processes may have continued.
    #[must_use]
    pub fn was_interrupted(&self, last: Timestamp, now: Timestamp) -> bool {
        let is_checked_remotely =
            self.locations.iter().any(|location| location.round == RoundKeeper::Location);
        !is_checked_remotely && now.ms_since(last) > self.interval_ms + GAP_SLACK_MS
    }

    /// Returns the time until which a result from `last` supports its status, as known at `now`. That is `now` while the
    /// next result may still come, otherwise the time at which the first missing result was due.
    #[must_use]
    pub fn backed_until(&self, last: Timestamp, now: Timestamp) -> Timestamp {
        if now.ms_since(last) > self.coverage_ms() { last.plus_ms(self.interval_ms) } else { now }
    }

    /// Returns the plan for a location with its own schedule. It has the same due times and this location only. `None` if
    /// there is no such location.
    #[must_use]
    pub fn of_location(&self, slot: usize) -> Option<Self> {
        let role = self.locations.get(slot)?.role;
        let schedule = CheckSchedule::new(self.hash, self.interval_ms, slot, self.locations.len());
        let alone = PlannedLocation { role, round: RoundKeeper::Watch };
        let hash = schedule.phase_ms().unsigned_abs();
        // The location only measures; its owner decides the status.
        Some(Self { hash, rules: StatusRules::default(), locations: [alone].into(), ..self.clone() })
    }

    /// Returns true if a result from `checked_at` arrived in time to count for the present status. A later one, from a
    /// location that was cut off, belongs to the history; one from the future has a wrong clock.
    #[must_use]
    pub fn is_punctual(&self, checked_at: Timestamp, now: Timestamp) -> bool {
        (-STEP_MS..=self.timeout_ms + PUNCTUAL_MS).contains(&now.ms_since(checked_at))
    }

    pub(super) fn backoff_after_ms(&self, attempt: u8) -> i64 {
        let doubled = self.backoff_ms << u32::from(attempt.saturating_sub(1)).min(16);
        doubled.min(self.backoff_max_ms)
    }
}
