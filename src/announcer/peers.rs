//! The other engine nodes: whoever watches a service is asked, wherever it is.
//!
//! Any node takes any request, and only the owner of a service knows what it is just now. So a question goes to the owner, and
//! while a partition changes hands it is asked again. What nobody answers in time is an error, never a guess.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use tokio::time::{Instant, sleep, timeout};

use crate::announcer::Announcer;
use crate::clock::Timestamp;
use crate::engine::aggregator::Snapshot;
use crate::model::allowance::Allowance;
use crate::model::heartbeat::Ping;
use crate::model::node::NodeName;
use crate::model::service::{ServiceAddress, ServiceKey};

/// The time in which an owner has to be found, and answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// The time that one node may take to answer.
const ANSWER_TAKES: Duration = Duration::from_secs(1);
/// The time that counting a request at another node may take; then this one counts it.
const COUNT_TAKES: Duration = Duration::from_millis(250);
/// The wait before the owners are asked again.
const AGAIN: Duration = Duration::from_millis(50);

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
    /// A ping of this service has come, and is stored.
    Ping {
        /// The service that reports itself.
        service: ServiceAddress,
        /// The ping.
        ping: Ping,
    },
    /// A request of the token with this database key has come: how many may still come?
    Count(i64),
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
}

/// Some services had no owner that answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no engine node answers for {services} services")]
pub struct NobodyAnswers {
    /// How many of them.
    pub services: usize,
}

impl Announcer {
    /// Asks the owners of these services, each for its own; the answers with the places of the services that they are about.
    pub(super) async fn ask_owners<T: Clone>(
        &self,
        services: &[T],
        key: impl Fn(&T) -> ServiceKey,
        question: impl Fn(Vec<T>) -> Question,
    ) -> Result<Vec<Part>, NobodyAnswers> {
        let until = Instant::now() + PATIENCE;
        let mut open: Vec<usize> = (0..services.len()).collect();
        let mut parts = Vec::new();
        loop {
            let mut by_owner: BTreeMap<Option<NodeName>, Vec<usize>> = BTreeMap::new();
            for place in open {
                by_owner.entry(self.owner_elsewhere(key(&services[place]))).or_default().push(place);
            }
            let asked = by_owner.into_iter().map(|(owner, places)| {
                let question = question(places.iter().map(|place| services[*place].clone()).collect());
                async move { Part { answer: self.ask(owner, question).await, places } }
            });
            let (answered, unanswered): (Vec<_>, Vec<_>) =
                join_all(asked).await.into_iter().partition(|part| part.answer != Answer::NotMine);
            parts.extend(answered);
            open = unanswered.into_iter().flat_map(|part| part.places).collect();
            if open.is_empty() {
                return Ok(parts);
            }
            let is_hopeless = self.peers.as_ref().is_none_or(|peers| !peers.are_reachable());
            if is_hopeless || Instant::now() >= until {
                return Err(NobodyAnswers { services: open.len() });
            }
            sleep(AGAIN).await;
        }
    }

    /// Counts a request of a token where that is counted for all nodes; `None` = on this node, or nobody can be reached.
    pub async fn count_elsewhere(&self, token: i64) -> Option<Allowance> {
        let (owner, peers) = (self.owner_elsewhere(token)?, self.peers.as_ref()?);
        match timeout(COUNT_TAKES, peers.ask(owner, Question::Count(token))).await {
            Ok(Ok(Answer::Counted(allowance))) => Some(allowance),
            _ => None,
        }
    }

    /// The other node that owns the service; `None` = this one does, or nobody.
    fn owner_elsewhere(&self, service: ServiceKey) -> Option<NodeName> {
        if self.ownership.watches(service) {
            return None;
        }
        let me = self.ownership.member().map(|member| &member.name);
        self.ownership.owner_of(service).filter(|owner| Some(owner) != me)
    }

    async fn ask(&self, owner: Option<NodeName>, question: Question) -> Answer {
        match (owner, &self.peers) {
            (Some(node), Some(peers)) => {
                let asked = timeout(ANSWER_TAKES, peers.ask(node, question)).await;
                asked.ok().and_then(Result::ok).unwrap_or(Answer::NotMine)
            }
            _ => self.answer(question).await,
        }
    }
}

/// An answer, and the services that it is about.
pub(super) struct Part {
    pub(super) answer: Answer,
    /// Their places among those that were asked for.
    pub(super) places: Vec<usize>,
}
