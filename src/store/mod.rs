//! What is kept: sea-orm functions, one file a resource, on any connection or transaction.
//!
//! Two databases, so that one can be away without the other: main (organisations, tokens, services) and history
//! (measurements). SQLite files are the default, PostgreSQL is only another URL. Every finder of the main
//! database is scoped by organisation. No rule is decided here.

use std::fmt::Display;

pub mod announcements;
pub mod assets;
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
pub use transaction::Transaction;

/// Why the store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database refused, failed or is away.
    #[error(transparent)]
    Database(#[from] sea_orm::DbErr),
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
    /// Whether the database could not be reached at all (as opposed to: it answered with an error).
    #[must_use]
    pub const fn is_unreachable(&self) -> bool {
        matches!(self, Self::Database(sea_orm::DbErr::Conn(_) | sea_orm::DbErr::ConnectionAcquire(_)))
    }

    fn corrupt(table: &'static str, row: &dyn Display, problem: &dyn Display) -> Self {
        Self::Corrupt { table, row: row.to_string(), problem: problem.to_string() }
    }
}
