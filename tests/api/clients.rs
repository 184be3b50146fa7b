//! Two sequences of real clients of this API family, from their first request to their last.
//!
//! A declarative client writes a resource, reads it, sends back what it read and expects that nothing has moved. An SDK
//! sends a key with every `POST`, booleans as `1` and `0`, and arrays in percent-encoded brackets.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::{Answer, Client};
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{KEEP, UNKNOWN_ID};

/// Members that the server changes by itself, or that only a read shows.
fn settled(mut resource: Value) -> Value {
    for name in ["updated_at", "updates", "last_check_at", "components", "components_count", "services_count"]
    {
        resource.as_object_mut().unwrap().remove(name);
    }
    resource
}

/// Create, read, patch with what was read, read again: the same every time, by `PUT` and by `PATCH`.
fn converge(client: &Client, collection: &str, body: &Value) -> (String, Value) {
    let made = client.post(collection, body).expect(201);
    let path = format!("{collection}/{}", made.data()["id"].as_str().unwrap());
    let read = client.get(&path).expect(200).data();
    assert_eq!(settled(made.data()), settled(read.clone()), "what create answered is what is read");
    // Fields that are null because they have not happened yet are not declared by a client (contract 4.10.3).
    let mut declared = read.clone();
    if declared.get("resolved_at").is_some_and(Value::is_null) {
        declared.as_object_mut().unwrap().remove("resolved_at");
    }
    for method in ["PATCH", "PUT", "PATCH"] {
        let answered = client.json(method, &path, &declared).expect(200).data();
        assert_eq!(settled(answered), settled(read.clone()), "{method} of what was read changes nothing");
        let again = client.get(&path).expect(200).data();
        assert_eq!(settled(again), settled(read.clone()), "and nothing has moved afterwards");
    }
    (path, read)
}

/// The plan of a declarative client: every field that it sent is read back exactly as it sent it.
fn assert_echo(read: &Value, sent: &Value) {
    for (name, value) in sent.as_object().unwrap() {
        assert_eq!(&read[name], value, "{name}");
    }
}

fn tenant() -> (std::sync::Arc<Server>, Client) {
    let server = Server::shared();
    let client = server.tenant("business");
    (server, client)
}

#[test]
fn a_declared_tag_does_not_drift() {
    let (_server, client) = tenant();
    let sent = json!({"key": "env", "value": "Prod", "color": "#AbCdEf"});
    let (path, read) = converge(&client, "/v1/tags", &sent);
    assert_echo(&read, &sent);
    let bare = client.patch(&path, &json!({"value": null, "color": null})).expect(200).data();
    assert_eq!((&bare["value"], &bare["label"]), (&Value::Null, &json!("env")));
}

#[test]
fn a_declared_service_does_not_drift() {
    let (_server, client) = tenant();
    let config = json!({
        "method": "POST", "headers": {"X-Api-Key": "one", "accept": "text/plain"},
        "auth": {"type": "basic", "username": "ada", "password": "two"}, "body": "x=1", "follow_redirects": false,
        "verify_ssl": false, "ip_version": "ipv4", "smart_dualstack": false,
        "conditions": [{"field": "status_code", "operator": "gte", "value": 400, "status": "down"},
                       {"field": "json.a.0", "operator": "eq", "value": 4.5, "status": "degraded"}],
    });
    let settings = json!({
        "interval_seconds": 3600, "timeout_seconds": 7, "retries": 0, "assigned_probes": ["local"],
        "probe_roles": {"local": "full"}, "config": config,
    });
    let sent = json!({
        "name": "Shop", "check_type": "http", "target": "http://127.0.0.1:9/x", "tags": ["env:prod", "team=Web"],
        "settings": settings,
    });
    let made = client.post("/v1/services", &sent).expect(201).data();
    let path = format!("/v1/services/{}", made["id"].as_str().unwrap());
    let read = client.get(&path).expect(200).data();
    let shown = &read["settings"]["config"];
    assert_eq!(shown["headers"], json!({"X-Api-Key": KEEP, "accept": KEEP}));
    assert_eq!(shown["auth"], json!({"type": "basic", "username": "ada", "password": KEEP}));
    for same in ["method", "body", "follow_redirects", "verify_ssl", "ip_version", "conditions"] {
        assert_eq!(shown[same], config[same], "{same}");
    }
    let labels: Vec<&Value> = read["tags"].as_array().unwrap().iter().map(|tag| &tag["label"]).collect();
    assert_eq!(labels, ["env:prod", "team:Web"]);
    // Tags are written by name or id, so the client turns what it read into ids.
    let ids: Vec<&Value> = read["tags"].as_array().unwrap().iter().map(|tag| &tag["id"]).collect();
    let mut back = read.clone();
    back["tags"] = json!(ids);
    for _ in 0..2 {
        let answered = client.json("PUT", &path, &back).expect(200).data();
        assert_eq!(answered["settings"], read["settings"]);
        assert_eq!(answered["tags"], read["tags"]);
        assert_eq!(client.get(&path).expect(200).data()["updated_at"], read["updated_at"]);
    }
    let none = json!({"tags": null, "settings": null});
    assert_eq!(client.patch(&path, &none).expect(200).data()["settings"], read["settings"]);
}

