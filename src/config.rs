//! Every tunable and every limit, each with its unit and its default, in one place.
//!
//! Each setting has one key and is read, in rising precedence, from the TOML file given by `--config`, from the
//! environment and from a flag. [`Config`] is the file as a type; its `Default` is the only place that defines
//! defaults. `rule` validates values, `sources` merges the sources.

pub mod acme;
pub mod backup;
pub mod byte_size;
pub mod choice;
pub mod console;
pub mod credentials;
pub mod limits;
pub mod listen_address;
pub mod mail;
pub mod network;
pub mod reference_targets;
mod rule;
pub mod sources;
pub mod time_span;
pub mod watchdog;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::acme::AcmeConfig;
use crate::config::backup::BackupConfig;
use crate::config::byte_size::ByteSize;
pub use crate::config::choice::{EgressChoice, LogFormat, MailTransport};
use crate::config::console::ConsoleConfig;
use crate::config::limits::{CompactionLimits, EventLimits, InternalLimits, RecordLimits, StoreLimits};
use crate::config::listen_address::ListenAddress;
use crate::config::mail::MailConfig;
use crate::config::network::IpNetwork;
use crate::config::reference_targets::ReferenceTargets;
use crate::config::watchdog::WatchdogConfig;

/// The settings of one process.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// Address of the API and the status pages.
    #[serde(deserialize_with = "rule::address")]
    pub listen: ListenAddress,
    /// Separate address of `/metrics`; `None` = on `listen`.
    #[serde(deserialize_with = "rule::metrics_address")]
    pub metrics_listen: Option<ListenAddress>,
    /// Folder of the embedded databases, the key and the first token.
    #[serde(deserialize_with = "rule::folder")]
    pub data_dir: PathBuf,
    /// Main database; `None` = `main.db` in the data folder.
    #[serde(deserialize_with = "rule::database_url")]
    pub database_url: Option<String>,
    /// History database; `None` = `history.db` in the data folder.
    #[serde(deserialize_with = "rule::database_url")]
    pub history_url: Option<String>,
    /// NATS servers that join this process with others; `None` = everything runs in this process.
    #[serde(deserialize_with = "rule::nats_url")]
    pub nats_url: Option<String>,
    /// Credentials of this engine node on the NATS servers.
    #[serde(deserialize_with = "rule::file")]
    pub nats_credentials: Option<PathBuf>,
    /// Authority (PEM) that must have signed the NATS servers' certificates; `None` = the system's.
    #[serde(deserialize_with = "rule::file")]
    pub nats_ca_file: Option<PathBuf>,
    /// Key with which engine nodes sign locations.
    #[serde(deserialize_with = "rule::file")]
    pub nats_locations_key: Option<PathBuf>,
    /// Key that seals secrets, 64 hexadecimal digits; `None` = a key file in the data folder.
    #[serde(deserialize_with = "rule::secret_key", skip_serializing)]
    pub secret_key: Option<SecretString>,
    /// Code of the one location of this process, unless `probe.locations` lists several.
    #[serde(deserialize_with = "rule::code")]
    pub location: String,
    /// `[probe]`: the locations of this process, and what their checks need.
    pub probe: ProbeConfig,
    /// The addresses that checks may reach; `None` = `private-allowed`, without an explicit decision.
    #[serde(deserialize_with = "rule::egress")]
    pub egress: Option<EgressChoice>,
    /// Maximum bytes of the history; `None` = retention alone decides.
    #[serde(deserialize_with = "rule::size")]
    pub max_history_bytes: Option<ByteSize>,
    /// Requests per minute and token.
    #[serde(deserialize_with = "rule::rate")]
    pub rate_limit_per_minute: u32,
    /// Proxies whose `X-Forwarded-For` is trusted.
    #[serde(deserialize_with = "rule::networks")]
    pub trusted_proxies: Vec<IpNetwork>,
    /// `[console]`: users whom a proxy signs in.
    pub console: ConsoleConfig,
    /// Address under which clients reach the API; `None` = derived from `listen`.
    #[serde(deserialize_with = "rule::http_url")]
    pub public_api_url: Option<String>,
    /// Public address for pings of heartbeat services; `None` = the address of the API.
    #[serde(deserialize_with = "rule::http_url")]
    pub ping_base_url: Option<String>,
    /// Parent host of status pages, optionally with a port; `None` = `localhost` and the port of `listen`.
    #[serde(deserialize_with = "rule::host")]
    pub statuspage_host: Option<String>,
    /// Host name that custom domains must point to; `None` = the host of the status pages.
    #[serde(deserialize_with = "rule::host_name")]
    pub edge_host: Option<String>,
    /// `[acme]`: certificates for custom domains.
    pub acme: AcmeConfig,
    /// Slugs that no status page may have.
    #[serde(deserialize_with = "rule::slugs")]
    pub reserved_slugs: Vec<String>,
    /// Origins from which browsers may call the API.
    #[serde(deserialize_with = "rule::origins")]
    pub cors_allowed_origins: Vec<String>,
    /// Filter of the log, in the syntax of `tracing`.
    #[serde(deserialize_with = "rule::log_filter")]
    pub log: String,
    /// Format of the log.
    #[serde(deserialize_with = "rule::log_format")]
    pub log_format: LogFormat,
    /// `[compat]`: names that published clients expect (contract 1.14).
    pub compat: CompatConfig,
    /// `[plans.*]`: deviations from the plan table.
    pub plans: PlanSettings,
    /// `[database]`: connections, and time limits of statements.
    pub database: StoreLimits,
    /// `[record]`: limits for storing results in the history database.
    pub record: RecordLimits,
    /// `[events]`: limits of event streams.
    pub events: EventLimits,
    /// `[compaction]`: sealing and merging of the history.
    pub compaction: CompactionLimits,
    /// `[backup]`: scheduled backups of a running server.
    pub backup: BackupConfig,
    /// `[mail]`: the mail server for subscribers of status pages.
    pub mail: MailConfig,
    /// `[watchdog]`: the address that is pinged as long as everything works.
    pub watchdog: WatchdogConfig,
    /// `--trust-clock`: the operator confirms that the clock is right at this start. A flag of one start, not a setting.
    #[serde(skip)]
    pub trust_clock: bool,
    /// `--new-history`: the operator accepts that the history is lost. A flag of one start, not a setting.
    #[serde(skip)]
    pub new_history: bool,
    /// `--alone`: the operator confirms that no other node is running. A flag of one start, not a setting.
    #[serde(skip)]
    pub alone: bool,
    /// Limits that no operator needs to touch.
    #[serde(skip)]
    pub limits: InternalLimits,
}

