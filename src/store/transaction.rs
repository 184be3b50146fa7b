//! Transactions that write. On SQLite concurrent transactions share a commit, because waiting for the disk takes much
//! longer than a statement.
//!
//! Each writer in turn has a savepoint in a common transaction, and is acknowledged only when the common transaction has
//! reached the disk. A writer that fails rolls back only its own savepoint. On PostgreSQL each writer has its own
//! transaction.

use std::marker::PhantomData;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use sea_orm::{
    ConnAcquireErr, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult,
    QueryResult, RuntimeErr, SqliteTransactionMode, Statement, TransactionOptions, TransactionTrait, sqlx,
};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::store::bounded_handle::Reader;
use crate::store::changes::{ChangeScope, CommitTracker, WriteSet};
use crate::store::disk_record::DiskRecord;
use crate::store::error::MainError;
use crate::store::error::is_disk_full;
use crate::store::open_transaction::OpenTransaction;
use crate::store::postgres_transaction::CopyParts;

/// A transaction that may write; dropping it rolls it back. `E` is the error type of its database.
#[derive(Debug)]
pub struct Transaction<E = MainError> {
    /// The open transaction; `None` only while it starts and ends.
    inner: Option<OpenTransaction>,
    slot: Option<WriterSlot>,
    written: std::sync::Mutex<WriteSet>,
    /// Tracker in which the commit is marked; `None` for a shared commit, which the group marks.
    changes: Option<Arc<CommitTracker>>,
    error: PhantomData<fn() -> E>,
}

/// The turn of a writer in the common transaction.
#[derive(Debug)]
struct WriterSlot {
    writer_lock: Arc<Mutex<WriterGroup>>,
    guard: OwnedMutexGuard<WriterGroup>,
}

/// The state shared by the writers of one SQLite database.
#[derive(Debug)]
pub(super) struct WriterGroup {
    open: Option<SharedTransaction>,
    /// Tracker in which every commit is marked before it is acknowledged.
    changes: Arc<CommitTracker>,
    /// Record of the last writes.
    disk: Arc<DiskRecord>,
    /// True if the last transaction failed to start or end, for example because the disk was full. SQLite may have rolled
    /// it back while the driver still counts it as open and would never start another one, so the connection is replaced.
    is_broken: bool,
}

/// The outcome of a shared commit; empty until the commit has ended.
type Outcome = Arc<OnceLock<Result<(), RuntimeErr>>>;

/// A common transaction that has not been committed yet.
#[derive(Debug)]
struct SharedTransaction {
    outer: DatabaseTransaction,
    /// The pool from which the connection of `outer` was taken.
    writer: DatabaseConnection,
    /// The outcome of the commit.
    outcome: Outcome,
    /// Number of writers that have finished their work and wait for the commit.
    waiting: usize,
    /// True if no further writers may join, because a part failed with an uncertain effect.
    is_closed: bool,
    /// The writes of the writers that wait for the commit.
    written: Vec<WriteSet>,
}

impl WriterGroup {
    /// Creates a group that marks its commits in `changes` and its failures in `disk`.
    pub(super) const fn marking(changes: Arc<CommitTracker>, disk: Arc<DiskRecord>) -> Self {
        Self { open: None, changes, disk, is_broken: false }
    }

    /// Commits the open transaction and publishes the outcome to all waiting writers.
    async fn end(&mut self) -> Result<(), DbErr> {
        let Some(common) = self.open.take() else { return Ok(()) };
        // The connection stays marked as broken if this future is dropped, as when the runtime ends.
        self.is_broken = true;
        let result = common.outer.commit().await;
        match &result {
            Ok(()) => {
                common.written.iter().for_each(|written| self.changes.mark(written));
                if common.written.iter().any(WriteSet::is_writing) {
                    self.disk.note_written();
                }
            }
            // It is unknown whether the commit took effect.
            Err(error) => {
                self.changes.mark_all();
                self.disk.note_failed(error);
            }
        }
        // Nobody else can set the outcome: the transaction was taken out of the group above.
        let shared_result = result.as_ref().copied().map_err(reason);
        self.is_broken = result.is_err();
        let _ = common.outcome.set(shared_result);
        // A transaction that could not be ended would keep other processes from writing for as long as its connection
        // lives.
        if let Err(error) = self.mend(&common.writer).await {
            tracing::warn!(%error, "cannot replace the write connection");
        }
        result
    }

    /// Returns true if no further writers may join the open transaction, so that it must be committed first.
    fn is_closed(&self) -> bool {
        self.open.as_ref().is_some_and(|common| common.is_closed)
    }

    /// Returns true if the open transaction is the one with this outcome.
    fn is_still_open(&self, outcome: &Outcome) -> bool {
        self.open.as_ref().is_some_and(|common| Arc::ptr_eq(&common.outcome, outcome))
    }