#[test]
fn a_declared_incident_does_not_drift() {
    let (_server, client) = tenant();
    let manual = json!({"name": "Desk", "check_type": "manual"});
    let service = client.post("/v1/services", &manual).expect(201).data()["id"].clone();
    let sent = json!({
        "title": "Checkout is slow", "message": "We look.", "severity": "major", "is_published": true,
        "started_at": "2026-11-20T16:02:00+01:00", "service_ids": [service], "statuspage_ids": [null],
        "kind": "standard", "notify_subscribers": false, "sla_counts_as_downtime": true,
    });
    let (path, read) = converge(&client, "/v1/incidents", &sent);
    assert_eq!(read["started_at"], "2026-11-20T15:02:00.000Z");
    let same_instant = json!({"started_at": "2026-11-20T10:02:00.000-05:00", "service_ids": [service]});
    let answered = client.patch(&path, &same_instant).expect(200).data();
    assert_eq!((&answered["started_at"], &answered["services"]), (&read["started_at"], &read["services"]));
}

/// A declarative client sends the whole window again at every change, in its own offset, also when it is over.
#[test]
fn a_declared_maintenance_does_not_drift() {
    let (_server, client) = tenant();
    let sent = json!({
        "title": "Database upgrade", "type": "planned", "scheduled_start": "2196-11-22T23:00:00+01:00",
        "scheduled_end": "2196-11-23T01:00:00+01:00", "auto_start": true, "auto_complete": false,
        "service_ids": [], "statuspage_ids": [], "notify_24h": false, "notify_1h": true,
        "notify_start": true, "notify_complete": false, "notify_announcement": false,
    });
    let (path, read) = converge(&client, "/v1/maintenances", &sent);
    assert_eq!(read["scheduled_start"], "2196-11-22T22:00:00.000Z");
    let window = json!({
        "scheduled_start": "2196-11-22T17:00:00-05:00", "scheduled_end": "2196-11-23T00:00:00Z", "title": "Upgrade",
    });
    client.post(&format!("{path}/start"), &Value::Null).expect(200);
    client.patch(&path, &window).expect(200);
    client.post(&format!("{path}/complete"), &json!({})).expect(200);
    let completed = client.patch(&path, &window).expect(200).data();
    assert_eq!((&completed["status"], &completed["title"]), (&json!("completed"), &json!("Upgrade")));
}

