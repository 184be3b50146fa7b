//! A SQLite file that other processes may be writing: it is copied as a consistent snapshot, checked, and its rows counted.
//!
//! A copy is one file without a write-ahead log. Writers continue while it is made; the log grows until the copy is done.
//!
//! Unless said otherwise, functions fail with [`FileError`] when the file cannot be read or written.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sea_orm::sqlx::{self, AssertSqlSafe, ConnectOptions as _, Connection as _};
use sea_orm_migration::{MigrationTrait, MigratorTrait};
use watchkeeper_migration::{HistoryMigrator, MainMigrator, SegmentMigrator};

use crate::store::file_trouble::FileTrouble;

/// Maximum wait for a lock that another process holds.
const BUSY: Duration = Duration::from_secs(30);
/// Maximum wait for a lock when the file is only inspected.
const BUSY_FOR_READERS: Duration = Duration::from_secs(5);
/// Maximum number of defects that one check reports.
const COMPLAINTS: usize = 10;

/// The kinds of SQLite files of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// The main database.
    Main,
    /// The history database.
    History,
    /// A segment file of the history.
    Segment,
}

impl FileKind {
    /// Name of the table that records the applied migrations.
    pub(in crate::store) const fn steps_table(self) -> &'static str {
        match self {
            Self::Main => "main_migration",
            Self::History => "history_migration",
            Self::Segment => "segment_migration",
        }
    }

    fn migrations(self) -> Vec<Box<dyn MigrationTrait>> {
        match self {
            Self::Main => MainMigrator::migrations(),
            Self::History => HistoryMigrator::migrations(),
            Self::Segment => SegmentMigrator::migrations(),
        }
    }

    fn knows(self, step: &str) -> bool {
        self.migrations().iter().any(|known| known.name() == step)
    }

    fn steps(self) -> usize {
        self.migrations().len()
    }
}

/// An error with a file, whose name is part of the message.
#[derive(Debug, thiserror::Error)]
#[error("{}{}", self.describe(), self.trouble().map_or_else(String::new, |trouble| format!(": {}", trouble.advice())))]
pub struct FileError {
    file: PathBuf,
    problem: sqlx::Error,
}

impl FileError {
    /// Returns a sentence about what is wrong, without advice.
    #[must_use]
    pub fn describe(&self) -> String {
        match self.trouble() {
            Some(trouble) => trouble.summary(&self.file.display()),
            None => format!("{}: {}", self.file.display(), self.problem),
        }
    }

    /// Returns the error with another file name, for example if the file was copied under a temporary name.
    #[must_use]
    pub fn renamed(self, rename: impl FnOnce(&Path) -> PathBuf) -> Self {
        Self { file: rename(&self.file), ..self }
    }

    /// The kind of trouble with the file; `None` if the error is of an unknown kind.
    #[must_use]
    pub fn trouble(&self) -> Option<FileTrouble> {
        FileTrouble::of_driver(&self.problem)
    }
}

/// Path of the write-ahead log of a SQLite file.
fn log_of(file: &Path) -> PathBuf {
    file.with_file_name(format!("{}-wal", file.file_name().unwrap_or_default().display()))
}

/// A table and the number of its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRowCount {
    /// Name of the table.
    pub table: String,
    /// Number of rows in the table.
    pub rows: u64,
}

/// The last key that a table has assigned to a row (`AUTOINCREMENT`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastKey {
    /// Name of the table.
    pub table: String,
    /// The key; 0 if the table has assigned none.
    pub key: i64,
}

/// A connection to one file.
#[derive(Debug)]
pub struct DatabaseFile {
    connection: SqliteConnection,
    file: PathBuf,
}

impl DatabaseFile {
    /// Opens an existing file.
    pub async fn open(file: &Path) -> Result<Self, FileError> {
        Self::open_with(file, SqliteConnectOptions::new().foreign_keys(false).busy_timeout(BUSY)).await
    }

    /// Opens an existing file read-only: no new file is created beside it.
    pub async fn open_to_read(file: &Path) -> Result<Self, FileError> {
        // If there is no log beside the file, no process writes to it, and `immutable` keeps SQLite from creating a log.
        let log = log_of(file);
        let options = SqliteConnectOptions::new().foreign_keys(false).read_only(true);
        let options = options.busy_timeout(BUSY_FOR_READERS);
        Self::open_with(file, options.immutable(!log.exists())).await
    }

    /// Checks that no other program blocks writers, by taking the write lock for a moment. Nothing is written. If there is
    /// no log beside the file, no process has it open, and nothing is checked.
    ///
    /// # Errors
    /// When another program holds the lock, or the file cannot be written.
    pub async fn require_write_lock(file: &Path) -> Result<(), FileError> {
        if !log_of(file).exists() {
            return Ok(());
        }
        let mut opened =
            Self::open_with(file, SqliteConnectOptions::new().busy_timeout(BUSY_FOR_READERS)).await?;
        for text in ["BEGIN IMMEDIATE", "ROLLBACK"] {
            let done = sqlx::query(text).execute(&mut opened.connection).await;
            done.map_err(|problem| opened.failed(problem))?;
        }
        opened.close().await
    }

