//! Connection pools, and the settings of each database system.
//!
//! SQLite runs in WAL mode with `synchronous=FULL`: committed data survives a power failure. On PostgreSQL no client waits
//! forever: the server ends statements that run too long or wait too long for a lock, and transactions that their client
//! has abandoned. Work whose statements take long by design has a pool without a statement timeout.

use std::time::Duration;

use sea_orm::sqlx::postgres::PgConnection;
use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
use sea_orm::sqlx::{self, Executor as _};
use sea_orm::{ConnectOptions, DatabaseConnection, DbErr};

use crate::config::limits::StoreLimits;

/// Page cache of the writing connection: it holds the index pages that one interval of checks changes.
const WRITER_CACHE_KIB: u32 = 16_384;
/// Page cache of each reading connection, the default of SQLite.
const READER_CACHE_KIB: u32 = 2_000;
/// Size of the write-ahead log, in pages, at which it is moved into the file: 64 MiB. Results of one service are on the
/// same index page, and a page that changes several times between two checkpoints is moved only once.
const CHECKPOINT_PAGES: u32 = 16_384;
/// Number of rows that SQLite's thread reads ahead of their consumer. With few, the two threads would wake each other
/// constantly.
const ROWS_AHEAD: usize = 1_024;
/// Time after which an unused connection for long statements is closed.
const IDLE: Duration = Duration::from_secs(60);
/// Time that PostgreSQL has to report the end of a statement or transaction. After it, the server counts as not
/// answering.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
/// The server probes a silent client after 10 s, three times at intervals of 5 s, and then closes the connection.
const KEEP_ALIVE: [(&str, &str); 3] =
    [("tcp_keepalives_idle", "10"), ("tcp_keepalives_interval", "5"), ("tcp_keepalives_count", "3")];
/// Time for which a connection that was returned to the pool is used again without testing it.
const TRUSTED: Duration = Duration::from_secs(1);
/// Time after which a statement that takes long by design counts as unanswered.
pub(super) const LONGEST: Duration = Duration::from_secs(3_600);

/// Opens the single connection that writes to a SQLite file.
pub(super) async fn sqlite_writer(url: &str, limits: &StoreLimits) -> Result<DatabaseConnection, DbErr> {
    sqlite(url, 1, WRITER_CACHE_KIB, limits).await
}

/// Opens the connections that read a SQLite file.
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
            // For statement journals, which are small, short-lived, and useless after a crash.
            .pragma("temp_store", "memory")
    });
    sea_orm::Database::connect(options).await
}

/// Opens a pool for a PostgreSQL server, which need not be available yet.
pub(super) async fn postgres(url: &str, limits: &StoreLimits) -> Result<DatabaseConnection, DbErr> {
    let mut options = options(url, limits.postgres_connections, limits);
    let statement = format!("{}s", limits.statement_timeout_seconds);
    // Testing whether a connection is alive takes as long as most statements.
    options.min_connections(1).test_before_acquire_if_idle_for(TRUSTED);
    connect_lazily(options, limits, vec![("statement_timeout", statement)]).await
}

/// Opens a pool for statements that take long by design. The limit for waiting for a lock applies to them as well.
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
    // No other limit ends a statement that waits for its client, such as a `COPY`, if the network drops packets.
    settings.extend(KEEP_ALIVE.map(|(name, value)| (name, value.to_owned())));
    // Suppresses the warning of `ROLLBACK` outside of a transaction, which nearly every returned connection would cause.
    settings.push(("client_min_messages", "error".into()));
    options.connect_lazy(true);
    options.map_sqlx_postgres_pool_opts(|pool| {
        pool.after_release(|connection, _| Box::pin(leave_transaction(connection)))
    });
    options.map_sqlx_postgres_opts(move |postgres| postgres.options(settings.clone()));
    sea_orm::Database::connect(options).await
}

/// Ends the transaction in which a returned connection may be: if the future of a `BEGIN` was dropped, by a deadline or
/// with its request, the server may have started a transaction that the driver does not know of. On an error the pool
/// closes the connection at once, so that a connection behind a dead network does not occupy a slot.
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

/// Time after which a statement counts as unanswered, because the server should have ended it before.
pub(super) const fn silence(limits: &StoreLimits) -> Duration {
    ANSWER_LIMIT.saturating_add(Duration::from_secs(limits.statement_timeout_seconds))
}
