//! Tests settings against contract 4.2 and 4.3.4: limits, defaults, partial updates, error keys. `secret_tests` has the
//! secrets.

use rstest::rstest;
use serde_json::json;

use super::*;
use crate::http::v1::services::settings::fixture::{ALL_DEFAULTS, DEFAULT_RULES, SettingsFixture, texts};

mod rules_tests;
mod secret_tests;

/// Contract 4.3.4: the stored settings when only the interval is sent, by type.
#[rstest]
#[case(CheckType::Http, ALL_DEFAULTS)]
#[case(CheckType::Tcp, r#"{"ip_version":"auto","smart_dualstack":false,"conditions":[]}"#)]
#[case(
    CheckType::Dns,
    r#"{"dns_type":"A","conditions":[{"field":"metadata.ip_count","operator":"eq","value":0,"status":"down"}]}"#
)]
#[case(
    CheckType::Icmp,
    r#"{"ip_version":"auto","smart_dualstack":false,"conditions":[{"field":"metadata.packet_loss_pct","operator":"gt","value":0,"status":"degraded"}]}"#
)]
#[case(
    CheckType::Ssl,
    r#"{"ip_version":"auto","smart_dualstack":false,"conditions":[{"field":"metadata.days_until_expiry","operator":"lt","value":14,"status":"degraded"}]}"#
)]
fn every_default_is_stored(#[case] check_type: CheckType, #[case] config: &str) {
    let fixture = SettingsFixture::new(check_type);
    for sent in [
        json!({"interval_seconds": 3600}),
        json!({"interval_seconds": 3600.0, "config": null, "unknown": 1, "assigned_probes": null}),
        json!({"interval_seconds": 3600, "config": {"conditions": []}, "probe_roles": null}),
    ] {
        let settings = fixture.create(&sent);
        let expected = format!(
            r#"{{"interval_seconds":3600,"timeout_seconds":10,"retries":2,"assigned_probes":null,"probe_roles":null,"config":{config},{DEFAULT_RULES}}}"#
        );
        assert_eq!(fixture.shown(&settings).to_string(), expected);
    }
}

/// Contract 7 no. 45: a character takes up to four bytes. A configuration that is older than the limit is kept until it is
/// changed.
#[rstest]
#[case("x", 65_000, true)]
#[case("🚀", 65_000, true)]
#[case("🚀", 65_500, false)]
fn settings_are_limited_to_a_quarter_of_a_mebibyte(
    #[case] character: &str,
    #[case] length: usize,
    #[case] fits: bool,
) {
    let fixture = SettingsFixture::new(CheckType::Http);
    let body = character.repeat(length);
    let headers = json!({"x-note": "n".repeat(1_000)});
    let sent =
        json!({"interval_seconds": 60, "config": {"method": "POST", "body": body, "headers": headers}});
    let refused = "settings.config: The stored settings may take at most 262144 bytes.";
    if fits {
        assert!(fixture.create(&sent).stored_bytes() <= SETTINGS_MAX_BYTES);
        return;
    }
    assert_eq!(fixture.refusal(&sent, None), refused);
    let mut stored = fixture.create(&json!({"interval_seconds": 60}));
    stored.config.insert("body".into(), json!(body.repeat(2)));
    let updated = fixture.read(&json!({"interval_seconds": 120}), Some(&stored)).unwrap();
    assert_eq!((updated.interval_seconds, updated.config), (120, stored.config));
}

