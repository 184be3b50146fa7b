//! Connections: one writer and several readers per database, and how each kind of database is tuned.
//!
//! SQLite runs in WAL mode with `synchronous=FULL`: what was committed survives a power cut. Its transactions
//! begin as `IMMEDIATE` on the single writer connection, so that none fails half-way for a lock, and share commits (see
//! `transaction`).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
use sea_orm::{ConnectOptions, ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement};
use sea_orm_migration::MigratorTrait;
use tokio::sync::Mutex;
use watchkeeper_migration::{HistoryMigrator, MainMigrator};

use crate::config::limits::StoreLimits;
use crate::store::StoreError;
use crate::store::history::History;
use crate::store::transaction::{Group, Transaction};

/// Older versions can corrupt a database in WAL mode.
const OLDEST_SQLITE: [u32; 3] = [3, 51, 3];
/// Page cache of the writing connection: room for the index pages that one interval of checks touches.
const WRITER_CACHE_KIB: u32 = 16_384;
/// Page cache of each reading connection; SQLite's own default.
const READER_CACHE_KIB: u32 = 2_000;
/// Pages in the write-ahead log before they are moved into the file: 64 MiB. Results of one service lie on one index
/// page, so a page that changes several times between two checkpoints is moved once.
const CHECKPOINT_PAGES: u32 = 16_384;

/// Rows that SQLite's thread reads ahead of whoever takes them: with few, both threads wake each other all the time.
const ROWS_AHEAD: usize = 1_024;

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It cannot be reached or refuses us.
    #[error("cannot open the database {url}: {source}")]
    Connect {
        /// Address without credentials.
        url: String,
        /// What the driver said.
        source: DbErr,
    },
    /// The linked SQLite has a known corruption bug.
    #[error("SQLite {0} can corrupt its files; at least 3.51.3 is needed")]
    OldSqlite(String),
    /// A migration failed.
    #[error("cannot bring the database {url} up to date: {source}")]
    Migrate {
        /// Address without credentials.
        url: String,
        /// What the driver said.
        source: DbErr,
    },
}

/// Both databases.
#[derive(Clone, Debug)]
pub struct Databases {
    /// Organisations, tokens, services.
    pub main: Database,
    /// Measurements.
    pub history: History,
}

impl Databases {
    /// Opens both databases and brings them up to date.
    ///
    /// # Errors
    /// [`OpenError`] naming the database that cannot be used.
    pub async fn open(main_url: &str, history_url: &str, limits: &StoreLimits) -> Result<Self, OpenError> {
        let main = Database::connect(main_url, limits).await?;
        let history = History::connect(history_url, limits).await?;
        let databases = Self { main, history };
        databases.migrate().await?;
        Ok(databases)
    }

    async fn migrate(&self) -> Result<(), OpenError> {
        let failed = |database: &Database| {
            let url = database.url.clone();
            move |source| OpenError::Migrate { url, source }
        };
        MainMigrator::up(&self.main.writer, None).await.map_err(failed(&self.main))?;
        let history = self.history.rows();
        HistoryMigrator::up(&history.writer, None).await.map_err(failed(history))
    }
}

/// One database: a connection to write with and a pool to read from.
#[derive(Clone, Debug)]
pub struct Database {
    writer: DatabaseConnection,
    reader: DatabaseConnection,
    url: String,
    /// SQLite: whose turn it is to write; PostgreSQL lets everybody.
    turn: Option<Arc<Mutex<Group>>>,
    commits: Arc<AtomicU64>,
    patience: Duration,
}

