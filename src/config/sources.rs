//! Where settings come from: a TOML file, the environment, flags; later ones win.
//!
//! Every source ends in the same setter per key, so a value is checked and explained the same way wherever it
//! was written. Lists may be TOML arrays or comma lists. Unknown keys of the file are errors: a
//! misspelt setting must not be silently without effect.

use std::collections::BTreeMap;
use std::path::Path;

use toml::{Table, Value};

use crate::config::{Config, LocationConfig};

/// Prefix of the environment variables.
pub const ENVIRONMENT_PREFIX: &str = "WATCHKEEPER_";

/// A setting with a text form.
#[derive(Clone, Copy, Debug)]
pub struct Settable {
    /// Its key, with dots between tables.
    pub key: &'static str,
    /// What stands for the value in `--help`.
    pub value_name: &'static str,
    /// One line of help.
    pub help: &'static str,
    set: fn(&mut Config, &str) -> Result<(), &'static str>,
}

impl Settable {
    pub(super) fn new(
        key: &'static str,
        value_name: &'static str,
        help: &'static str,
        set: fn(&mut Config, &str) -> Result<(), &'static str>,
    ) -> Self {
        Self { key, value_name, help, set }
    }

    /// `WATCHKEEPER_PROBE__DNS_SERVERS` for `probe.dns_servers`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("{ENVIRONMENT_PREFIX}{}", self.key.replace('.', "__").to_uppercase())
    }

    /// `probe-dns-servers` for `probe.dns_servers`.
    #[must_use]
    pub fn flag(&self) -> String {
        self.key.replace(['.', '_'], "-")
    }

    fn apply(&self, config: &mut Config, text: &str, source: &str) -> Result<(), BadConfig> {
        (self.set)(config, text.trim()).map_err(|allowed| {
            let shown = if self.key == "secret_key" { "…" } else { text };
            BadConfig(format!("{source}: {} = \"{shown}\" is not allowed; it must be {allowed}", self.key))
        })
    }
}

/// One line: where, which key, which value, what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadConfig(pub String);

/// Reads all sources. `environment` and `flags` are given as text by variable name and by key.
///
/// # Errors
/// [`BadConfig`] for the first setting that cannot be used.
pub fn read(
    file: Option<&Path>,
    environment: &BTreeMap<String, String>,
    flags: &BTreeMap<&str, String>,
) -> Result<Config, BadConfig> {
    let mut config = Config::default();
    if let Some(path) = file {
        let shown = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| BadConfig(format!("{shown}: {error}")))?;
        apply_file(&mut config, &text, &shown.to_string())?;
    }
    for settable in Config::settable() {
        let variable = settable.variable();
        if let Some(text) = environment.get(&variable) {
            settable.apply(&mut config, text, &variable)?;
        }
        if let Some(text) = flags.get(settable.key) {
            settable.apply(&mut config, text, &format!("--{}", settable.flag()))?;
        }
    }
    check_locations(&config)?;
    Ok(config)
}

fn apply_file(config: &mut Config, text: &str, shown: &str) -> Result<(), BadConfig> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        BadConfig(format!("{shown}: {}", error.to_string().trim().replace('\n', " ")))
    })?;
    let mut leaves = Vec::new();
    flatten("", &table, &mut leaves);
    let settable = Config::settable();
    for (key, value) in leaves {
        match (settable.iter().find(|settable| settable.key == key), key.as_str(), &value) {
            (Some(settable), _, _) => settable.apply(config, &as_text(&value), shown)?,
            (None, "probe.locations", Value::Array(entries)) => {
                config.locations =
                    entries.iter().map(|entry| location(entry, shown)).collect::<Result<_, _>>()?;
            }
            (None, "compat.extra_statuspage_fields", Value::Table(fields)) => {
                config.compat.extra_statuspage_fields = extra_fields(fields, shown)?;
            }
            (None, _, _) if key.starts_with("plans.") => plan_setting(config, &key, &value, shown)?,
            _ => {
                return Err(BadConfig(format!(
                    "{shown}: {key} is not a setting; see watchkeeper serve --help"
                )));
            }
        }
    }
    Ok(())
}

