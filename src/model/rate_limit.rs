//! The decision of the rate limit about one request (contract 1.9).

use crate::clock::Timestamp;

/// Length of a rate limit window in milliseconds.
pub const WINDOW_MS: i64 = 60_000;

/// The decision of the rate limit about one request, with the figures for the response headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimitDecision {
    /// Number of requests that a window permits.
    pub limit: u32,
    /// Number of requests that are left in this window.
    pub remaining: u32,
    /// The time at which the window ends.
    pub ends_at: Timestamp,
    /// True if the request is permitted.
    pub passes: bool,
}

impl RateLimitDecision {
    /// Whole seconds until the window ends, rounded up, 1..=60.
    #[must_use]
    pub fn retry_after_seconds(&self, now: Timestamp) -> u64 {
        let left_ms = self.ends_at.ms_since(now).clamp(1, WINDOW_MS);
        u64::try_from(left_ms).unwrap_or_default().div_ceil(1_000)
    }

    /// Unix time in seconds, rounded up, at which the window ends.
    #[must_use]
    pub const fn reset_seconds(&self) -> i64 {
        (self.ends_at.ms() + 999).div_euclid(1_000)
    }
}
