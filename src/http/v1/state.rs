//! The state that every handler may use: the parts of the application, put together by `app`. It owns no cache; what a
//! resource keeps between requests it keeps itself.

use std::sync::Arc;

use crate::announcer::Announcer;
use crate::backup::BackupState;
use crate::clock::guard::ClockGuard;
use crate::clock::{Clock, Timestamp};
use crate::config::Config;
use crate::engine::Engine;
use crate::engine::aggregator::Snapshot;
use crate::engine::definition::Definer;
use crate::events::Hub;
use crate::http::gate::Callers;
use crate::http::gate::auth::Caller;
use crate::http::gate::kept_bytes::KeptBytes;
use crate::http::gate::key_store::KeyStore;
use crate::http::gate::rate_limit::RateLimiter;
use crate::http::kit::error::ApiError;
use crate::http::v1::creation_times::CreationTimes;
use crate::http::v1::figures::ReadFigures;
use crate::id::Id;
use crate::model::allowance::Allowance;
use crate::model::domain_names::DomainNames;
use crate::model::plans::PlanTable;
use crate::model::secret::Sealer;
use crate::model::service::{Service, ServiceAddress};
use crate::model::token::TokenHash;
use crate::notify::carrier::Carrier;
use crate::probe::toolbox::Toolbox;
use crate::readiness::Readiness;
use crate::store::{Database, Databases, organisations, tokens};
use crate::supervise::Supervisor;
use crate::telemetry::Collect;

/// The parts of the application.
pub struct AppState {
    /// The settings; `listen` is the address that is really listened on.
    pub config: Arc<Config>,
    /// `{base_url}` of all links.
    pub base_url: String,
    /// The limits of each plan.
    pub plans: PlanTable,
    /// Wall time.
    pub clock: Clock,
    /// The judge of the wall clock.
    pub guard: Arc<ClockGuard>,
    /// What came of scheduled backups.
    pub backups: Arc<BackupState>,
    /// The times of creations.
    pub creations: CreationTimes,
    /// Both databases.
    pub databases: Databases,
    /// This process among those on the same databases: the one on this data folder.
    pub node: Id,
    /// The engine.
    pub engine: Engine,
    /// Makes the engine's definitions; holds sealer and roster.
    pub definer: Definer,
    /// Tells the engine about stored services.
    pub announcer: Announcer,
    /// The way out, for messages to people.
    pub carrier: Carrier,
    /// The rate limit.
    pub limiter: Arc<RateLimiter>,
    /// How much is kept of answers under keys.
    pub kept_bytes: Arc<KeptBytes>,
    /// The host names that this installation goes by.
    pub domain_names: Arc<DomainNames>,
    /// The way to the name servers, for looks at custom domains.
    pub toolbox: Arc<Toolbox>,
    /// Keeps the actors alive, and knows how they are.
    pub supervisor: Supervisor,
    /// Those who listen to what happens.
    pub events: Arc<Hub>,
    /// The sources of numbers for `/metrics`.
    pub collectors: Vec<Arc<dyn Collect>>,
    /// The source of numbers for the view of operators.
    pub figures: Box<dyn ReadFigures>,
}

impl AppState {
    /// The parts without which nothing is watched.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        Readiness {
            databases: self.databases.clone(),
            engine: self.engine.clone(),
            supervisor: self.supervisor.clone(),
        }
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The time of a creation: now, but later than that of every earlier creation.
    #[must_use]
    pub fn created_at(&self) -> Timestamp {
        self.creations.next(self.now())
    }

    /// Codes of the active locations.
    #[must_use]
    pub fn probe_codes(&self) -> Vec<String> {
        self.definer.roster.codes().iter().map(ToString::to_string).collect()
    }

    /// Tells the engine how a service is to be watched from now on. The commit has been made.
    pub async fn tell_engine(&self, service: &Service, organisation: Id) {
        self.announcer.announce(std::slice::from_ref(service), organisation).await;
    }

    /// Returns snapshots of these services as the engine knows them, in their order.
    ///
    /// # Errors
    /// 503 when nobody watches one of them just now.
    pub async fn snapshots(&self, services: &[Service]) -> Result<Vec<Snapshot>, ApiError> {
        let addresses: Vec<_> = services.iter().map(Service::address).collect();
        self.live(&addresses).await
    }

    /// As [`AppState::snapshots`], for services of which only ids and keys are at hand.
    ///
    /// # Errors
    /// 503 when nobody watches one of them just now.
    pub async fn live(&self, services: &[ServiceAddress]) -> Result<Vec<Snapshot>, ApiError> {
        self.announcer.snapshots(services).await.map_err(|_| ApiError::Unavailable)
    }
}

impl Callers for AppState {
    async fn count_elsewhere(&self, token: i64) -> Option<Allowance> {
        self.announcer.count_elsewhere(token).await
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

    fn sealer(&self) -> &Sealer {
        &self.definer.sealer
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

    fn kept_bytes(&self) -> &Arc<KeptBytes> {
        &self.kept_bytes
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}
