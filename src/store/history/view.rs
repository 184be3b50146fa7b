//! The history database with its segments, and a consistent view of both.

use std::ops::Deref;
use std::path::Path;

use sea_orm::{
    AccessMode, ConnectionTrait as _, DatabaseTransaction, DbErr, IsolationLevel, TransactionTrait as _,
};

use crate::config::limits::StoreLimits;
use crate::store::database::OpenError;
use crate::store::history::segments::place::Place;
use crate::store::history::segments::{self, Segment};
use crate::store::{Database, StoreError};

/// The history database and the segments that belong to it. As a [`Database`] it is its rows.
#[derive(Clone, Debug)]
pub struct History {
    rows: Database,
    place: Place,
}

/// Rows and segments as they were at one moment. What is sealed meanwhile stays visible here as rows.
#[derive(Debug)]
pub struct Snapshot {
    /// What reads of rows run on.
    pub rows: DatabaseTransaction,
    /// The segments that count, those of the newest time first.
    pub segments: Vec<Segment>,
    /// Where the segments lie.
    pub place: Place,
}

impl History {
    /// Connects without migrating.
    ///
    /// # Errors
    /// [`OpenError`] when the database cannot be reached.
    pub async fn connect(url: &str, limits: &StoreLimits) -> Result<Self, OpenError> {
        let rows = Database::connect(url, limits).await?;
        let place = match url.strip_prefix("sqlite:") {
            Some(rest) => {
                let file = rest.trim_start_matches("//").split('?').next().unwrap_or_default();
                Place::beside(Path::new(file), limits)
            }
            None => Place::Partitions(rows.reader().clone()),
        };
        Ok(Self { rows, place })
    }

    /// The database of the rows alone.
    #[must_use]
    pub const fn rows(&self) -> &Database {
        &self.rows
    }

    /// Where its segments lie.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// A consistent view of rows and segments.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let rows = self.begin_reading().await?;
        let segments = segments::visible(&rows).await?;
        Ok(Snapshot { rows, segments, place: self.place.clone() })
    }

    /// On PostgreSQL every statement would otherwise see what was committed until then.
    async fn begin_reading(&self) -> Result<DatabaseTransaction, DbErr> {
        match self.place {
            Place::Files(_) => self.rows.reader().begin().await,
            Place::Partitions(_) => {
                let level = (Some(IsolationLevel::RepeatableRead), Some(AccessMode::ReadOnly));
                self.rows.reader().begin_with_config(level.0, level.1).await
            }
        }
    }

    /// Gives the room of rows that are gone back to the operating system, where that is not done by itself. For whoever
    /// has the history alone: nobody else can write meanwhile.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn shrink(&self) -> Result<(), StoreError> {
        if let Place::Files(_) = self.place {
            for text in ["VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"] {
                self.rows.reader().execute_unprepared(text).await?;
            }
        }
        Ok(())
    }

    /// Closes all connections, waiting for running statements.
    pub async fn close(self) {
        self.place.close().await;
        self.rows.close().await;
    }
}

impl Deref for History {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.rows
    }
}
