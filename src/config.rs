//! Every tunable and every limit, each with its unit and its default, in one place.
//!
//! A setting has one key. It is read, in rising precedence, from the TOML file given by `--config`, from the
//! environment (`WATCHKEEPER_` + the key in capitals, `__` between tables) and from a flag. A bad value
//! is one clear line that names the key, the value and what is allowed. How the sources are read is in
//! `sources`; nothing here does IO.

pub mod sources;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::config::sources::Settable;

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
    /// Requests per minute and token.
    pub rate_limit_per_minute: u32,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<Network>,
    /// Address under which clients reach the API; `None` = derived from `listen`.
    pub public_api_url: Option<String>,
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
            rate_limit_per_minute: 120,
            trusted_proxies: Vec::new(),
            public_api_url: None,
            cors_allowed_origins: Vec::new(),
            log: "info".into(),
            log_format: LogFormat::Text,
            compat: Compat::default(),
            plans: Vec::new(),
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

    #[expect(clippy::too_many_lines, reason = "a table: one entry a setting")]
    /// All settings that have a text form: key, help, and how to set it.
    #[must_use]
    pub fn settable() -> Vec<Settable> {
        vec![
            Settable::new(
                "listen",
                "ADDRESS:PORT",
                "Address of the API [default: 127.0.0.1:8080]",
                |config, text| set(&mut config.listen, text, "an address and a port such as 127.0.0.1:8080"),
            ),
            Settable::new(
                "metrics_listen",
                "ADDRESS:PORT",
                "Separate address of /metrics [default: that of the API]",
                |config, text| {
                    set_option(
                        &mut config.metrics_listen,
                        text,
                        "an address and a port such as 127.0.0.1:9090",
                    )
                },
            ),
            Settable::new(
                "data_dir",
                "FOLDER",
                "Folder of databases, key and first token [default: ./data]",
                |config, text| set(&mut config.data_dir, text, "a folder"),
            ),
            Settable::new(
                "database_url",
                "URL",
                "Main database, sqlite://… or postgres://… [default: main.db in the data folder]",
                |config, text| set_url(&mut config.database_url, text),
            ),
            Settable::new(
                "history_url",
                "URL",
                "History database, sqlite://… or postgres://… [default: history.db in the data folder]",
                |config, text| set_url(&mut config.history_url, text),
            ),
            Settable::new(
                "secret_key",
                "HEX",
                "Key that seals secrets, 64 hexadecimal digits [default: made in the data folder]",
                |config, text| set_key(&mut config.secret_key, text),
            ),
            Settable::new(
                "location",
                "CODE",
                "Code of this process's location [default: local]",
                |config, text| set(&mut config.location, text, "a code"),
            ),
            Settable::new(
                "probe.dns_servers",
                "HOST:PORT,…",
                "Name servers; default: the system's",
                |config, text| {
                    set_list(
                        &mut config.dns_servers,
                        text,
                        "addresses with ports such as 127.0.0.1:53, separated by commas",
                    )
                },
            ),
            Settable::new("probe.ca_file", "FILE", "Extra certificate authorities (PEM)", |config, text| {
                set_option(&mut config.ca_file, text, "a file")
            }),
            Settable::new(
                "egress",
                "POLICY",
                "Which addresses checks may reach: private-allowed or public-only [default: private-allowed]",
                |config, text| set_option(&mut config.egress, text, "private-allowed or public-only"),
            ),
            Settable::new(
                "rate_limit_per_minute",
                "N",
                "Requests per minute and token [default: 120]",
                |config, text| set_positive(&mut config.rate_limit_per_minute, text),
            ),
            Settable::new(
                "trusted_proxies",
                "NETWORK,…",
                "Proxies whose X-Forwarded-For counts",
                |config, text| {
                    set_list(
                        &mut config.trusted_proxies,
                        text,
                        "addresses or networks such as 10.0.0.0/8, separated by commas",
                    )
                },
            ),
            Settable::new(
                "public_api_url",
                "URL",
                "Address under which clients reach the API [default: from listen]",
                |config, text| set_http_url(&mut config.public_api_url, text),
            ),
            Settable::new(
                "cors_allowed_origins",
                "ORIGIN,…",
                "Origins that browsers may call from",
                |config, text| {
                    set_list(&mut config.cors_allowed_origins, text, "origins, separated by commas")
                },
            ),
            Settable::new(
                "log",
                "FILTER",
                "What is logged, such as info or watchkeeper=debug [default: info]",
                |config, text| set(&mut config.log, text, "a filter such as info"),
            ),
            Settable::new(
                "log_format",
                "FORM",
                "Form of the log: text or json [default: text]",
                |config, text| set(&mut config.log_format, text, "text or json"),
            ),
            Settable::new(
                "compat.secret_placeholder",
                "TEXT",
                "Stands for a stored secret",
                |config, text| set(&mut config.compat.secret_placeholder, text, "a text"),
            ),
            Settable::new("compat.token_prefix", "TEXT", "Prefix of API tokens", |config, text| {
                set(&mut config.compat.token_prefix, text, "a text")
            }),
            Settable::new(
                "compat.domain_txt_label",
                "LABEL",
                "First label of verification records",
                |config, text| set(&mut config.compat.domain_txt_label, text, "a label"),
            ),
        ]
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

/// An IP network in CIDR form; a single address is a network of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix_bits: u8,
}

