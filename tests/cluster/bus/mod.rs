//! Shared code of the tests: a bus with users, and waiting for conditions.

pub(crate) mod history;
pub(crate) mod nats;
pub(crate) mod node;
pub(crate) mod place;
pub(crate) mod processor;
pub(crate) mod relay;
pub(crate) mod rhythm;
pub(crate) mod rogue;
pub(crate) mod site;
pub(crate) mod wrong_place;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::Client;
use async_nats::client::RequestErrorKind;
use bytes::Bytes;
use tokio::time::{Instant, sleep};
use watchkeeper::bus::connection::{BusConnection, BusServers, ConnectProblem};
use watchkeeper::bus::credentials::BusCredentials;
use watchkeeper::bus::installation::{BusInstallation, InstallationFiles};
use watchkeeper::bus::server_config::ServerChoices;
use watchkeeper::bus::streams::{self, StreamFailure, StreamPreparation, room_needed};
use watchkeeper::bus::users::{BusUser, TokenIssuer};
use watchkeeper::clock::{Clock, Timestamp};
use watchkeeper::config::limits::BusLimits;
use watchkeeper::model::location::LocationCode;

use crate::bus::nats::NatsServer;
use crate::nodes::endures;
use crate::support::server::Server;

/// The time that anything may take here, beside whatever the machine does.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// Time that a test waits for an effect that is promised within `limit`. The long forms, which have the machine to themselves, hold the
/// promise; the others show that it happens at all, so that their verdict does not depend on the machine.
pub(crate) fn patience(limit: Duration) -> Duration {
    if endures() { limit } else { limit.max(DEADLINE) }
}

/// A running bus with credentials for three nodes: `a`, `b` and `c`.
pub(crate) struct Bus {
    pub(crate) files: InstallationFiles,
    pub(crate) server: NatsServer,
    port: u16,
    locations: TokenIssuer,
    _folder: tempfile::TempDir,
}

impl Bus {
    /// A bus of one's own; `None` without the program.
    pub(crate) async fn start() -> Option<Self> {
        let program = nats::program()?;
        let folder = tempfile::tempdir().unwrap();
        let port = nats::free_port();
        let choices = choices(folder.path().to_owned(), port);
        let nodes = ["a", "b", "c"].map(|name| name.parse().unwrap());
        let files = BusInstallation::at(folder.path()).write(&choices, &nodes, now()).unwrap();
        let server = NatsServer::start(program, &files.configuration, port).await;
        let locations = TokenIssuer::read(&files.locations_key).unwrap();
        Some(Self { files, server, port, locations, _folder: folder })
    }

    /// Address and authority.
    pub(crate) fn servers(&self) -> BusServers {
        BusServers { url: self.url(), ca_file: Some(self.files.authority.clone()) }
    }

    /// The port of the server.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("tls://127.0.0.1:{}", self.port)
    }

    /// The settings with which a server is the node of this number.
    pub(crate) fn node_settings(&self, number: usize) -> [(&'static str, String); 4] {
        let file = |path: &Path| path.to_str().unwrap().to_owned();
        let (_, credentials, _) = &self.files.nodes[number];
        [
            ("WATCHKEEPER_NATS_URL", self.url()),
            ("WATCHKEEPER_NATS_CREDENTIALS", file(credentials)),
            ("WATCHKEEPER_NATS_CA_FILE", file(&self.files.authority)),
            ("WATCHKEEPER_NATS_LOCATIONS_KEY", file(&self.files.locations_key)),
        ]
    }

    /// The connection of an engine node, with all streams prepared.
    pub(crate) async fn node(&self, name: &str) -> BusConnection {
        let connection = self.connect(self.node_credentials(name)).await.unwrap();
        prepare_streams(&connection, &BusLimits::default()).await;
        connection
    }

    pub(crate) fn node_credentials(&self, name: &str) -> BusCredentials {
        let (_, file, _) = self.files.nodes.iter().find(|(node, ..)| node.as_str() == name).unwrap();
        BusCredentials::read(file).unwrap()
    }

    /// The connection of a location.
    pub(crate) async fn location(&self, code: &str) -> BusConnection {
        self.connect(self.location_credentials(code)).await.unwrap()
    }

    pub(crate) fn location_credentials(&self, code: &str) -> BusCredentials {
        self.credentials(&BusUser::Location(location(code)), now().plus_ms(3_600_000))
    }

    /// Credentials in the locations' account, as an engine node signs them.
    pub(crate) fn credentials(&self, user: &BusUser, expires: Timestamp) -> BusCredentials {
        self.locations.credentials(user, now(), Some(expires)).unwrap()
    }

    pub(crate) async fn connect(&self, credentials: BusCredentials) -> Result<BusConnection, ConnectProblem> {
        BusConnection::open(&self.servers(), credentials, &BusLimits::default()).await
    }
}

/// A server on this port that keeps everything in this folder.
pub(crate) fn choices(folder: PathBuf, port: u16) -> ServerChoices {
    ServerChoices {
        listen: format!("127.0.0.1:{port}"),
        names: vec!["127.0.0.1".into()],
        store_folder: folder.join("jetstream"),
        server_folder: folder,
        max_bytes: room_needed(&BusLimits::default()),
        own_certificate: None,
    }
}

pub(crate) fn now() -> Timestamp {
    Clock::System.now()
}

pub(crate) fn location(code: &str) -> LocationCode {
    code.parse().unwrap()
}

/// Waits until `look` returns true.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, look: impl FnMut() -> F) {
    within(DEADLINE, what, look).await;
}

/// Waits until `look` returns true, which is promised within this time; returns the elapsed time.
pub(crate) async fn within<F: Future<Output = bool>>(
    limit: Duration,
    what: &str,
    mut look: impl FnMut() -> F,
) -> Duration {
    let begin = Instant::now();
    while !look().await {
        assert!(begin.elapsed() < patience(limit), "{what}: not within {limit:?}");
        sleep(Duration::from_millis(20)).await;
    }
    begin.elapsed()
}

/// One of a server's numbers, by its name with labels.
pub(crate) fn metric(server: &Server, name: &str) -> u64 {
    let page = server.client().without_token().get("/metrics").expect(200).body;
    let value = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    value.unwrap_or_else(|| panic!("{name} is not there:\n{page}"))
}

/// Returns when the server has taken in everything that this client sent before; nobody answers on `subject`. A flush says only
/// that it was sent.
pub(crate) async fn is_taken_in(client: &Client, subject: &'static str) {
    let answer = client.request(subject, Bytes::new()).await;
    assert!(answer.is_err_and(|error| error.kind() == RequestErrorKind::NoResponders), "{subject}");
}

/// Messages that the stream has, and the number of its newest one.
pub(crate) async fn messages(engine: &BusConnection, stream: &str) -> (u64, u64) {
    let mut stream = engine.jetstream().get_stream(stream).await.unwrap();
    let state = stream.info().await.unwrap().state.clone();
    (state.messages, state.last_sequence)
}

/// Prepares the streams as nodes do: a request that was not answered in time is sent again.
pub(crate) async fn prepare_streams(
    node: &BusConnection,
    limits: &BusLimits,
) -> Vec<(String, StreamPreparation)> {
    loop {
        match streams::prepare(node.jetstream(), limits).await {
            Err(problem) if matches!(problem.failure, StreamFailure::Unanswered(_)) => {}
            prepared => return prepared.unwrap(),
        }
    }
}
