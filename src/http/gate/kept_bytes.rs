//! How much is kept of the answers of each token (contract 7, no. 45).
//!
//! The sum of a token is read once and counted on; now and then it is read again, since other nodes keep answers as well and
//! old ones are forgotten.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::store::idempotency_keys as keys;
use crate::store::{MainError, Transaction};

/// Bytes of answers kept for a token; beyond that the oldest are cut.
const KEPT_BYTES: i64 = 64 * 1_024 * 1_024;
/// Bytes that are left of them, so that not every further answer cuts one.
const LEFT_BYTES: i64 = KEPT_BYTES / 4 * 3;
/// The time for which a sum is counted on.
const READ_EVERY: Duration = Duration::from_secs(600);
/// Tokens of which sums are remembered.
const TOKENS: usize = 100_000;

/// The bytes that are kept for each token.
#[derive(Debug, Default)]
pub struct KeptBytes(Mutex<HashMap<i64, Sum>>);

#[derive(Clone, Copy, Debug)]
struct Sum {
    bytes: i64,
    read_at: Instant,
}

impl KeptBytes {
    /// Counts an answer that this transaction has stored, and cuts the oldest of its token when they are too many.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn add(&self, transaction: &Transaction, token: i64, bytes: i64) -> Result<(), MainError> {
        let known = self.sums().get(&token).copied().filter(|sum| sum.read_at.elapsed() < READ_EVERY);
        let mut sum = match known {
            Some(sum) => Sum { bytes: sum.bytes + bytes, ..sum },
            None => Sum { bytes: keys::kept_bytes(transaction, token).await?, read_at: Instant::now() },
        };
        if sum.bytes > KEPT_BYTES {
            sum.bytes -= keys::cut_oldest(transaction, token, sum.bytes - LEFT_BYTES).await?;
        }
        let mut sums = self.sums();
        if sums.len() >= TOKENS {
            sums.clear();
        }
        sums.insert(token, sum);
        Ok(())
    }

    fn sums(&self) -> MutexGuard<'_, HashMap<i64, Sum>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