#[test]
fn a_declared_status_page_does_not_drift() {
    let (_server, client) = tenant();
    let sent = json!({
        "name": "Example status", "primary_color": "#AABBcc", "secondary_color": null, "imprint_url": "",
        "privacy_policy_url": "mailto:privacy@example.com", "logo_size": "large", "show_logo": false,
        "email_whitelist": null, "subscriber_channels": ["webhook", "email"], "supported_locales": null,
        "default_locale": null, "custom_css": null,
        "seo": {"title": {"en": "Status"}, "description": {}, "image_subtitle": {}, "image_appearance": "dark",
                "indexable": false, "live_status": true, "event_images": true},
    });
    let (path, read) = converge(&client, "/v1/statuspages", &sent);
    assert_eq!(read["imprint_url"], Value::Null);
    for same in ["primary_color", "privacy_policy_url", "subscriber_channels", "seo", "logo_size"] {
        assert_eq!(read[same], sent[same], "{same}");
    }
    let collection = format!("{path}/components");
    let group = json!({"name": "Shops", "is_group": true, "parent_id": null, "service_id": null, "sync_tag_id": null});
    let (group_path, group) = converge(&client, &collection, &group);
    let inside = json!({
        "name": "Shop", "description": null, "parent_id": group["id"], "service_id": null, "sync_tag_id": null,
        "display_order": 7, "is_visible": true, "show_uptime_bars": false,
    });
    let (_, inside) = converge(&client, &collection, &inside);
    assert_eq!(inside["parent_id"], group["id"]);
    client.delete(&group_path).expect(200);
    assert_eq!(client.get(&collection).expect(200).data(), json!([]));
    upload(&client, &path);
}

/// A file that is uploaded again has the same address; taken away, none.
fn upload(client: &Client, page: &str) {
    let svg =
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>"#;
    let send = || {
        let body = format!(
            "--xx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\n{svg}\r\n--xx--\r\n"
        );
        let lines = ["Content-Type: multipart/form-data; boundary=xx", "Idempotency-Key: not a key"];
        client.send("POST", &format!("{page}/assets/logo"), &lines, body.as_bytes()).expect(200).data()
    };
    let (first, second) = (send(), send());
    assert!(first["logo_url"].is_string(), "{first}");
    assert_eq!(first["logo_url"], second["logo_url"]);
    assert_eq!(first.get("components"), None);
    let without = client.delete(&format!("{page}/assets/logo")).expect(200).data();
    assert_eq!(without["logo_url"], Value::Null);
}

/// A client library: every `POST` with a key of its own, sent twice, as after a broken connection.
struct Sdk {
    client: Client,
    keys: std::cell::Cell<u32>,
}

impl Sdk {
    fn post(&self, path: &str, body: &Value) -> Answer {
        self.keys.set(self.keys.get() + 1);
        let key = format!("Idempotency-Key: sdk-{}", self.keys.get());
        let lines = ["Content-Type: application/json", "Accept: application/json", &key];
        let send = || self.client.send("POST", path, &lines, body.to_string().as_bytes());
        let first = send();
        if first.status < 300 {
            let again = send();
            assert_eq!((again.status, &again.body), (first.status, &first.body), "{path}");
            assert_eq!(again.header("idempotent-replayed"), Some("true"));
        }
        first
    }

    fn ids(&self, path: &str) -> Vec<Value> {
        let rows = self.client.get(path).expect(200).data();
        rows.as_array().unwrap().iter().map(|row| row["id"].clone()).collect()
    }
}

