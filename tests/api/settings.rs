//! `settings` of a service (contract 4.3.4, 4.2.2-4.2.4): defaults, partial updates, echo, and what is refused.
//!
//! Secret values inside `config` are the business of `secrets`.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::{Answer, Client};
use crate::support::server::Server;
use crate::support::{create, create_unconfigured, create_watched, service};

/// A service that is due only in days.
fn rarely(config: &Value) -> Value {
    json!({"interval_seconds": 604_800, "retries": 0, "config": config})
}

fn settings_of(client: &Client, id: &str) -> Value {
    client.get(&service(id)).expect(200).data()["settings"].clone()
}

fn post_http(settings: &Value) -> Answer {
    let body =
        json!({"name": "x", "check_type": "http", "target": "http://127.0.0.1:9/", "settings": settings});
    Server::shared_client().post("/v1/services", &body)
}

/// Contract 4.2.2, 4.2.4, 4.3.4: every default is stored and read back.
#[rstest]
#[case("http", "http://127.0.0.1:9/", json!({"method": "GET", "headers": {}, "auth": {"type": "none"}, "body": "",
    "follow_redirects": true, "verify_ssl": true, "ip_version": "auto", "smart_dualstack": false,
    "conditions": [{"field": "status_code", "operator": "gte", "value": 400, "status": "down"}]}))]
#[case("tcp", "127.0.0.1:9", json!({"ip_version": "auto", "smart_dualstack": false, "conditions": []}))]
#[case("dns", "localhost", json!({"dns_type": "A",
    "conditions": [{"field": "metadata.ip_count", "operator": "eq", "value": 0, "status": "down"}]}))]
#[case("icmp", "127.0.0.1", json!({"ip_version": "auto", "smart_dualstack": false,
    "conditions": [{"field": "metadata.packet_loss_pct", "operator": "gt", "value": 0, "status": "degraded"}]}))]
#[case("ssl", "127.0.0.1:9", json!({"ip_version": "auto", "smart_dualstack": false,
    "conditions": [{"field": "metadata.days_until_expiry", "operator": "lt", "value": 14, "status": "degraded"}]}))]
fn every_default_is_stored_and_read_back(
    #[case] check_type: &str,
    #[case] target: &str,
    #[case] config: Value,
) {
    let client = Server::shared_client();
    let target = if check_type == "ssl" { "localhost:9" } else { target };
    let body = json!({"name": "x", "check_type": check_type, "target": target, "settings": {"interval_seconds": 604_800}});
    let id = create(&client, &body);
    let expected = json!({"interval_seconds": 604_800, "timeout_seconds": 10, "retries": 2, "assigned_probes": null,
        "probe_roles": null, "config": config,
        "confirmation": "majority", "recovery_checks": 1, "flapping_changes": 6, "flapping_minutes": 30});
    assert_eq!(settings_of(&client, &id), expected);
}

/// Contract 1.2, echo fidelity: what was written is read back byte for byte.
#[test]
fn settings_are_read_back_byte_for_byte() {
    let client = Server::shared_client();
    let config = r#"{"method":"POST","headers":{},"auth":{"type":"none"},"body":" {\"a\": 1}\n","follow_redirects":false,"verify_ssl":false,"ip_version":"ipv4","smart_dualstack":true,"conditions":[{"field":"header.X-Cache","operator":"neq","value":"Hit","status":"degraded"},{"field":"response_time_ms","operator":"gt","value":400.0,"status":"down"},{"field":"status_code","operator":"in","value":[500,400,500],"status":"down"},{"field":"json.items.#","operator":"eq","value":true,"status":"down"}]}"#;
    let sent: Value = serde_json::from_str(config).unwrap();
    let settings = json!({"interval_seconds": 604_800, "timeout_seconds": 60, "retries": 5,
        "assigned_probes": ["local"], "probe_roles": {"local": "full"}, "config": sent,
        "confirmation": 3, "recovery_checks": 10, "flapping_changes": 100, "flapping_minutes": 1_440});
    let id = create_watched(&client, "http://127.0.0.1:9/", &settings);
    let read = client.get(&service(&id)).expect(200);
    assert_eq!(read.data()["settings"], settings);
    let echoed = read.data()["settings"]["config"]["conditions"].to_string();
    assert_eq!(echoed, sent["conditions"].to_string());
}

