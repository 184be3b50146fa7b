//! The application state for handlers, assembled by `app`. It has no caches; a resource keeps its own data between
//! requests.

use std::sync::Arc;

use crate::backup::BackupState;
use crate::clock::guard::ClockGuard;
use crate::clock::{Clock, Timestamp};
use crate::config::Config;
use crate::engine::Engine;
use crate::engine::aggregator::ServiceSnapshot;
use crate::engine::definition::DefinitionCompiler;
use crate::events::EventHub;
use crate::http::gate::CallerLookup;
use crate::http::gate::auth::Caller;
use crate::http::gate::cached_bytes::CachedBytes;
use crate::http::gate::key_store::KeyStore;
use crate::http::gate::rate_limit::RateLimiter;
use crate::http::kit::error::ApiError;
use crate::http::v1::creation_times::CreationTimes;
use crate::http::v1::figures::ReadFigures;
use crate::id::Id;
use crate::model::domain_names::DomainNames;
use crate::model::plans::PlanTable;
use crate::model::rate_limit::RateLimitDecision;
use crate::model::secret::SecretSealer;
use crate::model::service::{Service, ServiceAddress};
use crate::model::token::TokenHash;
use crate::notify::carrier::MessageSender;
use crate::probe::toolbox::Toolbox;
use crate::readiness::Readiness;
use crate::service_router::ServiceRouter;
use crate::store::{Database, Databases, organisations, tokens};
use crate::supervise::Supervisor;
use crate::telemetry::MetricCollector;

/// The parts of the application.
pub struct AppState {
    /// The settings; `listen` is the actual address.
    pub config: Arc<Config>,
    /// Start of all links: `{base_url}`.
    pub base_url: String,
    /// The limits of each plan.
    pub plans: PlanTable,
    /// Source of the wall time.
    pub clock: Clock,
    /// The guard of the wall clock.
    pub guard: Arc<ClockGuard>,
    /// State of scheduled backups.
    pub backups: Arc<BackupState>,
    /// Generator of creation times.
    pub creations: CreationTimes,
    /// Main and history database.
    pub databases: Databases,
    /// Id of this node, which belongs to its data folder.
    pub node: Id,
    /// The engine of this process.
    pub engine: Engine,
    /// Builds the engine's definitions; holds the sealer and the known locations.
    pub compiler: DefinitionCompiler,
    /// Notifies the owners of services about stored changes.
    pub router: ServiceRouter,
    /// Sends messages to notification channels.
    pub carrier: MessageSender,
    /// Counts requests of tokens and addresses.
    pub limiter: Arc<RateLimiter>,
    /// Bytes of responses stored under keys.
    pub cached_bytes: Arc<CachedBytes>,
    /// The host names of this installation.
    pub domain_names: Arc<DomainNames>,
    /// Tools for DNS lookups of custom domains.
    pub toolbox: Arc<Toolbox>,
    /// Supervises the actors, and knows their state.
    pub supervisor: Supervisor,
    /// Hub of the clients that listen for events.
    pub events: Arc<EventHub>,
    /// Collectors for `/metrics`.
    pub collectors: Vec<Arc<dyn MetricCollector>>,
    /// Source of figures for operators.
    pub figures: Box<dyn ReadFigures>,
}

impl AppState {
    /// The parts that monitoring requires.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        Readiness {
            databases: self.databases.clone(),
            engine: self.engine.clone(),
            supervisor: self.supervisor.clone(),
        }
    }

    /// Returns the present wall time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A creation time: now, but later than every earlier creation.
    #[must_use]
    pub fn created_at(&self) -> Timestamp {
        self.creations.next(self.now())
    }

    /// Codes of the active locations.
    #[must_use]
    pub fn probe_codes(&self) -> Vec<String> {
        self.compiler.roster.codes().iter().map(ToString::to_string).collect()
    }

    /// Notifies the engine of a changed service, after the commit.
    pub async fn notify_engine(&self, service: &Service, organisation: Id) {
        self.router.announce(std::slice::from_ref(service), organisation).await;
    }

    /// Returns snapshots of these services from the engine, in their order.
    ///
    /// # Errors
    ///
    /// 503 when one of them has no owning node at the moment.
    pub async fn snapshots(&self, services: &[Service]) -> Result<Vec<ServiceSnapshot>, ApiError> {
        let addresses: Vec<_> = services.iter().map(Service::address).collect();
        self.live(&addresses).await
    }

    /// As [`AppState::snapshots`], for services given by id and key.
    ///
    /// # Errors
    ///
    /// 503 when one of them has no owning node at the moment.
    pub async fn live(&self, services: &[ServiceAddress]) -> Result<Vec<ServiceSnapshot>, ApiError> {
        self.router.snapshots(services).await.map_err(|_| ApiError::Unavailable)
    }
}

impl CallerLookup for AppState {
    async fn count_cluster_wide(&self, token: i64) -> Option<RateLimitDecision> {
        self.router.count_at_peer(token).await
    }

    async fn find_caller(&self, hash: TokenHash) -> Result<Option<Caller>, ApiError> {
        let reader = self.databases.main.reader();
        let Some(token) = tokens::find_by_hash(reader, &hash).await? else {
            return Ok(None);
        };
        let organisation = organisations::get(reader, token.organisation).await?;
        let Some(organisation) = organisation else { return Ok(None) };
        let limits = self.plans.limits(&organisation);
        Ok(Some(Caller { token, organisation, limits }))
    }
}

impl KeyStore for AppState {
    fn main(&self) -> &Database {
        &self.databases.main
    }

    fn sealer(&self) -> &SecretSealer {
        &self.compiler.sealer
    }

    fn base_url(&self) -> &str {
        &self.base_url
    }

    fn node(&self) -> Id {
        self.node
    }

    fn guard(&self) -> &ClockGuard {
        &self.guard
    }

    fn cached_bytes(&self) -> &Arc<CachedBytes> {
        &self.cached_bytes
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}
