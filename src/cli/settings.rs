//! Settings as flags and variables, the same for every command, derived by clap.
//!
//! A flag or a variable is text here, so that `config` validates it by the same rule as a file. The defaults that
//! `--help` shows are those of [`Config`]. Values of variables are never shown, since one of them is a key.

mod tables;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches as _};
use serde::Serialize;
use toml::{Table, Value};

use crate::cli::settings::tables::{
    AcmeFlags, BackupFlags, CompactionFlags, CompatFlags, ConsoleFlags, DatabaseFlags, EventFlags, MailFlags,
    ProbeFlags, RecordFlags, WatchdogFlags,
};
use crate::config::Config;
use crate::config::sources::{self, ConfigError, SettingOverride};

// Every setting that fits in a line. No doc comments on these structs: clap would show them instead of what a command does.
#[derive(Args, Serialize)]
#[command(next_help_heading = "Settings")]
struct SettingFlags {
    /// TOML file with settings
    #[arg(
        id = "config-file",
        long = "config",
        visible_alias = "config-file",
        env = "WATCHKEEPER_CONFIG",
        value_name = "FILE"
    )]
    #[serde(skip)]
    file: Option<PathBuf>,
    /// Address of the API and the status pages; localhost:PORT and *:PORT mean IPv4 and IPv6
    #[arg(long, env = "WATCHKEEPER_LISTEN", value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Separate address of /metrics, in the same forms [default: that of the API]
    #[arg(long, env = "WATCHKEEPER_METRICS_LISTEN", value_name = "ADDRESS:PORT")]
    metrics_listen: Option<String>,
    /// Folder of the databases, the key and the first token
    #[arg(long, env = "WATCHKEEPER_DATA_DIR", value_name = "FOLDER")]
    data_dir: Option<String>,
    /// Main database, sqlite://… or postgres://… [default: main.db in the data folder]
    #[arg(long, env = "WATCHKEEPER_DATABASE_URL", value_name = "URL")]
    database_url: Option<String>,
    /// History database, sqlite://… or postgres://… [default: history.db in the data folder]
    #[arg(long, env = "WATCHKEEPER_HISTORY_URL", value_name = "URL")]
    history_url: Option<String>,
    /// NATS servers, tls://…, that connect this process with other nodes and locations [default: everything in this
    /// process]
    #[arg(long, env = "WATCHKEEPER_NATS_URL", value_name = "URL,…")]
    nats_url: Option<String>,
    /// Credentials of this node on the NATS servers, made by watchkeeper nats-config [default: none]
    #[arg(long, env = "WATCHKEEPER_NATS_CREDENTIALS", value_name = "FILE")]
    nats_credentials: Option<String>,
    /// Certificate authority (PEM) that must have signed the NATS servers' certificates; no other is trusted [default:
    /// the system's]
    #[arg(long, env = "WATCHKEEPER_NATS_CA_FILE", value_name = "FILE")]
    nats_ca_file: Option<String>,
    /// Key with which engine nodes sign locations, made by watchkeeper nats-config [default: none]
    #[arg(long, env = "WATCHKEEPER_NATS_LOCATIONS_KEY", value_name = "FILE")]
    nats_locations_key: Option<String>,
    /// Key that seals secrets, 64 hexadecimal digits [default: made in the data folder]
    #[arg(long, env = "WATCHKEEPER_SECRET_KEY", value_name = "HEX")]
    secret_key: Option<String>,
    /// Code of this process's one location
    #[arg(long, env = "WATCHKEEPER_LOCATION", value_name = "CODE")]
    location: Option<String>,
    #[command(flatten)]
    probe: ProbeFlags,
    /// Addresses that checks may reach: private-allowed or public-only; link-local, cloud
    /// metadata, documentation, multicast and reserved addresses never. A second organisation needs an explicit choice
    /// [default: private-allowed]
    #[arg(long, env = "WATCHKEEPER_EGRESS", value_name = "POLICY")]
    egress: Option<String>,
    /// Maximum bytes of the history, such as 20GiB; beyond it the oldest results are deleted before their retention ends
    /// [default: as plans say]
    #[arg(long, env = "WATCHKEEPER_MAX_HISTORY_BYTES", value_name = "SIZE")]
    max_history_bytes: Option<String>,
    /// Requests per minute and token
    #[arg(long, env = "WATCHKEEPER_RATE_LIMIT_PER_MINUTE", value_name = "N")]
    rate_limit_per_minute: Option<String>,
    #[command(flatten)]
    database: DatabaseFlags,
    #[command(flatten)]
    record: RecordFlags,
    #[command(flatten)]
    events: EventFlags,
    #[command(flatten)]
    compaction: CompactionFlags,
    #[command(flatten)]
    backup: BackupFlags,
    #[command(flatten)]
    mail: MailFlags,
    #[command(flatten)]
    watchdog: WatchdogFlags,
    /// Networks of proxies whose X-Forwarded-For is trusted [default: none]
    #[arg(long, env = "WATCHKEEPER_TRUSTED_PROXIES", value_name = "NETWORK,…")]
    trusted_proxies: Option<String>,
    #[command(flatten)]
    console: ConsoleFlags,
    /// Public address of the API, also used in links [default: the address of listen, or 127.0.0.1 if it listens on all]
    #[arg(long, env = "WATCHKEEPER_PUBLIC_API_URL", value_name = "URL")]
    public_api_url: Option<String>,
    /// Public address for pings of heartbeat services [default: that of the API]
    #[arg(long, env = "WATCHKEEPER_PING_BASE_URL", value_name = "URL")]
    ping_base_url: Option<String>,
    /// Parent host of status pages: page acme is https://acme.HOST, with http:// below localhost
    /// [default: localhost and the port of the API]
    #[arg(long, env = "WATCHKEEPER_STATUSPAGE_HOST", value_name = "HOST")]
    statuspage_host: Option<String>,
    /// Host name that the CNAME of a custom domain must point to [default: that of the status pages]
    #[arg(long, env = "WATCHKEEPER_EDGE_HOST", value_name = "HOST")]
    edge_host: Option<String>,
    #[command(flatten)]
    acme: AcmeFlags,
    /// Slugs that no status page may have
    #[arg(long, env = "WATCHKEEPER_RESERVED_SLUGS", value_name = "SLUG,…")]
    reserved_slugs: Option<String>,
    /// Origins from which browsers may call the API [default: none]
    #[arg(long, env = "WATCHKEEPER_CORS_ALLOWED_ORIGINS", value_name = "ORIGIN,…")]
    cors_allowed_origins: Option<String>,
    /// Level of the log, or a filter such as watchkeeper=debug
    #[arg(long, env = "WATCHKEEPER_LOG", value_name = "FILTER")]
    log: Option<String>,
    /// Form of the log: text or json
    #[arg(long, env = "WATCHKEEPER_LOG_FORMAT", value_name = "FORM")]
    log_format: Option<String>,
    #[command(flatten)]
    compat: CompatFlags,
}

