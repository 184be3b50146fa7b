//! Numbers of parts that the API does not know, for the view of operators: the app reads them where they are counted.

/// Where the numbers come from.
pub trait ReadFigures: Send + Sync {
    /// The numbers of this moment.
    fn read(&self) -> Figures;
}

/// The numbers of one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// Results in memory that the history database has not taken yet.
    pub waiting_results: u64,
    /// Bytes of results on disk that it has not taken yet.
    pub spool_bytes: u64,
    /// The milliseconds that 99 of 100 checks of this process started late at most; `None` before the first.
    pub lateness_p99_ms: Option<u64>,
    /// The bus; `None` without one.
    pub bus: Option<BusFigures>,
    /// The share of this node; zeros on a node that is alone.
    pub share: ShareFigures,
}

/// The bus, as this node sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct BusFigures {
    /// A server is connected at this moment.
    pub is_connected: bool,
    /// Batches of results of locations that the bus has for this node, and that it has not taken yet.
    pub pending_batches: u64,
    /// The milliseconds from the bus to the history that the last batch took.
    pub lag_ms: u64,
    /// Batches of results of locations that came again.
    pub redelivered_batches: u64,
    /// Results of locations that were not taken.
    pub refused_results: u64,
}

/// What has happened to the share of this node since the process started.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShareFigures {
    /// Partitions that it has taken.
    pub taken: u64,
    /// Those of them that it has taken from nodes that had died.
    pub takeovers: u64,
    /// Partitions that it has given back.
    pub released: u64,
    /// Partitions that others have taken from it.
    pub lost: u64,
    /// Results that were refused, because another node had taken their partition.
    pub fenced_results: u64,
    /// Status changes that were refused for the same reason.
    pub fenced_changes: u64,
}