/// Contract 4.3.4, 5.3: every rule and its error key when a service is created. `interval_seconds` is 60 unless the row
/// sends a value.
#[rstest]
#[case(CheckType::Http, json!(7), "settings: This value must be an object.")]
#[case(CheckType::Http, json!([]), "settings.interval_seconds: This field is required.")]
#[case(CheckType::Manual, json!({}), "settings: Manual services have no settings.")]
#[case(CheckType::Manual, json!("x"), "settings: Manual services have no settings.")]
#[case(CheckType::Http, json!({"interval_seconds": null}), "settings.interval_seconds: This field must not be null.")]
#[case(CheckType::Http, json!({"interval_seconds": "60"}), "settings.interval_seconds: This value must be a whole number.")]
#[case(CheckType::Http, json!({"interval_seconds": 60.5}), "settings.interval_seconds: This value must be a whole number.")]
#[case(CheckType::Http, json!({"interval_seconds": 29}), "settings.interval_seconds: The smallest allowed value is 30.")]
#[case(CheckType::Http, json!({"interval_seconds": 604_801}), "settings.interval_seconds: The largest allowed value is 604800.")]
#[case(CheckType::Ssl, json!({"interval_seconds": 3_599}), "settings.interval_seconds: The smallest allowed value is 3600.")]
#[case(CheckType::Ssl, json!({"interval_seconds": 604_801}), "settings.interval_seconds: The largest allowed value is 604800.")]
#[case(CheckType::Http, json!({"timeout_seconds": 0}), "settings.timeout_seconds: The smallest allowed value is 1.")]
#[case(CheckType::Http, json!({"timeout_seconds": 61}), "settings.timeout_seconds: The largest allowed value is 60.")]
#[case(CheckType::Http, json!({"timeout_seconds": null}), "settings.timeout_seconds: This field must not be null.")]
#[case(CheckType::Http, json!({"retries": -1}), "settings.retries: The smallest allowed value is 0.")]
#[case(CheckType::Http, json!({"retries": 6}), "settings.retries: The largest allowed value is 5.")]
#[case(CheckType::Http, json!({"retries": true}), "settings.retries: This value must be a whole number.")]
#[case(CheckType::Http, json!({"assigned_probes": []}), "settings.assigned_probes: Send at least 1 entries.")]
#[case(CheckType::Http, json!({"assigned_probes": "fra"}), "settings.assigned_probes: This value must be a list.")]
#[case(CheckType::Http, json!({"assigned_probes": vec!["fra"; 51]}), "settings.assigned_probes: Send at most 50 entries.")]
#[case(CheckType::Http, json!({"assigned_probes": ["fra", "mars", 7]}), "settings.assigned_probes.1: No active location with the code mars exists.\nsettings.assigned_probes.2: This value must be a string.")]
#[case(CheckType::Http, json!({"assigned_probes": ["FRA"]}), "settings.assigned_probes.0: No active location with the code FRA exists.")]
#[case(CheckType::Http, json!({"assigned_probes": ["mars"], "probe_roles": [1]}), "settings.assigned_probes.0: No active location with the code mars exists.\nsettings.probe_roles: This value must be an object.")]
#[case(CheckType::Dns, json!({"config": {"dns_type": "SRV", "conditions": [{"field": "metadata.mx_count", "operator": "eq", "value": 0, "status": "down"}]}}), "settings.config.dns_type: Unknown value. Allowed: A, AAAA, MX, CNAME, TXT, NS.")]
#[case(CheckType::Http, json!({"config": {"auth": {"type": "basic", "username": " __SERVICE_KEEP_UNCHANGED__ ", "password": "p"}}}), "settings.config.auth.username: The keep placeholder is only allowed for secret values.")]
#[case(CheckType::Http, json!({"config": {"conditions": [{"field": "body", "operator": "contains", "value": " __SERVICE_KEEP_UNCHANGED__", "status": "down"}]}}), "settings.config.conditions.0.value: The keep placeholder is only allowed for secret values.")]
#[case(CheckType::Http, json!({"probe_roles": [1]}), "settings.probe_roles: This value must be an object.")]
#[case(CheckType::Http, json!({"probe_roles": {"fra": "half"}}), "settings.probe_roles.fra: Unknown value. Allowed: full, reachability.")]
#[case(CheckType::Http, json!({"probe_roles": {"fra": null}}), "settings.probe_roles.fra: This field must not be null.")]
#[case(CheckType::Http, json!({"probe_roles": {"mars": "full"}}), "settings.probe_roles.mars: This location is not assigned to the service.")]
#[case(CheckType::Http, json!({"probe_roles": {"mars": "full", "fra": 5, "venus": "full"}}), "settings.probe_roles.mars: This location is not assigned to the service.\nsettings.probe_roles.fra: This value must be a string.\nsettings.probe_roles.venus: This location is not assigned to the service.")]
#[case(CheckType::Http, json!({"assigned_probes": ["mars"], "probe_roles": {"venus": "full"}}), "settings.assigned_probes.0: No active location with the code mars exists.")]
#[case(CheckType::Http, json!({"assigned_probes": ["hel"], "probe_roles": {"fra": "full"}}), "settings.probe_roles.fra: This location is not assigned to the service.")]
#[case(CheckType::Http, json!({"assigned_probes": ["hel"], "probe_roles": {"hel": "reachability"}}), "settings.probe_roles: At least one location must keep the role full.")]
#[case(CheckType::Http, json!({"probe_roles": {"hel": "reachability", "fra": "reachability"}}), "settings.probe_roles: At least one location must keep the role full.")]
#[case(CheckType::Http, json!({"config": [1]}), "settings.config: This value must be an object.")]
fn settings_that_break_a_rule_are_refused(
    #[case] check_type: CheckType,
    #[case] sent: Value,
    #[case] expected: &str,
) {
    let fixture = SettingsFixture::new(check_type);
    assert_eq!(fixture.refusal(&with_interval(sent), None), expected);
}

