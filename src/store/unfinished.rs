//! Detects a main database to which an installation is still being promoted. Servers refuse to use it.
//!
//! The marker is a table that `promotion` creates before all others, and drops once everything is copied and compared.

use crate::store::connection::StoreConnection;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement};

/// Returns true if a promotion to this main database has not been finished. Always false on SQLite.
pub(super) async fn is_unfinished(connection: &dyn StoreConnection) -> Result<bool, DbErr> {
    if connection.get_database_backend() != DbBackend::Postgres {
        return Ok(false);
    }
    let text = "SELECT to_regclass('main_promotion') IS NOT NULL AS is_unfinished";
    let row = connection.query_one_raw(Statement::from_string(DbBackend::Postgres, text)).await?;
    row.map_or(Ok(false), |row| row.try_get("", "is_unfinished"))
}
