//! The other engine nodes: requests to the owner of a service, and for recently stored results.
//!
//! Any node accepts any API request, but only the owner of a service knows its present state. So the owner is asked, and asked
//! again while a partition changes its owner. A missing answer is an error, never a guess.

use std::fmt::Debug;

use futures_util::future::BoxFuture;

use crate::announcer::stored::{After, Recent};
use crate::clock::Timestamp;
use crate::engine::aggregator::Snapshot;
use crate::model::allowance::Allowance;
use crate::model::heartbeat::Ping;
use crate::model::node::NodeName;
use crate::model::service::ServiceAddress;

/// Counts the requests of tokens.
pub trait Counts: Debug + Send + Sync {
    /// Counts a request of the token with this database key.
    fn count(&self, token: i64, now: Timestamp) -> Allowance;
}

/// The connection to the other engine nodes.
pub trait Peers: Debug + Send + Sync {
    /// Returns true if a request can be sent at this moment.
    fn are_reachable(&self) -> bool;

    /// Sends a request to one of them.
    ///
    /// # Errors
    /// When it does not answer; the text is one line.
    fn ask(&self, node: NodeName, question: Question) -> BoxFuture<'static, Result<Answer, String>>;
}

/// A request to another node.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// Apply these services as they are stored now. Answered once that is effective.
    Changed(Vec<Changed>),
    /// Request for the present snapshots of these services.
    Snapshots(Vec<ServiceAddress>),
    /// Check these services at once. Answered when the checks are requested, not when they are done.
    LookAt(Vec<ServiceAddress>),
    /// A stored ping of this service.
    Ping {
        /// The service that reports itself.
        service: ServiceAddress,
        /// The ping.
        ping: Ping,
    },
    /// Count a request of the token with this database key.
    Count(i64),
    /// Request for recently stored results.
    Stored(After),
}

/// A service that was changed or deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The service.
    pub service: ServiceAddress,
    /// Its revision; its last one, if it is gone.
    pub revision: i64,
}

/// The answer of another node.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It is done.
    Done,
    /// The snapshots, in the order of the request.
    Snapshots(Vec<Snapshot>),
    /// The state of the rate limit.
    Counted(Allowance),
    /// Some of the services have another owner.
    NotMine,
    /// The recently stored results.
    Stored(Recent),
}

/// Some services had no owner that answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no engine node answers for {services} services")]
pub struct NobodyAnswers {
    /// Number of these services.
    pub services: usize,
}

/// The result of a request about several services.
pub(super) struct Asked {
    pub(super) parts: Vec<Part>,
    /// Number of services without an answer of their owner.
    pub(super) unanswered: usize,
}

/// An answer, and the services that it concerns.
pub(super) struct Part {
    pub(super) answer: Answer,
    /// Indices of the services in the request.
    pub(super) places: Vec<usize>,
}
