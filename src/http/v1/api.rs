//! The application behind the gate: what every handler may use.
//!
//! It finds callers by their token and remembers them for a second, so that a busy client costs no query per request and a
//! revoked token stops working within that second.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

use crate::announcer::Announcer;
use crate::clock::guard::ClockGuard;
use crate::clock::{Clock, Timestamp};
use crate::config::Config;
use crate::config::sources::BadConfig;
use crate::engine::Engine;
use crate::engine::aggregator::Snapshot;
use crate::engine::definition::Definer;
use crate::http::gate::Callers;
use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::generational::Generational;
use crate::http::kit::store_access::StoreResult as _;
use crate::http::v1::assets::Studio;
use crate::http::v1::custom_domains::Cooldowns;
use crate::http::v1::services::{ServicePage, StoredService};
use crate::id::Id;
use crate::model::domain_names::DomainNames;
use crate::model::plans::PlanTable;
use crate::model::service::{Service, ServiceKey};
use crate::model::token::TokenHash;
use crate::probe::toolbox::Toolbox;
use crate::store::{Databases, organisations, tokens};
use crate::telemetry::Collect;

/// How long a caller is remembered.
const CALLER_MS: i64 = 1_000;
/// Passwords hashed at a time.
const HASHING_PLACES: usize = 2;
/// How far times of creation may run ahead of the clock.
const AHEAD_MS: i64 = 1_000;
/// Services remembered at a time.
const SHOWN_SERVICES: usize = 10_000;
/// Pages of services remembered at a time.
const SHOWN_PAGES: usize = 256;
/// Callers remembered at a time.
const CALLERS: usize = 10_000;

/// What the API is built from.
pub struct ApiParts {
    /// The settings; `listen` is the address that is really listened on.
    pub config: Arc<Config>,
    /// Wall time.
    pub clock: Clock,
    /// Whether it can be trusted.
    pub guard: Arc<ClockGuard>,
    /// Both databases.
    pub databases: Databases,
    /// Which of the processes on these databases this is: the one on this data folder.
    pub node: Id,
    /// The engine.
    pub engine: Engine,
    /// Makes the engine's definitions; holds sealer and roster.
    pub definer: Definer,
    /// Tells the engine about stored services.
    pub announcer: Announcer,
    /// The host names that this installation goes by.
    pub domain_names: Arc<DomainNames>,
    /// The way to the name servers, for looks at custom domains.
    pub toolbox: Arc<Toolbox>,
    /// Who has numbers for `/metrics`.
    pub collectors: Vec<Arc<dyn Collect>>,
}

/// The application behind the gate.
pub struct Api {
    /// What it was built from.
    pub parts: ApiParts,
    /// `{base_url}` of all links.
    pub base_url: String,
    /// What each plan allows.
    pub plans: PlanTable,
    /// Codes of the active locations.
    pub probe_codes: Vec<String>,
    /// Where uploaded pictures are decoded.
    pub studio: Studio,
    /// Who asked for a look at which domain a moment ago.
    pub cooldowns: Cooldowns,
    /// Places for hashing passwords: each takes much memory.
    pub hashing: Semaphore,
    callers: Mutex<HashMap<TokenHash, (Timestamp, Caller)>>,
    last_creation_ms: AtomicI64,
    /// Services as they were last read, by organisation and id.
    pub(super) shown_services: Generational<(i64, Id), Arc<StoredService>>,
    /// Pages of services, with how many services there are.
    pub(super) shown_pages: Generational<ServicePage, (Arc<[StoredService]>, u64)>,
}

impl Api {
    /// An application of these parts.
    ///
    /// # Errors
    /// When the configured plans cannot be used.
    pub fn new(parts: ApiParts) -> Result<Self, BadConfig> {
        let locations = parts.definer.roster.locations();
        Ok(Self {
            base_url: parts.config.base_url(),
            plans: PlanTable::new(&parts.config.plans)?,
            probe_codes: locations.iter().map(|location| location.code.to_string()).collect(),
            studio: Studio::default(),
            cooldowns: Cooldowns::default(),
            hashing: Semaphore::new(HASHING_PLACES),
            callers: Mutex::default(),
            last_creation_ms: AtomicI64::default(),
            shown_services: Generational::new(SHOWN_SERVICES),
            shown_pages: Generational::new(SHOWN_PAGES),
            parts,
        })
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    /// The time of a creation: now, but later than that of every earlier creation, so that what was created later is listed
    /// later. When more is created than there are milliseconds, times are shared rather than running ahead.
    #[must_use]
    pub fn created_at(&self) -> Timestamp {
        let now = self.now().ms();
        let next = |last: i64| Some(if last < now || last > now + AHEAD_MS { now } else { last + 1 });
        let last = self.last_creation_ms.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        Timestamp::from_ms(last.ok().and_then(next).unwrap_or(now))
    }

    /// Tells the engine how a service is to be watched from now on. The commit has been made.
    pub async fn tell_engine(&self, service: &Service, organisation: Id) {
        self.parts.announcer.announce(std::slice::from_ref(service), organisation).await;
    }

    /// What the engine knows about these services, in their order.
    ///
    /// # Errors
    /// 503 when the engine has stopped.
    pub async fn snapshots(&self, services: &[Service]) -> Result<Vec<Snapshot>, ApiError> {
        let keys: Vec<_> = services.iter().map(|service| (service.id, service.key)).collect();
        self.live(&keys).await
    }

    /// As [`Api::snapshots`], for services of which only ids and keys are at hand.
    ///
    /// # Errors
    /// 503 when the engine has stopped.
    pub async fn live(&self, services: &[(Id, ServiceKey)]) -> Result<Vec<Snapshot>, ApiError> {
        self.parts.engine.snapshots(services).await.map_err(|_| ApiError::Unavailable)
    }

    fn remember(&self, hash: TokenHash, caller: &Caller, now: Timestamp) {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() >= CALLERS {
            callers.clear();
        }
        callers.insert(hash, (now, caller.clone()));
    }
}

impl Callers for Api {
    fn remembered(&self, hash: &TokenHash, now: Timestamp) -> Option<Caller> {
        let callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let (known_at, caller) = callers.get(hash)?;
        (0..CALLER_MS).contains(&now.ms_since(*known_at)).then(|| caller.clone())
    }

    async fn find_caller(&self, hash: TokenHash, now: Timestamp) -> Result<Option<Caller>, ApiError> {
        let reader = self.parts.databases.main.reader();
        let Some(token) = tokens::find_by_hash(reader, &hash).await.or_unavailable()? else {
            return Ok(None);
        };
        let organisation = organisations::get(reader, token.organisation).await.or_unavailable()?;
        let Some(organisation) = organisation else { return Ok(None) };
        let limits = self.plans.limits(&organisation);
        let caller = Caller { token, organisation, limits };
        self.remember(hash, &caller, now);
        Ok(Some(caller))
    }
}
