//! The embedded installation, opened read-only: a snapshot of both databases, and the segment files.
//!
//! No other process may write meanwhile. The lock of the data folder excludes servers and imports; writes of other
//! commands are detected at the end ([`EmbeddedInstallation::require_unchanged`]).

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sea_orm::sqlx;
use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sea_orm::sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _};
use sea_orm_migration::MigratorTrait;
use sha2::{Digest as _, Sha256};
use watchkeeper_migration::{HistoryMigrator, MainMigrator, SegmentMigrator};

use super::error::PromotionError;
use super::tables::{self, TableLayout};
use super::unit::{InstallationPart, PromotionUnit};
use crate::config::limits::StoreLimits;
use crate::store::history::segments::SegmentId;

/// Number of rows that SQLite's thread reads ahead of their consumer.
const ROWS_AHEAD: usize = 1_024;

/// An embedded installation, opened for reading.
#[derive(Debug)]
pub struct EmbeddedInstallation {
    main: SourceDatabase,
    history: SourceDatabase,
    segments: SourceSegments,
}

/// A database with an open transaction, which keeps its snapshot.
#[derive(Debug)]
struct SourceDatabase {
    connection: SqliteConnection,
    file: PathBuf,
    /// SQLite's `data_version` before the transaction started: it changes when another connection commits.
    version: i64,
}

/// The segment files, of which one is open at a time.
#[derive(Debug)]
struct SourceSegments {
    folder: PathBuf,
    busy: Duration,
    open: Option<(SegmentId, SqliteConnection)>,
}

impl EmbeddedInstallation {
    /// Opens both databases and starts their snapshots.
    ///
    /// # Errors
    ///
    /// When a file is missing or cannot be read, or its schema is not the one of this version.
    pub async fn open(main: &Path, history: &Path, limits: &StoreLimits) -> Result<Self, PromotionError> {
        let busy = Duration::from_secs(limits.acquire_timeout_seconds);
        let mut opened = Self {
            main: SourceDatabase::open(main, busy).await?,
            history: SourceDatabase::open(history, busy).await?,
            segments: SourceSegments { folder: history.with_extension("segments"), busy, open: None },
        };
        require_steps::<MainMigrator>(&mut opened.main.connection, main).await?;
        require_steps::<HistoryMigrator>(&mut opened.history.connection, history).await?;
        require_known_tables(&mut opened.main.connection, &tables::main(), "main_migration").await?;
        require_known_tables(&mut opened.history.connection, &tables::history(), "history_migration").await?;
        Ok(opened)
    }

    /// The units to copy, in an order that satisfies foreign keys.
    ///
    /// # Errors
    ///
    /// Also when the file of a published segment is missing.
    pub async fn units(&mut self) -> Result<Vec<PromotionUnit>, PromotionError> {
        let mut units: Vec<PromotionUnit> = tables::main()
            .into_iter()
            .map(|table| PromotionUnit::whole(InstallationPart::Main, table))
            .collect();
        for table in tables::history() {
            let is_catalogue = table.name == "history_segment";
            let mut unit = PromotionUnit::whole(InstallationPart::History, table);
            // Retired segments are left out, because they get no new readers.
            unit.filter = is_catalogue.then(|| "retired_at IS NULL".to_owned());
            units.push(unit);
        }
        for (id, sealed_batch) in self.catalogue().await? {
            if sealed_batch == 0 {
                continue;
            }
            let file = self.segments.file(id);
            if !file.exists() {
                return Err(PromotionError::refused(format!(
                    "the segment file {} is missing",
                    file.display()
                )));
            }
            units.extend(
                tables::segment().into_iter().map(|table| PromotionUnit::of_segment(id, table, sealed_batch)),
            );
        }
        Ok(units)
    }

    /// The numbers of the segments in the catalogue that are not retired.
    pub(super) async fn segment_ids(&mut self) -> Result<Vec<SegmentId>, PromotionError> {
        Ok(self.catalogue().await?.into_iter().map(|(id, _)| id).collect())
    }

    async fn catalogue(&mut self) -> Result<Vec<(SegmentId, i64)>, PromotionError> {
        let text = "SELECT id, sealed_batch FROM history_segment WHERE retired_at IS NULL ORDER BY id";
        let rows = sqlx::query_as(text).fetch_all(&mut self.history.connection).await;
        rows.map_err(PromotionError::Source)
    }

