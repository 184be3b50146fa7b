//! Number of fresh results in each bucket, without counting all of them in every pass.
//!
//! Results arrive nearly in the order of their time. So results older than `SETTLE_MS` are counted once, and later only
//! newer results are counted. Late results are missed until the next full count, at most ten minutes later. The number
//! only decides whether a bucket is sealed early: it is always sealed after the hour of its oldest result.

use std::collections::{HashMap, HashSet};

use crate::clock::Timestamp;
use crate::store::history::fresh_checks::{self, BucketFill, RecentRows};
use crate::store::{HistoryError, StoreConnection};

/// The time after which few results still arrive, in milliseconds.
const SETTLE_MS: i64 = 30_000;
/// The time between two full counts, in milliseconds.
const RECOUNT_MS: i64 = 600_000;

/// Results that were counted, by bucket.
#[derive(Debug, Default)]
pub(super) struct BucketFillCounter {
    settled: HashMap<i16, u64>,
    until: Timestamp,
    /// The time of the last full count; `None` = never.
    counted_at: Option<Timestamp>,
}

impl BucketFillCounter {
    /// Returns the number of fresh results of every bucket that has any at `now`.
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

    /// Notes that results of a bucket have become blocks.
    pub(super) fn sealed(&mut self, bucket: i16, rows: u64) {
        if let Some(settled) = self.settled.get_mut(&bucket) {
            *settled = settled.saturating_sub(rows);
        }
    }
}