fn with_interval(mut sent: Value) -> Value {
    if let Some(members) = sent.as_object_mut() {
        members.entry("interval_seconds").or_insert(json!(60));
    }
    sent
}

/// Contract 4.2.2, 4.2.3: every rule of a configuration field and its error key below `settings.config`.
#[rstest]
#[case(json!({"method": "get"}), "method: Unknown value. Allowed: GET, POST, PUT, DELETE, PATCH, HEAD, OPTIONS.")]
#[case(json!({"method": null}), "method: This field must not be null.")]
#[case(json!({"body": "x".repeat(65_537)}), "body: Use at most 65536 characters.")]
#[case(json!({"body": {}}), "body: This value must be a string.")]
#[case(json!({"follow_redirects": "yes"}), "follow_redirects: This value must be true or false.")]
#[case(json!({"verify_ssl": 1}), "verify_ssl: This value must be true or false.")]
#[case(json!({"ip_version": "ipv5"}), "ip_version: Unknown value. Allowed: auto, ipv4, ipv6.")]
#[case(json!({"smart_dualstack": null}), "smart_dualstack: This field must not be null.")]
#[case(json!({"dns_type": "A"}), "dns_type: Unknown field.")]
#[case(json!({"Method": "GET"}), "Method: Unknown field.")]
#[case(json!({"headers": [1]}), "headers: This value must be an object.")]
#[case(json!({"headers": {"": "a"}}), "headers.: This is not a valid header name.")]
#[case(json!({"headers": {"X A": "a"}}), "headers.X A: This is not a valid header name.")]
#[case(json!({"headers": {"X:": "a"}}), "headers.X:: This is not a valid header name.")]
#[case(json!({"headers": {"Ü": "a"}}), "headers.Ü: This is not a valid header name.")]
#[case(json!({"headers": {"X-A": "a\r\nX-B: b"}}), "headers.X-A: This is not a valid header value.")]
#[case(json!({"headers": {"X-A": "a\u{0}"}}), "headers.X-A: This is not a valid header value.")]
#[case(json!({"headers": {"X-A": "x".repeat(8193)}}), "headers.X-A: Use at most 8192 characters.")]
#[case(json!({"headers": {"X-A": 1}}), "headers.X-A: This value must be a string.")]
#[case(json!({"headers": {"X-A": null}}), "headers.X-A: This field must not be null.")]
#[case(json!({"headers": {"X-A": "1", "x-a": "2", "X-a": 3}}), "headers.x-a: This header is given twice.\nsettings.config.headers.X-a: This header is given twice.")]
#[case(json!({"headers": {"Content-Length": "1"}}), "headers.Content-Length: This header cannot be set.")]
#[case(json!({"headers": {"transfer-encoding": "1"}}), "headers.transfer-encoding: This header cannot be set.")]
#[case(json!({"headers": {"Connection": "1"}}), "headers.Connection: This header cannot be set.")]
#[case(json!({"headers": {"Upgrade": "1"}}), "headers.Upgrade: This header cannot be set.")]
#[case(json!({"headers": {"Trailer": "1"}}), "headers.Trailer: This header cannot be set.")]
#[case(json!({"headers": {"Keep-Alive": "1"}}), "headers.Keep-Alive: This header cannot be set.")]
#[case(json!({"headers": {"HTTP2-Settings": "1"}}), "headers.HTTP2-Settings: This header cannot be set.")]
#[case(json!({"headers": {"Host": "a/b"}}), "headers.Host: This is not a valid header value.")]
#[case(json!({"headers": {"Host": "a:0"}}), "headers.Host: This is not a valid header value.")]
#[case(json!({"headers": {"Host": "a", "host": "b"}}), "headers.host: This header is given twice.")]
#[case(json!({"auth": {"type": "api_key", "header": "Host", "value": "x"}}), "auth.header: This header cannot be set.")]
#[case(json!({"headers": {"TE": "1"}}), "headers.TE: This header cannot be set.")]
#[case(json!({"headers": {"Proxy-Authorization": "1"}}), "headers.Proxy-Authorization: This header cannot be set.")]
#[case(json!({"auth": "none"}), "auth: This value must be an object.")]
#[case(json!({"auth": {}}), "auth.type: This field is required.")]
#[case(json!({"auth": {"type": null}}), "auth.type: This field must not be null.")]
#[case(json!({"auth": {"type": "digest"}}), "auth.type: Unknown value. Allowed: none, bearer, basic, api_key.")]
#[case(json!({"auth": {"type": "bearer"}}), "auth.token: This field is required.")]
#[case(json!({"auth": {"type": "bearer", "token": null}}), "auth.token: This field must not be null.")]
#[case(json!({"auth": {"type": "bearer", "token": " "}}), "auth.token: Use at least 1 characters.")]
#[case(json!({"auth": {"type": "bearer", "token": "a\nb"}}), "auth.token: This is not a valid header value.")]
#[case(json!({"auth": {"type": "basic"}}), "auth.username: This field is required.\nsettings.config.auth.password: This field is required.")]
#[case(json!({"auth": {"type": "basic", "username": "u".repeat(1025), "password": ""}}), "auth.username: Use at most 1024 characters.")]
#[case(json!({"auth": {"type": "api_key", "header": "X A", "value": "v"}}), "auth.header: This is not a valid header name.")]
#[case(json!({"auth": {"type": "api_key", "header": "Host", "value": "v"}}), "auth.header: This header cannot be set.")]
#[case(json!({"auth": {"type": "none", "token": "t"}}), "auth.token: Unknown field.")]
#[case(json!({"auth": {"type": "bearer", "token": "t", "password": "p"}}), "auth.password: Unknown field.")]
#[case(json!({"auth": {"type": "none", "realm": null}}), "auth.realm: Unknown field.")]
fn a_configuration_that_breaks_a_rule_is_refused(#[case] config: Value, #[case] expected: &str) {
    let sent = json!({"interval_seconds": 60, "config": config});
    assert_eq!(
        SettingsFixture::new(CheckType::Http).refusal(&sent, None),
        format!("settings.config.{expected}")
    );
}

