//! Rate limits of pings (contract 4.3.11). A runaway job, or a client that guesses secrets, is refused before it causes a
//! write.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::clock::Timestamp;
use crate::http::gate::rate_limit::AddressLimiter;
use crate::http::kit::error::ApiError;
use crate::store::heartbeats::PingSecretHash;

/// Maximum number of pings per second and secret.
const MOST_PER_SECOND: u32 = 10;
const SECOND_MS: i64 = 1_000;
/// Number of secrets with counted pings at which the ended seconds are dropped.
const COUNTED: usize = 100_000;

/// Counts pings of each secret in the current second, and unknown secrets from each address.
#[derive(Debug)]
pub(in crate::http) struct PingLimiter {
    counts: Mutex<HashMap<PingSecretHash, PingWindow>>,
    pub(super) strangers: AddressLimiter,
}

/// The pings of one secret in a second.
#[derive(Clone, Copy, Debug)]
struct PingWindow {
    since: Timestamp,
    used: u32,
}

impl PingWindow {
    fn has_ended(&self, now: Timestamp) -> bool {
        !(0..SECOND_MS).contains(&now.ms_since(self.since))
    }
}

impl PingLimiter {
    /// Creates a limiter; an address may send `limit` unknown secrets per minute.
    pub(in crate::http) fn new(limit: u32, most_addresses: usize) -> Self {
        Self { counts: Mutex::default(), strangers: AddressLimiter::new(limit, most_addresses) }
    }

    /// Returns true if the secret was valid before.
    pub(super) fn knows(&self, hash: &PingSecretHash) -> bool {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).contains_key(hash)
    }

    /// Forgets a secret that is no longer valid.
    pub(super) fn forget(&self, hash: &PingSecretHash) {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).remove(hash);
    }

    /// Counts a ping and checks the limit. A window of one second starts with the first ping after the previous window.
    pub(super) fn count(&self, hash: PingSecretHash, now: Timestamp) -> Result<(), ApiError> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= COUNTED {
            counts.retain(|_, second| !second.has_ended(now));
        }
        let second = counts.entry(hash).or_insert(PingWindow { since: now, used: 0 });
        if second.has_ended(now) {
            *second = PingWindow { since: now, used: 0 };
        }
        second.used += 1;
        if second.used <= MOST_PER_SECOND { Ok(()) } else { Err(ApiError::TooManyRequests(1)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract 4.3.11: more than 10 per second and secret are refused.
    #[test]
    fn ten_pings_pass_in_a_second() {
        let limiter = PingLimiter::new(1, 1);
        let passed = |at_ms: i64, secret| limiter.count([secret; 32], Timestamp::from_ms(at_ms)).is_ok();
        assert!((0..10).all(|_| passed(500, 1)));
        assert!(!passed(1_499, 1));
        assert!(passed(1_499, 2));
        assert!((0..10).all(|_| passed(1_500, 1)));
        assert!(!passed(1_500, 1));
        // The clock was set back.
        assert!(passed(0, 1));
    }
}
