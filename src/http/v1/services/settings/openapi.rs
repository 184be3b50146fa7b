//! Describes `settings` of a service (contract 4.3.4), and `settings.config` by check type (4.2.2 to 4.2.4).

use http::header::HOST;

use crate::http::openapi::shape::{
    ApiSchema, any_of, anything, boolean, enum_of, integer, list_of, map_of, named, object, or_empty_list,
    string, text,
};
use crate::http::v1::services::settings::assignment::MAX_PROBES;
use crate::http::v1::services::settings::secrets::HEADER_VALUE_LENGTH;
use crate::http::v1::services::settings::{
    DEFAULT_RETRIES, DEFAULT_TIMEOUT_SECONDS, INTERVAL_SECONDS, RETRIES, TIMEOUT_SECONDS,
};
use crate::model::quorum::{LOCATIONS, Quorum};
use crate::model::status_rules::{CHANGES, MINUTES};
use crate::model::status_rules::{RECOVERY_CHECKS, StatusRules};
use crate::probe::header::{HEADERS_MAX, NAME_MAX_LENGTH, PROXY, RESERVED};

const INTERVAL_WORDS: &str = "Seconds between checks; the plan and the check type can set closer bounds.";
const PROBES_WORDS: &str = "Codes of the locations that check; null for the organisation's default.";
const ROLES_WORDS: &str =
    "Location code to role; `reachability` does not count for uptime and response times.";
const CONFIG_WORDS: &str = "Settings of the check type; see `GET /v1/meta/check-types`.";
const SECRET_WORDS: &str =
    "Secret: read back as `__SERVICE_KEEP_UNCHANGED__`; sending that keeps the stored value.";
const HEADERS_WORDS: &str = "Request headers; at most 50. Sending them replaces all of them.";
const CONFIRMATION_WORDS: &str =
    "Locations that must agree before the service is down: `any`, `majority`, `all`, or a number of them.";
const RECOVERY_WORDS: &str = "Number of consecutive good results, over all locations, that end an outage.";
const OPERATORS: [&str; 10] =
    ["eq", "neq", "gt", "gte", "lt", "lte", "in", "not_in", "contains", "not_contains"];

pub(in crate::http::v1) fn sent(needed: &[&str]) -> ApiSchema {
    let rules = StatusRules::default();
    let probes = list_of(string()).items(1, MAX_PROBES).nullable();
    let settings = object()
        .may_have("interval_seconds", interval())
        .may_have("timeout_seconds", timeout().default_value(DEFAULT_TIMEOUT_SECONDS))
        .may_have("retries", retries().default_value(DEFAULT_RETRIES))
        .may_have("assigned_probes", probes.says(PROBES_WORDS))
        .may_have("probe_roles", or_empty_list(roles()).nullable().says(ROLES_WORDS))
        .may_have("config", or_empty_list(config("Sent")).nullable().says(CONFIG_WORDS))
        .may_have("confirmation", confirmation().default_value("majority"))
        .may_have("recovery_checks", recovery_checks().default_value(rules.recovery_checks))
        .may_have("flapping_changes", flapping_changes().default_value(rules.flapping.changes))
        .may_have("flapping_minutes", flapping_minutes().default_value(rules.flapping.minutes))
        .needs(needed);
    // If members are required, an empty list is not accepted.
    let settings = if needed.is_empty() { or_empty_list(settings) } else { settings };
    settings.nullable()
}

/// The schemas of the configurations in responses and in requests.
pub(in crate::http::v1) fn configs() -> Vec<(&'static str, ApiSchema)> {
    vec![
        (
            "HttpConfig",
            http(headers(), auth(text(1, NAME_MAX_LENGTH))).needs(&["headers", "auth", "conditions"]),
        ),
        ("NetworkConfig", network(conditions())),
        ("DnsConfig", dns(conditions())),
        ("HeartbeatConfig", heartbeat(conditions())),
        ("SentHttpConfig", lenient(http(sent_headers(), auth(credential_name()).nullable()))),
        ("SentNetworkConfig", lenient(network(conditions()))),
        ("SentDnsConfig", lenient(dns(conditions()))),
        ("SentHeartbeatConfig", lenient(heartbeat(conditions()))),
    ]
}

pub(super) fn interval() -> ApiSchema {
    integer().range(*INTERVAL_SECONDS.start(), *INTERVAL_SECONDS.end()).says(INTERVAL_WORDS)
}

pub(super) fn timeout() -> ApiSchema {
    integer()
        .range((*TIMEOUT_SECONDS.start()).into(), (*TIMEOUT_SECONDS.end()).into())
        .says("Seconds per attempt.")
}

pub(super) fn retries() -> ApiSchema {
    integer()
        .range((*RETRIES.start()).into(), (*RETRIES.end()).into())
        .says("Number of retries before a bad result counts.")
}

pub(super) fn confirmation() -> ApiSchema {
    let number = integer().range((*LOCATIONS.start()).into(), (*LOCATIONS.end()).into());
    any_of([enum_of(Quorum::WORDS), number]).says(CONFIRMATION_WORDS)
}

pub(super) fn recovery_checks() -> ApiSchema {
    integer().range((*RECOVERY_CHECKS.start()).into(), (*RECOVERY_CHECKS.end()).into()).says(RECOVERY_WORDS)
}

pub(super) fn flapping_changes() -> ApiSchema {
    integer()
        .range((*CHANGES.start()).into(), (*CHANGES.end()).into())
        .says("More changes between up and not up within `flapping_minutes` are flapping; 0: never.")
}

