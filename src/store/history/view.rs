//! The history database with its segments, and a consistent view of both.

use std::fs::File;
use std::ops::Deref;

use sea_orm::{ConnectionTrait as _, DatabaseTransaction, Statement};

use crate::config::limits::StoreLimits;
use crate::store::bounded_handle::BoundedHandle;
use crate::store::database::Database;
use crate::store::error::HistoryError;
use crate::store::history::progress;
use crate::store::history::segments::storage::SegmentStorage;
use crate::store::history::segments::{self, Segment};
use crate::store::open_error::OpenError;
use crate::store::open_transaction::OpenTransaction;
use crate::store::upgrade_copy;

/// The history database and the segments that belong to it. Dereferences to its [`Database`] of rows.
#[derive(Clone, Debug)]
pub struct History {
    rows: Database<HistoryError>,
    storage: SegmentStorage,
}

/// Rows and segments as of one moment. Results that are sealed meanwhile stay visible here as rows.
#[derive(Debug)]
pub struct HistorySnapshot {
    /// The transaction that rows are read in.
    pub rows: OpenTransaction,
    /// The segments that count, those of the newest time first.
    pub segments: Vec<Segment>,
    /// The storage of the segments.
    pub storage: SegmentStorage,
}

/// The lock for compacting a history.
#[derive(Debug)]
pub struct CompactionLock {
    holder: CompactionHolder,
    /// The fencing token. If the lock is lost unnoticed, the next holder has a later one, and commits with this one
    /// are refused.
    pub fence: i64,
}

/// The holder of the lock.
#[derive(Debug)]
enum CompactionHolder {
    /// A lock on a file beside a SQLite history, held as long as it is open.
    File { _file: File },
    /// The transaction that holds the advisory lock of PostgreSQL.
    Advisory(BoundedHandle<DatabaseTransaction>),
}

impl CompactionLock {
    /// Releases the lock at once; a dropped lock is released when its connection is used again.
    ///
    /// # Errors
    ///
    /// When the database fails; the lock is released nevertheless.
    pub async fn release(self) -> Result<(), HistoryError> {
        match self.holder {
            CompactionHolder::Advisory(holder) => Ok(holder.rollback().await?),
            CompactionHolder::File { .. } => Ok(()),
        }
    }
}

/// The number of the advisory lock in PostgreSQL.
const COMPACTION_LOCK: i64 = 0x5741_5443_484b_5052;

impl History {
    /// Connects without migrating; until it is migrated, it counts as unavailable.
    pub async fn connect(url: &str, limits: &StoreLimits) -> Result<Self, OpenError> {
        let rows = Database::connect_unprepared(url, limits).await?;
        let storage = match upgrade_copy::file_of(url) {
            Some(file) => SegmentStorage::beside(&file, limits),
            None => SegmentStorage::Partitions(rows.reader().clone()),
        };
        Ok(Self { rows, storage })
    }

    /// The database of the rows alone.
    #[must_use]
    pub const fn rows(&self) -> &Database<HistoryError> {
        &self.rows
    }

    /// Returns the storage of its segments.
    #[must_use]
    pub const fn storage(&self) -> &SegmentStorage {
        &self.storage
    }

    /// The same history for work whose statements are long by design: sealing, merging and a start.
    #[must_use]
    pub fn with_long_timeout(self) -> Self {
        let rows = self.rows.with_long_timeout();
        let storage = match self.storage {
            SegmentStorage::Files(files) => SegmentStorage::Files(files),
            SegmentStorage::Partitions(_) => SegmentStorage::Partitions(rows.reader().clone()),
        };
        Self { rows, storage }
    }

    /// A consistent view of rows and segments.
    pub async fn snapshot(&self) -> Result<HistorySnapshot, HistoryError> {
        self.rows.require_prepared()?;
        let rows = self.rows.snapshot().await?;
        let segments = segments::visible(&rows).await?;
        Ok(HistorySnapshot { rows, segments, storage: self.storage.clone() })
    }

    /// Takes the compaction lock; `None` while another process or a backup holds it.
    ///
    /// # Errors
    ///
    /// Also when the lock file cannot be used.
    pub async fn lock_compaction(&self) -> Result<Option<CompactionLock>, HistoryError> {
        self.rows.require_prepared()?;
        let holder = match &self.storage {
            SegmentStorage::Files(files) => match files.lock()? {
                Some(file) => CompactionHolder::File { _file: file },
                None => return Ok(None),
            },
            SegmentStorage::Partitions(connection) => {
                let holder = connection.begin().await?;
                // It is held without a further statement while this process compacts.
                holder.execute_unprepared("SET LOCAL idle_in_transaction_session_timeout = 0").await?;
                let text = format!("SELECT pg_try_advisory_xact_lock({COMPACTION_LOCK}) AS got");
                let row =
                    holder.query_one_raw(Statement::from_string(holder.get_database_backend(), text)).await?;
                if !row.map_or(Ok(false), |row| row.try_get("", "got"))? {
                    return Ok(None);
                }
                CompactionHolder::Advisory(holder)
            }
        };
        let transaction = self.rows.begin().await?;
        let fence = progress::next_fence(&transaction).await?;
        transaction.commit().await?;
        Ok(Some(CompactionLock { holder, fence }))
    }

    /// Size in bytes of everything outside of segments.
    pub async fn row_bytes(&self) -> Result<u64, HistoryError> {
        let text = match self.storage {
            SegmentStorage::Files(_) => {
                "SELECT (page_count - freelist_count) * page_size AS bytes FROM pragma_page_count(), pragma_page_size(), pragma_freelist_count()"
            }
            SegmentStorage::Partitions(_) => {
                "SELECT CAST(pg_total_relation_size('fresh_check') + pg_total_relation_size('status_change') AS BIGINT) AS bytes"
            }
        };
        let reader = self.rows.reader();
        let row = reader.query_one_raw(Statement::from_string(reader.get_database_backend(), text)).await?;
        let bytes: i64 = row.map_or(Ok(0), |row| row.try_get("", "bytes"))?;
        Ok(u64::try_from(bytes).unwrap_or_default())
    }

    /// Returns the space of deleted rows to the operating system, where this does not happen by itself. The caller
    /// must have the history alone: no other process can write meanwhile.
    pub async fn shrink(&self) -> Result<(), HistoryError> {
        if let SegmentStorage::Files(_) = self.storage {
            for text in ["VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"] {
                self.rows.reader().execute_unprepared(text).await?;
            }
        }
        Ok(())
    }

    /// Closes all connections, waiting for running statements.
    pub async fn close(self) {
        self.storage.close().await;
        self.rows.close().await;
    }
}

impl Deref for History {
    type Target = Database<HistoryError>;

    fn deref(&self) -> &Database<HistoryError> {
        &self.rows
    }
}
