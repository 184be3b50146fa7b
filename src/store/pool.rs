//! Pools of connections, and how each kind of database is tuned.
//!
//! SQLite runs in WAL mode with `synchronous=FULL`: committed data survives a power cut. On PostgreSQL no client
//! waits for ever: the server ends statements that wait too long for a lock or take too long, and transactions that
//! their client has left open. Work whose statements are long by design has a pool without a limit for statements.

use std::time::Duration;

use sea_orm::sqlx::postgres::PgConnection;
use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
use sea_orm::sqlx::{self, Executor as _};
use sea_orm::{ConnectOptions, DatabaseConnection, DbErr};

use crate::config::limits::StoreLimits;

/// Page cache of the writing connection: room for the index pages that one interval of checks touches.
const WRITER_CACHE_KIB: u32 = 16_384;
/// Page cache of each reading connection; SQLite's own default.
const READER_CACHE_KIB: u32 = 2_000;
/// Pages in the write-ahead log before they are moved into the file: 64 MiB. Results of one service are on one index
/// page, so a page that changes several times between two checkpoints is moved once.
const CHECKPOINT_PAGES: u32 = 16_384;
/// Rows that SQLite's thread reads ahead of their consumer: with few, both threads wake each other all the time.
const ROWS_AHEAD: usize = 1_024;
/// The time for which an unused connection for long statements is kept.
const IDLE: Duration = Duration::from_secs(60);
/// The time that PostgreSQL has for an answer without work, before that counts as silence: that it has ended a
/// statement, or a transaction.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
/// The server probes a silent client after 10 s, three times within 15 s, and then drops it.
const KEEP_ALIVE: [(&str, &str); 3] =
    [("tcp_keepalives_idle", "10"), ("tcp_keepalives_interval", "5"), ("tcp_keepalives_count", "3")];
/// The time for which a connection that was returned counts as alive.
const TRUSTED: Duration = Duration::from_secs(1);
/// The time after which a statement that is long by design counts as unanswered.
pub(super) const LONGEST: Duration = Duration::from_secs(3_600);

/// The one connection that writes to a SQLite file.
pub(super) async fn sqlite_writer(url: &str, limits: &StoreLimits) -> Result<DatabaseConnection, DbErr> {
    sqlite(url, 1, WRITER_CACHE_KIB, limits).await
}

/// The connections that read a SQLite file.
pub(super) async fn sqlite_readers(url: &str, limits: &StoreLimits) -> Result<DatabaseConnection, DbErr> {
    sqlite(url, limits.sqlite_readers, READER_CACHE_KIB, limits).await
}

async fn sqlite(
    url: &str,
    connections: u32,
    cache_kib: u32,
    limits: &StoreLimits,
) -> Result<DatabaseConnection, DbErr> {
    let busy = Duration::from_secs(limits.acquire_timeout_seconds);
    let mut options = options(url, connections, limits);
    options.min_connections(1).test_before_acquire(false).map_sqlx_sqlite_opts(move |sqlite| {
        sqlite
            .create_if_missing(true)
            .foreign_keys(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(busy)
            .row_buffer_size(ROWS_AHEAD)
            .pragma("cache_size", format!("-{cache_kib}"))
            .pragma("wal_autocheckpoint", CHECKPOINT_PAGES.to_string())
            // Statement journals: small, short-lived, and of no use after a crash.
            .pragma("temp_store", "memory")
    });
    sea_orm::Database::connect(options).await
}

/// Connections to a PostgreSQL server, which may become available later.
pub(super) async fn postgres(url: &str, limits: &StoreLimits) -> Result<DatabaseConnection, DbErr> {
    let mut options = options(url, limits.postgres_connections, limits);
    let statement = format!("{}s", limits.statement_timeout_seconds);
    // The check whether a connection is alive takes as long as most statements.
    options.min_connections(1).test_before_acquire_if_idle_for(TRUSTED);
    connect_lazily(options, limits, vec![("statement_timeout", statement)]).await
}

/// Connections for statements that are long by design; they too do not wait long for a lock.
pub(super) async fn unhurried_postgres(url: &str, limits: &StoreLimits) -> Result<DatabaseConnection, DbErr> {
    let mut options = options(url, limits.postgres_connections, limits);
    options.min_connections(0).idle_timeout(IDLE).test_before_acquire(true);
    connect_lazily(options, limits, Vec::new()).await
}

async fn connect_lazily(
    mut options: ConnectOptions,
    limits: &StoreLimits,
    mut settings: Vec<(&'static str, String)>,
) -> Result<DatabaseConnection, DbErr> {
    settings.push(("lock_timeout", format!("{}s", limits.lock_timeout_seconds)));
    let idle = format!("{}s", limits.forgotten_transaction_seconds);
    settings.push(("idle_in_transaction_session_timeout", idle));
    // No other limit ends a statement that waits for its client, as a COPY does, behind a network that swallows packets.
    settings.extend(KEEP_ALIVE.map(|(name, value)| (name, value.to_owned())));
    // A returned connection warns that it was in no transaction: nearly none is.
    settings.push(("client_min_messages", "error".into()));
    options.connect_lazy(true);
    options.map_sqlx_postgres_pool_opts(|pool| {
        pool.after_release(|connection, _| Box::pin(leave_transaction(connection)))
    });
    options.map_sqlx_postgres_opts(move |postgres| postgres.options(settings.clone()));
    sea_orm::Database::connect(options).await
}

/// Ends the transaction that a returned connection may be in: a `BEGIN` that was given up, by its deadline or with
/// its request, may have happened without the driver's knowledge. An error makes the pool close the connection at
/// once, so that one behind a dead network takes no slot.
async fn leave_transaction(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let left = tokio::time::timeout(ANSWER_LIMIT, connection.execute("ROLLBACK")).await;
    left.map_err(|_| sqlx::Error::PoolTimedOut)??;
    Ok(true)
}

fn options(url: &str, connections: u32, limits: &StoreLimits) -> ConnectOptions {
    let patience = Duration::from_secs(limits.acquire_timeout_seconds);
    let mut options = ConnectOptions::new(url);
    options.max_connections(connections).acquire_timeout(patience).connect_timeout(patience);
    options.sqlx_logging(false).record_stmt_in_spans(false);
    options
}

/// The time after which a statement counts as unanswered, where the server should have ended it.
pub(super) const fn silence(limits: &StoreLimits) -> Duration {
    ANSWER_LIMIT.saturating_add(Duration::from_secs(limits.statement_timeout_seconds))
}
