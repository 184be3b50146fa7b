//! Limits the bytes of stored responses per token (contract 7, no. 45).
//!
//! The sum of a token is read once and then updated. It is read again periodically, since other nodes store responses as
//! well, and old responses expire.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::store::idempotency_keys as keys;
use crate::store::{MainError, Transaction};

/// Maximum bytes of responses stored per token; beyond it the bodies of the oldest are dropped.
const CACHED_BYTES_MAX: i64 = 64 * 1_024 * 1_024;
/// Bytes that remain after dropping bodies, so that not every further response drops one.
const LEFT_BYTES: i64 = CACHED_BYTES_MAX / 4 * 3;
/// Interval at which a sum is read again.
const READ_EVERY: Duration = Duration::from_secs(600);
/// Maximum number of tokens with a remembered sum.
const TOKENS: usize = 100_000;

/// The sums of the bytes of stored responses, by token.
#[derive(Debug, Default)]
pub struct CachedBytes(Mutex<HashMap<i64, CachedByteSum>>);

#[derive(Clone, Copy, Debug)]
struct CachedByteSum {
    bytes: i64,
    read_at: Instant,
}

impl CachedBytes {
    /// Adds a response stored by this transaction, and drops the oldest bodies of its token beyond the limit.
    pub async fn add(&self, transaction: &Transaction, token: i64, bytes: i64) -> Result<(), MainError> {
        let known = self.sums().get(&token).copied().filter(|sum| sum.read_at.elapsed() < READ_EVERY);
        let mut sum = match known {
            Some(sum) => CachedByteSum { bytes: sum.bytes + bytes, ..sum },
            None => CachedByteSum {
                bytes: keys::cached_bytes(transaction, token).await?,
                read_at: Instant::now(),
            },
        };
        if sum.bytes > CACHED_BYTES_MAX {
            sum.bytes -= keys::cut_oldest(transaction, token, sum.bytes - LEFT_BYTES).await?;
        }
        let mut sums = self.sums();
        if sums.len() >= TOKENS {
            sums.clear();
        }
        sums.insert(token, sum);
        Ok(())
    }

    fn sums(&self) -> MutexGuard<'_, HashMap<i64, CachedByteSum>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
