//! `Prefer: handling=strict` (contract 7, no. 48): every operation refuses what it does not know.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::notification_channels::SECRET;
use crate::oncall::daily;
use crate::support::UNKNOWN_ID;
use crate::support::authenticator::Authenticator;
use crate::support::client::{Answer, Client};
use crate::support::console::ConsoleUser;
use crate::support::pages::fresh;
use crate::support::server::Server;
use crate::support::service;

const STRICT: &str = "Prefer: handling=strict";
const JSON: &str = "Content-Type: application/json";

fn strictly(client: &Client, method: &str, path: &str, body: &Value) -> Answer {
    client.send(method, path, &[STRICT, JSON], body.to_string().as_bytes())
}

fn made(client: &Client, path: &str, body: &Value) -> String {
    client.post(path, body).expect(201).data()["id"].as_str().unwrap().to_owned()
}

/// One of each resource of an organisation: its path by the pattern of the path.
fn one_of_each(client: &Client) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut make = |pattern: &str, path: &str, body: Value| {
        let id = made(client, path, &body);
        all.insert(format!("{pattern}/{{}}"), format!("{path}/{id}"));
        id
    };
    let heartbeat = json!({"name": "Job", "check_type": "heartbeat"});
    let id = make("/v1/services", "/v1/services", heartbeat);
    let pause = json!({"status": "degraded", "reason": "Slow"});
    client.post(&format!("/v1/services/{id}/status-override"), &pause).expect(200);
    let tag = make("/v1/tags", "/v1/tags", json!({"key": "shop"}));
    let hook = json!({"name": "Hook", "kind": "webhook", "settings": {"url": "http://127.0.0.1:9/", "secret": SECRET}});
    let channel = make("/v1/notification-channels", "/v1/notification-channels", hook);
    let anna = json!({"name": "Anna", "email": "anna@example.org"});
    let contact = make("/v1/contacts", "/v1/contacts", anna);
    client.post(&format!("/v1/contacts/{contact}/calendar"), &json!({})).expect(201);
    let ben = made(client, "/v1/contacts", &json!({"name": "Ben", "email": "ben@example.org"}));
    let schedule = json!({"name": "Duty", "layers": [daily(&[&json!(contact), &json!(ben)])]});
    let schedule = make("/v1/oncall/schedules", "/v1/oncall/schedules", schedule);
    let times = json!({"schedule_id": schedule, "contact_id": contact,
        "starts_at": "2196-01-01T10:00:00Z", "ends_at": "2196-01-01T11:00:00Z"});
    for name in ["overrides", "absences", "cover-requests"] {
        make(&format!("/v1/oncall/{name}"), &format!("/v1/oncall/{name}"), times.clone());
    }
    let steps = json!([{"after_seconds": 60, "channel_ids": [channel]}]);
    let policy = json!({"name": "Gold", "steps": steps});
    make("/v1/escalation-policies", "/v1/escalation-policies", policy);
    let rules = json!({"name": "Shop", "tag_id": tag});
    make("/v1/incident-policies", "/v1/incident-policies", rules);
    let target = json!({"name": "Gold", "service_id": id, "objective": 99.9, "period": "month",
        "time_zone": "UTC"});
    make("/v1/sla-targets", "/v1/sla-targets", target);
    make("/v1/access-scopes", "/v1/access-scopes", json!({"name": "Team", "tags": ["shop"]}));
    let page = make("/v1/statuspages", "/v1/statuspages", json!({"name": "Status"}));
    let page = format!("/v1/statuspages/{page}");
    let group = json!({"name": "Group", "is_group": true});
    make("/v1/statuspages/{}/components", &format!("{page}/components"), group);
    let domain =
        json!({"hostname": format!("{}.example.org", id.to_lowercase().replace('_', "-").trim_matches('-'))});
    make("/v1/statuspages/{}/custom-domains", &format!("{page}/custom-domains"), domain);
    client.patch(&page, &json!({"subscriber_channels": ["webhook"]})).expect(200);
    let reader = json!({"channel": "webhook", "address": "http://127.0.0.1:9/"});
    make("/v1/statuspages/{}/subscribers", &format!("{page}/subscribers"), reader);
    let work = json!({"title": "Work", "scheduled_start": "2196-01-01", "scheduled_end": "2196-01-02",
        "service_ids": [id], "recurrence": {"rrule": "FREQ=YEARLY", "time_zone": "UTC"}});
    let work = make("/v1/maintenances", "/v1/maintenances", work);
    let shown = client.get(&format!("/v1/maintenances/{work}")).expect(200).data();
    let series = shown["recurrence"]["series_id"].as_str().unwrap();
    let incident = json!({"title": "Slow", "message": "We look.", "service_ids": [id]});
    make("/v1/incidents", "/v1/incidents", incident);
    make("/v1/tokens", "/v1/tokens", json!({"name": "Bot", "permissions": ["services.view"]}));
    make("/v1/wall-keys", "/v1/wall-keys", json!({"name": "Office"}));
    let email = format!("{}@example.com", fresh("strict"));
    let user = client.post("/v1/users", &json!({"email": email, "role": "viewer"})).expect(201).data();
    let person = ConsoleUser::by_link(client, user["link"].as_str().unwrap());
    Authenticator::new(client).add(client, &person, "Key").expect(303);
    let user = format!("/v1/users/{}", user["id"].as_str().unwrap());
    let session = client.get(&format!("{user}/sessions")).expect(200).data()[0]["id"].clone();
    all.insert("/v1/users/{}/sessions/{}".into(), format!("{user}/sessions/{}", session.as_str().unwrap()));
    let passkey = client.get(&format!("{user}/passkeys")).expect(200).data()[0]["id"].clone();
    all.insert("/v1/users/{}/passkeys/{}".into(), format!("{user}/passkeys/{}", passkey.as_str().unwrap()));
    all.insert("/v1/users/{}".into(), user);
    all.insert("/v1/maintenance-series/{}".into(), format!("/v1/maintenance-series/{series}"));
    let message = client.get("/v1/notifications").expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    all.insert("/v1/notifications/{}".into(), format!("/v1/notifications/{message}"));
    all
}

