//! What is kept: sea-orm functions, one file a resource, on any connection or transaction.
//!
//! Two databases, so that one can be away without the other: main (organisations, tokens, services) and history
//! (measurements). SQLite files are the default, PostgreSQL is only another URL. Every finder of the main
//! database is scoped by organisation. No rule is decided here.

use std::fmt::Display;

pub mod announcements;
pub mod assets;
pub mod changes;
pub mod clock_mark;
pub mod components;
pub mod custom_domains;
pub mod database;
pub mod heartbeats;
pub mod history;
pub mod idempotency_keys;
pub mod incidents;
pub mod installation;
pub mod linked;
pub mod maintenances;
pub mod organisations;
pub mod page_facts;
pub mod services;
pub mod statuspages;
pub mod synced_groups;
pub mod tags;
pub mod tokens;
mod transaction;
pub mod usage;
pub mod windows;

pub use database::{Database, Databases};
/// What reads and writes run on: a connection, a pool or a transaction.
pub use sea_orm::ConnectionTrait as Connection;
use sea_orm::{DbErr, RuntimeErr, sqlx};
pub use transaction::Transaction;

/// The rows of one page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWindow {
    /// Rows before it.
    pub offset: u64,
    /// Rows of it, at most.
    pub limit: u64,
}

/// Why the store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database refused, failed or is away.
    #[error(transparent)]
    Database(#[from] sea_orm::DbErr),
    /// Work on the store has panicked, which is our mistake; it starts over.
    #[error("the {0} has panicked")]
    Panicked(&'static str),
    /// Another writer was faster: what this one was going to do rests on something that is not so any more.
    #[error("overtaken: {0}")]
    Overtaken(String),
    /// A row holds something that this version cannot read.
    #[error("{table} row {row}: {problem}")]
    Corrupt {
        /// Table of the row.
        table: &'static str,
        /// Key or id of the row.
        row: String,
        /// What cannot be read.
        problem: String,
    },
}

impl StoreError {
    /// Whether the database could not be reached at all, or has no disk to write to (as opposed to: it answered with an
    /// error).
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        let Self::Database(error) = self else { return false };
        matches!(error, DbErr::Conn(_) | DbErr::ConnectionAcquire(_)) || is_without_disk(error)
    }

    fn corrupt(table: &'static str, row: &dyn Display, problem: &dyn Display) -> Self {
        Self::Corrupt { table, row: row.to_string(), problem: problem.to_string() }
    }
}

/// SQLite's result codes for a disk that is full, fails or cannot be opened, and for a file that another process keeps locked;
/// PostgreSQL's for a full disk.
fn is_without_disk(error: &DbErr) -> bool {
    let (DbErr::Exec(RuntimeErr::SqlxError(error)) | DbErr::Query(RuntimeErr::SqlxError(error))) = error
    else {
        return false;
    };
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    let Some(code) = code else { return false };
    // The lowest byte is the primary code: SQLITE_BUSY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN.
    let is_disk_of_sqlite = |code: u32| matches!(code & 0xff, 5 | 10 | 13 | 14);
    code == "53100" || code.len() < 5 && code.parse().is_ok_and(is_disk_of_sqlite)
}
