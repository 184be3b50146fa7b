//! The parts of a `GET /v1/engine` response that are drawn.

use serde::Deserialize;
use serde_json::Value;

/// A response, raw and parsed.
#[derive(Clone, Debug)]
pub(super) struct EngineReply {
    pub(super) raw: Value,
    pub(super) engine: EngineStatus,
}

/// The state of a node's engine.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct EngineStatus {
    pub(super) started_at: String,
    pub(super) is_alive: bool,
    /// Absent in the responses of older versions.
    #[serde(default)]
    pub(super) warnings: Vec<String>,
    pub(super) actors: Vec<ActorRestarts>,
    /// The node's share of the partitions; `None` if it runs alone.
    pub(super) ownership: Option<OwnershipStatus>,
    pub(super) queues: QueueStatus,
}

/// The restarts of one kind of actor.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ActorRestarts {
    pub(super) name: String,
    pub(super) restarts: u64,
    pub(super) last_error: Option<String>,
}

/// The partitions that a node owns, the nodes that it knows, and its counters.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct OwnershipStatus {
    pub(super) node: String,
    pub(super) leads: bool,
    pub(super) partitions: u64,
    pub(super) nodes: Vec<NodeStatus>,
    pub(super) unowned: u64,
    pub(super) taken: u64,
    pub(super) takeovers: u64,
    pub(super) released: u64,
    pub(super) lost: u64,
    pub(super) fenced_results: u64,
    pub(super) fenced_changes: u64,
}

/// A node as seen by itself or by another one.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct NodeStatus {
    pub(super) name: String,
    pub(super) numbers: Vec<usize>,
    pub(super) is_living: bool,
}

/// The queues of a node.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct QueueStatus {
    pub(super) waiting_results: u64,
    pub(super) spool_bytes: u64,
    pub(super) lateness_p99_ms: Option<u64>,
    pub(super) bus_connected: Option<bool>,
    pub(super) pending_batches: Option<u64>,
    pub(super) lag_ms: Option<u64>,
    pub(super) redelivered_batches: u64,
    pub(super) refused_results: u64,
    pub(super) locations: Vec<LocationQueueStatus>,
}

/// A location, as last reported to a node.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct LocationQueueStatus {
    pub(super) code: String,
    pub(super) status: String,
    pub(super) waiting_results: Option<u64>,
    pub(super) spool_bytes: Option<u64>,
    pub(super) lateness_p99_ms: Option<u64>,
}
