//! Compiles a stored configuration into a [`CheckSpec`].
//!
//! Absent keys get the catalogue's defaults. Errors name the wrong key, never its value, which may be a secret. Requests
//! are validated before they are stored, by other code; a spec that does not compile means that the store and this
//! program disagree.

mod conditions;

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{AUTHORIZATION, HOST, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use serde_json::{Map, Value};
use url::Url;

use crate::model::check::CheckType;
use crate::probe::catalogue::{CheckTypeDefinition, ConfigFieldKind, definition};
use crate::probe::compile::conditions::compile_conditions;
use crate::probe::condition::{Condition, ConditionError};
use crate::probe::endpoint::Endpoint;
use crate::probe::header::{self, HeaderNameRefusal};
use crate::probe::spec::{
    AddressingOptions, CheckKind, CheckSpec, DnsCheck, HttpCheck, IcmpCheck, IpVersion, SslCheck, TcpCheck,
};
use crate::probe::target::{Target, TargetFormError, parse_target};

/// The reasons why a stored configuration cannot be compiled to a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Services of this type (`manual`, `heartbeat`) are not checked.
    #[error("services of this type are not checked")]
    NotProbed,
    /// The target does not have the form of its type.
    #[error("the target cannot be read: {0}")]
    Target(#[from] TargetFormError),
    /// A key of the configuration does not have the form that the catalogue demands.
    #[error("the configuration of '{0}' cannot be read")]
    Config(&'static str),
    /// A condition does not fit the catalogue.
    #[error(transparent)]
    Condition(#[from] ConditionError),
}

impl CheckSpec {
    /// Compiles the stored check of a service; secrets in `config` must be in clear.
    ///
    /// # Errors
    ///
    /// When the catalogue does not permit the configuration.
    pub fn compile(
        check_type: CheckType,
        target: &str,
        timeout_seconds: u8,
        config: &Map<String, Value>,
    ) -> Result<Self, SpecError> {
        let config = StoredConfig { definition: definition(check_type), values: config };
        let kind = match (check_type, parse_target(check_type, target)?) {
            (CheckType::Http, Target::Url(url)) => CheckKind::Http(Box::new(config.http(*url)?)),
            (CheckType::Tcp, Target::HostPort(host, port)) => {
                CheckKind::Tcp(TcpCheck { host, port, addressing: config.addressing()? })
            }
            (CheckType::Ssl, Target::HostPort(host, port)) => {
                CheckKind::Ssl(SslCheck { host, port, addressing: config.addressing()? })
            }
            (CheckType::Dns, Target::Name(name)) => {
                let record = config.select("dns_type")?.parse();
                let record = record.map_err(|_| SpecError::Config("dns_type"))?;
                CheckKind::Dns(DnsCheck { name, record })
            }
            (CheckType::Icmp, Target::Host(host)) => {
                CheckKind::Icmp(IcmpCheck { host, addressing: config.addressing()? })
            }
            _ => return Err(SpecError::NotProbed),
        };
        Ok(Self {
            timeout: Duration::from_secs(timeout_seconds.into()),
            conditions: config.conditions()?,
            kind,
        })
    }
}

/// A stored configuration, read with the help of the catalogue.
struct StoredConfig<'a> {
    definition: &'static CheckTypeDefinition,
    values: &'a Map<String, Value>,
}

impl<'a> StoredConfig<'a> {
    /// The stored value; `None` when it is absent or null.
    fn value(&self, name: &str) -> Option<&'a Value> {
        self.values.get(name).filter(|value| !value.is_null())
    }

    fn select(&self, name: &'static str) -> Result<&'a str, SpecError> {
        let Some(ConfigFieldKind::Select { options, default }) =
            self.definition.field(name).map(|field| field.kind)
        else {
            return Err(SpecError::Config(name));
        };
        let text = self.value(name).map_or(Some(default), Value::as_str);
        text.filter(|text| options.contains(text)).ok_or(SpecError::Config(name))
    }

    fn boolean(&self, name: &'static str) -> Result<bool, SpecError> {
        let Some(ConfigFieldKind::Boolean { default }) = self.definition.field(name).map(|field| field.kind)
        else {
            return Err(SpecError::Config(name));
        };
        self.value(name).map_or(Some(default), Value::as_bool).ok_or(SpecError::Config(name))
    }

    fn addressing(&self) -> Result<AddressingOptions, SpecError> {
        let ip_version = match self.select("ip_version")? {
            "ipv4" => IpVersion::Ipv4,
            "ipv6" => IpVersion::Ipv6,
            _ => IpVersion::Auto,
        };
        Ok(AddressingOptions { ip_version, smart_dualstack: self.boolean("smart_dualstack")? })
    }

    /// Reads the conditions: the default ones if none are stored.
    fn conditions(&self) -> Result<Arc<[Condition]>, SpecError> {
        let limits = self.definition.by_subtype;
        let subtype = limits.map(|limits| self.select(limits.field)).transpose()?;
        let records = match self.value("conditions").map(Value::as_array) {
            Some(None) => return Err(SpecError::Config("conditions")),
            Some(Some(records)) => records.as_slice(),
            None => &[],
        };
        Ok(compile_conditions(self.definition, subtype, records)?)
    }

    fn http(&self, url: Url) -> Result<HttpCheck, SpecError> {
        let method = Method::from_bytes(self.select("method")?.as_bytes());
        let method = method.map_err(|_| SpecError::Config("method"))?;
        let takes_body = matches!(method, Method::POST | Method::PUT | Method::PATCH);
        let body = match self.value("body") {
            None => "",
            Some(body) => body.as_str().ok_or(SpecError::Config("body"))?,
        };
        Ok(HttpCheck {
            endpoint: Endpoint::of(&url).map_err(|_| TargetFormError::Url)?,
            url,
            method,
            headers: self.headers()?,
            body: Bytes::copy_from_slice(if takes_body { body.as_bytes() } else { &[] }),
            follow_redirects: self.boolean("follow_redirects")?,
            verify_ssl: self.boolean("verify_ssl")?,
            addressing: self.addressing()?,
        })
    }

    /// Configured headers and credentials; credentials take precedence.
    fn headers(&self) -> Result<HeaderMap, SpecError> {
        let malformed = || SpecError::Config("headers");
        let mut headers = HeaderMap::new();
        if let Some(configured) = self.value("headers") {
            for (name, value) in configured.as_object().ok_or_else(malformed)? {
                let value = value.as_str().ok_or_else(malformed)?;
                match header::configured_name(name) {
                    Ok(name) if name == HOST && !header::is_host(value) => return Err(malformed()),
                    Ok(name) => headers.insert(name, sensitive(value).ok_or_else(malformed)?),
                    // Stored before this name was reserved; the header has never been sent.
                    Err(HeaderNameRefusal::Reserved) => continue,
                    Err(HeaderNameRefusal::Form) => return Err(malformed()),
                };
            }
        }
        if let Some(auth) = self.value("auth") {
            let (name, value) = match credentials(auth).ok_or(SpecError::Config("auth"))? {
                CredentialHeader::None => return Ok(headers),
                CredentialHeader::Header(name, value) => (name, value),
            };
            headers.insert(name, value);
        }
        Ok(headers)
    }
}

/// Creates a header value that `Debug` does not show.
fn sensitive(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_bytes(text.as_bytes()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

enum CredentialHeader {
    None,
    Header(HeaderName, HeaderValue),
}

/// Reads the credentials of contract 4.2.3; `None` when the block is malformed.
fn credentials(auth: &Value) -> Option<CredentialHeader> {
    let text = |key: &str| auth.get(key).and_then(Value::as_str);
    let (name, value) = match text("type")? {
        "none" => return Some(CredentialHeader::None),
        "bearer" => (AUTHORIZATION, format!("Bearer {}", text("token")?)),
        "basic" => {
            let pair = format!("{}:{}", text("username")?, text("password")?);
            (AUTHORIZATION, format!("Basic {}", STANDARD.encode(pair)))
        }
        "api_key" => (header::credential_name(text("header")?).ok()?, text("value")?.to_owned()),
        _ => return None,
    };
    sensitive(&value).map(|value| CredentialHeader::Header(name, value))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::probe::spec::DnsRecord;

    fn compile(check_type: CheckType, target: &str, config: &Value) -> Result<CheckSpec, SpecError> {
        CheckSpec::compile(check_type, target, 10, config.as_object().unwrap())
    }

    fn http(config: &Value) -> HttpCheck {
        let spec = compile(CheckType::Http, "https://example.com/a", config).unwrap();
        match spec.kind {
            CheckKind::Http(check) => *check,
            other => panic!("{other:?}"),
        }
    }

    /// The condition on the status code that always applies to `http` (contract 4.2.4).
    #[rstest]
    #[case::none(json!([]), &["status_code gte 400"])]
    #[case::another_field(
        json!([{"field": "body", "operator": "not_contains", "value": "ok", "status": "degraded"}]),
        &["body not_contains the configured text", "status_code gte 400"]
    )]
    #[case::the_same_field(
        json!([{"field": "status_code", "operator": "lt", "value": 100, "status": "down"}]),
        &["status_code lt 100"]
    )]
    #[case::the_same_field_beside_another(
        json!([
            {"field": "status_code", "operator": "eq", "value": 418, "status": "degraded"},
            {"field": "response_time_ms", "operator": "gt", "value": 900, "status": "down"}
        ]),
        &["status_code eq 418", "response_time_ms gt 900"]
    )]
    fn a_condition_on_another_field_keeps_the_default_status_condition(
        #[case] conditions: Value,
        #[case] expected: &[&str],
    ) {
        let config = json!({"conditions": conditions});
        let spec = compile(CheckType::Http, "https://example.com/", &config).unwrap();
        let compiled: Vec<_> = spec.conditions.iter().map(ToString::to_string).collect();
        assert_eq!(compiled, expected);
    }

    #[test]
    fn absent_keys_have_the_defaults_of_the_catalogue() {
        let spec = compile(CheckType::Http, "https://example.com/a", &json!({})).unwrap();
        assert_eq!(spec.timeout, Duration::from_secs(10));
        assert_eq!(spec.conditions.len(), 1);
        assert_eq!(spec.conditions[0].to_string(), "status_code gte 400");
        let check = http(&json!({}));
        assert_eq!(check.method, Method::GET);
        assert!(check.headers.is_empty() && check.body.is_empty());
        assert!(check.follow_redirects && check.verify_ssl);
        assert_eq!(check.addressing, AddressingOptions::default());
    }

    #[test]
    fn stored_values_are_used() {
        let check = http(&json!({
            "method": "PUT", "body": "ping", "follow_redirects": false, "verify_ssl": false,
            "ip_version": "ipv6", "smart_dualstack": true, "headers": {"X-One": "1", "x-two": "zwei ü"},
        }));
        assert_eq!((check.method, check.body), (Method::PUT, Bytes::from_static(b"ping")));
        assert!(!check.follow_redirects && !check.verify_ssl && check.addressing.smart_dualstack);
        assert_eq!(check.addressing.ip_version, IpVersion::Ipv6);
        assert_eq!(check.headers["x-one"], "1");
        assert_eq!(check.headers["x-two"].as_bytes(), "zwei ü".as_bytes());
    }

    /// A body is sent only with POST, PUT and PATCH (contract 4.2.2).
    #[rstest]
    #[case("GET", false)]
    #[case("HEAD", false)]
    #[case("DELETE", false)]
    #[case("OPTIONS", false)]
    #[case("POST", true)]
    #[case("PUT", true)]
    #[case("PATCH", true)]
    fn only_some_methods_have_a_body(#[case] method: &str, #[case] expected: bool) {
        let check = http(&json!({"method": method, "body": "x"}));
        assert_eq!(!check.body.is_empty(), expected);
    }

    /// `config.auth` replaces a configured `Authorization` header (contract 4.2.3).
    #[rstest]
    #[case(json!({"type": "bearer", "token": "t0"}), "authorization", "Bearer t0")]
    #[case(json!({"type": "basic", "username": "ada", "password": "pw"}), "authorization", "Basic YWRhOnB3")]
    #[case(json!({"type": "basic", "username": "ada", "password": ""}), "authorization", "Basic YWRhOg==")]
    #[case(json!({"type": "api_key", "header": "X-Key", "value": "k"}), "x-key", "k")]
    #[case(json!({"type": "none"}), "authorization", "configured")]
    fn credentials_win_over_configured_headers(
        #[case] auth: Value,
        #[case] name: &str,
        #[case] expected: &str,
    ) {
        let headers = json!({"Authorization": "configured", "x-key": "configured"});
        let check = http(&json!({"headers": headers, "auth": auth}));
        assert_eq!(check.headers[name], expected);
        assert_eq!(check.headers.len(), 2);
    }

    #[test]
    fn connection_headers_are_never_sent() {
        let check = http(&json!({"headers": {
            "content-length": "7", "Transfer-Encoding": "chunked", "Connection": "close", "Trailer": "Expires",
            "Keep-Alive": "1", "TE": "trailers", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABk",
            "Proxy-Authorization": "x", "X-Mine": "y",
        }}));
        assert_eq!(check.headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-mine"]);
    }

    #[test]
    fn a_valid_host_header_is_used() {
        assert_eq!(http(&json!({"headers": {"host": "shop.test:8443"}})).headers[HOST], "shop.test:8443");
        let broken = json!({"headers": {"Host": "shop.test/path"}});
        let error = compile(CheckType::Http, "http://example.com", &broken).unwrap_err();
        assert_eq!(error, SpecError::Config("headers"));
    }

    #[test]
    fn no_secret_is_shown_by_debug() {
        let config = json!({
            "headers": {"x-secret": "marker-one"}, "auth": {"type": "bearer", "token": "marker-two"},
            "conditions": [{"field": "status_code", "operator": "eq", "value": 1, "status": "down"}],
        });
        let spec = compile(CheckType::Http, "http://example.com", &config).unwrap();
        assert!(!format!("{spec:?}").contains("marker"));
        let broken = json!({"headers": {"x-secret": "marker\r\n"}});
        let error = compile(CheckType::Http, "http://example.com", &broken).unwrap_err();
        assert_eq!(error, SpecError::Config("headers"));
    }

    #[rstest]
    #[case("A", DnsRecord::A, "metadata.ip_count eq 0")]
    #[case("AAAA", DnsRecord::Aaaa, "metadata.ip_count eq 0")]
    #[case("MX", DnsRecord::Mx, "metadata.mx_count eq 0")]
    #[case("TXT", DnsRecord::Txt, "metadata.txt_count eq 0")]
    #[case("NS", DnsRecord::Ns, "metadata.ns_count eq 0")]
    fn a_dns_check_has_the_defaults_of_its_record_type(
        #[case] dns_type: &str,
        #[case] record: DnsRecord,
        #[case] condition: &str,
    ) {
        let spec = compile(CheckType::Dns, "example.com", &json!({"dns_type": dns_type})).unwrap();
        assert!(matches!(spec.kind, CheckKind::Dns(check) if check.record == record));
        assert_eq!(spec.conditions[0].to_string(), condition);
    }

    #[rstest]
    #[case(CheckType::Manual, "", json!({}), SpecError::NotProbed)]
    #[case(CheckType::Tcp, "example.com", json!({}), SpecError::Target(TargetFormError::HostPort))]
    #[case(CheckType::Tcp, "example.com:1", json!({"ip_version": "ipv5"}), SpecError::Config("ip_version"))]
    #[case(CheckType::Icmp, "example.com", json!({"smart_dualstack": 1}), SpecError::Config("smart_dualstack"))]
    #[case(CheckType::Dns, "example.com", json!({"dns_type": "SRV"}), SpecError::Config("dns_type"))]
    #[case(CheckType::Http, "http://a/", json!({"method": "TRACE"}), SpecError::Config("method"))]
    #[case(CheckType::Http, "http://a/", json!({"auth": {"type": "digest"}}), SpecError::Config("auth"))]
    #[case(CheckType::Http, "http://a/", json!({"auth": {"type": "bearer"}}), SpecError::Config("auth"))]
    #[case(CheckType::Http, "http://a/", json!({"conditions": {}}), SpecError::Config("conditions"))]
    #[case(CheckType::Http, "http://a/", json!({"conditions": [{}]}), SpecError::Condition(ConditionError::Field))]
    fn a_configuration_outside_the_catalogue_is_refused(
        #[case] check_type: CheckType,
        #[case] target: &str,
        #[case] config: Value,
        #[case] expected: SpecError,
    ) {
        assert_eq!(compile(check_type, target, &config).unwrap_err(), expected);
    }
}
