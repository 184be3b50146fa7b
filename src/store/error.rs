//! Errors of the store, with one type for each database.
//!
//! Code that works on one database gets the error of that one, so that `From` can decide the meaning of its failure:
//! the API answers differently for each. [`StoreError`] is for work on both.

use std::error::Error;
use std::fmt::Display;

use sea_orm::{DbErr, RuntimeErr, sqlx};

use crate::store::file_trouble::{FileTrouble, database_code};

/// An error of the main database.
#[derive(Debug, thiserror::Error)]
pub enum MainError {
    /// The database refused, failed or is away.
    #[error(transparent)]
    Database(#[from] DbErr),
    /// A row has contents that this version cannot read.
    #[error(transparent)]
    Corrupt(#[from] CorruptRow),
}

/// An error of the history database.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The database refused, failed or is away.
    #[error(transparent)]
    Database(#[from] DbErr),
    /// Another writer was faster: the facts behind this change are outdated.
    #[error("overtaken: {0}")]
    Overtaken(String),
    /// A row has contents that this version cannot read.
    #[error(transparent)]
    Corrupt(#[from] CorruptRow),
}

/// An error of work on both databases.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The main database has failed.
    #[error(transparent)]
    Main(#[from] MainError),
    /// The history database has failed.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// Work on the store has panicked, because of a bug; it starts over.
    #[error("the {0} has panicked")]
    Panicked(&'static str),
}

/// Which of the databases an error is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseRole {
    /// The error is of the main database.
    Main,
    /// The error is of the history database.
    History,
}

/// The trouble with a file of SQLite that an error of the store is about, and the database that has it; `None` when it is
/// about no file, or of another crate.
#[must_use]
pub fn find_file_trouble(error: &(dyn Error + 'static)) -> Option<(DatabaseRole, FileTrouble)> {
    let of_main = |error: &MainError| match error {
        MainError::Database(problem) => Some((DatabaseRole::Main, FileTrouble::of(problem)?)),
        MainError::Corrupt(_) => None,
    };
    let of_history = |error: &HistoryError| match error {
        HistoryError::Database(problem) => Some((DatabaseRole::History, FileTrouble::of(problem)?)),
        HistoryError::Overtaken(_) | HistoryError::Corrupt(_) => None,
    };
    if let Some(error) = error.downcast_ref::<MainError>() {
        return of_main(error);
    }
    if let Some(error) = error.downcast_ref::<HistoryError>() {
        return of_history(error);
    }
    match error.downcast_ref::<StoreError>()? {
        StoreError::Main(error) => of_main(error),
        StoreError::History(error) => of_history(error),
        StoreError::Panicked(_) => None,
    }
}

/// A row that holds something that this version cannot read.
#[derive(Debug, thiserror::Error)]
#[error("{table} row {row}: {problem}")]
pub struct CorruptRow {
    table: &'static str,
    /// Key or id of the row.
    row: String,
    /// The reason why it cannot be read.
    problem: String,
}

impl MainError {
    /// Returns true if the database could not be reached at all, has no disk to write to, or had no turn for a statement in
    /// time (as opposed to: it answered with an error).
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        let Self::Database(error) = self else { return false };
        matches!(error, DbErr::Conn(_)) || is_away(error) || is_out_of_time(error) || is_without_disk(error)
    }

    /// Returns true if the database can be reached, but its disk has no space for a write.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Database(error) if is_disk_full(error))
    }

    /// Returns true if PostgreSQL gave the transaction up in favour of another one: a deadlock (40P01) or one that
    /// could not be serialised (40001). A retry may well succeed.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        let Self::Database(error) = self else { return false };
        database_code(error).is_some_and(|code| ["40P01", "40001"].contains(&&*code))
    }

    pub(super) fn corrupt(table: &'static str, row: &dyn Display, problem: &dyn Display) -> Self {
        Self::Corrupt(CorruptRow::new(table, row, problem))
    }
}

impl HistoryError {
    pub(super) fn corrupt(table: &'static str, row: &dyn Display, problem: &dyn Display) -> Self {
        Self::Corrupt(CorruptRow::new(table, row, problem))
    }
}

impl CorruptRow {
    fn new(table: &'static str, row: &dyn Display, problem: &dyn Display) -> Self {
        Self { table, row: row.to_string(), problem: problem.to_string() }
    }
}

/// Returns true if the database may answer another time: there is no connection, or a server that just starts or stops.
pub(super) fn is_away(error: &DbErr) -> bool {
    let (DbErr::Conn(RuntimeErr::SqlxError(error))
    | DbErr::Exec(RuntimeErr::SqlxError(error))
    | DbErr::Query(RuntimeErr::SqlxError(error))) = error
    else {
        return matches!(error, DbErr::ConnectionAcquire(_));
    };
    match &**error {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::Protocol(_) => true,
        // Classes of PostgreSQL: connections, resources, and operator intervention (57P01 to 57P03).
        sqlx::Error::Database(refusal) => {
            refusal.code().is_some_and(|code| ["08", "53", "57P"].iter().any(|class| code.starts_with(class)))
        }
        _ => false,
    }
}

/// Returns true if PostgreSQL has ended a statement that waited too long for a lock (55P03) or took too long (57014),
/// or a transaction that was idle too long (25P03).
pub(super) fn is_out_of_time(error: &DbErr) -> bool {
    database_code(error).is_some_and(|code| ["55P03", "57014", "25P03"].contains(&&*code))
}

/// Returns true if a write found no space: SQLite says so, or PostgreSQL (53100).
pub(super) fn is_disk_full(error: &DbErr) -> bool {
    FileTrouble::of(error) == Some(FileTrouble::DiskFull)
        || database_code(error).is_some_and(|code| code == "53100")
}

/// Returns true for a disk that is full, fails or cannot be opened, and for a file that another process keeps locked;
/// PostgreSQL says it of a full disk alone.
fn is_without_disk(error: &DbErr) -> bool {
    use FileTrouble::{Closed, DiskFails, DiskFull, Locked};
    is_disk_full(error)
        || FileTrouble::of(error)
            .is_some_and(|trouble| matches!(trouble, DiskFull | DiskFails | Closed | Locked))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The database role decides which file is named.
    #[test]
    fn an_error_names_its_database() {
        let locked = || DbErr::Custom("database is locked".into());
        let of_main = StoreError::Main(locked().into());
        assert_eq!(find_file_trouble(&of_main), Some((DatabaseRole::Main, FileTrouble::Locked)));
        let of_history = HistoryError::from(locked());
        assert_eq!(find_file_trouble(&of_history), Some((DatabaseRole::History, FileTrouble::Locked)));
        assert_eq!(find_file_trouble(&MainError::from(DbErr::Custom("odd".into()))), None);
    }
}
