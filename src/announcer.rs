//! The service router: applies a stored service to the engine, on the node that owns it.
//!
//! The only place that reads the data of a definition besides the row of the service, so that every caller (the API, the
//! timetable, a restart, the comparison with the store) applies the same definition. A change of a service is committed
//! before. Later failures are logged, and corrected by the next comparison.
//!
//! A service that another node watches is applied and queried there: see [`peers`] and [`ownership`].

pub mod changes;
pub mod host_changes;
pub mod ownership;
pub mod peers;
pub mod stored;
pub mod unreadable;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{Instant, sleep, timeout};

use crate::announcer::changes::Changes;
use crate::announcer::host_changes::HostChanges;
use crate::announcer::ownership::Ownership;
use crate::announcer::peers::{Answer, Asked, Changed, Counts, NobodyAnswers, Part, Peers, Question};
use crate::announcer::stored::{After, Recent, Stored};
use crate::announcer::unreadable::UnreadableServices;
use crate::engine::aggregator::Snapshot;
use crate::engine::definition::{Definer, Definition};
use crate::engine::{Engine, EngineStopped};
use crate::id::Id;
use crate::model::allowance::Allowance;
use crate::model::check::CheckType;
use crate::model::heartbeat::Ping;
use crate::model::node::NodeName;
use crate::model::partition::{Partition, Partitions};
use crate::model::service::{Service, ServiceAddress, ServiceKey};
use crate::store::heartbeats::{self, StoredHeartbeat};
use crate::store::services::definitions::{self, OwnedService};
use crate::store::{Databases, MainError};

/// Time limit for finding an owner and getting its answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// Time limit for the answer of one node.
const ANSWER_TAKES: Duration = Duration::from_secs(1);
/// Time limit for counting a request at another node; after it this node counts the request.
const COUNT_TAKES: Duration = Duration::from_millis(250);
/// Time limit for the answer of an owner, for callers that prefer no answer to a wait.
const AT_ONCE_WITHIN: Duration = Duration::from_millis(300);
/// Maximum number of changed services in one request.
const AT_ONCE: usize = 500;
/// The wait before the owners are asked again.
const AGAIN: Duration = Duration::from_millis(50);

/// Applies stored services to the engine. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Announcer {
    /// The databases of services and their heartbeats.
    pub databases: Databases,
    /// The engine that watches those of this node.
    pub engine: Engine,
    /// Compiles the engine's definitions.
    pub definer: Definer,
    /// Services whose definitions have to be sent to remote locations again.
    pub changes: Changes,
    /// Changes of custom domains on this node.
    pub host_changes: HostChanges,
    /// The partitions of this node.
    pub ownership: Ownership,
    /// The connection to other nodes; `None` = there are none.
    pub peers: Option<Arc<dyn Peers>>,
    /// Counts requests for all nodes; `None` = each node counts its own.
    pub counts: Option<Arc<dyn Counts>>,
    /// The results that this node has stored recently, for other nodes.
    pub stored: Arc<Stored>,
    /// Services that cannot be watched because their rows cannot be read.
    pub unreadable: UnreadableServices,
}

