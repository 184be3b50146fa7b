//! An open transaction of either database, as its driver has it.

use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult, QueryResult,
    Statement,
};

use crate::store::bounded::Bounded;
use crate::store::postgres_transaction::{CopyParts, PostgresTransaction};

/// An open transaction.
#[derive(Debug)]
pub(super) enum OpenTransaction {
    /// A savepoint of the common transaction of a SQLite file.
    Shared(DatabaseTransaction),
    /// PostgreSQL's own.
    Postgres(Bounded<PostgresTransaction>),
}

impl OpenTransaction {
    /// Begins one of PostgreSQL's own.
    pub(super) async fn begin_postgres(pool: &Bounded<DatabaseConnection>) -> Result<Self, DbErr> {
        Ok(Self::Postgres(pool.begin_postgres().await?))
    }

    pub(super) async fn commit(self) -> Result<(), DbErr> {
        match self {
            Self::Shared(transaction) => transaction.commit().await,
            Self::Postgres(transaction) => transaction.commit().await,
        }
    }

    pub(super) async fn rollback(self) -> Result<(), DbErr> {
        match self {
            Self::Shared(transaction) => transaction.rollback().await,
            Self::Postgres(transaction) => transaction.rollback().await,
        }
    }

    /// Sends rows to a `COPY … FROM STDIN`, part by part; how many they were. Fails on SQLite, which has none.
    pub(super) async fn copy_in(&self, text: &str, parts: CopyParts<'_>) -> Result<u64, DbErr> {
        match self {
            Self::Shared(_) => Err(DbErr::Custom("SQLite has no COPY".into())),
            Self::Postgres(transaction) => transaction.copy_in(text, parts).await,
        }
    }
}

#[async_trait::async_trait]
impl ConnectionTrait for OpenTransaction {
    fn get_database_backend(&self) -> DbBackend {
        match self {
            Self::Shared(transaction) => transaction.get_database_backend(),
            Self::Postgres(transaction) => transaction.get_database_backend(),
        }
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        match self {
            Self::Shared(transaction) => transaction.execute_raw(statement).await,
            Self::Postgres(transaction) => transaction.execute_raw(statement).await,
        }
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        match self {
            Self::Shared(transaction) => transaction.execute_unprepared(sql).await,
            Self::Postgres(transaction) => transaction.execute_unprepared(sql).await,
        }
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        match self {
            Self::Shared(transaction) => transaction.query_one_raw(statement).await,
            Self::Postgres(transaction) => transaction.query_one_raw(statement).await,
        }
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        match self {
            Self::Shared(transaction) => transaction.query_all_raw(statement).await,
            Self::Postgres(transaction) => transaction.query_all_raw(statement).await,
        }
    }
}