/// The path with an id in the place of each name in braces.
fn filled(pattern: &str, belongings: &BTreeMap<String, String>) -> String {
    let shape: Vec<&str> =
        pattern.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment }).collect();
    let shape = shape.join("/");
    let known = belongings.iter().filter(|(pattern, _)| {
        shape.strip_prefix(pattern.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    let longest = known.max_by_key(|(pattern, _)| pattern.len());
    let path = longest.map_or_else(|| shape.clone(), |(pattern, path)| shape.replacen(pattern, path, 1));
    assert!(!path.contains("{}"), "no id for {pattern}");
    path
}

/// Everything that can be read, without what changes by itself.
fn lists(client: &Client, paths: &BTreeMap<String, String>) -> Vec<(String, u16, Value)> {
    let all = paths.values().map(|path| {
        let answer = client.get(path);
        (path.clone(), answer.status, answer.data()["updated_at"].clone())
    });
    let lists = ["services", "incidents", "maintenances", "contacts", "statuspages", "tags", "sla-targets"];
    let totals = lists.map(|name| {
        let answer = client.get(&format!("/v1/{name}"));
        (name.to_owned(), answer.status, answer.json()["meta"]["total"].clone())
    });
    all.chain(totals).collect()
}

/// The routes are those of the server's own description, so a new one cannot be forgotten.
#[test]
fn every_operation_refuses_unknown_fields_without_effect() {
    let server = Server::shared();
    let client = server.member(&server.organisation("business"), "engine.view,engine.backup,all");
    let belongings = one_of_each(&client);
    let before = lists(&client, &belongings);
    let document = client.without_token().get("/openapi.json").expect(200).json();
    let (mut count, mut others) = (0, Vec::new());
    for (pattern, item) in document["paths"].as_object().unwrap() {
        if !pattern.starts_with("/v1/") {
            continue;
        }
        let path = filled(pattern, &belongings);
        for method in item.as_object().unwrap().keys().map(|method| method.to_uppercase()) {
            let target = format!("{path}?unknown_parameter=1");
            let answer = if pattern.contains("/assets/") && method == "POST" {
                let form = "Content-Type: multipart/form-data; boundary=x";
                client.send(&method, &target, &[STRICT, form], b"--x--\r\n")
            } else {
                strictly(&client, &method, &target, &json!({"unknown_member": {"a": 1}}))
            };
            assert_eq!(answer.header("preference-applied"), Some("handling=strict"), "{method} {path}");
            // The maintenance has not started: that error comes before unknown fields (contract 1.8).
            if ["/v1/maintenances/{id}/complete", "/v1/maintenances/{id}/extend"].contains(&&**pattern) {
                answer.expect(409);
                continue;
            }
            if answer.status != 422 {
                let (status, body) = (answer.status, answer.body);
                others.push(format!("{method} {path}: {status} {body}"));
                continue;
            }
            let errors = answer.errors();
            let texts: BTreeMap<_, _> = errors.into_iter().collect();
            assert!(
                texts["unknown_parameter"].starts_with("Unknown parameter. "),
                "{method} {path}: {texts:?}"
            );
            let takes_body = ["POST", "PUT", "PATCH"].contains(&&*method) && !pattern.contains("/assets/");
            let member = texts.get("unknown_member");
            let is_refused = member.is_some_and(|text| text.starts_with("Unknown field. "));
            assert_eq!(is_refused, takes_body, "{method} {path}: {texts:?}");
            count += 1;
        }
    }
    assert_eq!(others, [""; 0]);
    assert!(count > 120, "{count} operations");
    assert_eq!(lists(&client, &belongings), before);
}

#[test]
fn allowed_fields_are_listed_along_with_all_other_errors() {
    let client = Server::shared().tenant("business");
    let body = json!({"nmae": "Shop", "check_type": "heartbeat", "settings": {"interval": 60}});
    let answer = strictly(&client, "POST", "/v1/services?tags=a", &body);
    let errors: BTreeMap<_, _> = answer.errors().into_iter().collect();
    assert_eq!(errors["tags"], "Unknown parameter. Nothing is allowed here.");
    assert!(errors["nmae"].starts_with("Unknown field. Allowed: name, check_type, "), "{errors:?}");
    assert!(errors["settings.interval"].contains("interval_seconds"), "{errors:?}");
    assert_eq!(errors["name"], "This field is required.");
    let answer = strictly(&client, "GET", "/v1/services?tags=a", &json!({}));
    let allowed = "Unknown parameter. Allowed: tag, status, check_type, q, page, per_page.";
    assert_eq!(answer.errors(), [("tags".to_owned(), allowed.to_owned())]);
}

/// The fields of a configuration depend on the check type, which an update does not repeat.
#[test]
fn a_configuration_error_lists_the_fields_of_its_type() {
    let client = Server::shared().tenant("business");
    let body = |check_type: &str, target: &str, config: Value| {
        json!({"name": "Shop", "check_type": check_type, "target": target,
            "settings": {"interval_seconds": 3600, "config": config}})
    };
    let errors_of = |method: &str, path: &str, body: &Value| {
        let answer = strictly(&client, method, path, body);
        answer.errors().into_iter().collect::<BTreeMap<_, _>>()
    };
    let of_tcp = "Unknown field. Allowed: ip_version, smart_dualstack, conditions.";
    let tcp = |config: Value| body("tcp", "127.0.0.1:9", config);
    let errors = errors_of("POST", "/v1/services", &tcp(json!({"method": "GET", "metod": 1})));
    assert_eq!(errors["settings.config.method"], of_tcp, "that of another type");
    assert_eq!(errors["settings.config.metod"], of_tcp);
    let id = made(&client, "/v1/services", &tcp(json!({})));
    let errors =
        errors_of("PATCH", &service(&id), &json!({"settings": {"config": {"dns_type": "A", "metod": 1}}}));
    assert_eq!(errors["settings.config.dns_type"], of_tcp);
    assert_eq!(errors["settings.config.metod"], of_tcp);
    let dns = errors_of("POST", "/v1/services", &body("dns", "example.org", json!({"method": "GET"})));
    assert_eq!(dns["settings.config.method"], "Unknown field. Allowed: dns_type, conditions.");
    let auth = json!({"auth": {"type": "bearer", "token": "t", "password": "p"}});
    let http = errors_of("POST", "/v1/services", &body("http", "http://127.0.0.1:9/", auth.clone()));
    assert_eq!(http["settings.config.auth.password"], "Unknown field. Allowed: type, token.");
    let lenient = client.post("/v1/services", &body("http", "http://127.0.0.1:9/", auth)).expect(422);
    assert_eq!(lenient.errors(), [("settings.config.auth.password".into(), "Unknown field.".into())]);
}

/// Contract 7, no. 4: without the preference what is unknown does no harm; with it what is known passes.
#[test]
fn only_strict_requests_are_handled_strictly() {
    let client = Server::shared().tenant("business");
    let odd = json!({"name": "Job", "check_type": "heartbeat", "nmae": 1});
    let lenient = client.json("POST", "/v1/services?tags=a", &odd).expect(201);
    assert_eq!(lenient.header("preference-applied"), None);
    let known = json!({"name": "Job", "check_type": "heartbeat", "tags": ["a:b"], "settings": {"interval_seconds": 60}});
    let answer = strictly(&client, "POST", "/v1/services", &known).expect(201);
    assert_eq!(answer.header("preference-applied"), Some("handling=strict"));
    strictly(&client, "GET", "/v1/services?tag=a:b&page=1&per_page=5", &json!({})).expect(200);
}

/// Contract 1.4: paging is clamped, never refused. Contract 1.2: the last of repeated keys counts, unless the request is
/// strict.
#[test]
fn strict_requests_refuse_repeated_keys_but_no_paging() {
    let client = Server::shared().tenant("business");
    for path in ["/v1/services?per_page=abc", "/v1/tags?per_page=1000", "/v1/probes?page=-5"] {
        strictly(&client, "GET", path, &json!({})).expect(200);
    }
    let body = br#"{"name": "a", "check_type": "heartbeat", "settings": {"interval_seconds": 60, "interval_seconds": 90}, "name": "b"}"#;
    let repeated = "This key is there more than once. Send it once.";
    let answer = client.send("POST", "/v1/services", &[STRICT, JSON], body);
    let expected = ["settings.interval_seconds", "name"].map(|path| (path.to_owned(), repeated.to_owned()));
    assert_eq!(answer.errors(), expected);
    let made = client.send("POST", "/v1/services", &[JSON], body).expect(201).data();
    assert_eq!((&made["name"], &made["settings"]["interval_seconds"]), (&json!("b"), &json!(90)));
}

/// Contract 1.8: the earlier check decides.
#[test]
fn unknown_fields_are_checked_in_the_documented_order() {
    let server = Server::shared();
    let client = server.tenant("business");
    let body = json!({"unknown": 1});
    strictly(&client, "PATCH", &service(UNKNOWN_ID), &body).expect(404);
    client.send("POST", "/v1/tags", &[STRICT, JSON], b"{").expect(400);
    strictly(&client, "POST", "/v1/nothing", &body).expect(404);
    strictly(&client.without_token(), "POST", "/v1/tags", &body).expect(401);
    let viewer = server.member(&server.organisation("business"), "services.view");
    strictly(&viewer, "POST", "/v1/tags", &body).expect(403);
}

#[test]
fn a_refused_request_frees_its_key() {
    let client = Server::shared().tenant("business");
    let post = |lines: &[&str], body: &Value| {
        let lines: Vec<_> = [&[JSON, "Idempotency-Key: strict-1"], lines].concat();
        client.send("POST", "/v1/tags", &lines, body.to_string().as_bytes())
    };
    let odd = json!({"key": "shop", "colour": "#000000"});
    post(&[STRICT], &odd).expect(422);
    let first = post(&[], &odd).expect(201);
    // A stored response is repeated, whatever the handling of the repetition.
    let again = post(&[STRICT], &odd).expect(201);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.body, first.body);
}
