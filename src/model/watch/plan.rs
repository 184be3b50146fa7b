//! The plan by which a service is watched: its rhythm, its patience, and how long a result may stand alone.
//!
//! Made from the settings of a service and the limits of the installation. It knows no time of day and no result.

use crate::clock::{STEP_MS, Timestamp};
use crate::model::rules::Rules;
use crate::model::schedule::Schedule;
use crate::model::service::ProbeRole;

/// Slack before a missing result counts as a gap: a result that is late by less than this is only late.
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
    /// Time between two checks of one location while the state is uncertain and there is room for haste.
    pub uncertain_interval_ms: i64,
    /// How the status is decided.
    pub rules: Rules,
    /// The locations that check, in their order. While none of them is known nobody looks, and what was seen before ages.
    pub locations: Box<[PlannedLocation]>,
}

/// A location, as a plan knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedLocation {
    /// Its role.
    pub role: ProbeRole,
    /// The keeper of its schedule.
    pub round: RoundKeeper,
}

/// The keeper of a location's schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundKeeper {
    /// The watch itself: it says when the location looks.
    Watch,
    /// The location, which is another process: its results come by themselves.
    Location,
}

impl WatchPlan {
    /// Returns the milliseconds for which one result may stand alone before the time after it is a gap.
    pub(super) fn coverage_ms(&self) -> i64 {
        let attempts = i64::from(self.attempts);
        // A result that is still heard leaves no gap while it is on its way.
        let is_on_its_way = self.locations.iter().any(|location| location.round == RoundKeeper::Location);
        let on_its_way_ms = if is_on_its_way { PUNCTUAL_MS } else { 0 };
        self.interval_ms + attempts * (self.timeout_ms + self.backoff_max_ms) + GAP_SLACK_MS + on_its_way_ms
    }

    /// Returns true if nobody can have looked for a while before a start at `now`, after the newest result at `last`: attempts of
    /// the process before ended with it, so nothing is on its way. Locations in other processes go on meanwhile.
    #[must_use]
    pub fn was_interrupted(&self, last: Timestamp, now: Timestamp) -> bool {
        let is_looked_elsewhere =
            self.locations.iter().any(|location| location.round == RoundKeeper::Location);
        !is_looked_elsewhere && now.ms_since(last) > self.interval_ms + GAP_SLACK_MS
    }

    /// Returns the time until which a result from `last` backs the status that was believed then, seen from `now`: up
    /// to now while the next result may still be on its way, otherwise only until the first one was due that did not
    /// come.
    #[must_use]
    pub fn backed_until(&self, last: Timestamp, now: Timestamp) -> Timestamp {
        if now.ms_since(last) > self.coverage_ms() { last.plus_ms(self.interval_ms) } else { now }
    }

    /// Returns the plan of one of its locations that keeps its own schedule: the same due times, and nobody else in it.
    #[must_use]
    pub fn of_location(&self, slot: usize) -> Option<Self> {
        let role = self.locations.get(slot)?.role;
        let schedule = Schedule::new(self.hash, self.interval_ms, slot, self.locations.len());
        let alone = PlannedLocation { role, round: RoundKeeper::Watch };
        let hash = schedule.phase_ms().unsigned_abs();
        // It measures; what is believed is decided elsewhere.
        Some(Self { hash, rules: Rules::default(), locations: [alone].into(), ..self.clone() })
    }

    /// Returns true if a result that was measured at `checked_at` came in time to say something of the present. One that
    /// comes later, because its location was cut off, is history; one of the future comes from a clock that is wrong.
    #[must_use]
    pub fn is_punctual(&self, checked_at: Timestamp, now: Timestamp) -> bool {
        (-STEP_MS..=self.timeout_ms + PUNCTUAL_MS).contains(&now.ms_since(checked_at))
    }

    pub(super) fn backoff_after_ms(&self, attempt: u8) -> i64 {
        let doubled = self.backoff_ms << u32::from(attempt.saturating_sub(1)).min(16);
        doubled.min(self.backoff_max_ms)
    }
}
