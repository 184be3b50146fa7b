//! Every tunable and every limit, each with its unit and its default, in one place.
//!
//! A setting has one key. It is read, in rising precedence, from the TOML file given by `--config`, from the
//! environment (`WATCHKEEPER_` + the key in capitals, `__` between tables) and from a flag. A bad value
//! is one clear line that names the key, the value and what is allowed. What can be set is the table
//! in `settable`, how the sources are read is in `sources`; nothing here does IO.

pub mod bytes;
pub mod limits;
pub mod network;
pub mod settable;
pub mod sources;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::config::bytes::Bytes;
use crate::config::limits::Limits;
use crate::config::network::Network;

/// The settings of one process.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address of the API and the status pages.
    pub listen: SocketAddr,
    /// Separate address of `/metrics`; `None` = on `listen`.
    pub metrics_listen: Option<SocketAddr>,
    /// Folder of the embedded databases, the key and the first token.
    pub data_dir: PathBuf,
    /// Main database; `None` = `main.db` in the data folder.
    pub database_url: Option<String>,
    /// History database; `None` = `history.db` in the data folder.
    pub history_url: Option<String>,
    /// Key that seals secrets, 64 hexadecimal digits; `None` = a key file in the data folder.
    pub secret_key: Option<String>,
    /// Code of the one location of this process, unless `locations` lists several.
    pub location: String,
    /// `[[probe.locations]]`: several locations in this process.
    pub locations: Vec<LocationConfig>,
    /// Name servers of every resolution and of DNS checks; empty = the system's.
    pub dns_servers: Vec<SocketAddr>,
    /// Extra certificate authorities (PEM) that checks trust.
    pub ca_file: Option<PathBuf>,
    /// Which addresses checks may reach; `None` = `private-allowed`, but not decided explicitly.
    pub egress: Option<EgressChoice>,
    /// Most bytes of the history; `None` = retention alone decides.
    pub max_history_bytes: Option<Bytes>,
    /// Requests per minute and token.
    pub rate_limit_per_minute: u32,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<Network>,
    /// Address under which clients reach the API; `None` = derived from `listen`.
    pub public_api_url: Option<String>,
    /// Address under which pings of heartbeat services arrive; `None` = that of the API.
    pub ping_base_url: Option<String>,
    /// Host under which status pages have their addresses, perhaps with a port; `None` = `localhost` and our port.
    pub statuspage_host: Option<String>,
    /// Host name that custom domains must lead to; `None` = that of the status pages.
    pub edge_host: Option<String>,
    /// Slugs that no status page gets.
    pub reserved_slugs: Vec<String>,
    /// Origins that browsers may call the API from.
    pub cors_allowed_origins: Vec<String>,
    /// Filter of the log, in the syntax of `tracing`.
    pub log: String,
    /// Form of the log.
    pub log_format: LogFormat,
    /// Names that published clients fix (contract 1.14).
    pub compat: Compat,
    /// `[plans.*]`: deviations from the plan table, as key and value per plan.
    pub plans: Vec<(String, Vec<(String, String)>)>,
    /// `--trust-clock`: the operator says that the clock of this start is right. A flag of one start, not a setting.
    pub trust_clock: bool,
    /// Limits that no operator needs to touch.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            metrics_listen: None,
            data_dir: PathBuf::from("./data"),
            database_url: None,
            history_url: None,
            secret_key: None,
            location: "local".into(),
            locations: Vec::new(),
            dns_servers: Vec::new(),
            ca_file: None,
            egress: None,
            max_history_bytes: None,
            rate_limit_per_minute: 120,
            trusted_proxies: Vec::new(),
            public_api_url: None,
            ping_base_url: None,
            statuspage_host: None,
            edge_host: None,
            reserved_slugs: [
                "www", "api", "app", "admin", "mail", "static", "assets", "cdn", "edge", "status", "ping",
            ]
            .map(str::to_owned)
            .to_vec(),
            cors_allowed_origins: Vec::new(),
            log: "info".into(),
            log_format: LogFormat::Text,
            compat: Compat::default(),
            plans: Vec::new(),
            trust_clock: false,
            limits: Limits::default(),
        }
    }
}

impl Config {
    /// `{base_url}` of the API without a trailing slash.
    #[must_use]
    pub fn base_url(&self) -> String {
        let url = self.public_api_url.clone().unwrap_or_else(|| format!("http://{}", self.listen));
        url.trim_end_matches('/').to_owned()
    }

    /// `{ping_base_url}` of ping addresses without a trailing slash.
    #[must_use]
    pub fn ping_base_url(&self) -> String {
        self.ping_base_url
            .as_ref()
            .map_or_else(|| self.base_url(), |url| url.trim_end_matches('/').to_owned())
    }

    /// `{statuspage_host}`: status pages answer at `{slug}.{statuspage_host}`.
    #[must_use]
    pub fn statuspage_host(&self) -> String {
        self.statuspage_host.clone().unwrap_or_else(|| format!("localhost:{}", self.listen.port()))
    }

    /// The same without its port.
    #[must_use]
    pub fn statuspage_host_name(&self) -> String {
        let host = self.statuspage_host();
        host.split_once(':').map_or(host.as_str(), |(name, _)| name).to_owned()
    }

    /// Where custom domains must lead: `cname_target` of contract 4.15.
    #[must_use]
    pub fn edge_host(&self) -> String {
        self.edge_host.clone().unwrap_or_else(|| self.statuspage_host_name())
    }

    /// Hosts of the API and of the pings, names or addresses, without ports.
    #[must_use]
    pub fn api_hosts(&self) -> Vec<String> {
        let urls = [self.base_url(), self.ping_base_url()];
        let hosts =
            urls.iter().filter_map(|url| url::Url::parse(url).ok()?.host_str().map(str::to_lowercase));
        hosts.collect()
    }

    /// Address of the status page with this slug. There are no certificates for `localhost`.
    #[must_use]
    pub fn statuspage_url(&self, slug: &str) -> String {
        let host = self.statuspage_host();
        let is_local = host.split(':').next() == Some("localhost");
        format!("{}://{slug}.{host}", if is_local { "http" } else { "https" })
    }
}

/// One location of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocationConfig {
    /// Stable identifier.
    pub code: String,
    /// Display name.
    pub name: String,
    /// Country or region in words.
    pub location: String,
    /// ISO 3166-1 alpha-2.
    pub country_code: String,
    /// Local address that its checks are sent from.
    pub source_address: Option<IpAddr>,
}

/// Which addresses checks may reach. Link-local and cloud metadata addresses never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EgressChoice {
    /// Loopback and private addresses too: own machines may be watched.
    PrivateAllowed,
    /// Only public addresses.
    PublicOnly,
}

impl FromStr for EgressChoice {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "private-allowed" => Ok(Self::PrivateAllowed),
            "public-only" => Ok(Self::PublicOnly),
            _ => Err(()),
        }
    }
}

/// Form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl FromStr for LogFormat {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(()),
        }
    }
}

/// Names that can be configured so that published clients run unchanged (contract 1.14).
#[derive(Clone, Debug)]
pub struct Compat {
    /// Stands for a stored secret.
    pub secret_placeholder: String,
    /// Prefix of API tokens.
    pub token_prefix: String,
    /// First label of the verification records of custom domains.
    pub domain_txt_label: String,
    /// Constant members merged into every status page object.
    pub extra_statuspage_fields: Map<String, Value>,
}

impl Default for Compat {
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
    fn pings_go_where_the_api_is_unless_told_otherwise() {
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