    async fn open_with(file: &Path, options: SqliteConnectOptions) -> Result<Self, FileError> {
        let options = options.filename(file).create_if_missing(false);
        let file = file.to_owned();
        match options.disable_statement_logging().connect().await {
            Ok(connection) => Ok(Self { connection, file }),
            Err(problem) => Err(FileError { file, problem }),
        }
    }

    /// Copies a snapshot of the whole database to a file that must not exist yet. The caller makes the copy durable.
    pub async fn copy_to(&mut self, copy: &Path) -> Result<(), FileError> {
        let name = copy.to_string_lossy().into_owned();
        let copied = sqlx::query("VACUUM INTO ?").bind(name).execute(&mut self.connection).await;
        copied.map(|_| ()).map_err(|problem| {
            // Only the copy needs space, so a full disk is reported for the copy.
            let is_full = FileTrouble::of_driver(&problem) == Some(FileTrouble::DiskFull);
            let file = if is_full { copy } else { &self.file }.to_owned();
            FileError { file, problem }
        })
    }

    /// Returns the defects that SQLite finds in the file, at most ten; empty if the file is sound.
    ///
    /// # Errors
    ///
    /// When the file is not a database, or cannot be read.
    pub async fn integrity_check(&mut self) -> Result<Vec<String>, FileError> {
        self.checked_by("integrity_check").await
    }

    /// Like `Self::integrity_check`, but without comparing indexes with their tables, which is faster.
    ///
    /// # Errors
    ///
    /// When the file is not a database, or cannot be read.
    pub async fn quick_check(&mut self) -> Result<Vec<String>, FileError> {
        self.checked_by("quick_check").await
    }

    async fn checked_by(&mut self, check: &str) -> Result<Vec<String>, FileError> {
        let text = format!("PRAGMA {check}({COMPLAINTS})");
        let found =
            sqlx::query_scalar::<_, String>(AssertSqlSafe(text)).fetch_all(&mut self.connection).await;
        let found = found.map_err(|problem| self.failed(problem))?;
        Ok(found.into_iter().filter(|line| line != "ok").collect())
    }

    /// The name of the last migration that was applied; `None` if there was none.
    pub async fn last_step(&mut self, kind: FileKind) -> Result<Option<String>, FileError> {
        let text = format!("SELECT max(version) FROM {}", kind.steps_table());
        let step = sqlx::query_scalar(AssertSqlSafe(text)).fetch_one(&mut self.connection).await;
        step.map_err(|problem| self.failed(problem))
    }

    /// The name of the first applied migration that this program does not know; `None` if it knows all of them.
    pub async fn unknown_step(&mut self, kind: FileKind) -> Result<Option<String>, FileError> {
        let text = format!("SELECT version FROM {} ORDER BY version", kind.steps_table());
        let steps =
            sqlx::query_scalar::<_, String>(AssertSqlSafe(text)).fetch_all(&mut self.connection).await;
        let steps = steps.map_err(|problem| self.failed(problem))?;
        Ok(steps.into_iter().find(|step| !kind.knows(step)))
    }

    /// Returns true if migrations of this program have not been applied to the file.
    pub async fn lacks_steps(&mut self, kind: FileKind) -> Result<bool, FileError> {
        let text = format!("SELECT count(*) FROM {}", kind.steps_table());
        let steps: Result<i64, _> =
            sqlx::query_scalar(AssertSqlSafe(text)).fetch_one(&mut self.connection).await;
        let steps = steps.map_err(|problem| self.failed(problem))?;
        Ok(usize::try_from(steps).is_ok_and(|steps| steps < kind.steps()))
    }

    /// The check value of the secret key; `None` if none is stored yet.
    pub async fn key_check(&mut self) -> Result<Option<String>, FileError> {
        let text = "SELECT value FROM installation WHERE name = 'key_check'";
        let value = sqlx::query_scalar(text).fetch_optional(&mut self.connection).await;
        value.map_err(|problem| self.failed(problem))
    }