    /// Replaces the connection if its state after the last transaction is uncertain.
    async fn mend(&mut self, writer: &DatabaseConnection) -> Result<(), DbErr> {
        if self.is_broken {
            replace_connection(writer).await?;
            self.disk.log_replacement();
            self.is_broken = false;
        }
        Ok(())
    }

    async fn join(&mut self, writer: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
        if self.open.is_none() {
            self.mend(writer).await?;
            let mode = Some(SqliteTransactionMode::Immediate);
            let options =
                TransactionOptions { sqlite_transaction_mode: mode, ..TransactionOptions::default() };
            let outer = writer.begin_with_options(options).await.inspect_err(|error| {
                self.is_broken = true;
                self.disk.note_failed(error);
            })?;
            self.open = Some(SharedTransaction {
                outer,
                writer: writer.clone(),
                outcome: Arc::default(),
                waiting: 0,
                is_closed: false,
                written: Vec::new(),
            });
        }
        match &self.open {
            Some(common) => common.outer.begin().await,
            None => Err(DbErr::Custom("there is no transaction to join".into())),
        }
    }
}

/// Commits a transaction that is closed for further writers. Runs in a separate task, so that the commit continues even if
/// the caller is dropped.
async fn end_closed(mut guard: OwnedMutexGuard<WriterGroup>) -> Result<OwnedMutexGuard<WriterGroup>, DbErr> {
    let ended = tokio::spawn(async move {
        if let Err(error) = guard.end().await {
            tracing::error!(%error, "cannot commit writes");
        }
        guard
    });
    ended.await.map_err(|error| DbErr::Custom(error.to_string()))
}

/// The driver's reason of an error, which can be cloned for all waiting writers.
fn reason(error: &DbErr) -> RuntimeErr {
    match error {
        DbErr::Conn(reason) | DbErr::Exec(reason) | DbErr::Query(reason) => reason.clone(),
        other => RuntimeErr::Internal(other.to_string()),
    }
}

/// Closes the single connection of the pool, which opens another one on the next use.
async fn replace_connection(writer: &DatabaseConnection) -> Result<(), DbErr> {
    let failed = |error: sqlx::Error| DbErr::Conn(RuntimeErr::SqlxError(Arc::new(error)));
    let connection = writer.get_sqlite_connection_pool().acquire().await.map_err(failed)?;
    sqlx::Connection::close_hard(connection.detach()).await.map_err(failed)
}

impl<E> Transaction<E> {
    fn new(
        inner: Option<OpenTransaction>,
        slot: Option<WriterSlot>,
        changes: Option<Arc<CommitTracker>>,
    ) -> Self {
        Self { inner, slot, written: std::sync::Mutex::default(), changes, error: PhantomData }
    }

    /// Starts a separate transaction on PostgreSQL.
    pub(super) async fn alone(writer: &Reader, changes: &Arc<CommitTracker>) -> Result<Self, DbErr> {
        let inner = OpenTransaction::begin_postgres(writer).await?;
        Ok(Self::new(Some(inner), None, Some(Arc::clone(changes))))
    }

    /// Starts a transaction that shares its commit with concurrent ones. Waits up to `patience` for its turn.
    pub(super) async fn shared(
        writer: &DatabaseConnection,
        writer_lock: &Arc<Mutex<WriterGroup>>,
        patience: Duration,
    ) -> Result<Self, DbErr> {
        let writer_lock = Arc::clone(writer_lock);
        let waited = tokio::time::timeout(patience, Arc::clone(&writer_lock).lock_owned()).await;
        let mut guard = waited.map_err(|_| DbErr::ConnectionAcquire(ConnAcquireErr::Timeout))?;
        if guard.is_closed() {
            guard = end_closed(guard).await?;
        }
        // The writer slot is taken before joining: if this future is dropped meanwhile, dropping the slot ends a
        // transaction that was opened.
        let mut transaction = Self::new(None, Some(WriterSlot { writer_lock, guard }), None);
        if let Some(slot) = &mut transaction.slot {
            transaction.inner = Some(OpenTransaction::Sqlite(slot.guard.join(writer).await?));
        }
        Ok(transaction)
    }

    /// Names a scope that the writes of this transaction concern, so that cached data of other scopes stays valid. May be
    /// called more than once.
    pub fn concerns(&self, scope: ChangeScope) {
        self.with_written(|written| written.concern(scope));
    }

    /// Names a scope like `Self::concerns`, but does nothing if one was named before.
    pub fn concerns_at_most(&self, scope: ChangeScope) {
        self.with_written(|written| {
            if !written.is_narrow() {
                written.concern(scope);
            }
        });
    }

    /// Sends rows to a `COPY … FROM STDIN` in parts; returns the number of rows. Fails on SQLite, which has no `COPY`.
    pub(super) async fn copy_in(&self, text: &str, parts: CopyParts<'_>) -> Result<u64, DbErr> {
        self.with_written(|written| written.note(text));
        self.open().copy_in(text, parts).await
    }

