//! The history database with its segments, and consistent snapshots of both.

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

/// A snapshot of rows and segments. Results that are sealed meanwhile stay visible in it as rows.
#[derive(Debug)]
pub struct HistorySnapshot {
    /// The transaction in which rows must be read.
    pub rows: OpenTransaction,
    /// The segments in use at the time of the snapshot, newest time range first.
    pub segments: Vec<Segment>,
    /// The storage from which the segments are read.
    pub storage: SegmentStorage,
}

/// The lock that a process holds while it compacts a history.
#[derive(Debug)]
pub struct CompactionLock {
    holder: CompactionHolder,
    /// The fencing token. If the lock is lost unnoticed, the next holder has a newer token, and commits with this token
    /// are refused.
    pub fence: i64,
}

/// The resource that keeps the compaction lock.
#[derive(Debug)]
enum CompactionHolder {
    /// A locked file beside a SQLite history; unlocked when the file is closed.
    File { _file: File },
    /// A transaction that holds an advisory lock of PostgreSQL.
    Advisory(BoundedHandle<DatabaseTransaction>),
}

impl CompactionLock {
    /// Releases the lock at once. If a lock is dropped instead, it is released when its connection is next used.
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

/// Key of the advisory lock in PostgreSQL.
const COMPACTION_LOCK: i64 = 0x5741_5443_484b_5052;

impl History {
    /// Connects to a history without migrating it. Until the migration is done, the history counts as unavailable.
    pub async fn connect(url: &str, limits: &StoreLimits) -> Result<Self, OpenError> {
        let rows = Database::connect_unprepared(url, limits).await?;
        let storage = match upgrade_copy::file_of(url) {
            Some(file) => SegmentStorage::beside(&file, limits),
            None => SegmentStorage::Partitions(rows.reader().clone()),
        };
        Ok(Self { rows, storage })
    }

    /// The database with the rows of the history, without segments.
    #[must_use]
    pub const fn rows(&self) -> &Database<HistoryError> {
        &self.rows
    }

    /// The storage of the segments.
    #[must_use]
    pub const fn storage(&self) -> &SegmentStorage {
        &self.storage
    }

    /// The same history for work whose statements take long by design: sealing, merging, and loading at the start.
    #[must_use]
    pub fn with_long_timeout(self) -> Self {
        let rows = self.rows.with_long_timeout();
        let storage = match self.storage {
            SegmentStorage::Files(files) => SegmentStorage::Files(files),
            SegmentStorage::Partitions(_) => SegmentStorage::Partitions(rows.reader().clone()),
        };
        Self { rows, storage }
    }

    /// Starts a consistent snapshot of rows and segments.
    pub async fn snapshot(&self) -> Result<HistorySnapshot, HistoryError> {
        self.rows.require_prepared()?;
        let rows = self.rows.snapshot().await?;
        let segments = segments::visible(&rows).await?;
        Ok(HistorySnapshot { rows, segments, storage: self.storage.clone() })
    }

    /// Takes the compaction lock; `None` if another process holds it, or a backup of a SQLite history.
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
                // The transaction stays idle while this process compacts, so the idle limit must not end it.
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

    /// Size in bytes of the history without its segments.
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

    /// Returns the space of deleted rows to the operating system where this does not happen by itself (SQLite). The caller
    /// makes sure that no other process writes to the history meanwhile.
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