impl Default for Config {
    fn default() -> Self {
        let reserved =
            ["www", "api", "app", "admin", "mail", "static", "assets", "cdn", "edge", "status", "ping"];
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)).into(),
            metrics_listen: None,
            data_dir: PathBuf::from("./data"),
            database_url: None,
            history_url: None,
            nats_url: None,
            nats_credentials: None,
            nats_ca_file: None,
            nats_locations_key: None,
            secret_key: None,
            location: "local".into(),
            probe: ProbeConfig::default(),
            egress: None,
            max_history_bytes: None,
            rate_limit_per_minute: 120,
            trusted_proxies: Vec::new(),
            console: ConsoleConfig::default(),
            public_api_url: None,
            ping_base_url: None,
            statuspage_host: None,
            edge_host: None,
            acme: AcmeConfig::default(),
            reserved_slugs: reserved.map(str::to_owned).to_vec(),
            cors_allowed_origins: Vec::new(),
            log: "info".into(),
            log_format: LogFormat::Text,
            compat: CompatConfig::default(),
            plans: PlanSettings::default(),
            database: StoreLimits::default(),
            record: RecordLimits::default(),
            events: EventLimits::default(),
            compaction: CompactionLimits::default(),
            backup: BackupConfig::default(),
            mail: MailConfig::default(),
            watchdog: WatchdogConfig::default(),
            trust_clock: false,
            alone: false,
            new_history: false,
            limits: InternalLimits::default(),
        }
    }
}

