//! The plan by which a service is watched: its rhythm, its patience, and how long a result may stand alone.
//!
//! Made from the settings of a service and the limits of the installation. It knows no time of day and no result.

use crate::clock::Timestamp;
use crate::model::service::ProbeRole;

/// Slack before a missing result counts as a gap: a result that is late by less than this is only late.
const GAP_SLACK_MS: i64 = 5_000;

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
    /// Shortest time between two checks of one location while votes disagree.
    pub uncertain_interval_ms: i64,
    /// Role of each location, in their order; at least one.
    pub roles: Box<[ProbeRole]>,
}

impl WatchPlan {
    /// Returns the milliseconds for which one result may stand alone before the time after it is a gap.
    pub(super) fn coverage_ms(&self) -> i64 {
        let attempts = i64::from(self.attempts);
        self.interval_ms + attempts * (self.timeout_ms + self.backoff_max_ms) + GAP_SLACK_MS
    }

    /// Returns the time until which a result from `last` backs the status that was believed then, seen from `now`: up
    /// to now while the next result may still be on its way, otherwise only until the first one was due that did not
    /// come.
    #[must_use]
    pub fn backed_until(&self, last: Timestamp, now: Timestamp) -> Timestamp {
        if now.ms_since(last) > self.coverage_ms() { last.plus_ms(self.interval_ms) } else { now }
    }

    pub(super) fn backoff_after_ms(&self, attempt: u8) -> i64 {
        let doubled = self.backoff_ms << u32::from(attempt.saturating_sub(1)).min(16);
        doubled.min(self.backoff_max_ms)
    }
}
