//! Rules for the values of settings: one function per rule, with the message that says what is allowed.
//!
//! A setting may come from a file, a variable or a flag, so each rule takes the value as text: `120` and `"120"` are the
//! same, and a list may be an array or be separated by commas. The error of a rule describes the allowed values; `sources`
//! adds the source, the key and the value.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use secrecy::SecretString;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Value;

use crate::config::byte_size::ByteSize;
use crate::config::choice::{EgressChoice, LogFormat, MailTransport, ProxyUserRole};
use crate::config::listen_address::ListenAddress;
use crate::config::network::IpNetwork;
use crate::config::reference_targets::ReferenceTargets;
use crate::config::time_span::TimeSpan;

const HOST: &str = "a host name in lower case, perhaps with a port, such as status.example.net";
const PING_INTERVAL: std::ops::RangeInclusive<u32> = 1..=86_400;
/// Seconds for which a problem of this installation must last before a notice is sent.
const NOTICE_AFTER: std::ops::RangeInclusive<u32> = 1..=3_600;
const RATE: std::ops::RangeInclusive<u32> = 1..=1_000_000_000;

/// Returns the text form of a value of a TOML file.
pub(super) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(as_text).collect::<Vec<_>>().join(","),
        other => other.to_string().trim().replace('\n', " "),
    }
}

pub(super) fn address<'de, D: Deserializer<'de>>(from: D) -> Result<ListenAddress, D::Error> {
    required(
        from,
        "127.0.0.1:8080 or another address and port, localhost:8080, or *:8080 for all addresses",
        parsed,
    )
}

pub(super) fn metrics_address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ListenAddress>, D::Error> {
    optional(
        from,
        "127.0.0.1:9090 or another address and port, localhost:9090, or *:9090 for all addresses",
        parsed,
    )
}

pub(super) fn https_address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ListenAddress>, D::Error> {
    optional(from, "*:443 for all addresses, or another address and port such as 192.0.2.1:443", parsed)
}

pub(super) fn http_address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ListenAddress>, D::Error> {
    optional(from, "*:80 for all addresses, or another address and port such as 192.0.2.1:80", parsed)
}

pub(super) fn folder<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    required(from, "a folder", parsed)
}

pub(super) fn file<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
    optional(from, "a file", parsed)
}

pub(super) fn optional_folder<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
    optional(from, "a folder", parsed)
}

pub(super) fn time_span<'de, D: Deserializer<'de>>(from: D) -> Result<TimeSpan, D::Error> {
    required(from, "a span of time from 1m to 366d, such as 30m, 24h or 7d", parsed)
}

pub(super) fn kept_backups<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let within = |text: &str| parsed(text).filter(|number| (1..=1_000).contains(number));
    required(from, "a whole number from 1 to 1000", within)
}

pub(super) fn database_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let known = |text: &str| {
        let schemes = ["sqlite:", "postgres:", "postgresql:"];
        schemes.iter().any(|scheme| text.starts_with(scheme)).then(|| text.to_owned())
    };
    optional(from, "a URL that begins with sqlite: or postgres:", known)
}

/// Addresses of NATS servers. `nats://` is refused, because connections must be encrypted.
pub(super) fn nats_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let is_server = |text: &str| {
        url::Url::parse(text.trim())
            .is_ok_and(|url| url.scheme() == "tls" && url.has_host() && url.username().is_empty())
    };
    let known = |text: &str| text.split(',').all(is_server).then(|| text.to_owned());
    optional(from, "addresses such as tls://nats.example.net:4222, separated by commas", known)
}

pub(super) fn secret_key<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SecretString>, D::Error> {
    let is_key = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let key = |text: &str| is_key(text).then(|| SecretString::from(text));
    Ok(Some(written(from, "64 hexadecimal digits (the value is not shown)", key)?))
}

pub(super) fn code<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    required(from, "a code", parsed)
}

pub(super) fn name_servers<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<SocketAddr>, D::Error> {
    list(from, "addresses with ports such as 127.0.0.1:53, separated by commas")
}

pub(super) fn source_address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<IpAddr>, D::Error> {
    Ok(Some(required(from, "an IP address", parsed)?))
}

pub(super) fn reference_targets<'de, D: Deserializer<'de>>(from: D) -> Result<ReferenceTargets, D::Error> {
    let allowed = "hosts such as 192.0.2.1 or gw.example.net, perhaps with a port such as 192.0.2.1:443 or \
                   [2001:db8::1]:443, separated by commas, or none";
    written(from, allowed, parsed)
}

pub(super) fn egress<'de, D: Deserializer<'de>>(from: D) -> Result<Option<EgressChoice>, D::Error> {
    optional(from, "private-allowed or public-only", parsed)
}

pub(super) fn size<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ByteSize>, D::Error> {
    optional(from, "a size from 64MiB, such as 500MiB or 20GiB", parsed)
}

pub(super) fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let within = |text: &str| parsed(text).filter(|rate| RATE.contains(rate));
    required(from, "a whole number from 1 to 1000000000", within)
}

/// A whole number above zero.
pub(super) fn amount<'de, D, N>(from: D) -> Result<N, D::Error>
where
    D: Deserializer<'de>,
    N: FromStr + Default + PartialEq,
{
    required(from, "a whole number from 1", |text| parsed(text).filter(|number| *number != N::default()))
}

