//! The application state for handlers, which `app` assembles. It contains no caches of resources; those are created with the
//! routes that use them.

use std::sync::Arc;

use crate::backup::BackupState;
use crate::certificates::CertificateCache;
use crate::clock::guard::ClockGuard;
use crate::clock::{Clock, Timestamp};
use crate::config::Config;
use crate::engine::Engine;
use crate::engine::aggregator::ServiceSnapshot;
use crate::engine::definition::DefinitionCompiler;
use crate::events::EventHub;
use crate::fleet_view::FleetViews;
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

/// The components of the application that handlers use.
pub struct AppState {
    /// The settings of the server; `listen` holds the actual address.
    pub config: Arc<Config>,
    /// Base URL of the API, the prefix of all links.
    pub base_url: String,
    /// The limits of each plan.
    pub plans: PlanTable,
    /// Source of the wall time.
    pub clock: Clock,
    /// Guard of the wall clock, for expiry and leases.
    pub guard: Arc<ClockGuard>,
    /// State of backups.
    pub backups: Arc<BackupState>,
    /// Generator of creation times.
    pub creations: CreationTimes,
    /// Main and history database.
    pub databases: Databases,
    /// Id of this node, which is stored in its data folder.
    pub node: Id,
    /// The engine of this process.
    pub engine: Engine,
    /// Builds the engine's definitions; knows the sealer and the locations.
    pub compiler: DefinitionCompiler,
    /// Notifies the owners of services about stored changes.
    pub router: ServiceRouter,
    /// The services of each organisation in memory.
    pub fleets: Arc<FleetViews>,
    /// Sends messages to notification channels.
    pub carrier: MessageSender,
    /// Counts requests of tokens and addresses.
    pub limiter: Arc<RateLimiter>,
    /// The bytes of responses stored under idempotency keys.
    pub cached_bytes: Arc<CachedBytes>,
    /// The certificates of custom domains; `None` if this server obtains none.
    pub certificates: Option<CertificateCache>,
    /// The host names of this installation.
    pub domain_names: Arc<DomainNames>,
    /// Tools for the DNS lookups of custom domains.
    pub toolbox: Arc<Toolbox>,
    /// Supervises the actors, and knows their state.
    pub supervisor: Supervisor,
    /// The clients that listen for events, and the events for them.
    pub events: Arc<EventHub>,
    /// Collectors for `/metrics`.
    pub collectors: Vec<Arc<dyn MetricCollector>>,
    /// Source of figures for operators.
    pub figures: Box<dyn ReadFigures>,
}

impl AppState {
    /// Returns the components that must work for the process to be ready.
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

    /// Returns a creation time: now, or later if necessary to be after every earlier creation.
    #[must_use]
    pub fn created_at(&self) -> Timestamp {
        self.creations.next(self.now())
    }

    /// Returns the codes of the active locations.
    #[must_use]
    pub fn probe_codes(&self) -> Vec<String> {
        self.compiler.roster.codes().iter().map(ToString::to_string).collect()
    }

    /// Notifies the engine of a changed service; to be called after the commit.
    pub async fn notify_engine(&self, service: &Service, organisation: Id) {
        self.router.announce(std::slice::from_ref(service), organisation).await;
    }

    /// Returns snapshots of these services from the engine, in their order.
    ///
    /// # Errors
    ///
    /// 503 when one of the services has no owning node at the moment.
    pub async fn snapshots(&self, services: &[Service]) -> Result<Vec<ServiceSnapshot>, ApiError> {
        let addresses: Vec<_> = services.iter().map(Service::address).collect();
        self.live(&addresses).await
    }

    /// As [`AppState::snapshots`], for services given by their addresses.
    ///
    /// # Errors
    ///
    /// 503 when one of the services has no owning node at the moment.
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
