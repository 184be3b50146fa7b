//! Imports results of other tools. They are stored like fresh results, but in larger batches.
//!
//! Each batch is one transaction that also stores the progress of the import, so that an import can be killed at any
//! moment and resumes there. Rows are sealed during the import, so that there are never too many. At the end the status
//! changes of the imported time are derived, and the imported time becomes visible. A result that is imported twice is
//! stored once; figures and status of the time that Watchkeeper itself has monitored stay as they are.

use crate::clock::guard::JudgedTime;
use crate::clock::{DAY_MS, Timestamp};
use crate::model::history::{ChangeCause, CheckRecord, StatusChange};
use crate::model::service::ServiceKey;
use crate::model::time_range::TimeRange;
use crate::record::compaction::Compaction;
use crate::record::compaction::expire::LAST_READERS_MS;
use crate::record::status_sweep::StatusSweep;
use crate::store::history::fresh_checks::{BUCKETS, bucket_of};
use crate::store::history::locations::LocationNumbers;
use crate::store::history::{History, append, changes, progress, votes};
use crate::store::{Databases, HistoryError, StoreError, services};

/// Number of unsealed rows of one bucket at which all buckets are sealed, because sealing holds the rows of a bucket in
/// memory.
const BUCKET_MAX_ROWS: u64 = 131_072;
/// Number of unsealed rows at which all buckets are sealed; limits their disk space.
const ALL_MAX_ROWS: u64 = 1_048_576;
/// Span whose results are in memory at once while status changes are derived, in milliseconds.
const WINDOW_MS: i64 = 28 * DAY_MS;
/// Time from the end of an import to the moment at which compaction drops the segments that the import retired, in
/// milliseconds. The import may skip this wait, because there are no other readers meanwhile.
const DROPPED_AFTER_MS: i64 = LAST_READERS_MS + 1_000;

/// An import into the history, while it runs.
#[derive(Debug)]
pub struct HistoryImport {
    databases: Databases,
    /// `None` if a running server does the sealing.
    compaction: Option<Compaction>,
    locations: LocationNumbers,
    /// The name under which the progress is stored; `None` = no progress is stored.
    name: Option<String>,
    /// Rows written since the last sealing, by bucket.
    filling: Box<[u64]>,
}

/// A service with imported results, whose status changes have to be derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportedService {
    /// Database key of the service.
    pub service: ServiceKey,
    /// The interval between the service's checks, in milliseconds.
    pub interval_ms: i64,
    /// Time of the service's first imported result.
    pub first_at: Timestamp,
}

impl HistoryImport {
    /// Creates an import into these databases. With a compaction, the import seals the rows that it has written, and no
    /// other process may do so meanwhile. With a name it can be resumed.
    #[must_use]
    pub fn new(databases: Databases, compaction: Option<Compaction>, name: Option<String>) -> Self {
        let filling = vec![0; usize::from(BUCKETS.unsigned_abs())].into();
        Self { databases, compaction, locations: LocationNumbers::default(), name, filling }
    }

    /// Returns the progress that an earlier process has stored; 0 if there is none.
    pub async fn reached(&self) -> Result<u64, HistoryError> {
        let Some(name) = &self.name else { return Ok(0) };
        let reached = progress::get(self.databases.history.reader(), name).await?;
        Ok(reached.and_then(|reached| u64::try_from(reached).ok()).unwrap_or_default())
    }

