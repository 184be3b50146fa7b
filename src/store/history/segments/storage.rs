//! Storage of segments: each is in a file beside the history database (SQLite), or in a pair of table partitions of the
//! history database (PostgreSQL).
//!
//! Dropping a segment removes files or partitions: no rows are deleted, and nothing is vacuumed. A reader of a segment
//! that is dropped meanwhile gets an error, never an empty result.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sea_orm::sqlx::sqlite::{SqliteAutoVacuum, SqliteJournalMode, SqliteSynchronous};
use sea_orm::{ConnectOptions, ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement, Value};
use sea_orm_migration::MigratorTrait as _;
use watchkeeper_migration::SegmentMigrator;

use crate::config::limits::StoreLimits;
use crate::store::bounded_handle::Reader;
use crate::store::error::HistoryError;
use crate::store::history::segments::folder_lock::lock_segments;
use crate::store::history::segments::{Segment, SegmentId};

/// Page size of a segment file in bytes. Most of a block is in overflow pages, and small pages waste less at its end.
const PAGE_BYTES: u32 = 1_024;
/// Maximum number of connections to one segment file: one writer, and readers for the API.
const CONNECTIONS: u32 = 3;
/// Time after which an unused connection to a segment file is closed.
const IDLE: Duration = Duration::from_secs(60);
/// Number of segments of PostgreSQL that one statement reads.
const PARTITIONS_TOGETHER: usize = 16;
/// Number of segment files that one query reads at the same time.
const FILES_AT_ONCE: usize = 4;
/// Size of the write-ahead log of a segment file, in pages, at which it is moved into the file: 16 MiB.
const CHECKPOINT_PAGES: u32 = 16_384;

/// The storage of the segments of one history database.
#[derive(Clone, Debug)]
pub enum SegmentStorage {
    /// Files in a folder.
    Files(SegmentFiles),
    /// Table partitions of the history database.
    Partitions(Reader),
}

/// Segment files in a folder, and the open connections to them.
#[derive(Clone, Debug)]
pub struct SegmentFiles {
    folder: PathBuf,
    busy: Duration,
    open: Arc<Mutex<HashMap<SegmentId, DatabaseConnection>>>,
}

/// Limits for reading several segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingPace {
    /// Number of segments that one statement reads.
    pub together: usize,
    /// Number of statements that run at the same time.
    pub at_once: usize,
}

/// A connection to one segment, and the names of its tables.
#[derive(Clone, Debug)]
pub struct SegmentConnection {
    /// The connection that statements run on.
    pub connection: Reader,
    /// Name of the table of blocks.
    pub blocks: String,
    /// Name of the table of rollups.
    pub rollups: String,
}

impl SegmentConnection {
    /// A statement for the database of the segment.
    pub(in crate::store::history) fn statement(
        &self,
        text: String,
        values: impl IntoIterator<Item = Value>,
    ) -> Statement {
        let backend: DbBackend = self.connection.get_database_backend();
        Statement::from_sql_and_values(backend, text, values)
    }
}

/// A segment of the catalogue with a connection to its contents. On PostgreSQL all segments share one connection pool.
#[derive(Clone, Debug)]
pub struct OpenSegment {
    /// The segment in the catalogue.
    pub segment: Segment,
    /// Connection to the segment, and its tables.
    pub opened: SegmentConnection,
}

impl SegmentStorage {
    /// Storage in a folder beside this SQLite file, with the same name and the extension `.segments`.
    pub(in crate::store) fn beside(file: &Path, limits: &StoreLimits) -> Self {
        Self::Files(SegmentFiles {
            folder: file.with_extension("segments"),
            busy: Duration::from_secs(limits.acquire_timeout_seconds),
            open: Arc::default(),
        })
    }

    /// Creates the segment's file or partitions if they do not exist.
    ///
    /// # Errors
    ///
    /// Also when the folder or file cannot be written.
    pub async fn make(&self, id: SegmentId) -> Result<(), HistoryError> {
        match self {
            Self::Files(files) => files.make(id).await,
            Self::Partitions(connection) => Ok(make_partitions(connection, id).await?),
        }
    }

