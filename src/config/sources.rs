//! Reads one [`Config`] from its sources: a TOML file, the environment, flags; later ones take precedence.
//!
//! Variables and flags are merged over the table of the file, and the result is deserialized, so a value is checked the
//! same way whatever its source. An error is one line with the source, the key, the value and what is allowed. Unknown
//! keys of the file are errors: a misspelt setting must not be silently without effect.

use std::collections::BTreeMap;
use std::path::Path;

use serde_path_to_error::{Path as KeyPath, Segment, Track};
use toml::{Table, Value};

use crate::config::credentials::{HIDDEN, without_credentials};
use crate::config::rule::as_text;
use crate::config::{Config, LocationConfig};

/// An invalid setting: source, key, value and what is allowed. One line, except for a file that is not valid TOML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// A setting from the environment or a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingOverride {
    /// Key, with dots between tables.
    pub key: String,
    /// Value as text.
    pub text: String,
    /// The variable or the flag, as an operator writes it.
    pub source: String,
}

/// Reads the file, variables and flags.
///
/// # Errors
/// [`ConfigError`] for the first setting that cannot be used.
pub fn read(file: Option<&Path>, given: Vec<SettingOverride>) -> Result<Config, ConfigError> {
    let Some(path) = file else { return layered("", "", given) };
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| ConfigError(format!("{shown}: {error}")))?;
    layered(&text, &shown, given)
}

fn layered(file: &str, shown: &str, given: Vec<SettingOverride>) -> Result<Config, ConfigError> {
    let table: Table = file.parse().map_err(|error| unreadable(file, shown, &error))?;
    let mut layers = ConfigLayers { file: shown, table, sources: BTreeMap::new() };
    let mut config = layers.typed()?;
    if !given.is_empty() {
        given.into_iter().for_each(|setting| layers.apply_override(setting));
        config = layers.typed()?;
    }
    check_locations(&config.probe.locations)?;
    config.acme.check().map_err(ConfigError)?;
    config.console.check(&config.trusted_proxies).map_err(ConfigError)?;
    Ok(config)
}

/// The table of the file merged with variables and flags, with the source of each variable and flag.
struct ConfigLayers<'a> {
    file: &'a str,
    table: Table,
    sources: BTreeMap<String, String>,
}

impl ConfigLayers<'_> {
    /// Sets one value. The file alone was deserialized before, so an entry with the name of a table is a table.
    fn apply_override(&mut self, given: SettingOverride) {
        let (parents, name) = given.key.rsplit_once('.').unwrap_or(("", &given.key));
        let mut table = &mut self.table;
        for parent in parents.split('.').filter(|parent| !parent.is_empty()) {
            let inner = table.entry(parent).or_insert_with(|| Value::Table(Table::new()));
            let Value::Table(inner) = inner else { return };
            table = inner;
        }
        table.insert(name.to_owned(), Value::String(given.text));
        self.sources.insert(given.key, given.source);
    }

    fn typed(&self) -> Result<Config, ConfigError> {
        let mut unknown = None;
        let mut track = Track::new();
        let tracked = serde_path_to_error::Deserializer::new(Value::Table(self.table.clone()), &mut track);
        let read = serde_ignored::deserialize(tracked, |path| {
            unknown.get_or_insert_with(|| path.to_string());
        });
        let config = read.map_err(|error: toml::de::Error| self.value_error(&track.path(), &error))?;
        unknown.map_or(Ok(config), |key| Err(self.unknown_key_error(&key)))
    }

    fn value_error(&self, path: &KeyPath, error: &toml::de::Error) -> ConfigError {
        let key = path.to_string();
        let source = self.sources.get(&key).map_or(self.file, String::as_str);
        let value =
            path.iter().try_fold(Value::Table(self.table.clone()), |value, segment| step(&value, segment));
        let shown = if holds_secret(&key) {
            HIDDEN.to_owned()
        } else {
            without_credentials(&value.as_ref().map(as_text).unwrap_or_default())
        };
        // Example of the message for a wrong type: invalid type: integer `5`, expected a table such as [probe]
        let allowed = error.message().rsplit(", expected ").next().unwrap_or_default();
        ConfigError(format!("{source}: {key} = \"{shown}\" is not allowed; it must be {allowed}"))
    }

    fn unknown_key_error(&self, key: &str) -> ConfigError {
        let file = self.file;
        match key.strip_prefix("probe.locations.").and_then(|rest| rest.split_once('.')) {
            Some((_, name)) => ConfigError(format!(
                "{file}: probe.locations: {name} is not a key of a location; allowed: {LOCATION_KEYS}"
            )),
            None => ConfigError(format!("{file}: {key} is not a setting; see watchkeeper serve --help")),
        }
    }
}