fn flatten(prefix: &str, table: &Table, leaves: &mut Vec<(String, Value)>) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Table(inner) if key != "compat.extra_statuspage_fields" => flatten(&key, inner, leaves),
            _ => leaves.push((key, value.clone())),
        }
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(as_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

fn extra_fields(
    fields: &Table,
    shown: &str,
) -> Result<serde_json::Map<String, serde_json::Value>, BadConfig> {
    let unfit =
        || BadConfig(format!("{shown}: compat.extra_statuspage_fields must be a table of JSON values"));
    match serde_json::to_value(fields) {
        Ok(serde_json::Value::Object(object)) => Ok(object),
        _ => Err(unfit()),
    }
}

fn location(entry: &Value, shown: &str) -> Result<LocationConfig, BadConfig> {
    let bad = |problem: String| BadConfig(format!("{shown}: probe.locations: {problem}"));
    let table = entry.as_table().ok_or_else(|| bad("each location must be a table".into()))?;
    let mut location = LocationConfig::default();
    for (key, value) in table {
        let text = as_text(value);
        match key.as_str() {
            "code" => location.code = text,
            "name" => location.name = text,
            "location" => location.location = text,
            "country_code" => location.country_code = text,
            "source_address" => {
                let address = text
                    .parse()
                    .map_err(|_| bad(format!("source_address = \"{text}\" must be an IP address")))?;
                location.source_address = Some(address);
            }
            _ => {
                let allowed = "code, name, location, country_code, source_address";
                return Err(bad(format!("{key} is not a key of a location; allowed: {allowed}")));
            }
        }
    }
    Ok(location)
}

fn plan_setting(config: &mut Config, key: &str, value: &Value, shown: &str) -> Result<(), BadConfig> {
    let Some((_, plan, name)) = key.split_once('.').and_then(|(plans, rest)| {
        rest.split_once('.').map(|(plan, name)| (plans, plan.to_owned(), name.to_owned()))
    }) else {
        return Err(BadConfig(format!("{shown}: {key} must be a table such as [plans.team]")));
    };
    let setting = (name, as_text(value));
    match config.plans.iter_mut().find(|(known, _)| *known == plan) {
        Some((_, settings)) => settings.push(setting),
        None => config.plans.push((plan, vec![setting])),
    }
    Ok(())
}

fn check_locations(config: &Config) -> Result<(), BadConfig> {
    let mut codes: Vec<&str> = config.locations.iter().map(|location| location.code.as_str()).collect();
    codes.sort_unstable();
    match codes.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(BadConfig(format!("probe.locations: the code \"{}\" is given twice", pair[0]))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn from_file(text: &str) -> Result<Config, BadConfig> {
        let mut config = Config::default();
        apply_file(&mut config, text, "wk.toml")?;
        check_locations(&config)?;
        Ok(config)
    }

    #[test]
    fn a_flag_beats_the_environment_which_beats_the_default() {
        let environment = BTreeMap::from([("WATCHKEEPER_LISTEN".into(), "127.0.0.1:1".into())]);
        let by_environment = read(None, &environment, &BTreeMap::new()).unwrap();
        assert_eq!(by_environment.listen.port(), 1);
        let flags = BTreeMap::from([("listen", "127.0.0.1:2".into())]);
        assert_eq!(read(None, &environment, &flags).unwrap().listen.port(), 2);
    }

    #[test]
    fn a_file_may_hold_tables_lists_and_locations() {
        let config = from_file(
            "listen = '127.0.0.1:9'\n[probe]\ndns_servers = ['127.0.0.1:53', '[::1]:53']\n\
             [[probe.locations]]\ncode = 'fra'\nname = 'Frankfurt'\nsource_address = '127.0.0.2'\n\
             [plans.team]\nservices = 7\n",
        )
        .unwrap();
        assert_eq!(config.dns_servers.len(), 2);
        assert_eq!(config.locations[0].source_address, Some([127, 0, 0, 2].into()));
        assert_eq!(config.plans, [("team".to_owned(), vec![("services".to_owned(), "7".to_owned())])]);
    }

    #[rstest]
    #[case(
        "listen = 'nowhere'",
        "wk.toml: listen = \"nowhere\" is not allowed; it must be an address and a port such as 127.0.0.1:8080"
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
        "database_url = 'mysql://x'",
        "wk.toml: database_url = \"mysql://x\" is not allowed; it must be a URL that begins with sqlite: or postgres:"
    )]
    #[case(
        "[[probe.locations]]\nkode = 'x'",
        "wk.toml: probe.locations: kode is not a key of a location; allowed: code, name, location, country_code, source_address"
    )]
    #[case(
        "[[probe.locations]]\ncode = 'x'\n[[probe.locations]]\ncode = 'x'",
        "probe.locations: the code \"x\" is given twice"
    )]
    fn a_bad_setting_is_one_clear_line(#[case] file: &str, #[case] line: &str) {
        assert_eq!(from_file(file).unwrap_err().to_string(), line);
    }

    #[test]
    fn variables_and_flags_are_derived_from_the_key() {
        let settable = Config::settable();
        let dns = settable.iter().find(|settable| settable.key == "probe.dns_servers").unwrap();
        assert_eq!(dns.variable(), "WATCHKEEPER_PROBE__DNS_SERVERS");
        assert_eq!(dns.flag(), "probe-dns-servers");
    }
}
