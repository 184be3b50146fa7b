//! The tools that the checks of one location share: the egress gate, name resolution, TLS configurations, limits.
//!
//! Built once per location and passed to every check by reference; nothing in it belongs to a service.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use tokio::sync::Semaphore;

use crate::clock::Clock;
use crate::egress::{EgressGate, EgressPolicy, NameFiles};
use crate::probe::pinger::Pinger;
use crate::probe::resolver::Resolver;
use crate::probe::tls::TlsConfigs;

pub use crate::probe::toolbox_error::ToolboxError;

/// Maximum number of decoded bytes of a response body that are read.
pub const BODY_MAX_BYTES: usize = 1 << 20;
/// Maximum number of bodies decoded with a window at the same time. The tables of a hostile brotli stream take
/// 3 MiB in addition to its window, so the limit is per location and not per check.
const DECODING_WINDOWS: usize = 1;

/// The settings of a location.
#[derive(Clone, Debug)]
pub struct ToolboxConfig {
    /// Name servers; the system's if empty.
    pub dns_servers: Vec<SocketAddr>,
    /// The files by which the system resolves names; changes are followed.
    pub name_files: NameFiles,
    /// Certificate authorities that are trusted in addition to the system's; a PEM file.
    pub ca_file: Option<PathBuf>,
    /// The addresses that checks may connect to.
    pub egress: EgressPolicy,
    /// Local address of outbound connections of the same family.
    pub source_address: Option<IpAddr>,
    /// Wall time for judging certificates.
    pub clock: Clock,
    /// Maximum number of bytes of a response body that are read, after decompression.
    pub body_max_bytes: usize,
}

impl Default for ToolboxConfig {
    fn default() -> Self {
        Self {
            dns_servers: Vec::new(),
            name_files: NameFiles::default(),
            ca_file: None,
            egress: EgressPolicy::default(),
            source_address: None,
            clock: Clock::System,
            body_max_bytes: BODY_MAX_BYTES,
        }
    }
}

/// The tools that the checks of one location share.
#[derive(Debug)]
pub struct Toolbox {
    egress: EgressGate,
    resolver: Resolver,
    pinger: Pinger,
    tls: TlsConfigs,
    body_max_bytes: usize,
    decoding_windows: Semaphore,
}

impl Toolbox {
    /// Creates the tools; reads the authorities and the resolver's configuration.
    ///
    /// # Errors
    ///
    /// When one of these files is missing or damaged; the message says which and why.
    pub fn new(config: ToolboxConfig) -> Result<Self, ToolboxError> {
        Ok(Self {
            egress: EgressGate { policy: config.egress, source: config.source_address },
            resolver: Resolver::new(&config.dns_servers, config.name_files)?,
            pinger: Pinger::new(config.source_address),
            tls: TlsConfigs::new(config.ca_file.as_deref(), config.clock)?,
            body_max_bytes: config.body_max_bytes,
            decoding_windows: Semaphore::new(DECODING_WINDOWS),
        })
    }

    /// The gate for outbound connections.
    #[must_use]
    pub const fn egress(&self) -> &EgressGate {
        &self.egress
    }

    /// Name resolution of the location.
    #[must_use]
    pub const fn resolver(&self) -> &Resolver {
        &self.resolver
    }

    pub(crate) const fn pinger(&self) -> &Pinger {
        &self.pinger
    }

    pub(crate) const fn tls(&self) -> &TlsConfigs {
        &self.tls
    }

    /// Permits for decoding a body with a window.
    pub(crate) const fn decoding_windows(&self) -> &Semaphore {
        &self.decoding_windows
    }

    pub(crate) const fn body_max_bytes(&self) -> usize {
        self.body_max_bytes
    }
}
