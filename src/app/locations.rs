//! The locations of this process, and what checks are made with there.

use std::net::IpAddr;
use std::sync::Arc;

use anyhow::bail;

use crate::clock::Clock;
use crate::config::{Config, EgressChoice, LocationConfig};
use crate::egress::EgressPolicy;
use crate::engine::roster::Roster;
use crate::model::location::{Location, PUSH};
use crate::probe::prober::{Local, Prober};
use crate::probe::toolbox::{Toolbox, ToolboxConfig};

/// Those listed, or the one named.
fn locations(config: &Config) -> Vec<LocationConfig> {
    if !config.probe.locations.is_empty() {
        return config.probe.locations.clone();
    }
    vec![LocationConfig { code: config.location.clone(), ..LocationConfig::default() }]
}

/// Returns the locations of this process.
///
/// # Errors
/// When a code cannot be used.
pub(crate) fn roster(config: &Config) -> anyhow::Result<Roster> {
    let location = |entry: LocationConfig| {
        let name = if entry.name.is_empty() { entry.code.clone() } else { entry.name };
        let country_code = if entry.country_code.is_empty() { "ZZ".into() } else { entry.country_code };
        if entry.code == PUSH {
            bail!("no location can have the code '{PUSH}': it stands for pings");
        }
        Ok(Location { code: entry.code.parse()?, name, place: entry.location, country_code })
    };
    Ok(Roster::new(locations(config).into_iter().map(location).collect::<anyhow::Result<_>>()?))
}

/// Returns what runs the checks of each location, in their order.
///
/// # Errors
/// When the name servers or certificate authorities cannot be used.
pub(crate) fn probers(config: &Config, clock: &Clock) -> anyhow::Result<Vec<Arc<dyn Prober>>> {
    let prober = |location: LocationConfig| {
        let toolbox = toolbox(config, clock, location.source_address)?;
        Ok(Arc::new(Local::new(toolbox)) as Arc<dyn Prober>)
    };
    locations(config).into_iter().map(prober).collect()
}

/// Returns what checks of this process are made with.
///
/// # Errors
/// When the name servers or certificate authorities cannot be used.
pub fn toolbox(config: &Config, clock: &Clock, source_address: Option<IpAddr>) -> anyhow::Result<Toolbox> {
    let egress = match config.egress.unwrap_or(EgressChoice::PrivateAllowed) {
        EgressChoice::PrivateAllowed => EgressPolicy::PrivateAllowed,
        EgressChoice::PublicOnly => EgressPolicy::PublicOnly,
    };
    Ok(Toolbox::new(ToolboxConfig {
        dns_servers: config.probe.dns_servers.clone(),
        ca_file: config.probe.ca_file.clone(),
        egress,
        source_address,
        clock: clock.clone(),
        ..ToolboxConfig::default()
    })?)
}