impl Network {
    /// Whether the network holds `address`.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let bits = |address: IpAddr| match address {
            IpAddr::V4(v4) => (u128::from(v4.to_bits()) << 96, true),
            IpAddr::V6(v6) => (v6.to_bits(), false),
        };
        let (mine, mine_is_v4) = bits(self.address);
        let (other, other_is_v4) = bits(address.to_canonical());
        let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix_bits)).unwrap_or(0);
        mine_is_v4 == other_is_v4 && mine & mask == other & mask
    }
}

impl FromStr for Network {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (address, prefix) = text.split_once('/').map_or((text, None), |(a, p)| (a, Some(p)));
        let address: IpAddr = address.parse().map_err(|_| ())?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix_bits = prefix.map_or(Ok(longest), str::parse).map_err(|_| ())?;
        if prefix_bits <= longest { Ok(Self { address, prefix_bits }) } else { Err(()) }
    }
}

/// Limits by floor.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Databases.
    pub store: StoreLimits,
    /// Actors.
    pub engine: EngineLimits,
    /// Recorder.
    pub record: RecordLimits,
    /// API.
    pub http: HttpLimits,
}

/// Limits of the databases.
#[derive(Clone, Debug)]
pub struct StoreLimits {
    /// Reading connections per SQLite database.
    pub sqlite_readers: u32,
    /// Connections per PostgreSQL database.
    pub postgres_connections: u32,
    /// How long a statement may wait for a connection or a lock.
    pub acquire_timeout_seconds: u64,
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self { sqlite_readers: 4, postgres_connections: 8, acquire_timeout_seconds: 5 }
    }
}

/// Limits of the engine. What is refused is counted by reason; see `engine`.
#[derive(Clone, Debug)]
pub struct EngineLimits {
    /// Threads that services are spread over; 0 = one per core.
    pub shards: usize,
    /// Checks under way at once per location and shard.
    pub checks_in_flight: usize,
    /// Checks that wait for a place, per location and shard; one more is shed.
    pub checks_waiting: usize,
    /// Checks under way at once towards one host, per location and shard.
    pub checks_per_host: usize,
    /// Messages in a mailbox before `try_send` is refused.
    pub mailbox: usize,
    /// Wait before the first further attempt; it doubles, up to the next field.
    pub retry_backoff_ms: u64,
    /// Longest wait before a further attempt.
    pub retry_backoff_max_ms: u64,
    /// Shortest time between two checks of a location while the state is uncertain.
    pub uncertain_interval_ms: i64,
    /// Results that wait in an aggregator before they are handed to the recorder.
    pub batch_results: usize,
    /// How long results wait in an aggregator.
    pub batch_ms: u64,
    /// First wait before a panicked service is started again; it doubles, up to 64 times as long.
    pub restart_backoff_ms: u64,
}

impl Default for EngineLimits {
    fn default() -> Self {
        Self {
            shards: 0,
            checks_in_flight: 4_096,
            checks_waiting: 65_536,
            checks_per_host: 256,
            mailbox: 65_536,
            retry_backoff_ms: 200,
            retry_backoff_max_ms: 1_000,
            uncertain_interval_ms: 1_000,
            batch_results: 1_024,
            batch_ms: 100,
            restart_backoff_ms: 100,
        }
    }
}

/// Limits of the recorder.
#[derive(Clone, Debug)]
pub struct RecordLimits {
    /// Results that wait for the database; more are shed, and said so.
    pub waiting_results: usize,
    /// Rows written in one transaction.
    pub rows_per_commit: usize,
    /// How long to wait after a failed write.
    pub retry_ms: u64,
    /// How often finished hours are looked for and deleted services are erased.
    pub upkeep_ms: u64,
}

