//! Joins the bus if NATS servers are configured: one connection of this node, with its streams and buckets.

use std::time::Duration;

use anyhow::Context as _;
use tokio::time::{sleep, timeout};

use crate::bus::connection::{Connection, Servers};
use crate::bus::credentials::Credentials;
use crate::bus::{streams, users};
use crate::config::Config;
use crate::config::limits::BusLimits;
use crate::config::sources::BadConfig;
use crate::model::node::NodeName;

/// Polling interval while waiting for a connection.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The bus as joined by this process.
#[derive(Clone)]
pub(super) struct Joined {
    pub(super) connection: Connection,
    /// Name of this node.
    pub(super) node: NodeName,
    pub(super) limits: BusLimits,
}

/// Connects and prepares the streams; `None` when everything runs in this process. A server that is unavailable now is
/// joined later.
///
/// # Errors
/// In one line: credentials are not set or cannot be read, or a stream cannot be prepared.
pub(super) async fn join(config: &Config) -> anyhow::Result<Option<Joined>> {
    let Some(url) = config.nats_url.clone() else { return Ok(None) };
    let Some(file) = &config.nats_credentials else {
        let problem = "nats_url is set, so nats_credentials must be set: \
                       the file that watchkeeper nats-config has made for this node";
        return Err(BadConfig(problem.into()).into());
    };
    let credentials = Credentials::read(file).context("nats_credentials")?;
    let servers = Servers { url, ca_file: config.nats_ca_file.clone() };
    let limits = &config.limits.bus;
    let connection = Connection::open_some_time(&servers, credentials, limits).await?;
    let Some(node) = users::node_of(&connection.user()) else {
        let problem = format!("nats_credentials: {} is no node", connection.user());
        return Err(BadConfig(problem).into());
    };
    if timeout(Duration::from_millis(limits.connect_timeout_ms), connected(&connection)).await.is_ok() {
        streams::prepare(connection.jetstream(), limits).await?;
    } else {
        tracing::warn!("no NATS server answers; everything else begins, and the bus is joined when one does");
    }
    Ok(Some(Joined { connection, node, limits: limits.clone() }))
}

/// Waits until a server is connected.
async fn connected(connection: &Connection) {
    while !connection.state().is_connected() {
        sleep(LOOK_EVERY).await;
    }
}
