//! Joins the bus if NATS servers are configured: one connection of this node, with its streams and buckets.

use std::time::Duration;

use anyhow::Context as _;
use tokio::time::{sleep, timeout};

use crate::bus::connection::{BusConnection, BusServers};
use crate::bus::credentials::BusCredentials;
use crate::bus::streams::{self, StreamFailure};
use crate::bus::users;
use crate::config::Config;
use crate::config::limits::BusLimits;
use crate::config::sources::ConfigError;
use crate::model::node::NodeName;

/// Polling interval while waiting for a connection.
const POLL_EVERY: Duration = Duration::from_millis(20);

/// The connection of this process to the bus, with its name as a node.
#[derive(Clone)]
pub(super) struct BusMembership {
    pub(super) connection: BusConnection,
    pub(super) node: NodeName,
    pub(super) limits: BusLimits,
}

/// Connects and prepares the streams; `None` when everything runs in this process. A server that is unavailable now is
/// joined later.
///
/// # Errors
///
/// When credentials are not set or cannot be read, or a stream cannot be prepared; the message is one line.
pub(super) async fn join(config: &Config) -> anyhow::Result<Option<BusMembership>> {
    let Some(url) = config.nats_url.clone() else { return Ok(None) };
    let Some(file) = &config.nats_credentials else {
        let problem = "nats_url is set, so nats_credentials must be set: \
                       the file that watchkeeper nats-config has made for this node";
        return Err(ConfigError(problem.into()).into());
    };
    let credentials = BusCredentials::read(file).context("nats_credentials")?;
    let servers = BusServers { url, ca_file: config.nats_ca_file.clone() };
    let limits = &config.limits.bus;
    let connection = BusConnection::open_with_retries(&servers, credentials, limits).await?;
    let Some(node) = users::node_of(&connection.user()) else {
        let problem = format!("nats_credentials: {} is not a node", connection.user());
        return Err(ConfigError(problem).into());
    };
    if timeout(Duration::from_millis(limits.connect_timeout_ms), connected(&connection)).await.is_ok() {
        match streams::prepare(connection.jetstream(), limits).await {
            Err(problem) if matches!(problem.failure, StreamFailure::Unanswered(_)) => {
                tracing::warn!(%problem, "starting anyway; missing streams are created later, changed limits set at the next start");
            }
            prepared => drop(prepared?),
        }
    } else {
        tracing::warn!("no NATS server answers; starting anyway and retrying");
    }
    Ok(Some(BusMembership { connection, node, limits: limits.clone() }))
}

/// Waits until a server is connected.
async fn connected(connection: &BusConnection) {
    while !connection.state().is_connected() {
        sleep(POLL_EVERY).await;
    }
}