impl Config {
    /// Returns the address of the API without a trailing slash. If none is configured, it is an address that this machine
    /// can reach, because nobody can connect to `0.0.0.0`.
    #[must_use]
    pub fn base_url(&self) -> String {
        let here = || format!("http://{}", self.listen.local_address());
        let url = self.public_api_url.clone().unwrap_or_else(here);
        url.trim_end_matches('/').to_owned()
    }

    /// Returns the address below which pings are received, without a trailing slash.
    #[must_use]
    pub fn ping_base_url(&self) -> String {
        self.ping_base_url
            .as_ref()
            .map_or_else(|| self.base_url(), |url| url.trim_end_matches('/').to_owned())
    }

    /// Returns the parent host of status pages, with its port: status pages answer at `{slug}.{statuspage_host}`.
    #[must_use]
    pub fn statuspage_host(&self) -> String {
        self.statuspage_host.clone().unwrap_or_else(|| format!("localhost:{}", self.listen.port()))
    }

    /// Returns the parent host of status pages without its port.
    #[must_use]
    pub fn statuspage_host_name(&self) -> String {
        let host = self.statuspage_host();
        host.split_once(':').map_or(host.as_str(), |(name, _)| name).to_owned()
    }

    /// Returns the host that custom domains must point to: `cname_target` of contract 4.15.
    #[must_use]
    pub fn edge_host(&self) -> String {
        self.edge_host.clone().unwrap_or_else(|| self.statuspage_host_name())
    }

    /// Returns the host names or addresses of the API and of pings, without ports.
    #[must_use]
    pub fn api_hosts(&self) -> Vec<String> {
        let urls = [self.base_url(), self.ping_base_url()];
        let hosts =
            urls.iter().filter_map(|url| url::Url::parse(url).ok()?.host_str().map(str::to_lowercase));
        hosts.collect()
    }

    /// Returns the address of the status page with this slug; plain HTTP below `localhost`, which has no certificates.
    #[must_use]
    pub fn statuspage_url(&self, slug: &str) -> String {
        let host = self.statuspage_host();
        let is_local = host.split(':').next() == Some("localhost");
        format!("{}://{slug}.{host}", if is_local { "http" } else { "https" })
    }
}

/// `[probe]`: the locations of this process, and what their checks need.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, expecting = "a table such as [probe]")]
pub struct ProbeConfig {
    /// Name servers for all look-ups and for DNS checks; empty = the system's.
    #[serde(deserialize_with = "rule::name_servers")]
    pub dns_servers: Vec<SocketAddr>,
    /// Extra certificate authorities (PEM) that checks trust.
    #[serde(deserialize_with = "rule::file")]
    pub ca_file: Option<PathBuf>,
    /// Hosts that show whether a location's own network works, for locations that do not name their own.
    #[serde(deserialize_with = "rule::reference_targets")]
    pub reference_targets: ReferenceTargets,
    /// `[[probe.locations]]`: several locations in this process.
    pub locations: Vec<LocationConfig>,
}

/// One location of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, expecting = "a table such as [[probe.locations]]")]
pub struct LocationConfig {
    /// Code of the location in results; never given to another place.
    #[serde(deserialize_with = "rule::text")]
    pub code: String,
    /// Display name.
    #[serde(deserialize_with = "rule::text")]
    pub name: String,
    /// Country or region in words.
    #[serde(deserialize_with = "rule::text")]
    pub location: String,
    /// Country code, ISO 3166-1 alpha-2.
    #[serde(deserialize_with = "rule::text")]
    pub country_code: String,
    /// Local address that the location's checks are sent from.
    #[serde(deserialize_with = "rule::source_address")]
    pub source_address: Option<IpAddr>,
    /// Hosts that show whether this location's own network works.
    #[serde(deserialize_with = "rule::reference_targets")]
    pub reference_targets: ReferenceTargets,
}