pub(super) fn flapping_minutes() -> ApiSchema {
    integer()
        .range((*MINUTES.start()).into(), (*MINUTES.end()).into())
        .says("Minutes in which changes are counted.")
}

pub(super) fn probes() -> ApiSchema {
    list_of(string()).nullable().says(PROBES_WORDS)
}

pub(super) fn probe_roles() -> ApiSchema {
    roles().nullable().says(ROLES_WORDS)
}

fn roles() -> ApiSchema {
    map_of(enum_of(&["full", "reachability"]))
}

pub(super) fn config(prefix: &str) -> ApiSchema {
    let kinds = ["HttpConfig", "NetworkConfig", "DnsConfig", "HeartbeatConfig"];
    any_of(kinds.map(|kind| named(&format!("{prefix}{kind}")))).says(CONFIG_WORDS)
}

/// Makes all members optional, and `conditions` nullable.
fn lenient(shape: ApiSchema) -> ApiSchema {
    shape.needs_nothing().may_have("conditions", conditions().nullable())
}

fn http(headers: ApiSchema, auth: ApiSchema) -> ApiSchema {
    let methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"];
    object()
        .has("method", enum_of(&methods).default_value("GET"))
        .may_have("headers", headers)
        .may_have("auth", auth)
        .has("body", text(0, 65_536).default_value("").says("Sent with POST, PUT and PATCH only."))
        .has("follow_redirects", boolean().default_value(true))
        .has("verify_ssl", boolean().default_value(true))
        .has("ip_version", ip_version())
        .has("smart_dualstack", dualstack())
        .may_have("conditions", conditions())
        .closed()
}

fn network(conditions: ApiSchema) -> ApiSchema {
    let words = "Of tcp, icmp and ssl.";
    let shape = object().says(words).has("ip_version", ip_version()).has("smart_dualstack", dualstack());
    shape.has("conditions", conditions).closed()
}

fn dns(conditions: ApiSchema) -> ApiSchema {
    let kinds = enum_of(&["A", "AAAA", "MX", "CNAME", "TXT", "NS"]).default_value("A");
    object().has("dns_type", kinds).has("conditions", conditions).closed()
}

fn heartbeat(conditions: ApiSchema) -> ApiSchema {
    let grace = integer()
        .range(0, 86_400)
        .default_value(60)
        .says("Grace period in seconds before a missed ping counts.");
    object().has("grace_seconds", grace).has("conditions", conditions).closed()
}

fn ip_version() -> ApiSchema {
    enum_of(&["auto", "ipv4", "ipv6"]).default_value("auto")
}

fn dualstack() -> ApiSchema {
    boolean()
        .default_value(false)
        .says("With `auto`: the service is degraded when one address family does not answer.")
}

fn headers() -> ApiSchema {
    map_of(string().says(SECRET_WORDS)).says(HEADERS_WORDS)
}

/// Headers in requests: the names that may be configured, and the values that a header line may have.
fn sent_headers() -> ApiSchema {
    let values =
        text(0, *HEADER_VALUE_LENGTH.end()).pattern(r"^[^\x00-\x08\x0a-\x1f\x7f]*$").says(SECRET_WORDS);
    let headers = map_of(values).named_like(&header_name(&[])).members(HEADERS_MAX);
    or_empty_list(headers).nullable().says(HEADERS_WORDS)
}

/// Name of the header that carries an API key.
fn credential_name() -> ApiSchema {
    text(1, NAME_MAX_LENGTH).pattern(&header_name(&[HOST.as_str()]))
}

/// Returns a regular expression for the names of headers that may be configured, except `others`.
fn header_name(others: &[&str]) -> String {
    let mut refused: Vec<String> = RESERVED.iter().chain(others).map(|name| any_case(name) + "$").collect();
    refused.push(any_case(PROXY));
    format!("^(?!{})[!#$%&'*+.^_`|~0-9A-Za-z-]{{1,{NAME_MAX_LENGTH}}}$", refused.join("|"))
}

/// Returns a regular expression that matches a name in any case: JSON Schema has no flag for this.
fn any_case(name: &str) -> String {
    let either = |letter: char| match letter {
        'a'..='z' => format!("[{}{letter}]", letter.to_ascii_uppercase()),
        other => other.to_string(),
    };
    name.chars().map(either).collect()
}

fn auth(header: ApiSchema) -> ApiSchema {
    let secret = |min| text(min, 8192).says(SECRET_WORDS);
    let kind = |word| object().has("type", enum_of(&[word]));
    any_of([
        kind("none").closed(),
        kind("bearer").has("token", secret(1)).closed(),
        kind("basic").has("username", text(1, 1024)).has("password", secret(0)).closed(),
        kind("api_key").has("header", header).has("value", secret(1)).closed(),
    ])
    .says("Sending it replaces the whole block.")
}

fn conditions() -> ApiSchema {
    list_of(named("Condition"))
        .items(0, 20)
        .says("The worst status of all matching conditions counts; empty or null: the defaults. `http` is `down` at status codes from 400 on as long as none tests `status_code`.")
}

/// The schema of a condition (contract 4.2.4).
pub(in crate::http::v1) fn condition() -> ApiSchema {
    object()
        .has("field", string().says("See `GET /v1/meta/check-types`.").example("status_code"))
        .has("operator", enum_of(&OPERATORS))
        .has("value", anything().says("A number, string, boolean or list, depending on field and operator."))
        .has("status", enum_of(&["down", "degraded"]))
        .closed()
}
