//! A transaction of PostgreSQL on a connection of the pool. It can also insert rows by `COPY`, which sea-orm's own
//! transactions cannot do.
//!
//! Dropping a transaction rolls it back: the pool ends the transaction of a returned connection (see `pool`).

use std::sync::Arc;

use sea_orm::sqlx::postgres::{PgConnection, PgPool, Postgres};
use sea_orm::sqlx::query::Query;
use sea_orm::sqlx::{self, AssertSqlSafe, Executor as _, pool::PoolConnection};
use sea_orm::{
    ConnAcquireErr, ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, RuntimeErr, Statement,
};
use sea_query_sqlx::SqlxValues;
use tokio::sync::Mutex;

/// The data of a `COPY` in parts. The server works on one part while the next one is made.
pub(super) type CopyParts<'r> = Box<dyn Iterator<Item = Vec<u8>> + Send + 'r>;

/// An open transaction of PostgreSQL.
#[derive(Debug)]
pub struct PostgresTransaction {
    /// Locked during each statement, because a connection runs one statement at a time.
    connection: Mutex<PoolConnection<Postgres>>,
}

impl PostgresTransaction {
    /// Starts a transaction on the next free connection with the `BEGIN …` in `text`, whose settings need no extra round
    /// trip.
    ///
    /// A connection that was used a moment ago may be dead. In this case nothing has started, and the next connection is
    /// tried.
    pub(super) async fn begin(pool: &PgPool, text: &'static str) -> Result<Self, DbErr> {
        let mut untried = pool.options().get_max_connections();
        loop {
            let mut connection = pool.acquire().await.map_err(not_acquired)?;
            match connection.execute(text).await {
                Ok(_) => return Ok(Self { connection: Mutex::new(connection) }),
                Err(error) if untried == 0 || !is_gone(&error) => return Err(not_executed(error)),
                Err(_) => {
                    connection.close_on_drop();
                    untried -= 1;
                }
            }
        }
    }

    pub(super) async fn commit(self) -> Result<(), DbErr> {
        self.execute_unprepared("COMMIT").await.map(drop)
    }

    pub(super) async fn rollback(self) -> Result<(), DbErr> {
        self.execute_unprepared("ROLLBACK").await.map(drop)
    }

    /// Sends rows to a `COPY … FROM STDIN` in parts; returns the number of rows.
    pub(super) async fn copy_in(&self, text: &str, parts: CopyParts<'_>) -> Result<u64, DbErr> {
        let mut connection = self.connection.lock().await;
        let mut copying = CopyGuard { connection: &mut connection, is_over: false };
        let copied = copy(copying.connection, text, parts).await;
        // If the server reported success or an error, the copy has ended, and the connection can be used again.
        copying.is_over = matches!(copied, Ok(_) | Err(sqlx::Error::Database(_)));
        drop(copying);
        copied.map_err(not_executed)
    }
}

async fn copy(connection: &mut PgConnection, text: &str, parts: CopyParts<'_>) -> Result<u64, sqlx::Error> {
    let mut copy = connection.copy_in_raw(text).await?;
    for part in parts {
        copy.send(part).await?;
    }
    copy.finish().await
}

/// A connection in the middle of a `COPY`. If the copy does not end properly, the connection is closed: otherwise the rest
/// of the server's reply would be taken for the answer to the next statement.
struct CopyGuard<'c> {
    connection: &'c mut PoolConnection<Postgres>,
    is_over: bool,
}

impl Drop for CopyGuard<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.connection.close_on_drop();
        }
    }
}

#[async_trait::async_trait]
impl ConnectionTrait for PostgresTransaction {
    fn get_database_backend(&self) -> DbBackend {
        DbBackend::Postgres
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        let mut connection = self.connection.lock().await;
        let done = query(&statement).execute(&mut **connection).await;
        done.map(Into::into).map_err(not_executed)
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        let mut connection = self.connection.lock().await;
        let done = connection.execute(AssertSqlSafe(sql.to_owned())).await;
        done.map(Into::into).map_err(not_executed)
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        let mut connection = self.connection.lock().await;
        let found = query(&statement).fetch_optional(&mut **connection).await;
        Ok(found.map_err(not_queried)?.map(Into::into))
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let mut connection = self.connection.lock().await;
        let found = query(&statement).fetch_all(&mut **connection).await;
        Ok(found.map_err(not_queried)?.into_iter().map(Into::into).collect())
    }
}

fn query(statement: &Statement) -> Query<'_, Postgres, SqlxValues> {
    let values = statement.values.clone().unwrap_or(sea_orm::Values(Vec::new()));
    sqlx::query_with(AssertSqlSafe(statement.sql.as_str()), SqlxValues(values))
}

/// Returns true if the server is no longer at the other end of the connection, or is about to close it.
fn is_gone(error: &sqlx::Error) -> bool {
    let is_ended = |code: &str| matches!(code, "57P01" | "57P02" | "57P03");
    matches!(error, sqlx::Error::Io(_))
        || error.as_database_error().and_then(|error| error.code()).is_some_and(|code| is_ended(&code))
}

fn not_acquired(error: sqlx::Error) -> DbErr {
    match error {
        sqlx::Error::PoolTimedOut => DbErr::ConnectionAcquire(ConnAcquireErr::Timeout),
        sqlx::Error::PoolClosed => DbErr::ConnectionAcquire(ConnAcquireErr::ConnectionClosed),
        error => DbErr::Conn(RuntimeErr::SqlxError(Arc::new(error))),
    }
}

fn not_executed(error: sqlx::Error) -> DbErr {
    DbErr::Exec(RuntimeErr::SqlxError(Arc::new(error)))
}

fn not_queried(error: sqlx::Error) -> DbErr {
    DbErr::Query(RuntimeErr::SqlxError(Arc::new(error)))
}