    /// Stores results, and the progress `reached`; returns how many results were new.
    ///
    /// # Errors
    ///
    /// When the database fails; nothing has been stored then.
    pub async fn store(
        &mut self,
        records: &[CheckRecord],
        reached: u64,
        now: JudgedTime,
    ) -> Result<u64, StoreError> {
        let history = &self.databases.history;
        let transaction = history.begin().await?;
        let mut locations = None;
        if !records.iter().all(|record| self.locations.knows(&record.location)) {
            let mut codes: Vec<_> = records.iter().map(|record| record.location.clone()).collect();
            codes.sort_unstable();
            codes.dedup();
            locations = Some(LocationNumbers::ensure(&transaction, &codes).await?);
        }
        let numbers = locations.as_ref().unwrap_or(&self.locations);
        let stored = append::checks(&transaction, history.storage(), records, numbers).await?;
        if let Some(name) = &self.name {
            progress::put(&transaction, name, i64::try_from(reached).unwrap_or(i64::MAX)).await?;
        }
        transaction.commit().await?;
        // Stored after the commit, because a number that is rolled back may be assigned to another location.
        self.locations = locations.unwrap_or_else(|| std::mem::take(&mut self.locations));
        if stored > 0 {
            self.count(records);
            self.seal_if_full(now).await?;
        }
        Ok(stored)
    }

    /// Derives the status changes of these services in the imported time, and makes that time visible.
    ///
    /// # Errors
    ///
    /// When a database fails. The call can be repeated.
    pub async fn conclude(&self, services: &[ImportedService], now: Timestamp) -> Result<(), StoreError> {
        for imported in services {
            let changes = derive(&self.databases.history, imported, now).await?;
            let transaction = self.databases.history.begin().await?;
            changes::remove_imported(&transaction, imported.service).await?;
            append::changes(&transaction, &changes).await?;
            transaction.commit().await?;
            let transaction = self.databases.main.begin().await?;
            services::begin_history_at(&transaction, imported.service, imported.first_at).await?;
            transaction.commit().await?;
        }
        Ok(())
    }

    /// Ends the import: seals and merges everything that is due, and frees the space of dropped segments.
    pub async fn settle(&mut self, now: JudgedTime) -> Result<(), StoreError> {
        let Some(compaction) = &mut self.compaction else { return Ok(()) };
        compaction.pass(now).await?;
        compaction.pass(now.plus_ms(DROPPED_AFTER_MS)).await?;
        Ok(self.databases.history.shrink().await?)
    }

    /// Deletes the stored progress, so that the same import starts from the beginning.
    pub async fn forget(&self) -> Result<(), HistoryError> {
        let Some(name) = &self.name else { return Ok(()) };
        let transaction = self.databases.history.begin().await?;
        progress::remove(&transaction, name).await?;
        transaction.commit().await
    }

    fn count(&mut self, records: &[CheckRecord]) {
        for record in records {
            let bucket = usize::from(bucket_of(record.service).unsigned_abs());
            self.filling[bucket] += 1;
        }
    }

    async fn seal_if_full(&mut self, now: JudgedTime) -> Result<(), StoreError> {
        let Some(compaction) = &mut self.compaction else { return Ok(()) };
        let fullest = self.filling.iter().max().copied().unwrap_or_default();
        if fullest >= BUCKET_MAX_ROWS || self.filling.iter().sum::<u64>() >= ALL_MAX_ROWS {
            compaction.seal_all(now).await?;
            self.filling.fill(0);
        }
        Ok(())
    }
}

/// Derives the status changes from all stored results of a service before its first recorded change, because results of
/// one import may lie between those of another.
async fn derive(
    history: &History,
    imported: &ImportedService,
    now: Timestamp,
) -> Result<Vec<StatusChange>, HistoryError> {
    let snapshot = history.snapshot().await?;
    let end = changes::first_own(&snapshot.rows, imported.service).await?;
    let mut sweep = StatusSweep::new(imported.service, imported.interval_ms, ChangeCause::Imported);
    let until = end.unwrap_or(now.plus_ms(1));
    let Some(mut from) = votes::first_at(&snapshot, imported.service).await? else {
        return Ok(Vec::new());
    };
    while from < until {
        let to = until.min(from.plus_ms(WINDOW_MS));
        sweep.take(&votes::of_span(&snapshot, imported.service, TimeRange { from, to }).await?);
        from = to;
    }
    Ok(sweep.finish(end, now))
}