/// Contract 4.3.4: a partial object is enough; absent fields are kept.
#[rstest]
#[case(json!({"timeout_seconds": 3}), "/timeout_seconds", json!(3))]
#[case(json!({"retries": 1}), "/retries", json!(1))]
#[case(json!({"interval_seconds": 7200}), "/interval_seconds", json!(7200))]
#[case(json!({"interval_seconds": 7200.0}), "/interval_seconds", json!(7200))]
#[case(json!({"assigned_probes": ["local", "local"]}), "/assigned_probes", json!(["local"]))]
#[case(json!({"probe_roles": {"local": "full"}}), "/probe_roles", json!({"local": "full"}))]
#[case(json!({"config": {"method": "HEAD"}}), "/config/method", json!("HEAD"))]
#[case(json!({"config": {"body": "x"}, "unknown": 1}), "/config/body", json!("x"))]
#[case(json!({"config": {"conditions": [{"field": "body", "operator": "contains", "value": "x", "status": "down"}]}}),
    "/config/conditions", json!([{"field": "body", "operator": "contains", "value": "x", "status": "down"}]))]
fn an_update_replaces_only_the_keys_that_were_sent(
    #[case] sent: Value,
    #[case] place: &str,
    #[case] value: Value,
) {
    let client = Server::shared_client();
    let config = json!({"method": "POST", "body": "kept", "conditions":
        [{"field": "status_code", "operator": "gte", "value": 500, "status": "down"}]});
    let id = create_watched(&client, "http://127.0.0.1:9/", &rarely(&config));
    let mut expected = settings_of(&client, &id);
    *expected.pointer_mut(place).unwrap() = value;
    client.patch(&service(&id), &json!({"settings": sent})).expect(200);
    assert_eq!(settings_of(&client, &id), expected);
}

/// Contract 1.2 and 4.2.4: null and `[]` reset conditions to the defaults; null skips `config`.
#[rstest]
#[case(json!({"conditions": []}), true)]
#[case(json!({"conditions": null}), true)]
#[case(json!({}), false)]
#[case(json!(null), false)]
fn conditions_are_reset_by_null_and_by_an_empty_list(#[case] config: Value, #[case] resets: bool) {
    let client = Server::shared_client();
    let own = json!([{"field": "status_code", "operator": "gte", "value": 500, "status": "down"}]);
    let id = create_watched(&client, "http://127.0.0.1:9/", &rarely(&json!({"conditions": own})));
    client.patch(&service(&id), &json!({"settings": {"config": config}})).expect(200);
    let defaults = json!([{"field": "status_code", "operator": "gte", "value": 400, "status": "down"}]);
    let expected = if resets { defaults } else { own };
    assert_eq!(settings_of(&client, &id)["config"]["conditions"], expected);
}

/// Contract 4.3.2: `settings` sent later configure the service; they cannot be removed again.
#[test]
fn settings_may_be_sent_later() {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let after = client.patch(&service(&id), &json!({"settings": rarely(&json!({}))})).expect(200).data();
    assert_eq!(after["is_configured"], true);
    assert!(after["configured_at"].is_string());
    let updated = client.patch(&service(&id), &json!({"settings": null})).expect(200).data();
    assert_eq!(updated["settings"], after["settings"]);
}

/// Contract 4.2.4, `dns_type` changed: old defaults become the new ones; what does not fit is refused.
#[test]
fn conditions_follow_the_record_type() {
    let client = Server::shared_client();
    let body = json!({"name": "x", "check_type": "dns", "target": "localhost", "settings": {"interval_seconds": 604_800}});
    let id = create(&client, &body);
    let to = |kind: &str| json!({"settings": {"config": {"dns_type": kind}}});
    client.patch(&service(&id), &to("MX")).expect(200);
    let mx = json!([{"field": "metadata.mx_count", "operator": "eq", "value": 0, "status": "down"}]);
    assert_eq!(settings_of(&client, &id)["config"]["conditions"], mx);
    let own = json!([{"field": "metadata.mx_count", "operator": "lt", "value": 2, "status": "down"}]);
    client.patch(&service(&id), &json!({"settings": {"config": {"conditions": own}}})).expect(200);
    let refused = client.patch(&service(&id), &to("TXT")).errors();
    assert_eq!(refused[0].0, "settings.config.conditions.0.field");
    assert_eq!(refused[0].1, "This field is not available for this record type.");
    assert_eq!(settings_of(&client, &id)["config"]["dns_type"], "MX");
}

