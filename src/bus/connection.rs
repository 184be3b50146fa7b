//! A connection to the bus: encrypted, to a pinned authority, with an inbox of its own; it reconnects by itself.
//!
//! Credentials can be replaced while a connection is open ([`BusConnection::use_credentials`]): the next
//! connection uses the new ones. The state of the connection is counted in [`ConnectionState`].

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::jetstream::{self, Context};
use async_nats::{Auth, AuthError, Client, ConnectOptions, Event, ServerAddr, Subject as NatsSubject};

use crate::bus::credentials::BusCredentials;
use crate::bus::users::inbox_prefix;
use crate::config::limits::BusLimits;
use crate::telemetry::{Exposition, MetricCollector};

/// The first wait before another attempt to connect.
const FIRST_WAIT_MS: u64 = 50;
/// The longest wait between two attempts.
const LONGEST_WAIT_MS: u64 = 2_000;

/// The servers to connect to.
#[derive(Clone, Debug)]
pub struct BusServers {
    /// Addresses, separated by commas: `tls://host:port`.
    pub url: String,
    /// Authorities (PEM), one of which must have signed the server's certificate; `None` for the system's
    /// authorities.
    pub ca_file: Option<PathBuf>,
}

/// A connection that could not be opened, as one line.
#[derive(Debug, thiserror::Error)]
#[error("cannot connect to {url}: {problem}")]
pub struct ConnectProblem {
    /// Addresses of the servers, as configured.
    pub url: String,
    /// The error, with its causes.
    pub problem: String,
}

/// The reaction to a failed first attempt to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnFirstFailure {
    Fail,
    Retry,
}

/// The state of a connection.
#[derive(Debug, Default)]
pub struct ConnectionState {
    connected: AtomicBool,
    connections: AtomicU64,
    refused: AtomicU64,
    slow: AtomicU64,
    last_problem: Mutex<Option<String>>,
}

/// A connection to the bus. Cheap to clone; it is closed when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct BusConnection {
    client: Client,
    jetstream: Context,
    credentials: Arc<Mutex<Arc<BusCredentials>>>,
    state: Arc<ConnectionState>,
}

impl BusConnection {
    /// Connects, and fails when the first attempt does. A connection that is lost later is retried forever.
    ///
    /// # Errors
    /// When no server answers, its certificate is not signed by the authority, or the credentials are refused.
    pub async fn open(
        servers: &BusServers,
        credentials: BusCredentials,
        limits: &BusLimits,
    ) -> Result<Self, ConnectProblem> {
        Self::connect(servers, credentials, limits, OnFirstFailure::Fail).await
    }

    /// Connects in the background: a failed first attempt is retried forever, and the caller can do other work
    /// meanwhile.
    ///
    /// # Errors
    /// When the addresses cannot be parsed.
    pub async fn open_with_retries(
        servers: &BusServers,
        credentials: BusCredentials,
        limits: &BusLimits,
    ) -> Result<Self, ConnectProblem> {
        Self::connect(servers, credentials, limits, OnFirstFailure::Retry).await
    }

    async fn connect(
        servers: &BusServers,
        credentials: BusCredentials,
        limits: &BusLimits,
        first: OnFirstFailure,
    ) -> Result<Self, ConnectProblem> {
        let problem = |problem: String| ConnectProblem { url: servers.url.clone(), problem };
        let addresses: Result<Vec<ServerAddr>, _> =
            servers.url.split(',').map(|url| url.trim().parse()).collect();
        let addresses = addresses.map_err(|error| problem(error.to_string()))?;
        let state = Arc::new(ConnectionState::default());
        let name = credentials.holder().name.clone();
        let credentials = Arc::new(Mutex::new(Arc::new(credentials)));
        let mut options =
            options(limits, &state, &credentials).name(&name).custom_inbox_prefix(inbox_prefix(&name));
        if let Some(file) = &servers.ca_file {
            options = options.add_root_certificates(file.clone());
        }
        if first == OnFirstFailure::Retry {
            options = options.retry_on_initial_connect();
        }
        let client = options.connect(addresses).await.map_err(|error| problem(causes(&error)))?;
        let jetstream = jetstream::new(client.clone());
        Ok(Self { client, jetstream, credentials, state })
    }

    /// The name of the connected user, such as `node.a`.
    #[must_use]
    pub fn user(&self) -> String {
        self.credentials.lock().unwrap_or_else(PoisonError::into_inner).holder().name.clone()
    }

    /// Client for publishing and subscribing without JetStream.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Client for streams and buckets.
    #[must_use]
    pub fn jetstream(&self) -> &Context {
        &self.jetstream
    }

    /// The state of the connection.
    #[must_use]
    pub fn state(&self) -> &Arc<ConnectionState> {
        &self.state
    }

    /// Uses these credentials for the next connection. The current connection lives until the server ends it,
    /// which happens when the old credentials expire.
    pub fn use_credentials(&self, credentials: BusCredentials) {
        *self.credentials.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(credentials);
    }
}