#[test]
fn an_sdk_uses_the_whole_api() {
    let (_server, client) = tenant();
    let sdk = Sdk { client: client.clone(), keys: std::cell::Cell::new(0) };
    // It is up, or there would be an incident after some seconds.
    let target = Target::start();
    let body = json!({
        "name": "Shop", "check_type": "http", "target": target.url(), "tags": ["env:prod"],
        "settings": {"interval_seconds": 3600, "config": {"headers": {"X-Key": "secret"}}},
    });
    let shop = sdk.post("/v1/services", &body).expect(201).data()["id"].clone();
    let manual = json!({"name": "Desk", "check_type": "manual"});
    let manual = sdk.post("/v1/services", &manual).expect(201).data()["id"].clone();
    let (shop_id, desk_id) = (shop.as_str().unwrap(), manual.as_str().unwrap());

    // The whole settings are read and written back, with the placeholder in them.
    let path = format!("/v1/services/{shop_id}");
    let settings = client.get(&path).expect(200).data()["settings"].clone();
    assert_eq!(settings["config"]["headers"]["X-Key"], KEEP);
    let answered = client.json("PUT", &path, &json!({"settings": settings})).expect(200).data();
    assert_eq!(answered["settings"], settings);

    let ensured = sdk.post("/v1/tags/ensure", &json!({"key": "ENV", "value": "prod"})).expect(200).data();
    assert_eq!(sdk.ids("/v1/tags?label=env%3Aprod"), [ensured["id"].clone()]);
    assert_eq!(sdk.ids("/v1/services?tag=env%3Dprod"), std::slice::from_ref(&shop));

    let incident =
        json!({"title": "Slow", "message": "We look.", "is_published": true, "service_ids": [shop]});
    let incident = sdk.post("/v1/incidents", &incident).expect(201).data()["id"].clone();
    let other = json!({"title": "Internal", "message": "We look.", "service_ids": [manual]});
    let other = sdk.post("/v1/incidents", &other).expect(201).data()["id"].clone();
    let both =
        format!("service_ids%5B%5D={shop_id}&service_ids%5B%5D={desk_id}&service_ids%5B%5D={UNKNOWN_ID}");
    assert_eq!(sdk.ids(&format!("/v1/incidents?{both}")).len(), 2);
    assert_eq!(sdk.ids(&format!("/v1/incidents?{both}&is_published=1")), std::slice::from_ref(&incident));
    assert_eq!(sdk.ids(&format!("/v1/incidents?{both}&is_published=0&resolved=0")), [other]);
    let resolve = format!("/v1/incidents/{}/resolve", incident.as_str().unwrap());
    sdk.post(&resolve, &json!({"message": "Done."})).expect(200);
    sdk.post(&resolve, &json!({"message": "Done."})).expect(409);
    assert_eq!(sdk.ids("/v1/incidents?resolved=1"), [incident]);

    let window = json!({"title": "Work", "scheduled_start": "2196-01-01", "service_ids": [manual]});
    let window = sdk.post("/v1/maintenances", &window).expect(201).data()["id"].clone();
    let window_path = format!("/v1/maintenances/{}", window.as_str().unwrap());
    sdk.post(&format!("{window_path}/start"), &json!({})).expect(200);
    assert_eq!(sdk.ids("/v1/maintenances?status%5B%5D=scheduled&status%5B%5D=in_progress"), [window]);
    sdk.post(&format!("{window_path}/complete"), &json!({})).expect(200);

    let page = sdk.post("/v1/statuspages", &json!({"name": "Example"})).expect(201).data();
    let page_path = format!("/v1/statuspages/{}", page["id"].as_str().unwrap());
    sdk.post(&format!("{page_path}/unpublish"), &json!({})).expect(200);
    sdk.post(&format!("{page_path}/publish"), &json!({})).expect(200);
    let component = json!({"name": "Shop", "service_id": shop, "parent_id": null});
    sdk.post(&format!("{page_path}/components"), &component).expect(201);
    assert_eq!(
        sdk.ids(&format!("/v1/statuspages?slug={}", page["slug"].as_str().unwrap())),
        [page["id"].clone()]
    );

    let flags = "delete_orphaned_incidents=1&delete_orphaned_maintenances=0";
    let deleted = client.delete(&format!("{path}?{flags}")).expect(200).data();
    assert_eq!(deleted["cleanup"]["incidents_deleted"], 1);
    for path in [window_path, page_path, format!("/v1/services/{desk_id}")] {
        client.delete(&path).expect(200);
    }
}

/// Both send parameters that this server does not know; links carry them on.
#[rstest]
#[case("/v1/services")]
#[case("/v1/tags")]
#[case("/v1/incidents")]
#[case("/v1/maintenances")]
#[case("/v1/statuspages")]
fn unknown_parameters_are_kept_in_links(#[case] path: &str) {
    let (_server, client) = tenant();
    let list = client.get(&format!("{path}?sort=-name&include%5B%5D=a&page=1")).expect(200).json();
    let first = list["links"]["first"].as_str().unwrap();
    assert!(first.ends_with(&format!("{path}?sort=-name&include%5B%5D=a&page=1")), "{first}");
}