pub(super) fn networks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<IpNetwork>, D::Error> {
    list(from, "addresses or networks such as 10.0.0.0/8, separated by commas")
}

/// Headers that mean something else, which no proxy can use to name a user.
const OTHER_HEADERS: [&str; 6] =
    ["authorization", "cookie", "host", "origin", "x-forwarded-for", "forwarded"];

pub(super) fn header_name<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let is_name = |text: &str| {
        text.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric())
            && !OTHER_HEADERS.iter().any(|other| text.eq_ignore_ascii_case(other))
    };
    optional(from, "the name of a header of its own, such as X-Forwarded-Email", |text| {
        is_name(text).then(|| text.to_owned())
    })
}

pub(super) fn proxy_user_role<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ProxyUserRole>, D::Error> {
    optional(from, "owner, editor, responder or viewer", parsed)
}

/// A URL that is kept secret, because its path may contain a token.
pub(super) fn secret_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SecretString>, D::Error> {
    let allowed = "an absolute http or https URL without a user name (the value is not shown)";
    let url = |text: &str| is_http_url(text).then(|| SecretString::from(text));
    optional(from, allowed, url)
}

pub(super) fn ping_interval<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let within = |text: &str| parsed(text).filter(|seconds| PING_INTERVAL.contains(seconds));
    required(from, "a whole number from 1 to 86400", within)
}

pub(super) fn notice_after<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let within = |text: &str| parsed(text).filter(|seconds| NOTICE_AFTER.contains(seconds));
    required(from, "a whole number from 1 to 3600", within)
}

pub(super) fn mail_host<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let is_server = |text: &str| text.parse::<IpAddr>().is_ok() || (is_host(text) && !text.contains(':'));
    optional(from, "a host name in lower case or an IP address, without a port", |text| {
        is_server(text).then(|| text.to_owned())
    })
}

pub(super) fn port<'de, D: Deserializer<'de>>(from: D) -> Result<u16, D::Error> {
    required(from, "a port from 1 to 65535", |text| parsed(text).filter(|port| *port > 0))
}

pub(super) fn mail_transport<'de, D: Deserializer<'de>>(from: D) -> Result<MailTransport, D::Error> {
    required(from, "starttls, tls or none", parsed)
}

pub(super) fn mail_address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let is_address = |text: &str| text.is_ascii() && text.parse::<lettre::Address>().is_ok();
    optional(from, "an e-mail address", |text| is_address(text).then(|| text.to_owned()))
}

pub(super) fn line<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    optional(from, "one line", |text| (!text.contains(char::is_control)).then(|| text.to_owned()))
}

/// One line that is kept secret.
pub(super) fn secret_line<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SecretString>, D::Error> {
    let secret = |text: &str| (!text.contains(char::is_control)).then(|| SecretString::from(text));
    optional(from, "one line (the value is not shown)", secret)
}

pub(super) fn http_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    optional(from, "an absolute http or https URL", |text| is_http_url(text).then(|| text.to_owned()))
}

pub(super) fn https_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let is_https = |text: &str| is_http_url(text) && text.starts_with("https:");
    optional(from, "an absolute https URL", |text| is_https(text).then(|| text.to_owned()))
}

pub(super) fn yes_or_no<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    required(from, "true or false", parsed)
}

pub(super) fn host<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    optional(from, HOST, |text| is_host(text).then(|| text.to_owned()))
}

pub(super) fn host_name<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let name = |text: &str| (is_host(text) && !text.contains(':')).then(|| text.to_owned());
    optional(from, "a host name in lower case, without a port", name)
}

pub(super) fn slugs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    list(from, "slugs, separated by commas")
}

pub(super) fn origins<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    list(from, "origins, separated by commas")
}

pub(super) fn log_filter<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    required(from, "a filter such as info", parsed)
}

pub(super) fn log_format<'de, D: Deserializer<'de>>(from: D) -> Result<LogFormat, D::Error> {
    required(from, "text or json", parsed)
}

pub(super) fn word<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    required(from, "a text", parsed)
}

pub(super) fn label<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    required(from, "a label", parsed)
}

/// Any text; validated by a higher layer.
pub(super) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(as_text(&Value::deserialize(from)?))
}

fn parsed<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

fn written<'de, T, D: Deserializer<'de>>(
    from: D,
    allowed: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, D::Error> {
    parse(text(from)?.trim()).ok_or_else(|| D::Error::custom(allowed))
}

fn required<'de, T, D: Deserializer<'de>>(
    from: D,
    allowed: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, D::Error> {
    written(from, allowed, |text| if text.is_empty() { None } else { parse(text) })
}

/// An optional value. An empty text resets what a source of lower precedence set.
fn optional<'de, T, D: Deserializer<'de>>(
    from: D,
    allowed: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, D::Error> {
    written(from, allowed, |text| if text.is_empty() { Some(None) } else { parse(text).map(Some) })
}

fn list<'de, T: FromStr, D: Deserializer<'de>>(from: D, allowed: &str) -> Result<Vec<T>, D::Error> {
    let items = |text: &str| {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(parsed).collect()
    };
    written(from, allowed, items)
}

fn is_http_url(text: &str) -> bool {
    url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

fn is_host(text: &str) -> bool {
    let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit() || byte.is_ascii_lowercase())
    };
    host.split('.').all(is_label) && port.is_none_or(|port| port.parse::<u16>().is_ok())
}
