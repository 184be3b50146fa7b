//! Background tasks of a location: it receives requests, reports its state, and renews its token.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{interval, sleep};

use crate::agent::identity::LocationIdentity;
use crate::bus::connection::BusConnection;
use crate::bus::messages::check_request::RemoteCheckRequest;
use crate::bus::messages::enrolment::RenewalGrant;
use crate::bus::messages::presence::{LocationPresence, PRESENCE_MS};
use crate::bus::reports::{CheckRequestSubscription, report};
use crate::bus::requests::ask;
use crate::bus::subjects::BusSubject;
use crate::bus::users::LOCATION_TOKEN_MS;
use crate::clock::Clock;
use crate::engine::Engine;
use crate::engine::remote::IncomingCheckRequest;
use crate::model::location::LocationCode;
use crate::record::recorder::RecordCounters;

/// The time between two checks of the token's age.
const RENEWAL_EVERY: Duration = Duration::from_secs(600);
/// A token is renewed when it is older than this, in milliseconds.
const RENEWED_AT_MS: i64 = 86_400_000;

/// Carries out the engine's requests for checks outside the schedule.
#[derive(Clone, Debug)]
pub(super) struct CheckRequestListener {
    pub(super) connection: BusConnection,
    pub(super) code: LocationCode,
    pub(super) engine: Engine,
}

impl CheckRequestListener {
    pub(super) async fn run(self) {
        let Ok(mut requests) = CheckRequestSubscription::listen(&self.connection, &self.code).await else {
            return;
        };
        while let Some(RemoteCheckRequest { service, check_now, fast_rechecks_ms }) = requests.next().await {
            if self
                .engine
                .handle_check_request(IncomingCheckRequest { id: service, check_now, fast_rechecks_ms })
                .await
                .is_err()
            {
                return;
            }
        }
    }
}

/// Reports the state of this location every few seconds.
#[derive(Clone, Debug)]
pub(super) struct PresenceReporter {
    connection: BusConnection,
    code: LocationCode,
    engine: Engine,
    counters: Arc<RecordCounters>,
    clock: Clock,
}

impl PresenceReporter {
    pub(super) const fn new(
        connection: BusConnection,
        code: LocationCode,
        engine: Engine,
        counters: Arc<RecordCounters>,
        clock: Clock,
    ) -> Self {
        Self { connection, code, engine, counters, clock }
    }

    pub(super) async fn run(self) {
        let mut ticks = interval(Duration::from_millis(PRESENCE_MS));
        loop {
            ticks.tick().await;
            if !self.connection.state().is_connected() {
                continue;
            }
            let Some(presence) = self.read_presence().await else { return };
            if let Err(error) = report(&self.connection, &self.code, &presence).await {
                tracing::debug!(error, "cannot report the state of this location; retrying");
            }
        }
    }

    /// Collects the report; `None` if the engine has stopped.
    async fn read_presence(&self) -> Option<LocationPresence> {
        let lateness = self.engine.lateness().await.ok()?;
        let services = self.engine.watched().await.ok()?.len() as u64;
        let locations = self.engine.roster().all();
        let count = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
        Some(LocationPresence {
            version: env!("CARGO_PKG_VERSION").into(),
            sent_at_ms: self.clock.now().ms(),
            started_at_ms: self.engine.started_at().ms(),
            services,
            lateness_p99_us: lateness.percentile_us(99.0),
            missed: self.engine.counters().missed.get(),
            waiting: count(&self.counters.waiting),
            spool_bytes: count(&self.counters.spool_bytes),
            shed: count(&self.counters.shed),
            impaired: locations.iter().any(|known| known.is_impaired()),
            blind_by: locations.iter().find_map(|known| known.blind_by()).map(|by| by.as_str().to_owned()),
        })
    }
}

#[derive(Clone, Debug)]
pub(super) struct TokenRenewal {
    pub(super) connection: BusConnection,
    pub(super) identity: LocationIdentity,
    pub(super) clock: Clock,
}

impl TokenRenewal {
    pub(super) async fn run(mut self) {
        loop {
            if self.is_due() && self.connection.state().is_connected() {
                match self.renew().await {
                    Ok(()) => tracing::info!("token of this location renewed"),
                    Err(error) => tracing::warn!(
                        error = format!("{error:#}"),
                        "cannot renew the token of this location; retrying"
                    ),
                }
            }
            sleep(RENEWAL_EVERY).await;
        }
    }

    fn is_due(&self) -> bool {
        let expires = self.identity.credentials().ok().and_then(|stored| stored.holder().expires);
        expires.is_some_and(|expires| expires.ms_since(self.clock.now()) < LOCATION_TOKEN_MS - RENEWED_AT_MS)
    }

    async fn renew(&mut self) -> anyhow::Result<()> {
        let subject = BusSubject::Renew(self.identity.code.clone());
        let RenewalGrant { token } = ask(&self.connection, &subject, &()).await?;
        self.connection.use_credentials(self.identity.renew(token)?);
        Ok(())
    }
}
