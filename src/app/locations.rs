//! The locations of this process, the tools of their checks, and the HTTP client for outgoing messages.

use std::net::IpAddr;
use std::sync::Arc;

use anyhow::bail;
use tokio::task::JoinHandle;

use crate::clock::Clock;
use crate::config::reference_targets::{ReferenceTarget, ReferenceTargets};
use crate::config::{Config, EgressChoice, LocationConfig};
use crate::egress::outbound::{OutboundClient, OutboundParts};
use crate::egress::{EgressGate, EgressPolicy};
use crate::engine::registry::LocationRegistry;
use crate::model::location::{Location, PUSH};
use crate::probe::endpoint::Host;
use crate::probe::prober::{LocalProber, Prober};
use crate::probe::references::{ImpairmentMonitor, NetworkReference, ReferenceSelection};
use crate::probe::toolbox::{Toolbox, ToolboxConfig};
use crate::supervise::{ActorKind, Supervisor};

const REFERENCES: ActorKind = ActorKind::restarting("reference_targets");

/// Returns the configured list of locations, or else the single named one.
fn locations(config: &Config) -> Vec<LocationConfig> {
    if !config.probe.locations.is_empty() {
        return config.probe.locations.clone();
    }
    vec![LocationConfig { code: config.location.clone(), ..LocationConfig::default() }]
}

/// Returns the locations of this process.
///
/// # Errors
///
/// When a location code is invalid.
pub(crate) fn roster(config: &Config) -> anyhow::Result<LocationRegistry> {
    let location = |entry: LocationConfig| {
        let name = if entry.name.is_empty() { entry.code.clone() } else { entry.name };
        let country_code = if entry.country_code.is_empty() { "ZZ".into() } else { entry.country_code };
        if entry.code == PUSH {
            bail!("no location can have the code '{PUSH}': it is reserved for pings");
        }
        Ok(Location { code: entry.code.parse()?, name, place: entry.location, country_code })
    };
    Ok(LocationRegistry::new(locations(config).into_iter().map(location).collect::<anyhow::Result<_>>()?))
}

/// A location of this process: its prober, and the reference targets that show whether its network works.
#[derive(Clone, Debug)]
pub(crate) struct LocalLocation {
    /// Runs the checks of the location.
    pub(crate) prober: Arc<LocalProber>,
    /// Reference targets, checked periodically once [`Self::ask_references`] runs.
    pub(crate) references: Arc<ImpairmentMonitor>,
}

impl LocalLocation {
    /// Returns the location `code` of this process, with the settings of all its locations.
    ///
    /// # Errors
    /// When the name servers or certificate authorities cannot be used.
    pub(crate) fn named(code: &str, config: &Config, clock: &Clock) -> anyhow::Result<Self> {
        Self::new(LocationConfig { code: code.to_owned(), ..LocationConfig::default() }, config, clock)
    }

    fn new(location: LocationConfig, config: &Config, clock: &Clock) -> anyhow::Result<Self> {
        let toolbox = Arc::new(toolbox(config, clock, location.source_address)?);
        let servers: Vec<String> = toolbox.resolver().servers().iter().map(ToString::to_string).collect();
        tracing::info!(location = location.code, servers = servers.join(", "), "name servers selected");
        let wanted = match (location.reference_targets, &config.probe.reference_targets) {
            (ReferenceTargets::Unset, of_process) => wanted(of_process)?,
            (own, _) => wanted(&own)?,
        };
        let references = Arc::new(ImpairmentMonitor::new(location.code, wanted, Arc::clone(&toolbox)));
        Ok(Self { prober: Arc::new(LocalProber::with_monitor(Arc::clone(&references), toolbox)), references })
    }

    /// Checks the reference targets periodically on the current thread until the task is aborted.
    #[must_use]
    pub(crate) fn ask_references(&self, supervisor: &Supervisor) -> JoinHandle<()> {
        let references = Arc::clone(&self.references);
        supervisor.spawn(REFERENCES, move || Arc::clone(&references).run())
    }
}

fn wanted(targets: &ReferenceTargets) -> anyhow::Result<ReferenceSelection> {
    let reference = |target: &ReferenceTarget| {
        let host = Host::parse(&target.host)?;
        Ok(target.port.map_or_else(
            || NetworkReference::Host(host.clone()),
            |port| NetworkReference::Port(host.clone(), port),
        ))
    };
    Ok(match targets {
        ReferenceTargets::Unset => ReferenceSelection::System,
        ReferenceTargets::None => ReferenceSelection::These(Vec::new()),
        ReferenceTargets::These(these) => {
            ReferenceSelection::These(these.iter().map(reference).collect::<anyhow::Result<_>>()?)
        }
    })
}

/// Returns every location, in configured order.
///
/// # Errors
/// When the name servers or certificate authorities cannot be used.
pub(crate) fn local_locations(config: &Config, clock: &Clock) -> anyhow::Result<Vec<LocalLocation>> {
    locations(config).into_iter().map(|location| LocalLocation::new(location, config, clock)).collect()
}

/// Returns every location, and the tools of checks outside any location.
///
/// # Errors
/// When the name servers or certificate authorities cannot be used.
pub(crate) fn tools(config: &Config, clock: &Clock) -> anyhow::Result<(Vec<LocalLocation>, Arc<Toolbox>)> {
    Ok((local_locations(config, clock)?, Arc::new(toolbox(config, clock, None)?)))
}

/// Returns the probers of these locations.
pub(crate) fn probers(locations: &[LocalLocation]) -> Vec<Arc<dyn Prober>> {
    locations.iter().map(|location| Arc::clone(&location.prober) as Arc<dyn Prober>).collect()
}

/// Returns the egress policy: the addresses that this process may connect to.
pub(super) fn egress_policy(config: &Config) -> EgressPolicy {
    match config.egress.unwrap_or(EgressChoice::PrivateAllowed) {
        EgressChoice::PrivateAllowed => EgressPolicy::PrivateAllowed,
        EgressChoice::PublicOnly => EgressPolicy::PublicOnly,
    }
}

/// Returns the tools for checks of this process.
///
/// # Errors
/// When the name servers or certificate authorities cannot be used.
pub fn toolbox(config: &Config, clock: &Clock, source_address: Option<IpAddr>) -> anyhow::Result<Toolbox> {
    Ok(Toolbox::new(ToolboxConfig {
        dns_servers: config.probe.dns_servers.clone(),
        ca_file: config.probe.ca_file.clone(),
        egress: egress_policy(config),
        source_address,
        clock: clock.clone(),
        ..ToolboxConfig::default()
    })?)
}

/// Returns the HTTP client for messages and pings that this process sends.
///
/// # Errors
/// When the name servers or the certificate authorities cannot be used.
pub fn outbound(config: &Config, clock: &Clock) -> anyhow::Result<OutboundClient> {
    outbound_to(egress_policy(config), config, clock)
}

/// Returns a client for addresses that this policy allows.
///
/// # Errors
/// As [`outbound`].
pub(super) fn outbound_to(
    policy: EgressPolicy,
    config: &Config,
    clock: &Clock,
) -> anyhow::Result<OutboundClient> {
    Ok(OutboundClient::new(OutboundParts {
        egress: EgressGate { policy, source: None },
        dns_servers: &config.probe.dns_servers,
        ca_file: config.probe.ca_file.as_deref(),
        clock: clock.clone(),
    })?)
}
