//! The other engine nodes: requests to the owner of a service, and for recently stored results.
//!
//! Any node accepts any API request, but only the owner of a service knows its current state. So the owner is
//! asked, and asked again while a partition changes its owner. A missing answer is an error, never a guess.

use std::fmt::Debug;

use futures_util::future::BoxFuture;

use crate::clock::Timestamp;
use crate::engine::aggregator::ServiceSnapshot;
use crate::model::heartbeat::HeartbeatPing;
use crate::model::node::NodeName;
use crate::model::rate_limit::RateLimitDecision;
use crate::model::service::ServiceAddress;
use crate::service_router::recent_results::{ResultsReply, ResultsRequest};

/// Counts the requests of tokens.
pub trait RequestCounter: Debug + Send + Sync {
    /// Counts a request of the token with this database key.
    fn count(&self, token: i64, now: Timestamp) -> RateLimitDecision;
}

/// The connection to the other engine nodes.
pub trait PeerNodes: Debug + Send + Sync {
    /// Returns true if a request can be sent at this moment.
    fn are_reachable(&self) -> bool;

    /// Sends a request to another node.
    ///
    /// # Errors
    ///
    /// When the node does not answer; the message is one line.
    fn ask(&self, node: NodeName, question: PeerRequest) -> BoxFuture<'static, Result<PeerReply, String>>;
}

/// A request to another node.
#[derive(Clone, Debug, PartialEq)]
pub enum PeerRequest {
    /// Apply these services as they are stored now. Answered once the change is effective.
    Changed(Vec<ServiceRevision>),
    /// Request for the current snapshots of these services.
    Snapshots(Vec<ServiceAddress>),
    /// Check these services at once. Answered when the checks are requested, not when they are done.
    LookAt(Vec<ServiceAddress>),
    /// A stored ping of this service.
    Ping {
        /// The service that reports itself.
        service: ServiceAddress,
        /// The ping, which is already stored.
        ping: HeartbeatPing,
    },
    /// Count a request of the token with this database key.
    Count(i64),
    /// Request for recently stored results.
    Stored(ResultsRequest),
}

/// A service that was changed or deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceRevision {
    /// Key and id of the service.
    pub service: ServiceAddress,
    /// Revision of the service, or its last one if it was deleted.
    pub revision: i64,
}

/// The answer of another node.
#[derive(Clone, Debug, PartialEq)]
pub enum PeerReply {
    /// The request was carried out.
    Done,
    /// The snapshots, in the order of the request.
    Snapshots(Vec<ServiceSnapshot>),
    /// The state of the rate limit.
    Counted(RateLimitDecision),
    /// Some of the services have another owner.
    NotMine,
    /// The recently stored results.
    Stored(ResultsReply),
}

/// Some services had no owner that answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no engine node answers for {services} services")]
pub struct OwnersUnavailable {
    /// Number of services without an answer.
    pub services: usize,
}

/// The result of a request about several services.
pub(super) struct OwnerReplies {
    pub(super) parts: Vec<PartialReply>,
    /// Number of services without an answer of their owner.
    pub(super) unanswered: usize,
}

/// An answer, and the services that it concerns.
pub(super) struct PartialReply {
    pub(super) answer: PeerReply,
    /// Indices of the services in the request.
    pub(super) indexes: Vec<usize>,
}