impl ConnectionState {
    /// Returns true if a server is connected at this moment.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.connected.load(Ordering::Relaxed)
    }

    /// Number of connections since the start; more than one means that a lost connection was replaced.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Number of publications and subscriptions that the server refused.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// The newest problem reported by the server or the client; `None` if there was no problem.
    #[must_use]
    pub fn last_problem(&self) -> Option<String> {
        self.last_problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, event: &Event) {
        match event {
            Event::Connected => {
                self.connected.store(true, Ordering::Relaxed);
                self.connections.fetch_add(1, Ordering::Relaxed);
                tracing::info!("connected to NATS");
            }
            Event::Disconnected | Event::Closed => {
                if self.connected.swap(false, Ordering::Relaxed) {
                    tracing::warn!("disconnected from NATS; reconnecting");
                }
            }
            Event::SlowConsumer(_) => {
                self.slow.fetch_add(1, Ordering::Relaxed);
            }
            Event::ServerError(error) => self.note_problem(error.to_string()),
            Event::ClientError(error) => self.note_problem(error.to_string()),
            Event::LameDuckMode | Event::Draining => {}
        }
    }

    fn note_problem(&self, problem: String) {
        if problem.to_lowercase().contains("permissions violation") {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        if self.is_connected() {
            tracing::warn!(error = problem, "NATS reported an error");
        } else {
            // One of many attempts to reconnect.
            tracing::debug!(error = problem, "cannot connect to NATS; retrying");
        }
        *self.last_problem.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
    }
}

impl MetricCollector for ConnectionState {
    fn collect(&self, out: &mut Exposition) {
        out.gauge("bus_connected", "1 while a NATS server is connected.")
            .value(u8::from(self.is_connected()));
        out.counter("bus_connections_total", "Connections made to NATS servers.").value(self.connections());
        out.counter("bus_refused_total", "Publications and subscriptions that NATS refused.")
            .value(self.refused());
        out.counter(
            "bus_slow_total",
            "Messages from NATS that were dropped because they were not processed in time.",
        )
        .value(self.slow.load(Ordering::Relaxed));
    }
}

fn options(
    limits: &BusLimits,
    state: &Arc<ConnectionState>,
    credentials: &Arc<Mutex<Arc<BusCredentials>>>,
) -> ConnectOptions {
    let credentials = Arc::clone(credentials);
    let prove = move |nonce: Vec<u8>| {
        let credentials = Arc::clone(&credentials.lock().unwrap_or_else(PoisonError::into_inner));
        async move {
            let mut auth = Auth::new();
            auth.jwt = Some(credentials.token().to_owned());
            auth.signature = Some(credentials.prove(&nonce).map_err(AuthError::new)?);
            Ok(auth)
        }
    };
    let state = Arc::clone(state);
    ConnectOptions::with_auth_callback(prove)
        .require_tls(true)
        .connection_timeout(Duration::from_millis(limits.connect_timeout_ms))
        .request_timeout(Some(Duration::from_millis(limits.request_timeout_ms)))
        .ping_interval(Duration::from_millis(limits.ping_interval_ms))
        .client_capacity(limits.waiting_commands)
        .subscription_capacity(limits.waiting_messages)
        .reconnect_delay_callback(wait_before)
        .event_callback(move |event| {
            state.note(&event);
            std::future::ready(())
        })
}

/// Returns the wait before this attempt: none before the first, then doubling, with a random spread of a quarter, so that
/// nodes and locations do not reconnect all at once.
fn wait_before(attempt: usize) -> Duration {
    let Some(doublings) = attempt.checked_sub(2) else { return Duration::ZERO };
    let doublings = u32::try_from(doublings).unwrap_or(u32::MAX).min(16);
    let wait_ms = (FIRST_WAIT_MS << doublings).min(LONGEST_WAIT_MS);
    let mut byte = [0];
    // Without randomness all waits are equally long.
    let _ = getrandom::fill(&mut byte);
    Duration::from_millis(wait_ms + wait_ms * u64::from(byte[0]) / 1_024)
}

fn causes(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
        cause = inner.source();
    }
    line
}

/// Converts a subject to the type of the client library.
#[must_use]
pub(crate) fn nats(subject: &crate::bus::subjects::BusSubject) -> NatsSubject {
    subject.to_string().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_double_up_to_a_limit() {
        let within = |attempt: usize, from_ms: u64| {
            let wait = wait_before(attempt).as_millis();
            (u128::from(from_ms)..=u128::from(from_ms + from_ms / 4)).contains(&wait)
        };
        assert!(within(0, 0) && within(1, 0) && within(2, 50) && within(3, 100) && within(7, 1_600));
        assert!(within(8, 2_000) && within(1_000, 2_000) && within(usize::MAX, 2_000));
    }

    #[test]
    fn connection_events_are_counted_and_exported() {
        let state = ConnectionState::default();
        state.note(&Event::Connected);
        state.note(&Event::ServerError(async_nats::ServerError::Other(
            "Permissions Violation for Publish to \"wk.node.a\"".into(),
        )));
        state.note(&Event::Disconnected);
        assert_eq!((state.is_connected(), state.connections(), state.refused()), (false, 1, 1));
        assert!(state.last_problem().is_some_and(|problem| problem.contains("wk.node.a")));
        let mut page = Exposition::default();
        state.collect(&mut page);
        assert!(page.into_text().contains("\nwatchkeeper_bus_refused_total 1\n"));
    }
}