/// `[plans.*]`: by plan, deviations from the plan table as key and text. Plans and keys are validated by the plan table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanSettings(pub BTreeMap<String, BTreeMap<String, PlanValue>>);

/// The value of a plan's setting, as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanValue(#[serde(deserialize_with = "rule::text")] pub String);

/// `[compat]`: names that can be configured so that published clients run unchanged (contract 1.14).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, expecting = "a table such as [compat]")]
pub struct CompatConfig {
    /// Text that stands for a stored secret in answers and requests.
    #[serde(deserialize_with = "rule::word")]
    pub secret_placeholder: String,
    /// Prefix of API tokens.
    #[serde(deserialize_with = "rule::word")]
    pub token_prefix: String,
    /// First label of the verification records of custom domains.
    #[serde(deserialize_with = "rule::label")]
    pub domain_txt_label: String,
    /// `[compat.extra_statuspage_fields]`: constant members merged into every status page object.
    pub extra_statuspage_fields: Map<String, Value>,
}

impl Default for CompatConfig {
    fn default() -> Self {
        Self {
            secret_placeholder: "__SERVICE_KEEP_UNCHANGED__".into(),
            token_prefix: "wk_".into(),
            domain_txt_label: "_status-verify".into(),
            extra_statuspage_fields: Map::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_name_an_address_that_can_be_reached() {
        for (listen, url) in [
            ("*:80", "http://127.0.0.1:80"),
            ("0.0.0.0:80", "http://127.0.0.1:80"),
            ("[::]:80", "http://[::1]:80"),
            ("192.0.2.1:80", "http://192.0.2.1:80"),
        ] {
            let config = Config { listen: listen.parse().unwrap(), ..Config::default() };
            assert_eq!((config.base_url(), config.ping_base_url()), (url.to_owned(), url.to_owned()));
        }
    }

    #[test]
    fn the_base_url_has_no_trailing_slash() {
        let mut config = Config::default();
        assert_eq!(config.base_url(), "http://127.0.0.1:8080");
        config.public_api_url = Some("https://api.example.com/base/".into());
        assert_eq!(config.base_url(), "https://api.example.com/base");
    }

    #[test]
    fn custom_domains_lead_to_the_edge() {
        let mut config = Config::default();
        assert_eq!(config.edge_host(), "localhost");
        assert_eq!(config.api_hosts(), ["127.0.0.1", "127.0.0.1"]);
        config.ping_base_url = Some("https://ping.example.com".into());
        config.statuspage_host = Some("status.example.net:444".into());
        config.public_api_url = Some("https://API.example.com:8443/base".into());
        assert_eq!(config.edge_host(), "status.example.net");
        assert_eq!(config.api_hosts(), ["api.example.com", "ping.example.com"]);
        config.edge_host = Some("edge.example.net".into());
        assert_eq!(config.edge_host(), "edge.example.net");
    }

    #[test]
    fn the_ping_address_defaults_to_the_api_address() {
        let mut config =
            Config { public_api_url: Some("https://api.example.com/".into()), ..Config::default() };
        assert_eq!(config.ping_base_url(), "https://api.example.com");
        config.ping_base_url = Some("https://ping.example.com/in/".into());
        assert_eq!(config.ping_base_url(), "https://ping.example.com/in");
    }

    #[test]
    fn a_page_has_an_address_below_the_configured_host() {
        let mut config = Config::default();
        assert_eq!(config.statuspage_url("shop"), "http://shop.localhost:8080");
        for (host, url) in [
            ("localhost", "http://shop.localhost"),
            ("localhost:81", "http://shop.localhost:81"),
            ("status.example.net", "https://shop.status.example.net"),
            ("localhost.example.net:444", "https://shop.localhost.example.net:444"),
        ] {
            config.statuspage_host = Some(host.into());
            assert_eq!(config.statuspage_url("shop"), url);
        }
    }
}
