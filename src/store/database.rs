//! Connections: one writer and several readers per database, and how each kind of database is tuned.
//!
//! SQLite runs in WAL mode with `synchronous=FULL`: what was committed survives a power cut. Its transactions
//! begin as `IMMEDIATE` on the single writer connection, so that none fails half-way for a lock, and share commits (see
//! `transaction`).

use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
use sea_orm::{
    ConnectOptions, ConnectionTrait, DatabaseConnection, DbBackend, DbErr, RuntimeErr, Statement, sqlx,
};
use sea_orm_migration::MigratorTrait;
use tokio::sync::Mutex;
use watchkeeper_migration::{HistoryMigrator, MainMigrator};

use crate::config::limits::StoreLimits;
use crate::store::changes::Changes;
use crate::store::history::History;
use crate::store::transaction::{Group, Transaction};
use crate::store::{HistoryError, MainError};

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

/// An error while opening a database or bringing it up to date.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It cannot be reached or refuses us.
    #[error("cannot open the database {url}: {source}")]
    Connect {
        /// Address without credentials.
        url: String,
        /// The error of the driver.
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
        /// The error of the driver.
        source: DbErr,
    },
}

impl OpenError {
    /// Returns true if nobody answers there. That may change, a refusal will not.
    #[must_use]
    pub fn is_away(&self) -> bool {
        match self {
            Self::Connect { source, .. } | Self::Migrate { source, .. } => is_away(source),
            Self::OldSqlite(_) => false,
        }
    }
}

/// Both databases.
#[derive(Clone, Debug)]
pub struct Databases {
    /// Organisations, tokens, services.
    pub main: Database<MainError>,
    /// Measurements.
    pub history: History,
}

impl Databases {
    /// Opens both databases and brings them up to date.
    ///
    /// # Errors
    /// [`OpenError`] naming the database that cannot be used.
    pub async fn open(main_url: &str, history_url: &str, limits: &StoreLimits) -> Result<Self, OpenError> {
        let databases = Self::open_main(main_url, history_url, limits).await?;
        databases.prepare_history().await?;
        Ok(databases)
    }

    /// The same, but a PostgreSQL of the history may be away: then [`Self::prepare_history`] is still to be done.
    ///
    /// # Errors
    /// [`OpenError`] naming the database that cannot be used.
    pub async fn open_without_waiting(
        main_url: &str,
        history_url: &str,
        limits: &StoreLimits,
    ) -> Result<Self, OpenError> {
        let databases = Self::open_main(main_url, history_url, limits).await?;
        match databases.prepare_history().await {
            Err(error) if error.is_away() => {
                tracing::error!(%error, "the history database is away; checks run, and results wait for it");
            }
            prepared => prepared?,
        }
        Ok(databases)
    }

    async fn open_main(main_url: &str, history_url: &str, limits: &StoreLimits) -> Result<Self, OpenError> {
        let main = Database::connect(main_url, limits).await?;
        let history = History::connect(history_url, limits).await?;
        let migrated = MainMigrator::up(&main.writer, None).await;
        migrated.map_err(|source| OpenError::Migrate { url: main.url.clone(), source })?;
        Ok(Self { main, history })
    }

    /// Brings the history up to date. Until that is done nothing can be written to it, and it counts as away.
    ///
    /// # Errors
    /// [`OpenError`] when it is away or cannot be migrated.
    pub async fn prepare_history(&self) -> Result<(), OpenError> {
        let history = self.history.rows();
        let migrated = HistoryMigrator::up(&history.writer, None).await;
        migrated.map_err(|source| OpenError::Migrate { url: history.url.clone(), source })?;
        history.is_prepared.store(true, Ordering::Release);
        Ok(())
    }
}

/// One database: a connection to write with and a pool to read from. `E` is the error that says which of the two it is.
#[derive(Debug)]
pub struct Database<E = MainError> {
    writer: DatabaseConnection,
    reader: DatabaseConnection,
    url: String,
    /// SQLite: whose turn it is to write; PostgreSQL lets everybody.
    turn: Option<Arc<Mutex<Group>>>,
    changes: Arc<Changes>,
    patience: Duration,
    /// Its migrations are done.
    is_prepared: Arc<AtomicBool>,
    error: PhantomData<fn() -> E>,
}

impl Database {
    /// Connects to a main database without migrating it.
    ///
    /// # Errors
    /// [`OpenError`] when it cannot be reached, or is a SQLite that corrupts its files.
    pub async fn connect(url: &str, limits: &StoreLimits) -> Result<Self, OpenError> {
        Self::connect_any(url, limits).await
    }
}