/// The settings whose values are not shown.
const SECRETS: [&str; 3] = ["secret_key", "watchdog.ping_url", "mail.password"];
/// The keys of [`LocationConfig`].
const LOCATION_KEYS: &str = "code, name, location, country_code, source_address, reference_targets";

/// Returns the error for a file that is not valid TOML, with an excerpt that marks the position.
fn unreadable(file: &str, shown: &str, error: &toml::de::Error) -> ConfigError {
    let before = error.span().and_then(|span| file.get(..span.start)).unwrap_or_default();
    let (line, column) =
        (before.matches('\n').count() + 1, before.chars().rev().take_while(|c| *c != '\n').count() + 1);
    let message = error.message().trim().replace('\n', ", ");
    let drawn = file.lines().nth(line - 1).and_then(line_without_value);
    let drawn = drawn.map_or_else(String::new, |text| {
        let (margin, at) = (line.to_string().len(), column.min(text.chars().count()));
        format!("\n{:margin$} |\n{line} | {text}\n{:margin$} | {:>at$}", "", "", "^")
    });
    ConfigError(format!("{shown}: line {line}, column {column}: {message}{drawn}"))
}

/// Returns a line of a file without its value, which may be a secret. `None` for a line that may continue a value.
fn line_without_value(line: &str) -> Option<String> {
    let is_plain = |text: &str| {
        text.chars()
            .all(|c| c.is_ascii_lowercase() || c.is_whitespace() || matches!(c, '_' | '.' | '[' | ']'))
    };
    match line.split_once('=') {
        Some((key, _)) if is_plain(key) => Some(format!("{key}= {HIDDEN}")),
        None if is_plain(line) => Some(line.to_owned()),
        _ => None,
    }
}

