//! The filling of the buckets of fresh results, without counting all of them in every pass.
//!
//! Results come nearly in the order of their time. So those that are older than a moment ago are counted once, and
//! after that only newer ones are. Results that came later are missed until the next full count, which is made every
//! ten minutes: this number only makes a bucket sealed early; it is sealed by its hour in any case, which the oldest
//! result decides.

use std::collections::{HashMap, HashSet};

use crate::clock::Timestamp;
use crate::store::history::fresh_checks::{self, BucketFill, RecentRows};
use crate::store::{HistoryError, StoreConnection};

/// After this time few results still come.
const SETTLE_MS: i64 = 30_000;
/// The time for which counts are added up before everything is counted again.
const RECOUNT_MS: i64 = 600_000;

/// Results that were counted, by bucket.
#[derive(Debug, Default)]
pub(super) struct BucketFillCounter {
    settled: HashMap<i16, u64>,
    until: Timestamp,
    /// The moment at which everything was counted; `None`: never.
    counted_at: Option<Timestamp>,
}

impl BucketFillCounter {
    /// The buckets that hold anything at `now`.
    pub(super) async fn count_rows(
        &mut self,
        connection: &dyn StoreConnection,
        now: Timestamp,
    ) -> Result<Vec<BucketFill>, HistoryError> {
        let is_known = |at: Timestamp| (0..RECOUNT_MS).contains(&now.ms_since(at));
        if !self.counted_at.is_some_and(is_known) {
            *self = Self { until: Timestamp::from_ms(i64::MIN), counted_at: None, settled: HashMap::new() };
        }
        let until = now.plus_ms(-SETTLE_MS).max(self.until);
        let rows = fresh_checks::recent_rows(connection, self.until, until).await?;
        self.until = until;
        self.counted_at.get_or_insert(now);
        let held: HashSet<i16> = rows.iter().map(|row| row.bucket).collect();
        self.settled.retain(|bucket, _| held.contains(bucket));
        Ok(rows.iter().map(|row| self.filling(row)).collect())
    }

    fn filling(&mut self, row: &RecentRows) -> BucketFill {
        let settled = self.settled.entry(row.bucket).or_default();
        *settled += row.settled;
        BucketFill { bucket: row.bucket, rows: *settled + row.unsettled, oldest: row.oldest }
    }

    /// Results of a bucket have become blocks.
    pub(super) fn sealed(&mut self, bucket: i16, rows: u64) {
        if let Some(settled) = self.settled.get_mut(&bucket) {
            *settled = settled.saturating_sub(rows);
        }
    }
}