/// The texts for wrong settings (contract 4.3.4 and 5.3).
#[rstest]
#[case(json!({}), "settings.interval_seconds", "This field is required.")]
#[case(json!({"interval_seconds": 0}), "settings.interval_seconds", "The smallest allowed value is 1.")]
#[case(json!({"interval_seconds": 604_801}), "settings.interval_seconds", "The largest allowed value is 604800.")]
#[case(json!({"interval_seconds": "60"}), "settings.interval_seconds", "This value must be a whole number.")]
#[case(json!({"interval_seconds": 60.5}), "settings.interval_seconds", "This value must be a whole number.")]
#[case(json!({"interval_seconds": 60, "timeout_seconds": 61}), "settings.timeout_seconds", "The largest allowed value is 60.")]
#[case(json!({"interval_seconds": 60, "timeout_seconds": null}), "settings.timeout_seconds", "This field must not be null.")]
#[case(json!({"interval_seconds": 60, "retries": 6}), "settings.retries", "The largest allowed value is 5.")]
#[case(json!({"interval_seconds": 60, "retries": -1}), "settings.retries", "The smallest allowed value is 0.")]
#[case(json!({"interval_seconds": 60, "assigned_probes": []}), "settings.assigned_probes", "Send at least 1 entries.")]
#[case(json!({"interval_seconds": 60, "assigned_probes": ["local", "mars"]}), "settings.assigned_probes.1", "No active location with the code mars exists.")]
#[case(json!({"interval_seconds": 60, "probe_roles": {"local": "reachability"}}), "settings.probe_roles", "At least one location must keep the role full.")]
#[case(json!({"interval_seconds": 60, "probe_roles": {"mars": "full"}}), "settings.probe_roles.mars", "This location is not assigned to the service.")]
#[case(json!({"interval_seconds": 60, "config": ["GET"]}), "settings.config", "This value must be an object.")]
fn a_wrong_setting_is_refused(#[case] settings: Value, #[case] key: &str, #[case] text: &str) {
    assert_eq!(post_http(&settings).errors(), [(key.to_owned(), text.to_owned())]);
}

/// Contract 4.2.2-4.2.4 and 5.3; the keys below `settings.config`.
#[rstest]
#[case(json!({"methd": "GET"}), "methd", "Unknown field.")]
#[case(json!({"method": "get"}), "method", "Unknown value. Allowed: GET, POST, PUT, DELETE, PATCH, HEAD, OPTIONS.")]
#[case(json!({"follow_redirects": 1}), "follow_redirects", "This value must be true or false.")]
#[case(json!({"body": "x".repeat(65_537)}), "body", "Use at most 65536 characters.")]
#[case(json!({"headers": {"a b": "x"}}), "headers.a b", "This is not a valid header name.")]
#[case(json!({"headers": {"X-A": "a\nb"}}), "headers.X-A", "This is not a valid header value.")]
#[case(json!({"headers": {"X-A": 1}}), "headers.X-A", "This value must be a string.")]
#[case(json!({"headers": {"connection": "x"}}), "headers.connection", "This header cannot be set.")]
#[case(json!({"headers": {"Trailer": "x"}}), "headers.Trailer", "This header cannot be set.")]
#[case(json!({"headers": {"http2-settings": "x"}}), "headers.http2-settings", "This header cannot be set.")]
#[case(json!({"headers": {"Proxy-Connection": "x"}}), "headers.Proxy-Connection", "This header cannot be set.")]
#[case(json!({"headers": {"Host": "shop.test/x"}}), "headers.Host", "This is not a valid header value.")]
#[case(json!({"headers": {"Host": "a", "host": "b"}}), "headers.host", "This header is given twice.")]
#[case(json!({"auth": {}}), "auth.type", "This field is required.")]
#[case(json!({"auth": {"type": "digest"}}), "auth.type", "Unknown value. Allowed: none, bearer, basic, api_key.")]
#[case(json!({"auth": {"type": "bearer", "token": "x", "password": "y"}}), "auth.password", "Unknown field.")]
#[case(json!({"auth": {"type": "basic", "password": "y"}}), "auth.username", "This field is required.")]
#[case(json!({"conditions": {}}), "conditions", "This value must be a list.")]
#[case(json!({"conditions": [{"field": "body", "operator": "eq", "value": "x", "status": "down"}]}), "conditions.0.operator", "Unknown value. Allowed: contains, not_contains.")]
#[case(json!({"conditions": [{"field": "metadata.cname", "operator": "eq", "value": "x", "status": "down"}]}), "conditions.0.field", "This field is not available for this check type.")]
#[case(json!({"conditions": [{"field": "status_code", "operator": "eq", "value": "200", "status": "down"}]}), "conditions.0.value", "This value does not fit the field and operator.")]
#[case(json!({"conditions": [{"field": "status_code", "operator": "eq", "value": 200, "status": "up"}]}), "conditions.0.status", "Unknown value. Allowed: down, degraded.")]
#[case(json!({"conditions": [{"field": "status_code", "operator": "eq", "value": 200, "status": "down", "x": 1}]}), "conditions.0.x", "Unknown field.")]
fn a_wrong_config_is_refused(#[case] config: Value, #[case] key: &str, #[case] text: &str) {
    assert_eq!(post_http(&rarely(&config)).errors(), [(format!("settings.config.{key}"), text.to_owned())]);
}

