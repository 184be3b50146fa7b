//! A cache of callers for one second, so that a busy client costs no query per request and a revoked token stops
//! working within a second.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::model::token::TokenHash;

/// Lifetime of an entry, in milliseconds.
const REMEMBERED_MS: i64 = 1_000;
const CALLERS: usize = 10_000;

/// A caller and the time at which it was looked up.
#[derive(Debug)]
struct CachedCaller {
    at: Timestamp,
    caller: Caller,
}

/// The callers of the last second, by the hash of their token.
#[derive(Debug, Default)]
pub(super) struct CallerCache(Mutex<HashMap<TokenHash, CachedCaller>>);

impl CallerCache {
    /// Returns the caller if it was looked up less than a second ago.
    pub(super) fn get(&self, hash: &TokenHash, now: Timestamp) -> Option<Caller> {
        let callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = callers.get(hash)?;
        (0..REMEMBERED_MS).contains(&now.ms_since(known.at)).then(|| known.caller.clone())
    }

    /// Stores a caller that was looked up at `now`.
    pub(super) fn keep(&self, hash: TokenHash, caller: &Caller, now: Timestamp) {
        let mut callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() >= CALLERS {
            callers.clear();
        }
        callers.insert(hash, CachedCaller { at: now, caller: caller.clone() });
    }
}
