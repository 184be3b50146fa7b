//! Errors of the store, with one type for each database.
//!
//! Code that works on one database gets the error of that one, so that `From` can decide the meaning of its failure:
//! the API answers differently for each. [`StoreError`] is for work on both.

use std::borrow::Cow;
use std::fmt::Display;

use sea_orm::{DbErr, RuntimeErr, sqlx};

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

/// A row with contents that this version cannot read.
#[derive(Debug, thiserror::Error)]
#[error("{table} row {row}: {problem}")]
pub struct CorruptRow {
    /// Table of the row.
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
        code(error).is_some_and(|code| ["40P01", "40001"].contains(&&*code))
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
        // Classes of PostgreSQL: connections, resources, and the operator's doing (57P01 to 57P03).
        sqlx::Error::Database(refusal) => {
            refusal.code().is_some_and(|code| ["08", "53", "57P"].iter().any(|class| code.starts_with(class)))
        }
        _ => false,
    }
}

/// Returns true if PostgreSQL has ended a statement that waited too long for a lock (55P03) or took too long (57014),
/// or a transaction that was idle too long (25P03).
pub(super) fn is_out_of_time(error: &DbErr) -> bool {
    code(error).is_some_and(|code| ["55P03", "57014", "25P03"].contains(&&*code))
}

/// Returns true if SQLite reports that the file is broken (SQLITE_CORRUPT), or not a database (SQLITE_NOTADB).
pub(super) fn is_damaged(error: &DbErr) -> bool {
    // The lowest byte is the primary code; codes of PostgreSQL have five characters.
    code(error).is_some_and(|code| {
        code.len() < 5 && code.parse().is_ok_and(|code: u32| matches!(code & 0xff, 11 | 26))
    })
}

/// Returns true if a write found no space: code 53100 of PostgreSQL, SQLite's code for that, or that of a shared
/// memory that cannot grow. A wrapped error has the text of SQLite alone.
pub(super) fn is_disk_full(error: &DbErr) -> bool {
    const SHARED_MEMORY_CANNOT_GROW: u32 = 10 | 19 << 8;
    let is_full = |code: u32| code & 0xff == 13 || code == SHARED_MEMORY_CANNOT_GROW;
    // Codes of PostgreSQL have five characters.
    let is_full = |code: Cow<'_, str>| code == "53100" || code.len() < 5 && code.parse().is_ok_and(is_full);
    let by_code = code(error).is_some_and(is_full);
    by_code || error.to_string().contains("disk is full")
}

fn code(error: &DbErr) -> Option<Cow<'_, str>> {
    let (DbErr::Conn(RuntimeErr::SqlxError(error))
    | DbErr::Exec(RuntimeErr::SqlxError(error))
    | DbErr::Query(RuntimeErr::SqlxError(error))) = error
    else {
        return None;
    };
    error.as_database_error()?.code()
}

/// SQLite's result codes for a disk that is full, fails or cannot be opened, and for a file that another process
/// keeps locked; PostgreSQL's for a full disk.
fn is_without_disk(error: &DbErr) -> bool {
    let Some(code) = code(error) else { return false };
    // The lowest byte is the primary code: SQLITE_BUSY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN.
    let is_disk_of_sqlite = |code: u32| matches!(code & 0xff, 5 | 10 | 13 | 14);
    code == "53100" || code.len() < 5 && code.parse().is_ok_and(is_disk_of_sqlite)
}
