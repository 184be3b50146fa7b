//! The other engine nodes: whoever watches a service is asked, wherever it is; and each, what it has stored.
//!
//! Any node takes any request, and only the owner of a service knows what it is just now. So a question goes to the owner, and
//! while a partition changes hands it is asked again. What nobody answers in time is an error, never a guess.

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

/// The way to the other engine nodes.
pub trait Peers: Debug + Send + Sync {
    /// True if a question can be sent at this moment.
    fn are_reachable(&self) -> bool;

    /// Asks one of them.
    ///
    /// # Errors
    /// It does not answer, in one line.
    fn ask(&self, node: NodeName, question: Question) -> BoxFuture<'static, Result<Answer, String>>;
}

/// What a node asks the owner of services.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// Watch these as they are stored now. Answered when that is in force.
    Changed(Vec<Changed>),
    /// What are they just now?
    Snapshots(Vec<ServiceAddress>),
    /// Look at these at once. Answered when they have been told to, not when they have looked.
    LookAt(Vec<ServiceAddress>),
    /// A ping of this service has come, and is stored.
    Ping {
        /// The service that reports itself.
        service: ServiceAddress,
        /// The ping.
        ping: Ping,
    },
    /// A request of the token with this database key has come: how many may still come?
    Count(i64),
    /// What have you stored lately?
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

/// What an owner answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It is done.
    Done,
    /// The snapshots, in the order in which they were asked for.
    Snapshots(Vec<Snapshot>),
    /// What the rate limit says.
    Counted(Allowance),
    /// Some of them have another owner.
    NotMine,
    /// What it has stored lately.
    Stored(Recent),
}

/// Some services had no owner that answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no engine node answers for {services} services")]
pub struct NobodyAnswers {
    /// How many of them.
    pub services: usize,
}

/// What became of a question about several services.
pub(super) struct Asked {
    pub(super) parts: Vec<Part>,
    /// Services of which no owner answered.
    pub(super) unanswered: usize,
}

/// An answer, and the services that it is about.
pub(super) struct Part {
    pub(super) answer: Answer,
    /// Their places among those that were asked for.
    pub(super) places: Vec<usize>,
}