    /// The names of the tables in the file, sorted.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn table_names(&mut self) -> Result<Vec<String>, FileError> {
        let text =
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name";
        let names = sqlx::query_scalar(text).fetch_all(&mut self.connection).await;
        names.map_err(|problem| self.failed(problem))
    }

    /// The number of organisations in a main database; 0 before its first migration.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn count_organisations(&mut self) -> Result<u64, FileError> {
        if !self.table_names().await?.iter().any(|table| table == "organisation") {
            return Ok(0);
        }
        self.count_rows_of("organisation").await
    }

    /// The number of services in a main database.
    pub async fn count_services(&mut self) -> Result<u64, FileError> {
        self.count_rows_of("service").await
    }

    /// The stored settings of the enabled email channels of a main database. Secrets in them are sealed.
    pub async fn mail_settings(&mut self) -> Result<Vec<String>, FileError> {
        let text =
            "SELECT settings FROM notification_channel WHERE kind = 'email' AND is_enabled ORDER BY id";
        let found = sqlx::query_scalar(text).fetch_all(&mut self.connection).await;
        found.map_err(|problem| self.failed(problem))
    }

    /// The number of rows of each table, sorted by name.
    pub async fn count_rows(&mut self) -> Result<Vec<TableRowCount>, FileError> {
        let mut counted = Vec::new();
        for table in self.table_names().await? {
            let rows = self.count_rows_of(&table).await?;
            counted.push(TableRowCount { table, rows });
        }
        Ok(counted)
    }

    async fn count_rows_of(&mut self, table: &str) -> Result<u64, FileError> {
        let text = format!("SELECT count(*) FROM \"{table}\"");
        let rows: Result<i64, _> =
            sqlx::query_scalar(AssertSqlSafe(text)).fetch_one(&mut self.connection).await;
        let rows = rows.map_err(|problem| self.failed(problem))?;
        Ok(u64::try_from(rows).unwrap_or_default())
    }

    /// The numbers of the sealed segments in use, from the catalogue of a history database.
    pub async fn segment_numbers(&mut self) -> Result<Vec<i64>, FileError> {
        let text = "SELECT id FROM history_segment WHERE retired_at IS NULL AND sealed_batch > 0 ORDER BY id";
        let numbers = sqlx::query_scalar(text).fetch_all(&mut self.connection).await;
        numbers.map_err(|problem| self.failed(problem))
    }

    /// The last keys that the tables have assigned, sorted by table name.
    pub async fn last_keys(&mut self) -> Result<Vec<LastKey>, FileError> {
        let text = "SELECT name, seq FROM sqlite_sequence ORDER BY name";
        let keys = sqlx::query_as::<_, (String, i64)>(text).fetch_all(&mut self.connection).await;
        let keys = keys.map_err(|problem| self.failed(problem))?;
        Ok(keys.into_iter().map(|(table, key)| LastKey { table, key }).collect())
    }

    /// Raises the last keys of the tables to at least these, so that later rows get larger keys. Never lowers a key.
    pub async fn raise_last_keys(&mut self, keys: &[LastKey]) -> Result<(), FileError> {
        for LastKey { table, key } in keys {
            for text in [
                "INSERT INTO sqlite_sequence (name, seq) SELECT ?1, 0 \
                WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)",
                "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1",
            ] {
                let raised = sqlx::query(text).bind(table).bind(key).execute(&mut self.connection).await;
                raised.map_err(|problem| self.failed(problem))?;
            }
        }
        Ok(())
    }

    /// Closes the connection to the file.
    pub async fn close(self) -> Result<(), FileError> {
        let file = self.file;
        self.connection.close().await.map_err(|problem| FileError { file, problem })
    }

    fn failed(&self, problem: sqlx::Error) -> FileError {
        FileError { file: self.file.clone(), problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn made(file: &Path, statements: &[&'static str]) {
        let options = SqliteConnectOptions::new().filename(file).create_if_missing(true);
        let mut connection = options.connect().await.unwrap();
        for statement in statements {
            sqlx::query(*statement).execute(&mut connection).await.unwrap();
        }
        connection.close().await.unwrap();
    }

    /// A row that is added after the copy has a key that the copy must not assign again.
    #[tokio::test]
    async fn row_keys_are_not_reused_after_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let [file, copy] = ["one.db", "two.db"].map(|name| folder.path().join(name));
        made(
            &file,
            &[
                "CREATE TABLE kept (id INTEGER PRIMARY KEY AUTOINCREMENT)",
                "CREATE TABLE unused (id INTEGER PRIMARY KEY AUTOINCREMENT)",
                "INSERT INTO kept VALUES (7)",
            ],
        )
        .await;
        let mut source = DatabaseFile::open(&file).await.unwrap();
        source.copy_to(&copy).await.unwrap();
        made(&file, &["INSERT INTO kept VALUES (9)", "INSERT INTO unused VALUES (3)"]).await;
        let keys = source.last_keys().await.unwrap();
        let mut copied = DatabaseFile::open(&copy).await.unwrap();
        copied.raise_last_keys(&keys).await.unwrap();
        let key = |table: &str, key| LastKey { table: table.to_owned(), key };
        assert_eq!(copied.last_keys().await.unwrap(), [key("kept", 9), key("unused", 3)]);
        // A lower key changes nothing.
        copied.raise_last_keys(&[key("kept", 1)]).await.unwrap();
        assert_eq!(copied.last_keys().await.unwrap()[0], key("kept", 9));
        let rows = copied.count_rows().await.unwrap();
        assert_eq!(rows.iter().map(|counted| counted.rows).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(copied.integrity_check().await.unwrap(), Vec::<String>::new());
    }

    #[tokio::test]
    async fn a_copy_is_not_written_over_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let [file, copy] = ["one.db", "two.db"].map(|name| folder.path().join(name));
        for file in [&file, &copy] {
            made(file, &["CREATE TABLE kept (id INTEGER PRIMARY KEY)"]).await;
        }
        let mut source = DatabaseFile::open(&file).await.unwrap();
        let refused = source.copy_to(&copy).await.unwrap_err();
        assert!(refused.to_string().starts_with(file.to_str().unwrap()), "{refused}");
        assert!(DatabaseFile::open(&folder.path().join("none.db")).await.is_err());
    }
}