/// Contract 4.2.1: the type bounds the interval; 3.1: so does the plan.
#[rstest]
#[case("business", "ssl", 3_599, Some("The smallest allowed value is 3600."))]
#[case("business", "tcp", 29, Some("The smallest allowed value is 30."))]
#[case("business", "tcp", 30, None)]
fn the_shortest_interval_is_that_of_plan_and_type(
    #[case] plan: &str,
    #[case] check_type: &str,
    #[case] interval_seconds: u32,
    #[case] refusal: Option<&str>,
) {
    let server = Server::shared();
    let body = json!({"name": "x", "check_type": check_type, "target": "localhost:9",
        "settings": {"interval_seconds": interval_seconds}});
    let answer = server.tenant(plan).post("/v1/services", &body);
    match refusal {
        Some(text) => {
            assert_eq!(answer.errors(), [("settings.interval_seconds".to_owned(), text.to_owned())]);
        }
        None => assert_eq!(answer.status, 201, "{}", answer.body),
    }
}

/// The rules of a status (addition): written, stored, changed one by one, also of a heartbeat service.
#[rstest]
#[case("tcp", "any", 1, 0, 1)]
#[case("tcp", "all", 10, 100, 1_440)]
#[case("tcp", 2, 3, 6, 30)]
#[case("heartbeat", 50, 2, 4, 10)]
fn the_rules_of_a_status_are_settings(
    #[case] check_type: &str,
    #[case] confirmation: impl Into<Value>,
    #[case] recovery_checks: u8,
    #[case] flapping_changes: u8,
    #[case] flapping_minutes: u16,
) {
    let client = Server::shared_client();
    let rules = json!({"confirmation": confirmation.into(), "recovery_checks": recovery_checks,
        "flapping_changes": flapping_changes, "flapping_minutes": flapping_minutes});
    let mut body = json!({"name": "x", "check_type": check_type, "target": "127.0.0.1:9", "settings": rules});
    body["settings"]["interval_seconds"] = json!(604_800);
    let id = create(&client, &body);
    let shown = |settings: &Value| {
        rules.as_object().unwrap().keys().map(|key| (key.clone(), settings[key].clone())).collect::<Value>()
    };
    assert_eq!(shown(&settings_of(&client, &id)), rules);
    client.patch(&service(&id), &json!({"settings": {"retries": 1}})).expect(200);
    assert_eq!(shown(&settings_of(&client, &id)), rules);
    client.patch(&service(&id), &json!({"settings": {"confirmation": "majority"}})).expect(200);
    assert_eq!(settings_of(&client, &id)["confirmation"], "majority");
    assert_eq!(settings_of(&client, &id)["recovery_checks"], rules["recovery_checks"]);
    assert_eq!(client.get(&service(&id)).expect(200).data()["is_flapping"], false);
}

#[test]
fn invalid_rules_are_refused_together() {
    let settings = json!({"interval_seconds": 604_800, "confirmation": "most", "recovery_checks": 11,
        "flapping_changes": -1, "flapping_minutes": 1_441});
    let found = post_http(&settings).expect(422).errors();
    let keys: Vec<&str> = found.iter().map(|(key, _)| key.as_str()).collect();
    let expected = ["confirmation", "recovery_checks", "flapping_changes", "flapping_minutes"]
        .map(|key| format!("settings.{key}"));
    assert_eq!(keys, expected);
    assert_eq!(found[0].1, "Unknown value. Allowed: any, majority, all, 1 to 50.");
}

/// Contract 7 no. 45: characters are counted as the bytes that they take.
#[test]
fn settings_are_limited_to_a_quarter_of_a_mebibyte() {
    let config = |length: usize| json!({"method": "POST", "body": "🚀".repeat(length)});
    let answer = post_http(&rarely(&config(65_536)));
    let text = "The stored settings may take at most 262144 bytes.".to_owned();
    assert_eq!(answer.expect(422).errors(), [("settings.config".to_owned(), text)]);
    let made = post_http(&rarely(&config(65_000))).expect(201).data();
    assert_eq!(made["settings"]["config"]["body"], config(65_000)["body"]);
}
