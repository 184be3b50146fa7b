//! An open transaction of PostgreSQL or SQLite.

use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult, QueryResult,
    Statement, TransactionTrait as _,
};

use crate::store::bounded_handle::BoundedHandle;
use crate::store::postgres_transaction::{CopyParts, PostgresTransaction};

/// An open transaction of PostgreSQL or SQLite.
#[derive(Debug)]
pub enum OpenTransaction {
    /// A transaction of SQLite, or a savepoint in a transaction that several writers share.
    Sqlite(DatabaseTransaction),
    /// A transaction of PostgreSQL.
    Postgres(BoundedHandle<PostgresTransaction>),
}

impl OpenTransaction {
    /// Starts a transaction of PostgreSQL.
    pub(super) async fn begin_postgres(pool: &BoundedHandle<DatabaseConnection>) -> Result<Self, DbErr> {
        Ok(Self::Postgres(pool.begin_postgres().await?))
    }

    /// Starts a read-only transaction whose statements all see the same snapshot.
    pub(super) async fn begin_snapshot(pool: &BoundedHandle<DatabaseConnection>) -> Result<Self, DbErr> {
        match pool.get_database_backend() {
            DbBackend::Postgres => Ok(Self::Postgres(pool.begin_snapshot().await?)),
            _ => Ok(Self::Sqlite(pool.inner().begin().await?)),
        }
    }

    /// Ends a read-only transaction. On PostgreSQL the connection is returned to the pool shortly afterwards.
    pub async fn end_reading(self) -> Result<(), DbErr> {
        match self {
            Self::Sqlite(transaction) => transaction.commit().await,
            // The pool rolls the transaction back in the background.
            Self::Postgres(transaction) => {
                drop(transaction);
                Ok(())
            }
        }
    }

    pub(super) async fn commit(self) -> Result<(), DbErr> {
        match self {
            Self::Sqlite(transaction) => transaction.commit().await,
            Self::Postgres(transaction) => transaction.commit().await,
        }
    }

    pub(super) async fn rollback(self) -> Result<(), DbErr> {
        match self {
            Self::Sqlite(transaction) => transaction.rollback().await,
            Self::Postgres(transaction) => transaction.rollback().await,
        }
    }

    /// Sends rows to a `COPY … FROM STDIN` in parts; returns the number of rows. Fails on SQLite, which has no `COPY`.
    pub(super) async fn copy_in(&self, text: &str, parts: CopyParts<'_>) -> Result<u64, DbErr> {
        match self {
            Self::Sqlite(_) => Err(DbErr::Custom("SQLite has no COPY".into())),
            Self::Postgres(transaction) => transaction.copy_in(text, parts).await,
        }
    }
}

#[async_trait::async_trait]
impl ConnectionTrait for OpenTransaction {
    fn get_database_backend(&self) -> DbBackend {
        match self {
            Self::Sqlite(transaction) => transaction.get_database_backend(),
            Self::Postgres(transaction) => transaction.get_database_backend(),
        }
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        match self {
            Self::Sqlite(transaction) => transaction.execute_raw(statement).await,
            Self::Postgres(transaction) => transaction.execute_raw(statement).await,
        }
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        match self {
            Self::Sqlite(transaction) => transaction.execute_unprepared(sql).await,
            Self::Postgres(transaction) => transaction.execute_unprepared(sql).await,
        }
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        match self {
            Self::Sqlite(transaction) => transaction.query_one_raw(statement).await,
            Self::Postgres(transaction) => transaction.query_one_raw(statement).await,
        }
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        match self {
            Self::Sqlite(transaction) => transaction.query_all_raw(statement).await,
            Self::Postgres(transaction) => transaction.query_all_raw(statement).await,
        }
    }
}