/// The flag that prints the help with all settings.
pub(super) const HELP_FLAG: &str = "--help-settings";
const HEADING: &str = "Settings";
/// Settings that every help shows: they select the installation.
const ALWAYS_SHOWN: [&str; 2] = ["config-file", "data_dir"];
const MORE_HELP: &str = "Every setting of the configuration is a flag as well: --help-settings shows them.";

/// Adds the settings to a command. Its help shows the command's own flags; [`with_help_of_settings`] adds the settings.
pub(super) fn augment(command: Command) -> Command {
    let defaults = defaults();
    SettingFlags::augment_args(command).after_help(MORE_HELP).mut_args(|arg| {
        let is_setting = arg.get_help_heading() == Some(HEADING);
        let is_hidden = is_setting && !ALWAYS_SHOWN.contains(&arg.get_id().as_str());
        let arg = if is_setting { arg.hide_env_values(true).hide(is_hidden) } else { arg };
        let Some(default) = defaults.get(arg.get_id().as_str()).filter(|_| is_setting) else { return arg };
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        arg.help(format!("{help} [default: {default}]"))
    })
}

/// Adds the flag `--help-settings`, which shows the help with all settings.
pub(super) fn with_help_flag(command: Command) -> Command {
    let flag = Arg::new("help-settings").long(HELP_FLAG.trim_start_matches('-')).action(ArgAction::SetTrue);
    command.arg(flag.help("Print help with every setting of the configuration"))
}

