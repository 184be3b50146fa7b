//! Joins the bus, where the settings name NATS servers: one connection of this node, with its streams and buckets.

use anyhow::Context as _;

use crate::bus::connection::{Connection, Servers};
use crate::bus::credentials::Credentials;
use crate::bus::streams;
use crate::config::Config;
use crate::config::sources::BadConfig;

/// Connects and prepares the streams; `None` when everything runs in this process.
///
/// # Errors
/// In one line: credentials are not set or cannot be read, no server answers, or a stream cannot be prepared.
pub(super) async fn join(config: &Config) -> anyhow::Result<Option<Connection>> {
    let Some(url) = config.nats_url.clone() else { return Ok(None) };
    let Some(file) = &config.nats_credentials else {
        let problem = "nats_url is set, so nats_credentials must be set: \
                       the file that watchkeeper nats-config has made for this node";
        return Err(BadConfig(problem.into()).into());
    };
    let credentials = Credentials::read(file).context("nats_credentials")?;
    let servers = Servers { url, ca_file: config.nats_ca_file.clone() };
    let limits = &config.limits.bus;
    let connection = Connection::open(&servers, credentials, limits).await?;
    streams::prepare(connection.jetstream(), limits).await?;
    Ok(Some(connection))
}
