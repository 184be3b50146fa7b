//! The service router: applies a stored service to the engine, on the node that owns it.
//!
//! This is the only place that reads the data that a definition needs in addition to the row of the service, so
//! every caller (the API, the timetable, a restart, the comparison with the store) applies the same definition.
//! A change of a service is committed before it is applied. Later failures are logged, and corrected by the
//! next comparison.
//!
//! A service that another node watches is applied and queried there: see [`peers`] and [`ownership`].

pub mod change_queue;
pub mod host_changes;
pub mod ownership;
pub mod peers;
pub mod recent_results;
pub mod service_states;
pub mod unreadable;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{Instant, sleep, timeout};

use crate::engine::aggregator::ServiceSnapshot;
use crate::engine::definition::{DefinitionCompiler, WatchDefinition};
use crate::engine::{Engine, EngineStopped};
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::heartbeat::HeartbeatPing;
use crate::model::node::NodeName;
use crate::model::partition::{Partition, PartitionSet};
use crate::model::rate_limit::RateLimitDecision;
use crate::model::service::{Service, ServiceAddress, ServiceKey};
use crate::service_router::change_queue::ChangeQueue;
use crate::service_router::host_changes::HostChanges;
use crate::service_router::ownership::Ownership;
use crate::service_router::peers::{
    OwnerReplies, OwnersUnavailable, PartialReply, PeerNodes, PeerReply, PeerRequest, RequestCounter,
    ServiceRevision,
};
use crate::service_router::recent_results::{RecentResults, ResultsReply, ResultsRequest};
use crate::service_router::unreadable::UnreadableServices;
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
pub struct ServiceRouter {
    /// The databases of services and their heartbeats.
    pub databases: Databases,
    /// The engine that watches the services of this node.
    pub engine: Engine,
    /// Compiles definitions for the engine.
    pub compiler: DefinitionCompiler,
    /// Services whose definitions have to be sent to remote locations again.
    pub changes: ChangeQueue,
    /// Changes of custom domains on this node.
    pub host_changes: HostChanges,
    /// The partitions of this node.
    pub ownership: Ownership,
    /// The connection to other nodes; `None` on a single node.
    pub peers: Option<Arc<dyn PeerNodes>>,
    /// Counts the requests of tokens for all nodes; `None` if each node counts its own.
    pub counts: Option<Arc<dyn RequestCounter>>,
    /// The results that this node has stored recently, for other nodes.
    pub stored: Arc<RecentResults>,
    /// Services that cannot be watched because their rows cannot be read.
    pub unreadable: UnreadableServices,
}

