//! Errors of the store, with one type for each database.
//!
//! Code that works on one database returns that database's error type. The type alone thus decides the response of the
//! API, which differs for the two databases. [`StoreError`] is for work on both.

use std::error::Error;
use std::fmt::Display;

use sea_orm::{DbErr, RuntimeErr, sqlx};

use crate::store::file_trouble::{FileTrouble, database_code};

/// An error of the main database.
#[derive(Debug, thiserror::Error)]
pub enum MainError {
    /// The statement failed or was refused, or the database is unavailable.
    #[error(transparent)]
    Database(#[from] DbErr),
    /// The contents of a row cannot be read by this version of the program.
    #[error(transparent)]
    Corrupt(#[from] CorruptRow),
}

/// An error of the history database.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The statement failed or was refused, or the database is unavailable.
    #[error(transparent)]
    Database(#[from] DbErr),
    /// Another writer was faster: the facts on which this change was decided are outdated.
    #[error("overtaken: {0}")]
    Overtaken(String),
    /// The contents of a row cannot be read by this version of the program.
    #[error(transparent)]
    Corrupt(#[from] CorruptRow),
}

/// An error of code that works on both databases.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The main database has failed.
    #[error(transparent)]
    Main(#[from] MainError),
    /// The history database has failed.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// A task that works on the databases has panicked because of a bug; it is started again.
    #[error("the {0} has panicked")]
    Panicked(&'static str),
}

/// The database in which an error occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseRole {
    /// The main database.
    Main,
    /// The history database.
    History,
}

/// The trouble with a SQLite file that an error of the store reports, and the database that the file belongs to.
/// `None` if the error is about no file, or is not an error of the store.
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

/// A row whose contents cannot be read by this version of the program.
#[derive(Debug, thiserror::Error)]
#[error("{table} row {row}: {problem}")]
pub struct CorruptRow {
    table: &'static str,
    /// Key or id of the row.
    row: String,
    /// The reason why the row cannot be read.
    problem: String,
}

impl MainError {
    /// Returns true if the database could not be used at all: it is unreachable or too slow, or its file or disk cannot be
    /// used. Returns false if the database answered with another error.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        let Self::Database(error) = self else { return false };
        matches!(error, DbErr::Conn(_)) || is_away(error) || is_out_of_time(error) || is_without_disk(error)
    }

    /// Returns true if the database can be reached, but its disk has no space for writes.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Database(error) if is_disk_full(error))
    }

    /// Returns true if PostgreSQL rolled the transaction back in favour of another one: because of a deadlock (40P01), or
    /// because it could not be serialised (40001). A retry can succeed.
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

/// Returns true if a later attempt may succeed: there is no connection, or the server is just starting or stopping, or
/// lacks resources.
pub(super) fn is_away(error: &DbErr) -> bool {
    let (DbErr::Conn(RuntimeErr::SqlxError(error))
    | DbErr::Exec(RuntimeErr::SqlxError(error))
    | DbErr::Query(RuntimeErr::SqlxError(error))) = error
    else {
        return matches!(error, DbErr::ConnectionAcquire(_));
    };
    match &**error {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::Protocol(_) => true,
        // Error classes of PostgreSQL: connections (08), resources (53), and operator intervention (57P01 to 57P03).
        sqlx::Error::Database(refusal) => {
            refusal.code().is_some_and(|code| ["08", "53", "57P"].iter().any(|class| code.starts_with(class)))
        }
        _ => false,
    }
}

/// Returns true if PostgreSQL ended a statement because it waited too long for a lock (55P03) or ran too long (57014),
/// or ended a transaction that was idle too long (25P03).
pub(super) fn is_out_of_time(error: &DbErr) -> bool {
    database_code(error).is_some_and(|code| ["55P03", "57014", "25P03"].contains(&&*code))
}

/// Returns true if a write failed for lack of space, on SQLite or PostgreSQL (53100).
pub(super) fn is_disk_full(error: &DbErr) -> bool {
    FileTrouble::of(error) == Some(FileTrouble::DiskFull)
        || database_code(error).is_some_and(|code| code == "53100")
}

/// Returns true if the disk is full or fails, or if the file cannot be opened or is locked by another process. For
/// PostgreSQL only a full disk is recognised.
fn is_without_disk(error: &DbErr) -> bool {
    use FileTrouble::{Closed, DiskFails, DiskFull, Locked};
    is_disk_full(error)
        || FileTrouble::of(error)
            .is_some_and(|trouble| matches!(trouble, DiskFull | DiskFails | Closed | Locked))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same error is attributed to the database whose error type holds it.
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