impl Default for RecordLimits {
    fn default() -> Self {
        Self { waiting_results: 500_000, rows_per_commit: 8_192, retry_ms: 500, upkeep_ms: 60_000 }
    }
}

/// Limits of the API.
#[derive(Clone, Debug)]
pub struct HttpLimits {
    /// Threads that answer requests; 0 = one per core.
    pub workers: usize,
    /// Connections per thread.
    pub connections: usize,
    /// Largest JSON body.
    pub body_bytes: usize,
    /// How long a client may take to send its head.
    pub head_timeout_seconds: u64,
    /// How long a client may take to send its body.
    pub body_timeout_seconds: u64,
    /// How long an idle connection is kept.
    pub keep_alive_seconds: u64,
    /// How long running requests may take when the process stops.
    pub shutdown_seconds: u64,
    /// IP addresses whose requests without a valid token are counted at a time.
    pub rate_limit_addresses: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            workers: 0,
            connections: 10_000,
            body_bytes: 1024 * 1024,
            head_timeout_seconds: 5,
            body_timeout_seconds: 10,
            keep_alive_seconds: 60,
            shutdown_seconds: 5,
            rate_limit_addresses: 100_000,
        }
    }
}

type Allowed = &'static str;

fn set<T: FromStr>(field: &mut T, text: &str, allowed: Allowed) -> Result<(), Allowed> {
    if text.is_empty() {
        return Err(allowed);
    }
    *field = text.parse().map_err(|_| allowed)?;
    Ok(())
}

fn set_option<T: FromStr>(field: &mut Option<T>, text: &str, allowed: Allowed) -> Result<(), Allowed> {
    *field = if text.is_empty() { None } else { Some(text.parse().map_err(|_| allowed)?) };
    Ok(())
}

fn set_list<T: FromStr>(field: &mut Vec<T>, text: &str, allowed: Allowed) -> Result<(), Allowed> {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    *field = items.map(str::parse).collect::<Result<_, _>>().map_err(|_| allowed)?;
    Ok(())
}

fn set_positive(field: &mut u32, text: &str) -> Result<(), Allowed> {
    let number: u32 = text.parse().map_err(|_| "a whole number from 1 to 1000000")?;
    if !(1..=1_000_000).contains(&number) {
        return Err("a whole number from 1 to 1000000");
    }
    *field = number;
    Ok(())
}

fn set_url(field: &mut Option<String>, text: &str) -> Result<(), Allowed> {
    let known = ["sqlite:", "postgres:", "postgresql:"].iter().any(|scheme| text.starts_with(scheme));
    if !text.is_empty() && !known {
        return Err("a URL that begins with sqlite: or postgres:");
    }
    *field = (!text.is_empty()).then(|| text.to_owned());
    Ok(())
}

fn set_http_url(field: &mut Option<String>, text: &str) -> Result<(), Allowed> {
    let parsed =
        url::Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if !text.is_empty() && parsed.is_none() {
        return Err("an absolute http or https URL");
    }
    *field = (!text.is_empty()).then(|| text.to_owned());
    Ok(())
}

fn set_key(field: &mut Option<String>, text: &str) -> Result<(), Allowed> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err("64 hexadecimal digits (the value is not shown)");
    }
    *field = Some(text.to_owned());
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("10.0.0.0/8", "10.255.0.1", true)]
    #[case("10.0.0.0/8", "11.0.0.1", false)]
    #[case("127.0.0.1", "127.0.0.1", true)]
    #[case("127.0.0.1", "127.0.0.2", false)]
    #[case("0.0.0.0/0", "9.9.9.9", true)]
    #[case("0.0.0.0/0", "::1", false)]
    #[case("fd00::/8", "fd12::1", true)]
    #[case("10.0.0.0/8", "::ffff:10.0.0.1", true)]
    fn networks_hold_their_addresses(#[case] network: &str, #[case] address: &str, #[case] inside: bool) {
        let network: Network = network.parse().unwrap();
        assert_eq!(network.contains(address.parse().unwrap()), inside);
    }

    #[rstest]
    #[case("10.0.0.0/33")]
    #[case("10.0.0.0/")]
    #[case("nonsense")]
    fn other_forms_of_networks_are_refused(#[case] text: &str) {
        assert_eq!(text.parse::<Network>(), Err(()));
    }

    #[test]
    fn the_base_url_has_no_trailing_slash() {
        let mut config = Config::default();
        assert_eq!(config.base_url(), "http://127.0.0.1:8080");
        config.public_api_url = Some("https://api.example.com/base/".into());
        assert_eq!(config.base_url(), "https://api.example.com/base");
    }
}