    /// Returns a connection to this segment.
    ///
    /// # Errors
    ///
    /// When the segment does not exist or cannot be opened.
    pub async fn connect(&self, id: SegmentId) -> Result<SegmentConnection, HistoryError> {
        match self {
            Self::Files(files) => Ok(SegmentConnection {
                connection: Reader::new(files.connection(id).await?, None),
                blocks: "check_block".into(),
                rollups: "check_rollup".into(),
            }),
            // Statements use the name of the partition itself, so that they fail if it does not exist.
            Self::Partitions(connection) => Ok(SegmentConnection {
                connection: connection.clone(),
                blocks: format!("check_block_{id}"),
                rollups: format!("check_rollup_{id}"),
            }),
        }
    }

    /// Returns a connection to each of these segments.
    ///
    /// # Errors
    ///
    /// When one of them does not exist or cannot be opened.
    pub async fn open(&self, segments: &[Segment]) -> Result<Vec<OpenSegment>, HistoryError> {
        let mut open = Vec::with_capacity(segments.len());
        for segment in segments {
            open.push(OpenSegment { segment: *segment, opened: self.connect(segment.id).await? });
        }
        Ok(open)
    }

    /// Returns how many segments are read with one statement, and how many statements run at the same time.
    #[must_use]
    pub const fn pace(&self) -> ReadingPace {
        match self {
            // Each file has its own connections.
            Self::Files(_) => ReadingPace { together: 1, at_once: FILES_AT_ONCE },
            // Segments share the connections of the history with the writers of results.
            Self::Partitions(_) => ReadingPace { together: PARTITIONS_TOGETHER, at_once: 1 },
        }
    }

    /// Drops a segment with its contents. Does nothing if the segment does not exist.
    ///
    /// # Errors
    ///
    /// Also when the file cannot be removed.
    pub async fn drop(&self, id: SegmentId) -> Result<(), HistoryError> {
        match self {
            Self::Files(files) => files.drop(id).await,
            Self::Partitions(connection) => {
                for table in ["check_block", "check_rollup"] {
                    connection.execute_unprepared(&format!("DROP TABLE IF EXISTS {table}_{id}")).await?;
                }
                Ok(())
            }
        }
    }

    /// Returns true if the segment's file does not exist. Always false on PostgreSQL.
    #[must_use]
    pub fn is_lost(&self, id: SegmentId) -> bool {
        match self {
            Self::Files(files) => !files.file(id).exists(),
            Self::Partitions(_) => false,
        }
    }

    /// Size of the segment in bytes, including indexes; 0 after it was dropped.
    pub async fn bytes(&self, id: SegmentId) -> Result<u64, HistoryError> {
        match self {
            Self::Files(files) => Ok(files.bytes(id)),
            Self::Partitions(connection) => {
                let text = format!(
                    "SELECT CAST(COALESCE(SUM(pg_total_relation_size(c.oid)), 0) AS BIGINT) AS bytes FROM pg_class c \
                    WHERE c.oid IN (to_regclass('check_block_{id}'), to_regclass('check_rollup_{id}'))"
                );
                let row = connection.query_one_raw(Statement::from_string(DbBackend::Postgres, text)).await?;
                let bytes: i64 = row.map_or(Ok(0), |row| row.try_get("", "bytes"))?;
                Ok(u64::try_from(bytes).unwrap_or_default())
            }
        }
    }

    /// Moves a segment's write-ahead log into its file, for a segment that gets no more contents for now. SQLite only.
    pub async fn settle(&self, id: SegmentId) -> Result<(), HistoryError> {
        if let Self::Files(files) = self {
            files.connection(id).await?.execute_unprepared("PRAGMA wal_checkpoint(TRUNCATE)").await?;
        }
        Ok(())
    }

    /// Closes all connections to segment files.
    pub async fn close(&self) {
        if let Self::Files(files) = self {
            for (segment, connection) in files.take_all() {
                if let Err(error) = connection.close().await {
                    tracing::warn!(segment, %error, "cannot close a history segment");
                }
            }
        }
    }
}

impl SegmentFiles {
    fn file(&self, id: SegmentId) -> PathBuf {
        self.folder.join(format!("{id:08}.db"))
    }

    /// Paths of the segment file and of the files that SQLite keeps beside it.
    fn files(&self, id: SegmentId) -> [PathBuf; 3] {
        let file = self.file(id);
        ["", "-wal", "-shm"].map(|ending| {
            let mut name = file.clone().into_os_string();
            name.push(ending);
            PathBuf::from(name)
        })
    }

