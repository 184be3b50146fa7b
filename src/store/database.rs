//! A database: its connections for writing and reading.
//!
//! Transactions of SQLite start as `IMMEDIATE` on the single writer connection, so that none fails halfway because of a
//! lock, and they share commits (see `transaction`). PostgreSQL has pools for reading and writing (see `pool`).

use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sea_orm::{ConnAcquireErr, ConnectionTrait, DatabaseConnection, DbBackend, DbErr, RuntimeErr, Statement};
use sea_orm_migration::MigratorTrait;
use tokio::sync::Mutex;

use crate::config::credentials::without_credentials;
use crate::config::limits::StoreLimits;
use crate::store::bounded_handle::Reader;
use crate::store::changes::CommitTracker;
use crate::store::disk_record::{DiskRecord, FullDisk};
use crate::store::error::HistoryError;
use crate::store::error::MainError;
use crate::store::open_error::{OpenError, migrate};
use crate::store::open_transaction::OpenTransaction;
use crate::store::pool;
use crate::store::transaction::{Transaction, WriterGroup};

/// Oldest SQLite that is accepted: older versions can corrupt a database in WAL mode.
const OLDEST_SQLITE: [u32; 3] = [3, 51, 3];

/// Query for whether writes are possible: false on a standby, and where an operator has made everything read-only.
const TAKES_WRITES: &str = "SELECT NOT pg_is_in_recovery() \
    AND current_setting('default_transaction_read_only') = 'off' AS takes_writes";

/// One database: a connection to write with and a pool to read from. The error type `E` tells which database failed.
#[derive(Debug)]
pub struct Database<E = MainError> {
    writer: Reader,
    reader: Reader,
    /// Connection for statements that take long by design.
    unhurried: Reader,
    url: String,
    /// Lock of SQLite's single writer; `None` for PostgreSQL, which takes concurrent writes.
    writer_lock: Option<Arc<Mutex<WriterGroup>>>,
    changes: Arc<CommitTracker>,
    /// SQLite: whether the last writes failed for lack of space. `None` for PostgreSQL.
    disk: Option<Arc<DiskRecord>>,
    patience: Duration,
    is_prepared: Arc<AtomicBool>,
    error: PhantomData<fn() -> E>,
}

impl Database {
    /// Connects to a main database without migrating it.
    ///
    /// # Errors
    ///
    /// [`OpenError`] when the database cannot be reached, or its version of SQLite can corrupt files.
    pub async fn connect(url: &str, limits: &StoreLimits) -> Result<Self, OpenError> {
        Self::connect_any(url, limits).await
    }
}

impl Database<HistoryError> {
    /// Connects to a history without migrating it. Until the migration is done, the history counts as unavailable.
    pub(in crate::store) async fn connect_unprepared(
        url: &str,
        limits: &StoreLimits,
    ) -> Result<Self, OpenError> {
        let connected = Self::connect_any(url, limits).await?;
        Ok(Self { is_prepared: Arc::default(), ..connected })
    }
}

impl<E: From<DbErr>> Database<E> {
    async fn connect_any(url: &str, limits: &StoreLimits) -> Result<Self, OpenError> {
        let shown = without_credentials(url);
        let patience = Duration::from_secs(limits.acquire_timeout_seconds);
        let refused = |problem| OpenError::connect(&shown, problem);
        let is_prepared = Arc::new(AtomicBool::new(true));
        let (writer, reader, unhurried, writer_lock, disk);
        let changes = Arc::new(CommitTracker::default());
        if url.starts_with("sqlite:") {
            writer = Reader::new(pool::sqlite_writer(url, limits).await.map_err(refused)?, None);
            let version = sqlite_version(writer.inner()).await.map_err(refused)?;
            if !is_sound_sqlite(&version) {
                return Err(OpenError::OldSqlite(version));
            }
            reader = Reader::new(pool::sqlite_readers(url, limits).await.map_err(refused)?, None);
            unhurried = writer.clone();
            let record = Arc::new(DiskRecord::of_sqlite(url));
            writer_lock =
                Some(Arc::new(Mutex::new(WriterGroup::marking(Arc::clone(&changes), Arc::clone(&record)))));
            disk = Some(record);
        } else {
            let connections = pool::postgres(url, limits).await.map_err(refused)?;
            writer = Reader::new(connections, Some(pool::silence(limits)));
            reader = writer.clone();
            let connections = pool::unhurried_postgres(url, limits).await.map_err(refused)?;
            unhurried = Reader::new(connections, Some(pool::LONGEST));
            (writer_lock, disk) = (None, None);
        }
        let error = PhantomData;
        Ok(Self {
            writer,
            reader,
            unhurried,
            url: shown,
            writer_lock,
            changes,
            disk,
            patience,
            is_prepared,
            error,
        })
    }