impl Database<HistoryError> {
    /// Connects to a history without migrating it; until that is done, it counts as away.
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
        let refused = |source| OpenError::Connect { url: shown.clone(), source };
        let is_prepared = Arc::new(AtomicBool::new(true));
        if !url.starts_with("sqlite:") {
            let pool = connect_pool(url, limits.postgres_connections, 0, limits).await.map_err(refused)?;
            return Ok(Self {
                writer: pool.clone(),
                reader: pool,
                url: shown,
                turn: None,
                changes: Arc::default(),
                patience,
                is_prepared,
                error: PhantomData,
            });
        }
        let writer = connect_pool(url, 1, WRITER_CACHE_KIB, limits).await.map_err(refused)?;
        let version = sqlite_version(&writer).await.map_err(refused)?;
        if !is_sound_sqlite(&version) {
            return Err(OpenError::OldSqlite(version));
        }
        let reader =
            connect_pool(url, limits.sqlite_readers, READER_CACHE_KIB, limits).await.map_err(refused)?;
        let changes = Arc::new(Changes::default());
        let turn = Some(Arc::new(Mutex::new(Group::marking(Arc::clone(&changes)))));
        Ok(Self { writer, reader, url: shown, turn, changes, patience, is_prepared, error: PhantomData })
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
    pub async fn begin(&self) -> Result<Transaction<E>, E> {
        self.demand_prepared()?;
        Ok(match &self.turn {
            Some(turn) => Transaction::shared(&self.writer, turn, self.patience).await?,
            None => Transaction::alone(&self.writer).await?,
        })
    }

    /// Returns what its commits have changed. `None` where other processes write as well (PostgreSQL). A SQLite file is
    /// written by the one process that serves it; the command line adds organisations and tokens to it, and nothing
    /// else.
    #[must_use]
    pub fn changes(&self) -> Option<&Changes> {
        self.turn.as_ref().map(|_| &*self.changes)
    }

    /// Checks that the database answers.
    ///
    /// # Errors
    /// What the driver says when it does not.
    pub async fn ping(&self) -> Result<(), E> {
        self.demand_prepared()?;
        self.reader.execute_unprepared("SELECT 1").await?;
        Ok(())
    }

    /// Returns true if its migrations are done.
    #[must_use]
    pub fn is_prepared(&self) -> bool {
        self.is_prepared.load(Ordering::Acquire)
    }

    pub(in crate::store) fn demand_prepared(&self) -> Result<(), DbErr> {
        let away = || DbErr::Conn(RuntimeErr::Internal("it has been away since the start".into()));
        if self.is_prepared() { Ok(()) } else { Err(away()) }
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

impl<E> Clone for Database<E> {
    fn clone(&self) -> Self {
        Self {
            writer: self.writer.clone(),
            reader: self.reader.clone(),
            url: self.url.clone(),
            turn: self.turn.clone(),
            changes: Arc::clone(&self.changes),
            patience: self.patience,
            is_prepared: Arc::clone(&self.is_prepared),
            error: PhantomData,
        }
    }
}

async fn connect_pool(
    url: &str,
    connections: u32,
    cache_kib: u32,
    limits: &StoreLimits,
) -> Result<DatabaseConnection, DbErr> {
    let busy = Duration::from_secs(limits.acquire_timeout_seconds);
    let mut options = ConnectOptions::new(url);
    options
        .max_connections(connections)
        .min_connections(1)
        .acquire_timeout(busy)
        .connect_timeout(busy)
        // PostgreSQL may come later; a SQLite file can be opened or never.
        .connect_lazy(!url.starts_with("sqlite:"))
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

/// Returns true if the database may answer another time: there is no connection, or a server that just starts or stops.
fn is_away(error: &DbErr) -> bool {
    let (DbErr::Conn(RuntimeErr::SqlxError(error))
    | DbErr::Exec(RuntimeErr::SqlxError(error))
    | DbErr::Query(RuntimeErr::SqlxError(error))) = error
    else {
        return matches!(error, DbErr::ConnectionAcquire(_));
    };
    match &**error {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::Protocol(_) => true,
        // Classes of PostgreSQL: connections, resources, and the operator's doing (57P01 to 57P03).
        sqlx::Error::Database(refusal) => {
            refusal.code().is_some_and(|code| ["08", "53", "57P"].iter().any(|class| code.starts_with(class)))
        }
        _ => false,
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
