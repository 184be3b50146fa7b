//! Figures for operators about components that the API does not know; the app reads their counters.

/// A source of figures for operators.
pub trait ReadFigures: Send + Sync {
    /// Reads the current figures.
    fn read(&self) -> OperatorFigures;
}

/// The figures for operators at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct OperatorFigures {
    /// Number of results in memory that are not yet in the history database.
    pub waiting_results: u64,
    /// Bytes of spooled results that are not yet in the history database.
    pub spool_bytes: u64,
    /// 99 of 100 checks of this process started late by at most this many milliseconds; `None` before the first check.
    pub lateness_p99_ms: Option<u64>,
    /// Figures of the message bus; `None` if none is configured.
    pub bus: Option<BusFigures>,
    /// Figures of this node's partitions; zero if the node does not belong to a cluster.
    pub share: ShareFigures,
}

/// The message bus from the point of view of this node.
#[derive(Clone, Copy, Debug, Default)]
pub struct BusFigures {
    /// True if a server is connected.
    pub is_connected: bool,
    /// Number of batches of results from locations that are on the bus, but not yet received by this node.
    pub pending_batches: u64,
    /// Milliseconds from the bus to the history database, for the last batch.
    pub lag_ms: u64,
    /// Number of redelivered batches of results from locations.
    pub redelivered_batches: u64,
    /// Number of refused results from locations.
    pub refused_results: u64,
}

/// Counters of this node's partitions since the process started.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShareFigures {
    /// Number of acquired partitions.
    pub taken: u64,
    /// Number of partitions acquired from nodes that had died.
    pub takeovers: u64,
    /// Number of released partitions.
    pub released: u64,
    /// Number of partitions lost to other nodes.
    pub lost: u64,
    /// Number of results refused because another node had acquired their partition.
    pub fenced_results: u64,
    /// Number of status changes refused because another node had acquired their partition.
    pub fenced_changes: u64,
}