/// Contract 4.2.4: every rule of a condition and its error key below `settings.config.conditions`.
#[rstest]
#[case(json!("x"), ": This value must be a list.")]
#[case(json!(vec![json!({}); 21]), ": Send at most 20 entries.")]
#[case(json!([7]), ".0: This value must be an object.")]
#[case(json!([{"operator": "eq", "value": 1, "status": "down"}]), ".0.field: This field is required.")]
#[case(json!([{"field": "status_code", "value": 1, "status": "down"}]), ".0.operator: This field is required.")]
#[case(json!([{"field": "status_code", "operator": "eq", "status": "down"}]), ".0.value: This field is required.")]
#[case(json!([{"field": "status_code", "operator": "eq", "value": 1}]), ".0.status: This field is required.")]
#[case(json!([{"field": "status_code", "operator": "eq", "value": null, "status": "down"}]), ".0.value: This field must not be null.")]
#[case(json!([{"field": "metadata.ips", "operator": "eq", "value": 1, "status": "down"}]), ".0.field: This field is not available for this check type.")]
#[case(json!([{"field": 1, "operator": "is", "value": 1, "status": "down"}]), ".0.field: This value must be a string.\nsettings.config.conditions.0.operator: Unknown value. Allowed: eq, neq, gt, gte, lt, lte, in, not_in, contains, not_contains.")]
#[case(json!([{"field": "response_time_ms", "operator": "eq", "value": 1, "status": "down"}]), ".0.operator: Unknown value. Allowed: gt, gte, lt, lte.")]
#[case(json!([{"field": "status_code", "operator": "eq", "value": "1", "status": "down"}]), ".0.value: This value does not fit the field and operator.")]
#[case(json!([{"field": "status_code", "operator": "in", "value": 1, "status": "down"}]), ".0.value: This value does not fit the field and operator.")]
#[case(json!([{"field": "status_code", "operator": "eq", "value": 1, "status": "up"}]), ".0.status: Unknown value. Allowed: down, degraded.")]
#[case(json!([{"field": "status_code", "operator": "eq", "value": 1, "status": "down", "name": "x"}]), ".0.name: Unknown field.")]
fn a_condition_that_breaks_a_rule_is_refused(#[case] conditions: Value, #[case] expected: &str) {
    let sent = json!({"interval_seconds": 60, "config": {"conditions": conditions}});
    assert_eq!(
        SettingsFixture::new(CheckType::Http).refusal(&sent, None),
        format!("settings.config.conditions{expected}")
    );
}

