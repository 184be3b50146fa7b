//! Facts about a PostgreSQL server, queried once over a separate connection.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sea_orm::{ConnectOptions, ConnectionTrait as _, Database, DbBackend, DbErr, Statement};

/// Maximum wait for a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);

/// Version and clock of a PostgreSQL server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerFacts {
    /// Version of the server, such as `17.2`.
    pub version: String,
    /// Time of the server's clock when it was queried.
    pub now: DateTime<Utc>,
}

/// Queries the server at this URL over a new connection.
///
/// # Errors
///
/// When the server cannot be reached, refuses the connection, or does not answer in time.
pub async fn read(url: &str) -> Result<ServerFacts, DbErr> {
    let mut options = ConnectOptions::new(url);
    options
        .max_connections(1)
        .connect_timeout(CONNECT_WITHIN)
        .acquire_timeout(CONNECT_WITHIN)
        .sqlx_logging(false);
    let connection = Database::connect(options).await?;
    let text = "SELECT current_setting('server_version') AS version, now() AS now";
    let row = connection.query_one_raw(Statement::from_string(DbBackend::Postgres, text)).await?;
    let row = row.ok_or_else(|| DbErr::RecordNotFound("no answer".into()))?;
    let facts = ServerFacts { version: row.try_get("", "version")?, now: row.try_get("", "now")? };
    connection.close().await?;
    Ok(facts)
}