    /// Takes the lock on the segment files; `None` if another process holds it.
    pub(in crate::store) fn lock(&self) -> Result<Option<File>, HistoryError> {
        let failed = |error| {
            let problem = format!("cannot take the lock of {}: {error}", self.folder.display());
            HistoryError::from(DbErr::Custom(problem))
        };
        lock_segments(&self.folder).map_err(failed)
    }

    async fn make(&self, id: SegmentId) -> Result<(), HistoryError> {
        let failed = |error: std::io::Error| {
            DbErr::Custom(format!("cannot create the folder {}: {error}", self.folder.display()))
        };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let connection = self.open_file(id, true).await?;
        SegmentMigrator::up(&connection, None).await?;
        Ok(())
    }

    async fn connection(&self, id: SegmentId) -> Result<DatabaseConnection, HistoryError> {
        let known = self.locked().get(&id).cloned();
        match known {
            Some(connection) => Ok(connection),
            None => Ok(self.open_file(id, false).await?),
        }
    }

    async fn open_file(&self, id: SegmentId, create: bool) -> Result<DatabaseConnection, DbErr> {
        let busy = self.busy;
        let mut options = ConnectOptions::new(format!("sqlite://{}", self.file(id).display()));
        options
            .max_connections(CONNECTIONS)
            .min_connections(0)
            .idle_timeout(IDLE)
            .acquire_timeout(busy)
            .connect_timeout(busy)
            .sqlx_logging(false)
            .record_stmt_in_spans(false)
            .test_before_acquire(false)
            .map_sqlx_sqlite_opts(move |sqlite| {
                sqlite
                    .create_if_missing(create)
                    .page_size(PAGE_BYTES)
                    .auto_vacuum(SqliteAutoVacuum::None)
                    .journal_mode(SqliteJournalMode::Wal)
                    .synchronous(SqliteSynchronous::Full)
                    .busy_timeout(busy)
                    .pragma("wal_autocheckpoint", CHECKPOINT_PAGES.to_string())
            });
        let connection = sea_orm::Database::connect(options).await?;
        // If two tasks open the file at the same time, both use the connection that was stored first.
        Ok(self.locked().entry(id).or_insert(connection).clone())
    }

    async fn drop(&self, id: SegmentId) -> Result<(), HistoryError> {
        let connection = self.locked().remove(&id);
        if let Some(connection) = connection {
            connection.close().await?;
        }
        for file in self.files(id) {
            match fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    let problem = format!("{} cannot be removed: {error}", file.display());
                    return Err(DbErr::Custom(problem).into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn bytes(&self, id: SegmentId) -> u64 {
        self.files(id).iter().filter_map(|file| fs::metadata(file).ok()).map(|found| found.len()).sum()
    }

    fn take_all(&self) -> HashMap<SegmentId, DatabaseConnection> {
        std::mem::take(&mut *self.locked())
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, HashMap<SegmentId, DatabaseConnection>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn make_partitions(connection: &Reader, id: SegmentId) -> Result<(), DbErr> {
    for text in partition_texts(id) {
        connection.execute_unprepared(&text).await?;
    }
    Ok(())
}

/// The statements that create the partitions and indexes of a segment, if they do not exist.
pub(in crate::store) fn partition_texts(id: SegmentId) -> [String; 8] {
    [
        format!("CREATE TABLE IF NOT EXISTS check_block_{id} PARTITION OF check_block FOR VALUES IN ({id})"),
        // No compression by PostgreSQL: blocks are already compressed.
        format!("ALTER TABLE check_block_{id} ALTER COLUMN body SET STORAGE EXTERNAL"),
        format!(
            "CREATE INDEX IF NOT EXISTS check_block_{id}_by_service ON check_block_{id} (service_id, last_at)"
        ),
        format!("CREATE INDEX IF NOT EXISTS check_block_{id}_by_batch ON check_block_{id} (batch)"),
        format!(
            "CREATE TABLE IF NOT EXISTS check_rollup_{id} PARTITION OF check_rollup FOR VALUES IN ({id})"
        ),
        format!("ALTER TABLE check_rollup_{id} ALTER COLUMN body SET STORAGE EXTERNAL"),
        format!("CREATE INDEX IF NOT EXISTS check_rollup_{id}_by_batch ON check_rollup_{id} (batch)"),
        format!(
            "CREATE INDEX IF NOT EXISTS check_rollup_{id}_by_service ON check_rollup_{id} (service_id, start)"
        ),
    ]
}
