//! Handles whose statements end after a time limit, even if the server no longer answers.
//!
//! PostgreSQL itself ends a statement that takes too long (`statement_timeout`). A server that is stopped, or behind a
//! network that drops packets, cannot; its statement then fails as if the connection were lost. SQLite runs in this
//! process, and its statements have no such limit.

use std::time::Duration;

use futures_util::FutureExt as _;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult, QueryResult,
    RuntimeErr, Statement, TransactionTrait as _,
};

use crate::store::postgres_transaction::{CopyParts, PostgresTransaction};

/// A pool of connections that reads run on.
pub type Reader = BoundedHandle<DatabaseConnection>;

/// A connection, a pool or a transaction, with a time limit for each of its statements.
#[derive(Clone, Debug)]
pub struct BoundedHandle<C> {
    inner: C,
    /// Time limit of each statement; `None` = no limit.
    limit: Option<Duration>,
}

impl<C> BoundedHandle<C> {
    pub(super) const fn new(inner: C, limit: Option<Duration>) -> Self {
        Self { inner, limit }
    }

    /// The handle of the driver, without the limit.
    pub(super) const fn inner(&self) -> &C {
        &self.inner
    }
}

impl BoundedHandle<DatabaseConnection> {
    /// Starts a transaction.
    pub async fn begin(&self) -> Result<BoundedHandle<DatabaseTransaction>, DbErr> {
        Ok(BoundedHandle::new(within(self.limit, self.inner.begin()).await?, self.limit))
    }

    /// Starts a transaction of PostgreSQL that can also insert rows by `COPY`.
    pub(super) async fn begin_postgres(&self) -> Result<BoundedHandle<PostgresTransaction>, DbErr> {
        self.begin_by("BEGIN").await
    }

    /// Starts a read-only transaction of PostgreSQL whose statements all see the same snapshot.
    pub(super) async fn begin_snapshot(&self) -> Result<BoundedHandle<PostgresTransaction>, DbErr> {
        self.begin_by("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY").await
    }

    async fn begin_by(&self, text: &'static str) -> Result<BoundedHandle<PostgresTransaction>, DbErr> {
        let pool = self.inner.get_postgres_connection_pool();
        // Boxed, because the future that opens a connection is large.
        let begun = within(self.limit, PostgresTransaction::begin(pool, text).boxed()).await?;
        Ok(BoundedHandle::new(begun, self.limit))
    }

    /// Closes all connections, waiting for running statements.
    pub(super) async fn close(self) -> Result<(), DbErr> {
        within(self.limit, self.inner.close()).await
    }
}

impl BoundedHandle<DatabaseTransaction> {
    /// Commits the transaction.
    ///
    /// # Errors
    ///
    /// When the database fails. If it does not answer in time, the transaction may have been committed nevertheless.
    pub async fn commit(self) -> Result<(), DbErr> {
        within(self.limit, self.inner.commit()).await
    }

    /// Rolls the transaction back.
    pub async fn rollback(self) -> Result<(), DbErr> {
        within(self.limit, self.inner.rollback()).await
    }
}

impl BoundedHandle<PostgresTransaction> {
    pub(super) async fn commit(self) -> Result<(), DbErr> {
        within(self.limit, self.inner.commit()).await
    }

    pub(super) async fn rollback(self) -> Result<(), DbErr> {
        within(self.limit, self.inner.rollback()).await
    }

    pub(super) async fn copy_in(&self, text: &str, parts: CopyParts<'_>) -> Result<u64, DbErr> {
        within(self.limit, self.inner.copy_in(text, parts).boxed()).await
    }
}

#[async_trait::async_trait]
impl<C: ConnectionTrait> ConnectionTrait for BoundedHandle<C> {
    fn get_database_backend(&self) -> DbBackend {
        self.inner.get_database_backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        within(self.limit, self.inner.execute_raw(statement)).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        within(self.limit, self.inner.execute_unprepared(sql)).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        within(self.limit, self.inner.query_one_raw(statement)).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        within(self.limit, self.inner.query_all_raw(statement)).await
    }
}

/// Waits for `work` up to `limit`. If the limit passes, `work` is dropped, and the pool cleans up the connection once
/// the database answers again.
async fn within<T>(
    limit: Option<Duration>,
    work: impl Future<Output = Result<T, DbErr>>,
) -> Result<T, DbErr> {
    let Some(limit) = limit else { return work.await };
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
        let silence = format!("the database has not answered for {} s", limit.as_secs());
        Err(DbErr::Conn(RuntimeErr::Internal(silence)))
    })
}
