//! Every tunable and every limit.

/// Limits of the store.
#[derive(Clone, Debug)]
pub struct StoreLimits {
    /// Reading connections per SQLite database.
    pub sqlite_readers: u32,
    /// Connections per PostgreSQL database.
    pub postgres_connections: u32,
    /// How long a statement may wait for a connection or a lock.
    pub acquire_timeout_seconds: u64,
}