impl Database {
    /// Connects without migrating.
    ///
    /// # Errors
    /// [`OpenError`] when it cannot be reached, or is a SQLite that corrupts its files.
    pub async fn connect(url: &str, limits: &StoreLimits) -> Result<Self, OpenError> {
        let shown = without_credentials(url);
        let patience = Duration::from_secs(limits.acquire_timeout_seconds);
        let refused = |source| OpenError::Connect { url: shown.clone(), source };
        if !url.starts_with("sqlite:") {
            let pool = connect_pool(url, (limits.postgres_connections, 0), limits).await.map_err(refused)?;
            return Ok(Self {
                writer: pool.clone(),
                reader: pool,
                url: shown,
                turn: None,
                commits: Arc::default(),
                patience,
            });
        }
        let writer = connect_pool(url, (1, WRITER_CACHE_KIB), limits).await.map_err(refused)?;
        let version = sqlite_version(&writer).await.map_err(refused)?;
        if !is_sound_sqlite(&version) {
            return Err(OpenError::OldSqlite(version));
        }
        let reader =
            connect_pool(url, (limits.sqlite_readers, READER_CACHE_KIB), limits).await.map_err(refused)?;
        let commits = Arc::new(AtomicU64::new(0));
        let turn = Some(Arc::new(Mutex::new(Group::counting(Arc::clone(&commits)))));
        Ok(Self { writer, reader, url: shown, turn, commits, patience })
    }

    /// The connection for statements that only read.
    #[must_use]
    pub const fn reader(&self) -> &DatabaseConnection {
        &self.reader
    }

    /// Begins a transaction that will write.
    ///
    /// # Errors
    /// When the database is away or busy for longer than the configured wait.
    pub async fn begin(&self) -> Result<Transaction, DbErr> {
        match &self.turn {
            Some(turn) => Transaction::shared(&self.writer, turn, self.patience).await,
            None => Transaction::alone(&self.writer).await,
        }
    }

    /// A number that changes with every commit, before the commit is acknowledged: what was read while it stood still is
    /// still what is stored. `None` where other processes write as well (PostgreSQL). A SQLite file is written by the one
    /// process that serves it; the command line adds organisations and tokens to it, and nothing else.
    #[must_use]
    pub fn generation(&self) -> Option<u64> {
        self.turn.as_ref().map(|_| self.commits.load(Ordering::Acquire))
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// What the driver says when it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.reader.execute_unprepared("SELECT 1").await?;
        Ok(())
    }

    /// Closes all connections, waiting for running statements.
    pub async fn close(self) {
        for connection in [self.writer, self.reader] {
            if let Err(error) = connection.close().await {
                tracing::warn!(database = self.url, %error, "closing a database failed");
            }
        }
    }
}

async fn connect_pool(
    url: &str,
    (connections, cache_kib): (u32, u32),
    limits: &StoreLimits,
) -> Result<DatabaseConnection, DbErr> {
    let busy = Duration::from_secs(limits.acquire_timeout_seconds);
    let mut options = ConnectOptions::new(url);
    options
        .max_connections(connections)
        .min_connections(1)
        .acquire_timeout(busy)
        .connect_timeout(busy)
        .sqlx_logging(false)
        .record_stmt_in_spans(false)
        .test_before_acquire(!url.starts_with("sqlite:"))
        .map_sqlx_sqlite_opts(move |sqlite| {
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

async fn sqlite_version(connection: &DatabaseConnection) -> Result<String, DbErr> {
    let question = Statement::from_string(DbBackend::Sqlite, "SELECT sqlite_version() AS version");
    let row = connection.query_one_raw(question).await?;
    row.map_or_else(|| Ok(String::new()), |row| row.try_get("", "version"))
}

fn is_sound_sqlite(version: &str) -> bool {
    let parts: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
    parts.as_slice() >= OLDEST_SQLITE.as_slice()
}

/// The address with the user info left out, for logs and error texts.
fn without_credentials(url: &str) -> String {
    match url::Url::parse(url) {
        Ok(mut parsed) if parsed.has_host() => {
            let _ = parsed.set_username("");
            let _ = parsed.set_password(None);
            parsed.set_query(None);
            parsed.to_string()
        }
        _ => url.to_owned(),
    }
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

    #[rstest]
    #[case("postgres://me:secret@127.0.0.1:5432/wk?password=secret", "postgres://127.0.0.1:5432/wk")]
    #[case("sqlite:///data/main.db?mode=rwc", "sqlite:///data/main.db?mode=rwc")]
    fn credentials_are_not_shown(#[case] url: &str, #[case] shown: &str) {
        assert_eq!(without_credentials(url), shown);
    }
}
