//! An open transaction of either database, as its driver has it.

use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult, QueryResult,
    Statement,
};

use crate::store::bounded::Bounded;
use crate::store::postgres_transaction::{Parts, PostgresTransaction};

/// An open transaction.
#[derive(Debug)]
pub(super) enum OpenTransaction {
    /// A savepoint of the common transaction of a SQLite file.
    Shared(DatabaseTransaction),
    /// PostgreSQL's own.
    Own(Bounded<PostgresTransaction>),
}

impl OpenTransaction {
    /// Begins one of PostgreSQL's own.
    pub(super) async fn own(pool: &Bounded<DatabaseConnection>) -> Result<Self, DbErr> {
        Ok(Self::Own(pool.begin_own().await?))
    }

    pub(super) async fn commit(self) -> Result<(), DbErr> {
        match self {
            Self::Shared(transaction) => transaction.commit().await,
            Self::Own(transaction) => transaction.commit().await,
        }
    }

    pub(super) async fn rollback(self) -> Result<(), DbErr> {
        match self {
            Self::Shared(transaction) => transaction.rollback().await,
            Self::Own(transaction) => transaction.rollback().await,
        }
    }

    /// Sends rows to a `COPY … FROM STDIN`, part by part; how many they were. `None` = this database has no such thing.
    pub(super) async fn copy_in(&self, text: &str, parts: Parts<'_>) -> Result<Option<u64>, DbErr> {
        match self {
            Self::Shared(_) => Ok(None),
            Self::Own(transaction) => transaction.copy_in(text, parts).await.map(Some),
        }
    }
}

#[async_trait::async_trait]
impl ConnectionTrait for OpenTransaction {
    fn get_database_backend(&self) -> DbBackend {
        match self {
            Self::Shared(transaction) => transaction.get_database_backend(),
            Self::Own(transaction) => transaction.get_database_backend(),
        }
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        match self {
            Self::Shared(transaction) => transaction.execute_raw(statement).await,
            Self::Own(transaction) => transaction.execute_raw(statement).await,
        }
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        match self {
            Self::Shared(transaction) => transaction.execute_unprepared(sql).await,
            Self::Own(transaction) => transaction.execute_unprepared(sql).await,
        }
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        match self {
            Self::Shared(transaction) => transaction.query_one_raw(statement).await,
            Self::Own(transaction) => transaction.query_one_raw(statement).await,
        }
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        match self {
            Self::Shared(transaction) => transaction.query_all_raw(statement).await,
            Self::Own(transaction) => transaction.query_all_raw(statement).await,
        }
    }
}
