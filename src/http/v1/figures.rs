//! Figures of parts that the API does not know, for operators; the app reads them from their counters.

/// Source of the figures for operators.
pub trait ReadFigures: Send + Sync {
    /// Reads the current figures.
    fn read(&self) -> OperatorFigures;
}

/// Figures for operators at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct OperatorFigures {
    /// Results in memory that are not yet in the history database.
    pub waiting_results: u64,
    /// Bytes of spooled results that are not yet in the history database.
    pub spool_bytes: u64,
    /// Milliseconds by which 99 of 100 checks of this process started late at most; `None` before the first check.
    pub lateness_p99_ms: Option<u64>,
    /// The bus; `None` without one.
    pub bus: Option<BusFigures>,
    /// Figures of this node's share; zero on a node that is alone.
    pub share: ShareFigures,
}

/// The bus as seen by this node.
#[derive(Clone, Copy, Debug, Default)]
pub struct BusFigures {
    /// True if a server is connected.
    pub is_connected: bool,
    /// Batches of locations' results on the bus that this node has not received yet.
    pub pending_batches: u64,
    /// Milliseconds from the bus to the history for the last batch.
    pub lag_ms: u64,
    /// Redelivered batches of locations' results.
    pub redelivered_batches: u64,
    /// Number of refused results of locations.
    pub refused_results: u64,
}

/// Counters of this node's share since the process started.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShareFigures {
    /// Number of acquired partitions.
    pub taken: u64,
    /// Acquired partitions of nodes that had died.
    pub takeovers: u64,
    /// Number of released partitions.
    pub released: u64,
    /// Partitions lost to other nodes.
    pub lost: u64,
    /// Results refused because another node had acquired their partition.
    pub fenced_results: u64,
    /// Status changes refused for the same reason.
    pub fenced_changes: u64,
}