    /// The connection to the database or segment file of a unit.
    pub(super) async fn connection(
        &mut self,
        unit: &PromotionUnit,
    ) -> Result<&mut SqliteConnection, PromotionError> {
        match unit.part {
            InstallationPart::Main => Ok(&mut self.main.connection),
            InstallationPart::History => Ok(&mut self.history.connection),
            InstallationPart::Segment(id) => self.segments.connection(id).await,
        }
    }

    /// The number of rows in a unit.
    pub async fn count(&mut self, unit: &PromotionUnit) -> Result<u64, PromotionError> {
        let text = unit.source_rows().count();
        let connection = self.connection(unit).await?;
        let rows: i64 = sqlx::query_scalar(AssertSqlSafe(text))
            .fetch_one(connection)
            .await
            .map_err(PromotionError::Source)?;
        Ok(rows.unsigned_abs())
    }

    /// The largest key that the database ever assigned in this table (`AUTOINCREMENT`); `None` if it has assigned none.
    pub(super) async fn last_drawn(&mut self, unit: &PromotionUnit) -> Result<Option<i64>, PromotionError> {
        let name = unit.table.name;
        let text = "SELECT seq FROM sqlite_sequence WHERE name = ?";
        let query = sqlx::query_scalar(text).bind(name);
        let drawn = query.fetch_optional(self.connection(unit).await?).await;
        drawn.map_err(PromotionError::Source)
    }

    /// The sealed check value of the secret key.
    ///
    /// # Errors
    ///
    /// Also when no server was ever started on this installation.
    pub async fn key_check(&mut self) -> Result<String, PromotionError> {
        let text = "SELECT value FROM installation WHERE name = 'key_check'";
        let found: Option<String> = sqlx::query_scalar(text)
            .fetch_optional(&mut self.main.connection)
            .await
            .map_err(PromotionError::Source)?;
        found
            .ok_or_else(|| PromotionError::refused("there is no installation here: nothing was ever started"))
    }

    /// The name of this installation in markers: a digest of the check value of its secret key.
    pub(super) async fn id(&mut self) -> Result<String, PromotionError> {
        Ok(hex(&Sha256::digest(self.key_check().await?.as_bytes())))
    }

    /// A digest of the sizes and times of the files of both databases, which every commit changes. A promotion that
    /// continues uses it to check that the source has not changed. Segments are never written to without a commit of the
    /// history.
    pub(super) fn state(&self) -> String {
        let mut sum = Sha256::new();
        for file in [&self.main.file, &self.history.file] {
            for ending in ["", "-wal"] {
                let mut name = file.clone().into_os_string();
                name.push(ending);
                // A reader may create the log file, so an empty one is ignored.
                let found = std::fs::metadata(PathBuf::from(name)).ok().filter(|found| found.len() > 0);
                let marks = found
                    .map_or([0; 3], |found| [found.size().cast_signed(), found.mtime(), found.mtime_nsec()]);
                marks.iter().for_each(|mark| sum.update(mark.to_be_bytes()));
            }
        }
        hex(&sum.finalize())
    }

    /// Messages about rows that refer to missing rows, which PostgreSQL would refuse.
    pub async fn dangling(&mut self) -> Result<Vec<String>, PromotionError> {
        let rows = sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut self.main.connection).await;
        let rows = rows.map_err(PromotionError::Source)?;
        let texts = rows.iter().map(|row| {
            let (table, parent): (String, String) = (row.try_get(0)?, row.try_get(2)?);
            let number: Option<i64> = row.try_get(1)?;
            let number = number.map(|number| format!(" {number}")).unwrap_or_default();
            Ok(format!("{table}: the row{number} refers to a row of {parent} that does not exist"))
        });
        texts.collect::<Result<_, _>>().map_err(PromotionError::Source)
    }

    /// Ends the snapshots, and checks that no other process has written to the databases since they were opened.
    ///
    /// # Errors
    ///
    /// When another process has written to one of them.
    pub(super) async fn require_unchanged(&mut self) -> Result<(), PromotionError> {
        for held in [&mut self.main, &mut self.history] {
            if !held.is_unchanged().await.map_err(PromotionError::Source)? {
                return Err(PromotionError::refused(
                    "the embedded installation was changed during the promotion; empty the target and promote again",
                ));
            }
        }
        Ok(())
    }

    /// Closes the connections to all files.
    pub async fn close(self) {
        let open = self.segments.open.map(|(_, connection)| connection);
        for connection in [self.main.connection, self.history.connection].into_iter().chain(open) {
            if let Err(error) = connection.close().await {
                tracing::warn!(%error, "cannot close a database");
            }
        }
    }
}