/// Returns true for the key of a secret, and for the table that contains it, because the secret may have been written in
/// place of the table.
fn holds_secret(key: &str) -> bool {
    SECRETS
        .iter()
        .any(|secret| *secret == key || secret.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
}

fn step(value: &Value, segment: &Segment) -> Option<Value> {
    match segment {
        Segment::Map { key } => value.get(key).cloned(),
        Segment::Seq { index } => value.get(index).cloned(),
        _ => None,
    }
}

fn check_locations(locations: &[LocationConfig]) -> Result<(), ConfigError> {
    let mut codes: Vec<&str> = locations.iter().map(|location| location.code.as_str()).collect();
    codes.sort_unstable();
    match codes.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(ConfigError(format!("probe.locations: the code \"{}\" is given twice", pair[0]))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::config::PlanValue;

    fn from_file(text: &str) -> Result<Config, ConfigError> {
        layered(text, "wk.toml", Vec::new())
    }

    fn given(key: &str, text: &str) -> SettingOverride {
        SettingOverride {
            key: key.into(),
            text: text.into(),
            source: format!("--{}", key.replace(['.', '_'], "-")),
        }
    }

    #[test]
    fn flags_and_variables_override_the_file() {
        let file = "listen = '127.0.0.1:1'\n[probe]\nca_file = 'a.pem'\n[record]\nwaiting_results = 7\n";
        let beside = vec![
            given("listen", "127.0.0.1:2"),
            given("probe.dns_servers", "127.0.0.1:53, [::1]:53"),
            given("record.spool_max_bytes", "8"),
        ];
        let config = layered(file, "wk.toml", beside).unwrap();
        assert_eq!(config.listen.port(), 2);
        assert_eq!((config.probe.dns_servers.len(), config.probe.ca_file.is_some()), (2, true));
        let record = &config.record;
        assert_eq!((record.waiting_results, record.spool_max_bytes), (7, 8));
        assert_eq!(record.rows_per_commit, Config::default().record.rows_per_commit);
    }

    #[test]
    fn an_empty_value_unsets_the_value_of_the_file() {
        let config = layered("edge_host = 'edge.example.net'", "wk.toml", vec![given("edge_host", "")]);
        assert_eq!(config.unwrap().edge_host, None);
    }

    #[test]
    fn a_file_may_hold_tables_lists_and_locations() {
        let config = from_file(
            "listen = '127.0.0.1:9'\nrate_limit_per_minute = 7\nreserved_slugs = 'a, b'\n\
             [probe]\ndns_servers = ['127.0.0.1:53', '[::1]:53']\n\
             [[probe.locations]]\ncode = 'fra'\nname = 'Frankfurt'\nsource_address = '127.0.0.2'\n\
             [plans.team]\nservices = 7\n[compat.extra_statuspage_fields]\nn = { a = [1, true] }\n",
        )
        .unwrap();
        assert_eq!((config.rate_limit_per_minute, config.reserved_slugs.len()), (7, 2));
        assert_eq!(config.probe.dns_servers.len(), 2);
        assert_eq!(config.probe.locations[0].source_address, Some([127, 0, 0, 2].into()));
        assert_eq!(config.plans.0["team"]["services"], PlanValue("7".into()));
        assert_eq!(config.compat.extra_statuspage_fields["n"], serde_json::json!({"a": [1, true]}));
    }

    #[rstest]
    #[case(
        "listen = 'nowhere'",
        "wk.toml: listen = \"nowhere\" is not allowed; it must be 127.0.0.1:8080 or another address and port, \
        localhost:8080, or *:8080 for all addresses"
    )]
    #[case("listne = 'x'", "wk.toml: listne is not a setting; see watchkeeper serve --help")]
    #[case(
        "egress = 'all'",
        "wk.toml: egress = \"all\" is not allowed; it must be private-allowed or public-only"
    )]
    #[case(
        "rate_limit_per_minute = 0",
        "wk.toml: rate_limit_per_minute = \"0\" is not allowed; it must be a whole number from 1 to 1000000000"
    )]
    #[case(
        "secret_key = 'hunter2'",
        "wk.toml: secret_key = \"…\" is not allowed; it must be 64 hexadecimal digits (the value is not shown)"
    )]
    #[case(
        "watchdog.ping_url = 'ftp://hunter2'",
        "wk.toml: watchdog.ping_url = \"…\" is not allowed; it must be an absolute http or https URL without a user name (the value is not shown)"
    )]
    #[case(
        "watchdog.ping_interval_seconds = 0",
        "wk.toml: watchdog.ping_interval_seconds = \"0\" is not allowed; it must be a whole number from 1 to 86400"
    )]
    #[case(
        "database_url = 'mysql://x'",
        "wk.toml: database_url = \"mysql://x\" is not allowed; it must be a URL that begins with sqlite: or postgres:"
    )]
    #[case(
        "database_url = 'mysql://me:hunter2@127.0.0.1/wk?password=hunter2'",
        "wk.toml: database_url = \"mysql://127.0.0.1/wk\" is not allowed; it must be a URL that begins with sqlite: or \
         postgres:"
    )]
    #[case(
        "history_url = 'me:hunter2@tcp(127.0.0.1)/wk'",
        "wk.toml: history_url = \"…\" is not allowed; it must be a URL that begins with sqlite: or postgres:"
    )]
    #[case(
        "nats_url = ['nats://hunter2@127.0.0.1', 'tls://127.0.0.2']",
        "wk.toml: nats_url = \"nats://127.0.0.1,tls://127.0.0.2\" is not allowed; it must be addresses such as \
         tls://nats.example.net:4222, separated by commas"
    )]
    #[case(
        "public_api_url = 'ftp://me:hunter2@127.0.0.1'",
        "wk.toml: public_api_url = \"ftp://127.0.0.1/\" is not allowed; it must be an absolute http or https URL"
    )]
    #[case(
        "watchdog = 'https://127.0.0.1/hunter2'",
        "wk.toml: watchdog = \"…\" is not allowed; it must be a table such as [watchdog]"
    )]
    #[case(
        "nats_url = 'nats://127.0.0.1:4222'",
        "wk.toml: nats_url = \"nats://127.0.0.1:4222\" is not allowed; it must be addresses such as \
         tls://nats.example.net:4222, separated by commas"
    )]
    #[case(
        "[[probe.locations]]\nkode = 'x'",
        "wk.toml: probe.locations: kode is not a key of a location; allowed: code, name, location, country_code, source_address, reference_targets"
    )]
    #[case(
        "[[probe.locations]]\ncode = 'x'\n[[probe.locations]]\ncode = 'x'",
        "probe.locations: the code \"x\" is given twice"
    )]
    #[case("probe = 5", "wk.toml: probe = \"5\" is not allowed; it must be a table such as [probe]")]
    #[case("plans.team = 5", "wk.toml: plans.team = \"5\" is not allowed; it must be a map")]
    #[case(
        "probe.locations = [5]",
        "wk.toml: probe.locations[0] = \"5\" is not allowed; it must be a table such as [[probe.locations]]"
    )]
    #[case(
        "[[probe.locations]]\nsource_address = 'x'",
        "wk.toml: probe.locations[0].source_address = \"x\" is not allowed; it must be an IP address"
    )]
    #[case(
        "[[probe.locations]]\nreference_targets = ['192.0.2.1', '192.0.2.300']",
        "wk.toml: probe.locations[0].reference_targets = \"192.0.2.1,192.0.2.300\" is not allowed; it must be hosts such as \
         192.0.2.1 or gw.example.net, perhaps with a port such as 192.0.2.1:443 or [2001:db8::1]:443, separated by commas, \
         or none"
    )]
    fn a_bad_setting_is_one_clear_line(#[case] file: &str, #[case] line: &str) {
        assert_eq!(from_file(file).unwrap_err().to_string(), line);
    }

    #[test]
    fn a_bad_flag_is_named_and_the_file_is_judged_first() {
        let refused =
            |file: &str| layered(file, "wk.toml", vec![given("probe.dns_servers", "x")]).unwrap_err();
        assert_eq!(
            refused("").to_string(),
            "--probe-dns-servers: probe.dns_servers = \"x\" is not allowed; it must be addresses with ports such as \
             127.0.0.1:53, separated by commas"
        );
        assert!(refused("probe = 5").to_string().starts_with("wk.toml: probe = "));
    }

    #[rstest]
    #[case("database_url", "mysql://me:hunter2@127.0.0.1")]
    #[case("nats_url", "nats://hunter2@127.0.0.1")]
    #[case("ping_base_url", "me:hunter2@127.0.0.1")]
    #[case("listen", "http://me:hunter2@127.0.0.1")]
    #[case("secret_key", "hunter2")]
    #[case("watchdog.ping_url", "hunter2")]
    fn a_refused_flag_does_not_show_its_secret(#[case] key: &str, #[case] text: &str) {
        let refused = layered("", "", vec![given(key, text)]).unwrap_err().to_string();
        assert!(refused.contains(" is not allowed; ") && !refused.contains("hunter2"), "{refused}");
    }

    #[rstest]
    #[case(
        "secret_key = hunter2\n",
        "wk.toml: line 2, column 14: ",
        Some("2 | secret_key = …\n  |              ^")
    )]
    #[case("not toml\n", "wk.toml: line 2, column 5: ", Some("2 | not toml\n  |     ^"))]
    #[case("secret_key = \"\nhunter2\"\n", "wk.toml: line 3, ", None)]
    #[case("Hunter2\n", "wk.toml: line 2, ", None)]
    fn a_toml_error_does_not_show_values(
        #[case] text: &str,
        #[case] prefix: &str,
        #[case] drawn: Option<&str>,
    ) {
        let refused = from_file(&format!("egress = 'public-only'\n{text}")).unwrap_err().to_string();
        assert!(refused.starts_with(prefix), "{refused}");
        assert!(!refused.to_lowercase().contains("hunter2"), "{refused}");
        assert_eq!(drawn.is_some(), refused.contains('\n'), "{refused}");
        assert!(drawn.is_none_or(|drawn| refused.contains(drawn)), "{refused}");
    }

    #[test]
    fn all_keys_of_a_location_are_listed() {
        let table = Table::try_from(LocationConfig {
            source_address: Some([127, 0, 0, 1].into()),
            reference_targets: "none".parse().unwrap(),
            ..LocationConfig::default()
        });
        let keys: Vec<String> = table.unwrap().keys().cloned().collect();
        assert_eq!(keys.len(), LOCATION_KEYS.split(", ").count());
        assert!(keys.iter().all(|key| LOCATION_KEYS.split(", ").any(|listed| listed == key)));
    }
}
