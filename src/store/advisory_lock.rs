//! A lock that one process at a time holds, among those that share a PostgreSQL database.

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, Statement};

use crate::store::bounded_handle::BoundedHandle;
use crate::store::database::Database;
use crate::store::error::MainError;

/// An advisory lock of PostgreSQL, released when it is dropped. On SQLite, which one process uses, it always succeeds.
#[derive(Debug)]
pub struct AdvisoryLock {
    /// The transaction that holds the lock; `None` for SQLite.
    holder: Option<BoundedHandle<DatabaseTransaction>>,
}

impl AdvisoryLock {
    /// Takes the lock with this key; `None` if another process holds it.
    pub(super) async fn take(main: &Database, key: i64) -> Result<Option<Self>, MainError> {
        let reader = main.reader();
        if reader.get_database_backend() != DbBackend::Postgres {
            return Ok(Some(Self { holder: None }));
        }
        let holder = reader.begin().await?;
        // The lock is held for long, so the idle limit must not end the transaction.
        holder.execute_unprepared("SET LOCAL idle_in_transaction_session_timeout = 0").await?;
        let text = format!("SELECT pg_try_advisory_xact_lock({key}) AS got");
        let row = holder.query_one_raw(Statement::from_string(DbBackend::Postgres, text)).await?;
        let is_taken: bool = row.map_or(Ok(false), |row| row.try_get("", "got"))?;
        Ok(is_taken.then_some(Self { holder: Some(holder) }))
    }

    /// Returns true if the lock is still held. Asks the database.
    pub async fn is_held(&self) -> bool {
        match &self.holder {
            None => true,
            Some(holder) => holder.execute_unprepared("SELECT 1").await.is_ok(),
        }
    }
}