impl SourceDatabase {
    async fn open(file: &Path, busy: Duration) -> Result<Self, PromotionError> {
        if !file.exists() {
            let why = format!("there is no embedded installation here: {} is missing", file.display());
            return Err(PromotionError::refused(why));
        }
        let mut connection = connect(file, busy).await.map_err(PromotionError::Source)?;
        let version = begin(&mut connection).await.map_err(PromotionError::Source)?;
        Ok(Self { connection, file: file.to_owned(), version })
    }

    async fn is_unchanged(&mut self) -> Result<bool, sqlx::Error> {
        sqlx::query("ROLLBACK").execute(&mut self.connection).await?;
        let version = begin(&mut self.connection).await?;
        Ok(version == self.version)
    }
}

/// Starts a snapshot: a deferred transaction has a fixed view from its first statement on. Returns `data_version`.
async fn begin(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    let version = sqlx::query_scalar("PRAGMA data_version").fetch_one(&mut *connection).await?;
    sqlx::query("BEGIN").execute(&mut *connection).await?;
    sqlx::query("SELECT COUNT(*) FROM sqlite_schema").fetch_one(&mut *connection).await?;
    Ok(version)
}

async fn connect(file: &Path, busy: Duration) -> Result<SqliteConnection, sqlx::Error> {
    let options = SqliteConnectOptions::new().filename(file).read_only(true).create_if_missing(false);
    let options = options.disable_statement_logging();
    SqliteConnection::connect_with(&options.busy_timeout(busy).row_buffer_size(ROWS_AHEAD)).await
}

impl SourceSegments {
    fn file(&self, id: SegmentId) -> PathBuf {
        self.folder.join(format!("{id:08}.db"))
    }

    async fn connection(&mut self, id: SegmentId) -> Result<&mut SqliteConnection, PromotionError> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != id) {
            if let Some((_, earlier)) = self.open.take() {
                earlier.close().await.map_err(PromotionError::Source)?;
            }
            let file = self.file(id);
            let mut connection = connect(&file, self.busy).await.map_err(PromotionError::Source)?;
            require_steps::<SegmentMigrator>(&mut connection, &file).await?;
            self.open = Some((id, connection));
        }
        match &mut self.open {
            Some((_, connection)) => Ok(connection),
            None => Err(PromotionError::refused(format!("segment {id} is not open"))),
        }
    }
}

/// Checks that the applied migrations are those of this version. Nothing is migrated here, because the source must not be
/// changed.
async fn require_steps<M: MigratorTrait>(
    connection: &mut SqliteConnection,
    file: &Path,
) -> Result<(), PromotionError> {
    let text = format!("SELECT version FROM {}", M::migration_table_name());
    let applied: Vec<String> =
        sqlx::query_scalar(AssertSqlSafe(text)).fetch_all(connection).await.map_err(|error| {
            PromotionError::refused(format!("{} is not a database of Watchkeeper: {error}", file.display()))
        })?;
    let applied: BTreeSet<String> = applied.into_iter().collect();
    let known: BTreeSet<String> = M::migrations().iter().map(|step| step.name().to_owned()).collect();
    if applied == known {
        return Ok(());
    }
    let advice = if applied.is_subset(&known) {
        "is of an earlier version: run 'watchkeeper migrate' first"
    } else {
        "is of a later version: promote it with that one"
    };
    Err(PromotionError::refused(format!("{} {advice}", file.display())))
}

/// Checks that all tables of the database are known, so that a promotion leaves none out.
async fn require_known_tables(
    connection: &mut SqliteConnection,
    known: &[TableLayout],
    migrations: &str,
) -> Result<(), PromotionError> {
    let text = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'";
    let found: Vec<String> =
        sqlx::query_scalar(text).fetch_all(connection).await.map_err(PromotionError::Source)?;
    let is_known = |name: &String| name == migrations || known.iter().any(|table| table.name == name);
    match found.iter().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(name) => Err(PromotionError::refused(format!("the table {name} is not known to this version"))),
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