/// Returns the command with the settings in its help and in the help of all its subcommands.
pub(super) fn with_help_of_settings(command: Command) -> Command {
    let shown = |arg: Arg| if arg.get_help_heading() == Some(HEADING) { arg.hide(false) } else { arg };
    command.mut_args(shown).mut_subcommands(with_help_of_settings)
}

/// Returns the default values as text by key; other defaults are described in the help of their flag.
pub(super) fn defaults() -> BTreeMap<String, String> {
    texts(&Config::default())
}

/// Reads the settings of the command that was given.
///
/// # Errors
/// [`ConfigError`] for the first invalid setting.
pub(super) fn read(matches: &ArgMatches) -> Result<Config, ConfigError> {
    let flags = SettingFlags::from_arg_matches(matches).map_err(|error| ConfigError(error.to_string()))?;
    let given = texts(&flags).into_iter().map(|(key, text)| SettingOverride {
        source: source(matches, &key),
        key,
        text,
    });
    sources::read(flags.file.as_deref(), given.collect())
}

/// Returns the name of the variable or the flag that set a value.
fn source(matches: &ArgMatches, key: &str) -> String {
    match matches.value_source(key) {
        Some(ValueSource::EnvVariable) => variable(key),
        _ => format!("--{}", key.replace(['.', '_'], "-")),
    }
}

/// Returns the variable of a setting: `WATCHKEEPER_PROBE__DNS_SERVERS` for `probe.dns_servers`.
fn variable(key: &str) -> String {
    format!("WATCHKEEPER_{}", key.replace('.', "__").to_uppercase())
}

/// Returns the set values as text by key, with dots between tables.
fn texts(settings: &impl Serialize) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    flatten("", &Table::try_from(settings).unwrap_or_default(), &mut texts);
    texts
}

fn flatten(prefix: &str, table: &Table, texts: &mut BTreeMap<String, String>) {
    for (name, value) in table {
        let key = format!("{prefix}{name}");
        match value {
            Value::Table(inner) => flatten(&format!("{key}."), inner, texts),
            Value::String(text) => drop(texts.insert(key, text.clone())),
            Value::Array(items) if items.is_empty() => {}
            Value::Array(items) => {
                let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                texts.insert(key, items.join(","));
            }
            other => drop(texts.insert(key, other.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        augment(Command::new("serve"))
    }

    #[test]
    fn flag_and_variable_follow_from_the_key() {
        for arg in command().get_arguments().filter(|arg| arg.get_id() != "config-file") {
            let key = arg.get_id().as_str();
            assert_eq!(arg.get_long().map(str::to_owned), Some(key.replace(['.', '_'], "-")));
            assert_eq!(arg.get_env().and_then(|name| name.to_str().map(str::to_owned)), Some(variable(key)));
        }
    }

    /// Only settings that do not fit in a line may be without a flag.
    #[test]
    fn every_setting_that_fits_in_a_line_has_a_flag() {
        let command = command();
        let keys: Vec<&str> = command.get_arguments().map(|arg| arg.get_id().as_str()).collect();
        for key in defaults().keys() {
            assert!(keys.contains(&key.as_str()), "{key} has no flag");
        }
    }

    #[test]
    fn settings_are_read_from_flags() {
        let flags = ["serve", "--listen", "127.0.0.1:7", "--probe-dns-servers", "127.0.0.1:53,[::1]:53"];
        let config = read(&command().get_matches_from(flags)).unwrap();
        assert_eq!(config.listen.port(), 7);
        assert_eq!(config.probe.dns_servers.len(), 2);
    }

    #[test]
    fn a_bad_flag_is_named() {
        let refused = read(&command().get_matches_from(["serve", "--data-dir", ""])).unwrap_err();
        assert_eq!(refused.to_string(), "--data-dir: data_dir = \"\" is not allowed; it must be a folder");
    }

    #[test]
    fn help_shows_the_default_once() {
        let help = with_help_of_settings(command()).render_long_help().to_string();
        assert_eq!(help.matches("[default: 127.0.0.1:8080]").count(), 1, "{help}");
        assert!(help.contains("[env: WATCHKEEPER_LISTEN]"), "{help}");
    }
}