/// Contract 1.2: clients read what they sent, after trimming.
#[rstest]
#[case(json!([{"field": "status_code", "operator": "gte", "value": 400, "status": "degraded"}]))]
#[case(json!([{"field": "status_code", "operator": "gte", "value": 400.0, "status": "down"}]))]
#[case(json!([{"field": "status_code", "operator": "not_in", "value": [204, 200, 204], "status": "down"}]))]
#[case(json!([{"field": "header.X-Cache", "operator": "eq", "value": "", "status": "degraded"}]))]
#[case(json!([{"field": "json.checks.0.ok", "operator": "eq", "value": false, "status": "down"}]))]
#[case(json!([{"field": "json.text", "operator": "eq", "value": " as it is ", "status": "down"}]))]
#[case(json!([
    {"field": "body", "operator": "contains", "value": "b", "status": "down"},
    {"field": "body", "operator": "contains", "value": "a", "status": "degraded"},
    {"field": "body", "operator": "contains", "value": "b", "status": "down"}
]))]
fn conditions_are_read_back_as_they_were_written(#[case] conditions: Value) {
    let fixture = SettingsFixture::new(CheckType::Http);
    let settings = fixture.create(&json!({"interval_seconds": 60, "config": {"conditions": conditions}}));
    assert_eq!(fixture.shown(&settings)["config"]["conditions"].to_string(), conditions.to_string());
}

#[test]
fn other_values_are_read_back_as_they_were_written() {
    let fixture = SettingsFixture::new(CheckType::Http);
    let settings = fixture.create(&json!({
        "interval_seconds": 60.0, "timeout_seconds": 5, "retries": 0,
        "assigned_probes": [" hel ", "fra", "hel"], "probe_roles": {"hel": "reachability", "fra": "full"},
        "config": {
            "body": " {\"a\": 1}\n", "method": "POST", "headers": {"x-B": "1", "X-a": ""},
            "auth": {"type": "basic", "username": " shop ", "password": ""},
            "conditions": [{"field": "body", "operator": "contains", "value": " ok ", "status": "down"}]
        }
    }));
    let keep = fixture.keep();
    let expected = json!({
        "interval_seconds": 60, "timeout_seconds": 5, "retries": 0,
        "assigned_probes": ["hel", "fra"], "probe_roles": {"hel": "reachability", "fra": "full"},
        "config": {
            "method": "POST", "headers": {"x-B": keep, "X-a": keep},
            "auth": {"type": "basic", "username": "shop", "password": keep},
            "body": " {\"a\": 1}\n", "follow_redirects": true, "verify_ssl": true, "ip_version": "auto",
            "smart_dualstack": false,
            "conditions": [{"field": "body", "operator": "contains", "value": "ok", "status": "down"}]
        },
        "confirmation": "majority", "recovery_checks": 1, "flapping_changes": 6, "flapping_minutes": 30
    });
    assert_eq!(fixture.shown(&settings).to_string(), expected.to_string());
}