    /// Records a statement that failed for lack of space, as failed commits are recorded.
    fn note_failure(&self, error: &DbErr) {
        if let Some(slot) = self.slot.as_ref().filter(|_| is_disk_full(error)) {
            slot.guard.disk.note_failed(error);
        }
    }

    fn with_written<T>(&self, act: impl FnOnce(&mut WriteSet) -> T) -> T {
        act(&mut self.written.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The open transaction of the driver.
    fn open(&self) -> &OpenTransaction {
        match &self.inner {
            Some(inner) => inner,
            None => unreachable!("a transaction that ends is not used any more"),
        }
    }

    async fn try_commit(mut self) -> Result<(), DbErr> {
        let Some(inner) = self.inner.take() else { return Ok(()) };
        let written = self.with_written(std::mem::take);
        if let Some(changes) = self.changes.take() {
            let committed = inner.commit().await;
            match &committed {
                Ok(()) => changes.mark(&written),
                Err(_) => changes.mark_all(),
            }
            return committed;
        }
        if let Some(common) = self.slot.as_mut().and_then(|slot| slot.guard.open.as_mut()) {
            // Done before the savepoint is released: if the future is dropped during the release, its effect is unknown.
            common.written.push(written);
        }
        // The slot is kept until the savepoint is released. If that fails or the future is dropped, dropping the slot ends
        // the open transaction.
        inner.commit().await?;
        match self.slot.take() {
            Some(slot) => slot.common_commit().await,
            None => Ok(()),
        }
    }

    async fn try_undo(mut self) -> Result<(), DbErr> {
        let Some(inner) = self.inner.take() else { return Ok(()) };
        let undone = inner.rollback().await;
        let Some(WriterSlot { writer_lock, mut guard }) = self.slot.take() else { return undone };
        if let Some(common) = &mut guard.open {
            common.is_closed |= undone.is_err();
        }
        let durable = WriterSlot { writer_lock, guard }.common_commit().await;
        undone.and(durable)
    }
}

impl<E: From<DbErr>> Transaction<E> {
    /// Commits the transaction. Returns once everything is durable.
    ///
    /// # Errors
    ///
    /// When the database fails. In this case nothing has been written, except that the outcome is unknown if PostgreSQL
    /// did not answer the commit.
    pub async fn commit(self) -> Result<(), E> {
        Ok(self.try_commit().await?)
    }

    /// Rolls the transaction back. Returns once all data that it has read is durable: other writers of the common
    /// transaction may have written this data.
    ///
    /// # Errors
    ///
    /// When the database fails. In this case it is unknown whether the data that was read is durable.
    pub async fn undo(self) -> Result<(), E> {
        Ok(self.try_undo().await?)
    }
}

impl WriterSlot {
    /// Passes the turn to the next writer, and returns once the common transaction is committed.
    async fn common_commit(self) -> Result<(), DbErr> {
        let Self { writer_lock, mut guard } = self;
        let Some(common) = &mut guard.open else { return Ok(()) };
        common.waiting += 1;
        let outcome = Arc::clone(&common.outcome);
        drop(guard);
        // In a separate task, so that no open transaction is left behind if the caller is dropped.
        let committed = tokio::spawn(async move {
            // Writers that took their turn meanwhile have finished their work by now. The first waiting writer that gets
            // the lock commits for all.
            let mut group = writer_lock.lock_owned().await;
            if group.is_still_open(&outcome) {
                return group.end().await;
            }
            match outcome.get() {
                Some(Ok(())) => Ok(()),
                Some(Err(reason)) => Err(DbErr::Exec(reason.clone())),
                None => Err(DbErr::Custom("the shared commit of this write was interrupted".into())),
            }
        });
        committed.await.map_err(|error| DbErr::Custom(error.to_string()))?
    }
}

impl<E> Drop for Transaction<E> {
    fn drop(&mut self) {
        // The driver executes the rollback before the next statement on the connection.
        drop(self.inner.take());
        let Some(WriterSlot { mut guard, .. }) = self.slot.take() else { return };
        let Some(common) = &mut guard.open else { return };
        common.is_closed = true;
        if common.waiting > 0 {
            return;
        }
        // No waiting writer will end the transaction, and while it is open, other processes cannot write.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = guard.end().await {
                    tracing::warn!(%error, "cannot end an abandoned transaction");
                }
            });
        } else {
            guard.open = None;
        }
    }
}

#[async_trait::async_trait]
impl<E> ConnectionTrait for Transaction<E> {
    fn get_database_backend(&self) -> DbBackend {
        self.open().get_database_backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.with_written(|written| written.note(&statement.sql));
        self.open().execute_raw(statement).await.inspect_err(|error| self.note_failure(error))
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.with_written(|written| written.note(sql));
        self.open().execute_unprepared(sql).await.inspect_err(|error| self.note_failure(error))
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.with_written(|written| written.note(&statement.sql));
        self.open().query_one_raw(statement).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.with_written(|written| written.note(&statement.sql));
        self.open().query_all_raw(statement).await
    }
}