    /// The connection for statements that only read, with the usual time limit.
    #[must_use]
    pub const fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Starts a read-only transaction whose statements all see the same snapshot, for results of several statements.
    /// End it with [`OpenTransaction::end_reading`].
    pub async fn snapshot(&self) -> Result<OpenTransaction, E> {
        Ok(OpenTransaction::begin_snapshot(&self.reader).await?)
    }

    /// The same database for work whose statements take long by design: PostgreSQL sets no time limit for them, and the
    /// client waits up to an hour for an answer.
    #[must_use]
    pub(in crate::store) fn with_long_timeout(&self) -> Self {
        if self.writer_lock.is_some() {
            return self.clone();
        }
        Self { writer: self.unhurried.clone(), reader: self.unhurried.clone(), ..self.clone() }
    }

    /// Starts a transaction that will write.
    ///
    /// # Errors
    /// When the database is unavailable, is busy for longer than the configured wait, or its file has been removed.
    pub async fn begin(&self) -> Result<Transaction<E>, E> {
        self.require_prepared()?;
        self.check_not_replaced()?;
        Ok(match &self.writer_lock {
            Some(writer_lock) => Transaction::shared(self.writer.inner(), writer_lock, self.patience).await?,
            None => Transaction::alone(&self.writer, &self.changes).await?,
        })
    }

    /// Returns the tracker of all commits to this database; `None` for PostgreSQL, where other processes write as well.
    /// A SQLite file is written by the process that serves it. Otherwise only the command line writes to it, to add
    /// organisations and tokens.
    #[must_use]
    pub fn changes(&self) -> Option<&CommitTracker> {
        self.writer_lock.as_ref().map(|_| &*self.changes)
    }

    /// Returns the number of commits that have written any table of this database so far; `None` for PostgreSQL, where other processes write as well.
    #[must_use]
    pub fn write_commits(&self) -> Option<u64> {
        self.changes().map(CommitTracker::write_commits)
    }

    /// Returns the tracker of the commits of this process only: other processes may write as well.
    #[must_use]
    pub fn own_changes(&self) -> &CommitTracker {
        &self.changes
    }

    /// Returns the full disk of a SQLite database, if the last write failed for lack of space.
    #[must_use]
    pub fn full_disk(&self) -> Option<FullDisk> {
        self.disk.as_ref()?.full()
    }

    /// Checks that the database answers within the configured wait.
    pub async fn ping(&self) -> Result<(), E> {
        self.require_prepared()?;
        self.check_not_replaced()?;
        let answer = tokio::time::timeout(self.patience, self.reader.execute_unprepared("SELECT 1"));
        answer.await.map_err(|_| DbErr::ConnectionAcquire(ConnAcquireErr::Timeout))??;
        Ok(())
    }

    /// Checks that the database answers within the configured wait and accepts writes; a PostgreSQL replica does not.
    pub async fn ask_for_writes(&self) -> Result<(), E> {
        if self.writer_lock.is_some() {
            return self.ping().await;
        }
        self.require_prepared()?;
        let question = Statement::from_string(DbBackend::Postgres, TAKES_WRITES);
        let answer = tokio::time::timeout(self.patience, self.writer.query_one_raw(question));
        let row = answer.await.map_err(|_| DbErr::ConnectionAcquire(ConnAcquireErr::Timeout))??;
        if row.map_or(Ok(false), |row| row.try_get("", "takes_writes"))? {
            Ok(())
        } else {
            Err(DbErr::Custom("it takes no writes".into()).into())
        }
    }