/// Contract 4.3.4, partial update: the sent settings, and how the settings in the response change.
#[rstest]
#[case(json!({}), json!({}))]
#[case(json!({"interval_seconds": 90}), json!({"interval_seconds": 90}))]
#[case(json!({"timeout_seconds": 3, "retries": 5}), json!({"timeout_seconds": 3, "retries": 5}))]
#[case(json!({"assigned_probes": null}), json!({"assigned_probes": null}))]
#[case(json!({"assigned_probes": ["hel", "fra"]}), json!({"assigned_probes": ["hel", "fra"]}))]
#[case(json!({"probe_roles": null}), json!({"probe_roles": null}))]
#[case(json!({"probe_roles": {}}), json!({"probe_roles": {}}))]
#[case(json!({"config": null}), json!({}))]
#[case(json!({"config": {}}), json!({}))]
#[case(json!({"config": {"verify_ssl": false}}), json!({"config": {"verify_ssl": false}}))]
#[case(json!({"config": {"headers": null}}), json!({"config": {"headers": {}}}))]
#[case(json!({"config": {"headers": {}}}), json!({"config": {"headers": {}}}))]
#[case(json!({"config": {"auth": null}}), json!({"config": {"auth": {"type": "none"}}}))]
#[case(
    json!({"config": {"conditions": null}}),
    json!({"config": {"conditions": [{"field": "status_code", "operator": "gte", "value": 400, "status": "down"}]}})
)]
#[case(
    json!({"config": {"conditions": []}}),
    json!({"config": {"conditions": [{"field": "status_code", "operator": "gte", "value": 400, "status": "down"}]}})
)]
fn absent_settings_keep_their_stored_values(#[case] sent: Value, #[case] changes: Value) {
    let fixture = SettingsFixture::new(CheckType::Http);
    let stored = fixture.create(&json!({
        "interval_seconds": 60, "timeout_seconds": 20, "retries": 1, "assigned_probes": ["fra", "hel"],
        "probe_roles": {"hel": "reachability"},
        "config": {
            "method": "PUT", "body": "x", "headers": {"X-Key": "k"}, "auth": {"type": "bearer", "token": "t"},
            "conditions": [{"field": "body", "operator": "contains", "value": "no", "status": "down"}]
        }
    }));
    let mut expected = fixture.shown(&stored);
    for (key, value) in changes.as_object().unwrap() {
        match value.as_object().filter(|_| key == "config") {
            Some(members) => members.iter().for_each(|(key, value)| expected["config"][key] = value.clone()),
            None => expected[key] = value.clone(),
        }
    }
    let updated = fixture.read(&sent, Some(&stored)).unwrap();
    assert_eq!(fixture.shown(&updated), expected);
}

#[rstest]
#[case(json!({"assigned_probes": ["hel"]}), "settings.probe_roles: At least one location must keep the role full.")]
#[case(json!({"assigned_probes": ["fra"]}), "settings.probe_roles.hel: This location is not assigned to the service.")]
#[case(json!({"interval_seconds": null}), "settings.interval_seconds: This field must not be null.")]
#[case(json!({"interval_seconds": 10}), "settings.interval_seconds: The smallest allowed value is 30.")]
fn an_update_must_leave_valid_settings(#[case] sent: Value, #[case] expected: &str) {
    let fixture = SettingsFixture::new(CheckType::Http);
    let stored = fixture.create(&json!({
        "interval_seconds": 60, "assigned_probes": ["fra", "hel"], "probe_roles": {"hel": "reachability"}
    }));
    assert_eq!(fixture.refusal(&sent, Some(&stored)), expected);
}

#[test]
fn a_disabled_location_does_not_prevent_an_update() {
    let mut fixture = SettingsFixture::new(CheckType::Http);
    let stored = fixture.create(&json!({
        "interval_seconds": 60, "assigned_probes": ["fra", "hel"], "probe_roles": {"hel": "reachability"}
    }));
    fixture.active = vec!["hel".into()];
    let updated = fixture.read(&json!({"retries": 0}), Some(&stored)).unwrap();
    assert_eq!(updated, ServiceSettings { retries: 0, ..stored });
}