/// A change that cannot be passed on to the engine.
#[derive(Debug, thiserror::Error)]
enum AnnounceError {
    #[error("what belongs to these services cannot be read: {0}")]
    Store(#[from] MainError),
    #[error(transparent)]
    Stopped(#[from] EngineStopped),
}

impl Announcer {
    /// Creates a router for a node that watches every service.
    #[must_use]
    pub fn alone(databases: Databases, engine: Engine, definer: Definer) -> Self {
        let (changes, ownership, stored) = (Changes::default(), Ownership::alone(), Arc::default());
        let host_changes = HostChanges::default();
        Self {
            databases,
            engine,
            definer,
            changes,
            host_changes,
            ownership,
            peers: None,
            counts: None,
            stored,
            unreadable: UnreadableServices::default(),
        }
    }

    /// Applies these services of one organisation to the engine. Returns once the change is effective.
    pub async fn announce(&self, services: &[Service], organisation: Id) {
        let (here, elsewhere): (Vec<&Service>, Vec<&Service>) =
            services.iter().partition(|service| self.ownership.is_ready(service.key));
        let owned = here.into_iter().map(|service| OwnedService { service: service.clone(), organisation });
        if let Err(error) = self.apply(&owned.collect::<Vec<_>>()).await {
            tracing::error!(%error, services = services.len(), "services are not watched as they are stored");
        }
        let changed = |service: &&Service| Changed { service: service.address(), revision: service.revision };
        self.tell_owners(&elsewhere.iter().map(changed).collect::<Vec<_>>()).await;
    }

    /// Removes a deleted service from the engine; `revision` is its last one.
    pub async fn retire(&self, service: ServiceAddress, revision: i64) {
        if !self.ownership.is_ready(service.key) {
            return self.tell_owners(&[Changed { service, revision }]).await;
        }
        self.changes.mark(service);
        if self.engine.retire(service.id, service.key, revision).await.is_err() {
            tracing::warn!(service = %service.id, "the engine has stopped");
        }
    }

    /// Passes a stored ping to the engine.
    pub async fn ping(&self, service: ServiceAddress, ping: Ping) {
        let question = |_| Question::Ping { service, ping };
        if self.ask_owners(&[service], |service| service.key, question, PATIENCE).await.unanswered > 0 {
            tracing::warn!(service = %service.id, "a ping is stored, and not heard yet");
        }
    }

    /// Returns a present snapshot of each of these services, in their order, from the nodes that watch them.
    ///
    /// # Errors
    /// [`NobodyAnswers`] when an owner does not answer in time.
    pub async fn snapshots(&self, services: &[ServiceAddress]) -> Result<Vec<Snapshot>, NobodyAnswers> {
        let found = self.known_snapshots(services, PATIENCE).await;
        let unknown = found.iter().filter(|snapshot| snapshot.is_none()).count();
        if unknown > 0 {
            return Err(NobodyAnswers { services: unknown });
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// Returns snapshots without a long wait: `None` for a service whose owner does not answer at once.
    pub async fn snapshots_at_once(&self, services: &[ServiceAddress]) -> Vec<Option<Snapshot>> {
        self.known_snapshots(services, AT_ONCE_WITHIN).await
    }

    /// Requests an immediate check from each service's owner. Best effort: an owner that does not answer in time is skipped.
    pub async fn look_at(&self, services: &[ServiceAddress]) {
        if !services.is_empty() {
            let key = |service: &ServiceAddress| service.key;
            self.ask_owners(services, key, Question::LookAt, AT_ONCE_WITHIN).await;
        }
    }

    /// Returns true if this node watches all of these.
    fn has_all(&self, services: &[ServiceAddress]) -> bool {
        let asked: Partitions = services.iter().map(|service| Partition::of(service.key)).collect();
        asked.without(self.ownership.ready()).is_empty()
    }

    async fn known_snapshots(
        &self,
        services: &[ServiceAddress],
        patience: Duration,
    ) -> Vec<Option<Snapshot>> {
        let mut found = vec![None; services.len()];
        if services.is_empty() {
            return found;
        }
        let asked = self.ask_owners(services, |service| service.key, Question::Snapshots, patience).await;
        for part in asked.parts {
            let Answer::Snapshots(snapshots) = part.answer else { continue };
            for (place, snapshot) in part.places.into_iter().zip(snapshots) {
                found[place] = Some(snapshot);
            }
        }
        found
    }

    /// Carries out a request to this node, if all its services are this node's.
    pub async fn answer(&self, question: Question) -> Answer {
        let answer = match question {
            Question::Changed(changed) => {
                if !changed.iter().all(|changed| self.ownership.is_ready(changed.service.key)) {
                    return Answer::NotMine;
                }
                self.apply_as_stored(&changed).await.map(|()| Answer::Done)
            }
            Question::Snapshots(services) => {
                if !self.has_all(&services) {
                    return Answer::NotMine;
                }
                self.engine.snapshots(&services).await.map(Answer::Snapshots).map_err(AnnounceError::from)
            }
            Question::LookAt(services) => {
                if !self.has_all(&services) {
                    return Answer::NotMine;
                }
                let ids = services.iter().map(|service| service.id).collect();
                self.engine.look_at(ids).await.map(|()| Answer::Done).map_err(AnnounceError::from)
            }
            Question::Ping { service, ping } => {
                if !self.ownership.is_ready(service.key) {
                    return Answer::NotMine;
                }
                self.engine.ping(service.id, ping).await.map(|()| Answer::Done).map_err(AnnounceError::from)
            }
            Question::Count(token) => {
                let counts = self.counts.as_ref().filter(|_| self.ownership.watches(token));
                Ok(counts.map_or(Answer::NotMine, |counts| {
                    Answer::Counted(counts.count(token, self.engine.now()))
                }))
            }
            Question::Stored(after) => Ok(Answer::Stored(self.stored.after(after))),
        };
        answer.unwrap_or_else(|error| {
            tracing::warn!(%error, "a question about services cannot be answered; it comes again");
            Answer::NotMine
        })
    }

    async fn tell_owners(&self, changed: &[Changed]) {
        for some in changed.chunks(AT_ONCE) {
            let told =
                self.ask_owners(some, |changed| changed.service.key, Question::Changed, PATIENCE).await;
            if told.unanswered > 0 {
                let services = told.unanswered;
                tracing::warn!(
                    services,
                    "the owner of services that have changed does not answer; the next comparison mends it"
                );
            }
        }
    }

    /// Applies these services as they are stored now, and removes deleted ones.
    async fn apply_as_stored(&self, changed: &[Changed]) -> Result<(), AnnounceError> {
        let keys: Vec<ServiceKey> = changed.iter().map(|changed| changed.service.key).collect();
        let found = definitions::with_keys(self.databases.main.reader(), &keys).await?;
        self.apply(&found.services).await?;
        let there = found.keys();
        for Changed { service, revision } in changed.iter().filter(|gone| !there.contains(&gone.service.key))
        {
            self.changes.mark(*service);
            self.engine.retire(service.id, service.key, *revision).await?;
        }
        Ok(())
    }

    async fn apply(&self, services: &[OwnedService]) -> Result<(), AnnounceError> {
        services.iter().for_each(|owned| self.changes.mark(owned.service.address()));
        for definition in self.define(services).await? {
            self.engine.apply(Arc::new(definition)).await?;
        }
        Ok(())
    }

    /// Returns the definitions of these services; one that cannot be watched is logged and skipped.
    ///
    /// # Errors
    /// When the main database fails.
    pub async fn define(&self, services: &[OwnedService]) -> Result<Vec<Definition>, MainError> {
        let heartbeats = self.heartbeats_of(services).await?;
        let definition = |owned: &OwnedService| {
            let OwnedService { service, organisation } = owned;
            let defined = self.definer.define(service, *organisation).inspect_err(|error| {
                tracing::error!(service = %service.id, %error, "this service cannot be watched");
            });
            let stored = heartbeats.get(&service.key).map(|stored| stored.heartbeat);
            Some(defined.ok()?.with_heartbeat(stored))
        };
        Ok(services.iter().filter_map(definition).collect())
    }

    async fn heartbeats_of(
        &self,
        services: &[OwnedService],
    ) -> Result<HashMap<ServiceKey, StoredHeartbeat>, MainError> {
        let reporting = services.iter().filter(|owned| owned.service.check_type == CheckType::Heartbeat);
        let keys: Vec<ServiceKey> = reporting.map(|owned| owned.service.key).collect();
        heartbeats::of_services(self.databases.main.reader(), &keys).await
    }
}

/// Requests to the owners of services.
impl Announcer {
    /// Asks the owners of these services, each for its own; returns the answers with the indices of their services.
    async fn ask_owners<T: Clone>(
        &self,
        services: &[T],
        key: impl Fn(&T) -> ServiceKey,
        question: impl Fn(Vec<T>) -> Question,
        patience: Duration,
    ) -> Asked {
        let until = Instant::now() + patience;
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
            let is_hopeless = self.peers.as_ref().is_none_or(|peers| !peers.are_reachable());
            if open.is_empty() || is_hopeless || Instant::now() >= until {
                return Asked { parts, unanswered: open.len() };
            }
            sleep(AGAIN).await;
        }
    }

    /// Counts a request of a token where that is counted for all nodes; `None` = on this node, or no node can be reached.
    pub async fn count_elsewhere(&self, token: i64) -> Option<Allowance> {
        let (owner, peers) = (self.owner_elsewhere(token)?, self.peers.as_ref()?);
        match timeout(COUNT_TAKES, peers.ask(owner, Question::Count(token))).await {
            Ok(Ok(Answer::Counted(allowance))) => Some(allowance),
            _ => None,
        }
    }

    /// The other living nodes, as far as this node knows.
    #[must_use]
    pub fn others(&self) -> Vec<NodeName> {
        let Some((me, owned)) = self.ownership.member().zip(self.ownership.owned()) else {
            return Vec::new();
        };
        owned.living.into_iter().filter(|node| *node != me.name).collect()
    }

    /// Returns the results that another node has stored recently; `None` when it does not answer.
    pub async fn stored_at(&self, node: NodeName, after: After) -> Option<Recent> {
        match self.ask(Some(node), Question::Stored(after)).await {
            Answer::Stored(recent) => Some(recent),
            _ => None,
        }
    }

    /// Returns the other node that owns the service; `None` = this node, or none.
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
