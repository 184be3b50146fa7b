//! Every setting that has a text form: its key, its help, and the one way to set it.
//!
//! The same setter serves file, environment and flags, so a value is checked and explained the same way everywhere.

use std::str::FromStr;

use crate::config::Config;
use crate::config::sources::Settable;

impl Config {
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
                "max_history_bytes",
                "SIZE",
                "Most bytes of the history, such as 20GiB; the oldest go first [default: as plans say]",
                |config, text| {
                    set_option(
                        &mut config.max_history_bytes,
                        text,
                        "a size from 64MiB, such as 500MiB or 20GiB",
                    )
                },
            ),
            Settable::new(
                "rate_limit_per_minute",
                "N",
                "Requests per minute and token [default: 120]",
                |config, text| set_positive(&mut config.rate_limit_per_minute, text),
            ),
            Settable::new(
                "record.waiting_results",
                "N",
                "Results in memory while the history is away; then they go to the spool [default: 200000]",
                |config, text| set_amount(&mut config.limits.record.waiting_results, text),
            ),
            Settable::new(
                "record.spool_max_bytes",
                "BYTES",
                "Results on disk while the history is away; then they are shed [default: 1073741824]",
                |config, text| set_amount(&mut config.limits.record.spool_max_bytes, text),
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
                "ping_base_url",
                "URL",
                "Address under which pings arrive [default: that of the API]",
                |config, text| set_http_url(&mut config.ping_base_url, text),
            ),
            Settable::new(
                "statuspage_host",
                "HOST",
                "Host below which status pages have their addresses [default: localhost and the port of the API]",
                |config, text| set_host(&mut config.statuspage_host, text),
            ),
            Settable::new(
                "edge_host",
                "HOST",
                "Host name that custom domains must lead to [default: that of the status pages]",
                |config, text| set_host_name(&mut config.edge_host, text),
            ),
            Settable::new(
                "reserved_slugs",
                "SLUG,…",
                "Slugs that no status page gets [default: www, api, app, admin, mail, static, …]",
                |config, text| set_list(&mut config.reserved_slugs, text, "slugs, separated by commas"),
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
    let number: u32 = text.parse().map_err(|_| "a whole number from 1 to 1000000000")?;
    if !(1..=1_000_000_000).contains(&number) {
        return Err("a whole number from 1 to 1000000000");
    }
    *field = number;
    Ok(())
}

fn set_amount<T: FromStr + Default + PartialEq>(field: &mut T, text: &str) -> Result<(), Allowed> {
    let allowed = "a whole number from 1";
    *field = text.parse().ok().filter(|number| *number != T::default()).ok_or(allowed)?;
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

fn set_host(field: &mut Option<String>, text: &str) -> Result<(), Allowed> {
    let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit() || byte.is_ascii_lowercase())
    };
    let fits = host.split('.').all(is_label) && port.is_none_or(|port| port.parse::<u16>().is_ok());
    if !text.is_empty() && !fits {
        return Err("a host name in lower case, perhaps with a port, such as status.example.net");
    }
    *field = (!text.is_empty()).then(|| text.to_owned());
    Ok(())
}

fn set_host_name(field: &mut Option<String>, text: &str) -> Result<(), Allowed> {
    if text.contains(':') {
        return Err("a host name in lower case, without a port");
    }
    set_host(field, text)
}

fn set_key(field: &mut Option<String>, text: &str) -> Result<(), Allowed> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err("64 hexadecimal digits (the value is not shown)");
    }
    *field = Some(text.to_owned());
    Ok(())
}