    /// Migrates the schema of this database to the current version.
    pub(in crate::store) async fn migrate<M: MigratorTrait>(&self) -> Result<(), OpenError> {
        migrate::<M>(self.unhurried.inner(), &self.url).await
    }

    /// Returns the error for a problem that occurred while this database is being opened.
    pub(in crate::store) fn open_error(&self, problem: DbErr) -> OpenError {
        OpenError::connect(&self.url, problem)
    }

    /// The URL without credentials.
    pub(in crate::store) fn shown_url(&self) -> &str {
        &self.url
    }

    /// The connection to write with outside of a transaction.
    pub(in crate::store) const fn writer(&self) -> &Reader {
        &self.writer
    }

    /// The connection for statements that take long by design.
    pub(in crate::store) const fn unhurried(&self) -> &Reader {
        &self.unhurried
    }

    /// Marks the migrations as done: from now on this database can be used.
    pub(in crate::store) fn admit(&self) {
        self.is_prepared.store(true, Ordering::Release);
    }

    /// Returns true once the migrations are done.
    #[must_use]
    pub fn is_prepared(&self) -> bool {
        self.is_prepared.load(Ordering::Acquire)
    }

    pub(in crate::store) fn require_prepared(&self) -> Result<(), DbErr> {
        let away = || DbErr::Conn(RuntimeErr::Internal("it has been unavailable since the start".into()));
        if self.is_prepared() { Ok(()) } else { Err(away()) }
    }

    /// Checks that the file of a SQLite database has not been removed or replaced. Always succeeds for PostgreSQL.
    pub(in crate::store) fn check_not_replaced(&self) -> Result<(), DbErr> {
        self.disk.as_ref().map_or(Ok(()), |disk| disk.check_not_replaced())
    }

    /// Closes all connections, waiting for running statements.
    pub async fn close(self) {
        for connection in [self.writer, self.reader, self.unhurried] {
            if let Err(error) = connection.close().await {
                tracing::warn!(url = self.url, %error, "cannot close the database");
            }
        }
    }
}

impl<E> Clone for Database<E> {
    fn clone(&self) -> Self {
        Self {
            writer: self.writer.clone(),
            reader: self.reader.clone(),
            unhurried: self.unhurried.clone(),
            url: self.url.clone(),
            writer_lock: self.writer_lock.clone(),
            changes: Arc::clone(&self.changes),
            disk: self.disk.clone(),
            patience: self.patience,
            is_prepared: Arc::clone(&self.is_prepared),
            error: PhantomData,
        }
    }
}

async fn sqlite_version(connection: &DatabaseConnection) -> Result<String, DbErr> {
    let question = Statement::from_string(DbBackend::Sqlite, "SELECT sqlite_version() AS version");
    let row = connection.query_one_raw(question).await?;
    row.map_or_else(|| Ok(String::new()), |row| row.try_get("", "version"))
}

fn is_sound_sqlite(version: &str) -> bool {
    let parts: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
    parts.as_slice() >= OLDEST_SQLITE.as_slice()
}

/// The URL of a SQLite file.
#[must_use]
pub fn sqlite_url(file: &Path) -> String {
    format!("sqlite://{}?mode=rwc", file.display())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("3.51.3", true)]
    #[case("3.52.0", true)]
    #[case("4.0.0", true)]
    #[case("3.51.2", false)]
    #[case("3.9.9", false)]
    #[case("", false)]
    fn sqlite_versions_that_corrupt_files_are_refused(#[case] version: &str, #[case] sound: bool) {
        assert_eq!(is_sound_sqlite(version), sound);
    }
}