/// Contract 4.2.4, `dns_type` changed without `conditions`: stored type and conditions, sent configuration, result.
#[rstest]
#[case(json!({"dns_type": "A"}), json!({"dns_type": "MX"}), Ok(json!(["metadata.mx_count eq 0"])))]
#[case(json!({"dns_type": "A"}), json!({"dns_type": "AAAA"}), Ok(json!(["metadata.ip_count eq 0"])))]
#[case(json!({"dns_type": "MX"}), json!({"dns_type": "CNAME"}), Ok(json!([])))]
#[case(json!({"dns_type": "CNAME"}), json!({"dns_type": "TXT"}), Ok(json!(["metadata.txt_count eq 0"])))]
#[case(json!({"dns_type": "A"}), json!({"dns_type": "A"}), Ok(json!(["metadata.ip_count eq 0"])))]
#[case(json!({"dns_type": "A", "conditions": [slow()]}), json!({"dns_type": "MX"}), Ok(json!(["response_time_ms gt 500"])))]
#[case(
    json!({"dns_type": "A", "conditions": [slow(), few()]}),
    json!({"dns_type": "MX"}),
    Err("settings.config.conditions.1.field: This field is not available for this record type.")
)]
#[case(json!({"dns_type": "A", "conditions": [few()]}), json!({"dns_type": "MX", "conditions": []}), Ok(json!(["metadata.mx_count eq 0"])))]
#[case(json!({"dns_type": "A", "conditions": [few()]}), json!({"dns_type": "MX", "conditions": null}), Ok(json!(["metadata.mx_count eq 0"])))]
#[case(json!({"dns_type": "A", "conditions": [few()]}), json!({"dns_type": "MX", "conditions": [slow()]}), Ok(json!(["response_time_ms gt 500"])))]
#[case(
    json!({"dns_type": "A"}),
    json!({"dns_type": "MX", "conditions": [few()]}),
    Err("settings.config.conditions.0.field: This field is not available for this record type.")
)]
#[case(
    json!({"dns_type": "A"}),
    json!({"dns_type": "SRV"}),
    Err("settings.config.dns_type: Unknown value. Allowed: A, AAAA, MX, CNAME, TXT, NS.")
)]
fn conditions_follow_the_record_type(
    #[case] stored: Value,
    #[case] sent: Value,
    #[case] expected: Result<Value, &str>,
) {
    let fixture = SettingsFixture::new(CheckType::Dns);
    let stored = fixture.create(&json!({"interval_seconds": 60, "config": stored}));
    let conditions = |settings: ServiceSettings| {
        let conditions = settings.config["conditions"].as_array().unwrap().iter();
        let short = |condition: &Value| {
            let word = |key: &str| condition[key].as_str().unwrap().to_owned();
            Value::from(format!("{} {} {}", word("field"), word("operator"), condition["value"]))
        };
        conditions.map(short).collect::<Value>()
    };
    let result = fixture.read(&json!({"config": sent}), Some(&stored));
    assert_eq!(result.map(conditions).map_err(|errors| texts(&errors)), expected.map_err(str::to_owned));
}

fn slow() -> Value {
    json!({"field": "response_time_ms", "operator": "gt", "value": 500, "status": "degraded"})
}

fn few() -> Value {
    json!({"field": "metadata.ip_count", "operator": "lt", "value": 2, "status": "degraded"})
}

/// Contract 5.3: all fields are checked, in the order of the tables.
#[test]
fn all_errors_are_in_the_order_of_the_tables() {
    let sent = json!({
        "config": {
            "typo": 1, "conditions": [{"field": "body"}], "auth": {"type": "basic", "x": 1}, "headers": {"Host": "a/b"},
            "method": "X"
        },
        "probe_roles": {"mars": "full"}, "assigned_probes": null, "retries": 9, "timeout_seconds": 0
    });
    let refusal = SettingsFixture::new(CheckType::Http).refusal(&sent, None);
    let keys: Vec<&str> = refusal.lines().map(|line| line.split_once(": ").unwrap().0).collect();
    assert_eq!(
        keys,
        [
            "settings.interval_seconds",
            "settings.timeout_seconds",
            "settings.retries",
            "settings.probe_roles.mars",
            "settings.config.method",
            "settings.config.headers.Host",
            "settings.config.auth.username",
            "settings.config.auth.password",
            "settings.config.auth.x",
            "settings.config.conditions.0.operator",
            "settings.config.conditions.0.value",
            "settings.config.conditions.0.status",
            "settings.config.typo",
        ]
    );
}