/// A change that cannot be passed on to the engine.
#[derive(Debug, thiserror::Error)]
enum RoutingError {
    #[error("what belongs to these services cannot be read: {0}")]
    Store(#[from] MainError),
    #[error(transparent)]
    Stopped(#[from] EngineStopped),
}

impl ServiceRouter {
    /// Creates a router for a node that watches every service.
    #[must_use]
    pub fn alone(databases: Databases, engine: Engine, compiler: DefinitionCompiler) -> Self {
        let (changes, ownership, stored) = (ChangeQueue::default(), Ownership::alone(), Arc::default());
        let host_changes = HostChanges::default();
        Self {
            databases,
            engine,
            compiler,
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
        let (here, remote): (Vec<&Service>, Vec<&Service>) =
            services.iter().partition(|service| self.ownership.is_ready(service.key));
        let owned = here.into_iter().map(|service| OwnedService { service: service.clone(), organisation });
        if let Err(error) = self.apply(&owned.collect::<Vec<_>>()).await {
            tracing::error!(
                services = services.len(),
                %error,
                "cannot apply changed services to the engine; the next comparison tries again"
            );
        }
        let changed =
            |service: &&Service| ServiceRevision { service: service.address(), revision: service.revision };
        self.notify_owners(&remote.iter().map(changed).collect::<Vec<_>>()).await;
    }

    /// Removes a deleted service from the engine; `revision` is the last revision of the service.
    pub async fn retire(&self, service: ServiceAddress, revision: i64) {
        if !self.ownership.is_ready(service.key) {
            return self.notify_owners(&[ServiceRevision { service, revision }]).await;
        }
        self.changes.mark(service);
        if self.engine.retire(service.id, service.key, revision).await.is_err() {
            tracing::warn!(service = %service.id, "cannot stop watching the service: the engine has stopped");
        }
    }

    /// Passes a stored ping to the engine.
    pub async fn ping(&self, service: ServiceAddress, ping: HeartbeatPing) {
        let question = |_| PeerRequest::Ping { service, ping };
        if self.ask_owners(&[service], |service| service.key, question, PATIENCE).await.unanswered > 0 {
            tracing::warn!(
                service = %service.id,
                "ping stored but not processed yet: the owner of the service does not answer"
            );
        }
    }

    /// Returns a current snapshot of each of these services, in their order, from the nodes that watch them.
    ///
    /// # Errors
    /// [`OwnersUnavailable`] when an owner does not answer in time.
    pub async fn snapshots(
        &self,
        services: &[ServiceAddress],
    ) -> Result<Vec<ServiceSnapshot>, OwnersUnavailable> {
        let found = self.known_snapshots(services, PATIENCE).await;
        let unknown = found.iter().filter(|snapshot| snapshot.is_none()).count();
        if unknown > 0 {
            return Err(OwnersUnavailable { services: unknown });
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// Returns snapshots without a long wait: `None` for a service whose owner does not answer at once.
    pub async fn snapshots_at_once(&self, services: &[ServiceAddress]) -> Vec<Option<ServiceSnapshot>> {
        self.known_snapshots(services, AT_ONCE_WITHIN).await
    }

    /// Requests an immediate check from each service's owner. Best effort: an owner that does not answer in time is skipped.
    pub async fn request_checks(&self, services: &[ServiceAddress]) {
        if !services.is_empty() {
            let key = |service: &ServiceAddress| service.key;
            self.ask_owners(services, key, PeerRequest::LookAt, AT_ONCE_WITHIN).await;
        }
    }

    /// Lets all locations of the service check at once.
    ///
    /// # Errors
    /// [`OwnersUnavailable`] when no node watches the service, or its node does not answer in time.
    pub async fn check_now(&self, service: ServiceAddress) -> Result<(), OwnersUnavailable> {
        let key = |service: &ServiceAddress| service.key;
        let asked = self.ask_owners(&[service], key, PeerRequest::LookAt, PATIENCE).await;
        if asked.unanswered > 0 { Err(OwnersUnavailable { services: asked.unanswered }) } else { Ok(()) }
    }

    /// Returns true if this node watches all of these services.
    fn has_all(&self, services: &[ServiceAddress]) -> bool {
        let asked: PartitionSet = services.iter().map(|service| Partition::of(service.key)).collect();
        asked.without(self.ownership.ready()).is_empty()
    }

    async fn known_snapshots(
        &self,
        services: &[ServiceAddress],
        patience: Duration,
    ) -> Vec<Option<ServiceSnapshot>> {
        let mut found = vec![None; services.len()];
        if services.is_empty() {
            return found;
        }
        let asked = self.ask_owners(services, |service| service.key, PeerRequest::Snapshots, patience).await;
        for part in asked.parts {
            let PeerReply::Snapshots(snapshots) = part.answer else { continue };
            for (index, snapshot) in part.indexes.into_iter().zip(snapshots) {
                found[index] = Some(snapshot);
            }
        }
        found
    }

    /// Carries out a request to this node. The answer is `NotMine` if another node watches one of the services.
    pub async fn answer(&self, question: PeerRequest) -> PeerReply {
        let answer = match question {
            PeerRequest::Changed(changed) => {
                if !changed.iter().all(|changed| self.ownership.is_ready(changed.service.key)) {
                    return PeerReply::NotMine;
                }
                self.apply_as_stored(&changed).await.map(|()| PeerReply::Done)
            }
            PeerRequest::Snapshots(services) => {
                if !self.has_all(&services) {
                    return PeerReply::NotMine;
                }
                self.engine.snapshots(&services).await.map(PeerReply::Snapshots).map_err(RoutingError::from)
            }
            PeerRequest::LookAt(services) => {
                if !self.has_all(&services) {
                    return PeerReply::NotMine;
                }
                let ids = services.iter().map(|service| service.id).collect();
                self.engine.check_now(ids).await.map(|()| PeerReply::Done).map_err(RoutingError::from)
            }
            PeerRequest::Ping { service, ping } => {
                if !self.ownership.is_ready(service.key) {
                    return PeerReply::NotMine;
                }
                self.engine.ping(service.id, ping).await.map(|()| PeerReply::Done).map_err(RoutingError::from)
            }
            PeerRequest::Count(token) => {
                let counts = self.counts.as_ref().filter(|_| self.ownership.watches(token));
                Ok(counts.map_or(PeerReply::NotMine, |counts| {
                    PeerReply::Counted(counts.count(token, self.engine.now()))
                }))
            }
            PeerRequest::Stored(after) => Ok(PeerReply::Stored(self.stored.results_after(after))),
        };
        answer.unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot answer a request about services; the sender retries");
            PeerReply::NotMine
        })
    }

    async fn notify_owners(&self, changed: &[ServiceRevision]) {
        for some in changed.chunks(AT_ONCE) {
            let notified =
                self.ask_owners(some, |changed| changed.service.key, PeerRequest::Changed, PATIENCE).await;
            if notified.unanswered > 0 {
                let services = notified.unanswered;
                tracing::warn!(
                    services,
                    "owner of changed services does not answer; the next comparison tries again"
                );
            }
        }
    }

    /// Applies these services as they are stored now, and removes deleted ones.
    async fn apply_as_stored(&self, changed: &[ServiceRevision]) -> Result<(), RoutingError> {
        let keys: Vec<ServiceKey> = changed.iter().map(|changed| changed.service.key).collect();
        let found = definitions::with_keys(self.databases.main.reader(), &keys).await?;
        self.apply(&found.services).await?;
        let there = found.keys();
        for ServiceRevision { service, revision } in
            changed.iter().filter(|gone| !there.contains(&gone.service.key))
        {
            self.changes.mark(*service);
            self.engine.retire(service.id, service.key, *revision).await?;
        }
        Ok(())
    }

    async fn apply(&self, services: &[OwnedService]) -> Result<(), RoutingError> {
        services.iter().for_each(|owned| self.changes.mark(owned.service.address()));
        for definition in self.definitions_of(services).await? {
            self.engine.apply(Arc::new(definition)).await?;
        }
        Ok(())
    }

    /// Returns the definitions of these services; one that cannot be watched is logged and skipped.
    pub async fn definitions_of(&self, services: &[OwnedService]) -> Result<Vec<WatchDefinition>, MainError> {
        let heartbeats = self.heartbeats_of(services).await?;
        let definition = |owned: &OwnedService| {
            let OwnedService { service, organisation } = owned;
            let defined = self.compiler.define(service, *organisation).inspect_err(|error| {
                tracing::error!(service = %service.id, %error, "cannot watch the service");
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
impl ServiceRouter {
    /// Asks the owners of these services, each about its own services; returns the answers with the indices of
    /// their services.
    async fn ask_owners<T: Clone>(
        &self,
        services: &[T],
        key: impl Fn(&T) -> ServiceKey,
        question: impl Fn(Vec<T>) -> PeerRequest,
        patience: Duration,
    ) -> OwnerReplies {
        let until = Instant::now() + patience;
        let mut open: Vec<usize> = (0..services.len()).collect();
        let mut parts = Vec::new();
        loop {
            let mut by_owner: BTreeMap<Option<NodeName>, Vec<usize>> = BTreeMap::new();
            for index in open {
                by_owner.entry(self.remote_owner(key(&services[index]))).or_default().push(index);
            }
            let asked = by_owner.into_iter().map(|(owner, indexes)| {
                let question = question(indexes.iter().map(|index| services[*index].clone()).collect());
                async move { PartialReply { answer: self.ask(owner, question).await, indexes } }
            });
            let (answered, unanswered): (Vec<_>, Vec<_>) =
                join_all(asked).await.into_iter().partition(|part| part.answer != PeerReply::NotMine);
            parts.extend(answered);
            open = unanswered.into_iter().flat_map(|part| part.indexes).collect();
            let is_hopeless = self.peers.as_ref().is_none_or(|peers| !peers.are_reachable());
            if open.is_empty() || is_hopeless || Instant::now() >= until {
                return OwnerReplies { parts, unanswered: open.len() };
            }
            sleep(AGAIN).await;
        }
    }

    /// Counts a request of a token at the node that counts it for all. `None` if that is this node, or it does
    /// not answer.
    pub async fn count_at_peer(&self, token: i64) -> Option<RateLimitDecision> {
        let (owner, peers) = (self.remote_owner(token)?, self.peers.as_ref()?);
        match timeout(COUNT_TAKES, peers.ask(owner, PeerRequest::Count(token))).await {
            Ok(Ok(PeerReply::Counted(allowance))) => Some(allowance),
            _ => None,
        }
    }

    /// The other living nodes, as far as this node knows.
    #[must_use]
    pub fn living_peers(&self) -> Vec<NodeName> {
        let Some((me, owned)) = self.ownership.member().zip(self.ownership.owned()) else {
            return Vec::new();
        };
        owned.living.into_iter().filter(|node| *node != me.name).collect()
    }

    /// Returns the results that another node has stored recently; `None` when it does not answer.
    pub async fn fetch_results(&self, node: NodeName, after: ResultsRequest) -> Option<ResultsReply> {
        match self.ask(Some(node), PeerRequest::Stored(after)).await {
            PeerReply::Stored(recent) => Some(recent),
            _ => None,
        }
    }

    /// Returns the other node that owns the service; `None` if this node owns it, or no node does.
    fn remote_owner(&self, service: ServiceKey) -> Option<NodeName> {
        if self.ownership.watches(service) {
            return None;
        }
        let me = self.ownership.member().map(|member| &member.name);
        self.ownership.owner_of(service).filter(|owner| Some(owner) != me)
    }

    async fn ask(&self, owner: Option<NodeName>, question: PeerRequest) -> PeerReply {
        match (owner, &self.peers) {
            (Some(node), Some(peers)) => {
                let asked = timeout(ANSWER_TAKES, peers.ask(node, question)).await;
                asked.ok().and_then(Result::ok).unwrap_or(PeerReply::NotMine)
            }
            _ => self.answer(question).await,
        }
    }
}
