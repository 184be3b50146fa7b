//! `/v1/services` (contract 4.3.1-4.3.3, 4.3.9): create, read, list, change, delete.
//!
//! The content of `settings` is tested in `settings` and `secrets`.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, create, create_unconfigured, service};

/// Contract 4.3.1: the keys of a service, in this order.
const KEYS: &str = "id name check_type check_type_label target status effective_status is_flapping status_override \
    status_override_reason status_override_at status_override_by is_paused paused_reason paused_at is_configured \
    configured_at uptime_30d avg_response_ms last_check_at favicon_url tags settings heartbeat created_at updated_at \
    depends_on unreachable";

/// Contract 4.3.2: 201, `Location`, the whole object; without settings it is not checked.
#[test]
fn a_created_service_is_returned_completely_and_can_be_read() {
    let server = Server::shared();
    let client = server.client();
    let body = json!({"name": "  Shop front ", "check_type": "http", "target": "http://127.0.0.1:9/x"});
    let created = client.post("/v1/services", &body).expect(201);
    let made = created.data();
    let keys: Vec<&String> = made.as_object().unwrap().keys().collect();
    assert_eq!(keys, KEYS.split_whitespace().collect::<Vec<_>>());
    let id = made["id"].as_str().unwrap();
    assert_eq!(created.header("location"), Some(&*format!("{}/v1/services/{id}", server.base())));
    for (key, value) in [
        ("name", json!("Shop front")),
        ("check_type_label", json!("HTTP")),
        ("target", json!("http://127.0.0.1:9/x")),
        ("status", json!("unknown")),
        ("effective_status", json!("unknown")),
        ("is_configured", json!(false)),
        ("configured_at", Value::Null),
        ("settings", Value::Null),
        ("heartbeat", Value::Null),
        ("tags", json!([])),
        ("is_paused", json!(false)),
    ] {
        assert_eq!(made[key], value, "{key}");
    }
    assert_eq!(made["created_at"], made["updated_at"]);
    assert_eq!(client.get(&service(id)).expect(200).body, created.body);
}

/// Contract 4.2.1: targets that each type takes, echoed as written.
#[rstest]
#[case("http", json!("HTTPS://Example.com:8443/a?b=c#d"))]
#[case("tcp", json!("[2001:db8::1]:443"))]
#[case("tcp", json!("db.example.com:5432"))]
#[case("dns", json!("_dmarc.Example.com."))]
#[case("icmp", json!("2001:db8::1"))]
#[case("icmp", json!("192.0.2.1"))]
#[case("ssl", json!("example.com"))]
#[case("ssl", json!("example.com:8443"))]
#[case("manual", json!(null))]
#[case("manual", json!("the till in the shop"))]
fn targets_are_accepted_by_their_type(#[case] check_type: &str, #[case] target: Value) {
    let client = Server::shared_client();
    let id = create(&client, &json!({"name": "x", "check_type": check_type, "target": target}));
    let read = client.get(&service(&id)).expect(200).data();
    assert_eq!((&read["target"], &read["check_type"]), (&target, &json!(check_type)));
}

/// Contract 4.3.7, row 4; 4.3.1 `is_configured`.
#[test]
fn a_manual_service_is_configured_and_operational() {
    let client = Server::shared_client();
    let id = create(&client, &json!({"name": "Till", "check_type": "manual"}));
    let read = client.get(&service(&id)).expect(200).data();
    assert_eq!(
        (&read["status"], &read["effective_status"], &read["is_configured"], &read["settings"]),
        (&json!("unknown"), &json!("operational"), &json!(true), &Value::Null)
    );
    assert_eq!(read["configured_at"], read["created_at"]);
}

/// Contract 4.3.2 and 5.3: which field is refused, and with which text.
#[rstest]
#[case(json!({}), &[("name", "This field is required."), ("check_type", "This field is required.")])]
#[case(
    json!({"name": "x", "settings": 5, "tags": [""], "target": 5}),
    &[
        ("check_type", "This field is required."),
        ("target", "This value must be a string."),
        ("tags.0", "Use at least 1 characters."),
        ("settings", "This value must be an object."),
    ]
)]
#[case(json!({"name": null, "check_type": "manual"}), &[("name", "This field must not be null.")])]
#[case(json!({"name": " ", "check_type": "manual"}), &[("name", "Use at least 1 characters.")])]
#[case(json!({"name": 7, "check_type": "manual"}), &[("name", "This value must be a string.")])]
#[case(json!({"name": "x".repeat(256), "check_type": "manual"}), &[("name", "Use at most 255 characters.")])]
#[case(json!({"name": "x", "check_type": "http"}), &[("target", "This field is required.")])]
#[case(json!({"name": "x", "check_type": "http", "target": " "}), &[("target", "This field is required.")])]
#[case(json!({"name": "x", "check_type": "http", "target": "ftp://x"}), &[("target", "Enter an absolute http or https URL.")])]
#[case(json!({"name": "x", "check_type": "http", "target": "http://u:p@x/"}), &[("target", "Enter an absolute http or https URL.")])]
#[case(json!({"name": "x", "check_type": "tcp", "target": "x"}), &[("target", "Enter host:port.")])]
#[case(json!({"name": "x", "check_type": "tcp", "target": "x:0"}), &[("target", "Enter host:port.")])]
#[case(json!({"name": "x", "check_type": "dns", "target": "http://x"}), &[("target", "Enter a host name.")])]
#[case(json!({"name": "x", "check_type": "icmp", "target": "[::1]"}), &[("target", "Enter a host name or an IP address.")])]
#[case(json!({"name": "x", "check_type": "ssl", "target": "x:y"}), &[("target", "Enter a host name.")])]
#[case(json!({"name": "x", "check_type": "manual", "tags": "env"}), &[("tags", "This value must be a list.")])]
#[case(json!({"name": "x", "check_type": "manual", "settings": {"interval_seconds": 60}}), &[("settings", "Manual services have no settings.")])]
#[case(json!({"name": "", "check_type": "tcp", "target": 1, "settings": [1]}), &[("name", "Use at least 1 characters."), ("target", "This value must be a string."), ("settings", "This value must be an object.")])]
#[case(json!({"settings": 1, "tags": 1, "target": 1, "check_type": 1, "name": 1}), &[("name", "This value must be a string."), ("check_type", "This value must be a string."), ("target", "This value must be a string."), ("tags", "This value must be a list."), ("settings", "This value must be an object.")])]
fn a_wrong_field_is_refused(#[case] body: Value, #[case] expected: &[(&str, &str)]) {
    let answer = Server::shared_client().post("/v1/services", &body);
    let expected: Vec<_> =
        expected.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect();
    assert_eq!(answer.errors(), expected);
    let more = match expected.len() - 1 {
        0 => String::new(),
        1 => " (and 1 more error)".into(),
        more => format!(" (and {more} more errors)"),
    };
    assert_eq!(answer.message(), format!("{}{more}", expected[0].1));
}

/// Contract 4.3.2: types are case-sensitive words of the catalogue.
#[test]
fn an_unknown_type_is_refused_with_those_that_exist() {
    let refused = Server::shared_client().post("/v1/services", &json!({"name": "x", "check_type": "HTTP"}));
    let errors = refused.errors();
    assert_eq!((errors.len(), errors[0].0.as_str()), (1, "check_type"));
    assert!(errors[0].1.starts_with("Unknown value. Allowed: http, tcp, dns, icmp, ssl, manual"));
}

/// Contract 1.1: PUT and PATCH are the same partial update; 1.2: what is ignored.
#[rstest]
fn an_update_changes_only_the_sent_fields(#[values("PUT", "PATCH")] method: &str) {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let before = client.get(&service(&id)).expect(200).data();
    let body = json!({"name": "New", "status": "down", "id": "x", "created_at": 1, "nonsense": [], "check_type": "http",
        "tags": null, "settings": null});
    let after = client.json(method, &service(&id), &body).expect(200).data();
    let mut expected = before.clone();
    expected["name"] = "New".into();
    expected["updated_at"] = after["updated_at"].clone();
    assert_eq!(after, expected);
    assert!(after["updated_at"].as_str() >= before["updated_at"].as_str());
    assert_eq!(client.get(&service(&id)).expect(200).data(), after);
}

/// Contract 1.1: `{}` changes nothing, not even `updated_at`.
#[test]
fn an_empty_update_changes_nothing() {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let before = client.get(&service(&id)).expect(200).body;
    assert_eq!(client.patch(&service(&id), &json!({})).expect(200).body, before);
}

/// Contract 1.2, 4.3.2: what an update refuses; nothing of it is stored.
#[rstest]
#[case(json!({"check_type": "tcp"}), "check_type", "This field cannot be changed after creation.")]
#[case(json!({"name": null}), "name", "This field must not be null.")]
#[case(json!({"target": null}), "target", "This field is required.")]
#[case(json!({"target": ""}), "target", "This field is required.")]
#[case(json!({"target": "x"}), "target", "Enter an absolute http or https URL.")]
#[case(json!({"settings": {}}), "settings.interval_seconds", "This field is required.")]
fn an_invalid_update_stores_nothing(#[case] wrong: Value, #[case] key: &str, #[case] text: &str) {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let before = client.get(&service(&id)).expect(200).body;
    let mut body = json!({"name": "Never stored"});
    body.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
    assert_eq!(client.patch(&service(&id), &body).errors(), [(key.to_owned(), text.to_owned())]);
    assert_eq!(client.get(&service(&id)).expect(200).body, before);
}

/// Contract 1.3, 4.3.9: 200 with `cleanup`; a second delete finds nothing.
#[test]
fn a_deleted_service_is_gone() {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let deleted = client.delete(&format!("{}?delete_orphaned_incidents=1", service(&id))).expect(200);
    let cleanup = json!({"incidents_resolved": 0, "incidents_deleted": 0, "incidents_detached": 0,
        "maintenances_cancelled": 0, "maintenances_deleted": 0, "maintenances_detached": 0});
    assert_eq!(deleted.json(), json!({"data": {"id": id, "deleted": true, "cleanup": cleanup}}));
    client.delete(&service(&id)).expect(404);
    for path in ["", "/checks", "/metrics", "/uptime", "/response-times"] {
        client.get(&format!("{}{path}", service(&id))).expect(404);
    }
}

/// Contract 1.7: the flags are booleans; the service stays.
#[rstest]
#[case("delete_orphaned_incidents=yes", "delete_orphaned_incidents", "Use true or false.")]
#[case("delete_orphaned_maintenances[]=1", "delete_orphaned_maintenances", "Send a single value.")]
fn a_delete_with_a_wrong_flag_deletes_nothing(#[case] query: &str, #[case] key: &str, #[case] text: &str) {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let answer = client.delete(&format!("{}?{query}", service(&id)));
    assert_eq!(answer.errors(), [(key.to_owned(), text.to_owned())]);
    client.get(&service(&id)).expect(200);
}

/// Contract 1.1, 1.5: an id of another form is not found, like an unknown one.
#[rstest]
#[case("GET", "")]
#[case("PATCH", "")]
#[case("DELETE", "")]
#[case("POST", "/pause")]
#[case("POST", "/resume")]
#[case("POST", "/status-override")]
#[case("DELETE", "/status-override")]
#[case("GET", "/metrics")]
#[case("GET", "/checks")]
fn an_unknown_service_is_not_found(
    #[case] method: &str,
    #[case] rest: &str,
    #[values(UNKNOWN_ID, "short", "..%2Fme")] id: &str,
) {
    let client = Server::shared_client();
    let answer = client.send(method, &format!("/v1/services/{id}{rest}"), &[], b"").expect(404);
    assert_eq!(answer.message(), "The requested resource does not exist.");
}

/// A tenant with services named 0 to `count` - 1.
fn tenant_with(server: &Server, count: usize) -> Client {
    let client = server.tenant("business");
    for number in 0..count {
        create(&client, &json!({"name": number.to_string(), "check_type": "manual"}));
    }
    client
}

/// Contract 1.4: links byte for byte: unknown, repeated and bracket parameters in their order, `page` last.
#[test]
fn links_keep_the_query_and_change_only_the_page() {
    let server = Server::shared();
    let client = tenant_with(&server, 5);
    let path = format!("{}/v1/services", server.base());
    let query = "x=a%20b&page=9&x=a+b&y[]=%C3%A4&per_page=2&z&page=2";
    let list = client.get(&format!("/v1/services/?{query}")).expect(200).json();
    let kept = "x=a%20b&x=a%20b&y%5B%5D=%C3%A4&per_page=2&z=";
    let link = |page: u8| format!("{path}?{kept}&page={page}");
    assert_eq!(list["links"], json!({"first": link(1), "last": link(3), "prev": link(1), "next": link(3)}));
    let meta = json!({"current_page": 2, "per_page": 2, "total": 5, "last_page": 3, "from": 3, "to": 4, "path": path});
    assert_eq!(list["meta"], meta);
    let names: Vec<&Value> = list["data"].as_array().unwrap().iter().map(|row| &row["name"]).collect();
    assert_eq!(names, ["2", "3"]);
}

/// Contract 1.4: what pages and page sizes mean. `total` 5.
#[rstest]
#[case("", (1, 15, 5), 1)]
#[case("?page=0&per_page=2", (1, 2, 2), 3)]
#[case("?page=-1&per_page=2", (1, 2, 2), 3)]
#[case("?page=x&per_page=x", (1, 15, 5), 1)]
#[case("?page=&per_page=", (1, 15, 5), 1)]
#[case("?page=3&per_page=2", (3, 2, 1), 3)]
#[case("?page=99&per_page=2", (99, 2, 0), 3)]
#[case("?per_page=0", (1, 1, 1), 5)]
#[case("?per_page=-7", (1, 1, 1), 5)]
#[case("?per_page=101", (1, 100, 5), 1)]
#[case("?page=99999999999999999999999&per_page=99999999999999999999999", (1, 100, 0), 1)]
fn pages_are_cut_and_never_refused(
    #[case] query: &str,
    #[case] (page, per_page, rows): (u64, u64, usize),
    #[case] last_page: u64,
) {
    let server = Server::shared();
    let client = tenant_with(&server, 5);
    let list = client.get(&format!("/v1/services{query}")).expect(200).json();
    assert_eq!(list["data"].as_array().unwrap().len(), rows);
    let meta = &list["meta"];
    if query.len() < 40 {
        assert_eq!(meta["current_page"], page);
    }
    assert_eq!((&meta["per_page"], &meta["last_page"]), (&json!(per_page), &json!(last_page)));
    assert_eq!(meta["from"].is_null(), rows == 0);
    assert_eq!(list["links"]["next"].is_null(), page >= last_page || rows == 0);
}

/// Contract 1.4: an empty list still has one page.
#[test]
fn a_list_without_services_has_one_empty_page() {
    let server = Server::shared();
    let list = server.tenant("team").get("/v1/services").expect(200).json();
    let path = format!("{}/v1/services", server.base());
    let link = format!("{path}?page=1");
    let expected = json!({"data": [], "links": {"first": link, "last": link, "prev": null, "next": null},
        "meta": {"current_page": 1, "per_page": 15, "total": 0, "last_page": 1, "from": null, "to": null, "path": path}});
    assert_eq!(list.to_string(), expected.to_string());
}

/// Contract 4.3.3: a label that no service carries selects nothing; two values are one too many.
#[test]
fn an_unknown_tag_selects_nothing() {
    let client = Server::shared_client();
    create_unconfigured(&client);
    for query in ["tag=env:prod", "tag=", "tag=%3A%3A", "tag=env"] {
        assert_eq!(client.get(&format!("/v1/services?{query}")).expect(200).data(), json!([]), "{query}");
    }
    let refused = client.get("/v1/services?tag[]=a").errors();
    assert_eq!(refused, [("tag".to_owned(), "Send a single value.".to_owned())]);
}

/// Contract 4.3.5, last row: updates at the same time are serialised per service; none is lost.
#[test]
fn updates_at_the_same_time_all_take_effect() {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    client.patch(&service(&id), &json!({"settings": {"interval_seconds": 604_800}})).expect(200);
    let changes = [
        ("/name", json!({"name": "new"})),
        ("/target", json!({"target": "http://127.0.0.1:9/new"})),
        ("/settings/timeout_seconds", json!({"settings": {"timeout_seconds": 7}})),
        ("/settings/retries", json!({"settings": {"retries": 4}})),
        ("/settings/config/body", json!({"settings": {"config": {"body": "new"}}})),
        ("/settings/config/method", json!({"settings": {"config": {"method": "POST"}}})),
        ("/settings/config/verify_ssl", json!({"settings": {"config": {"verify_ssl": false}}})),
    ];
    let (client, path) = (&client, &service(&id));
    std::thread::scope(|scope| {
        for (_, change) in &changes {
            scope.spawn(move || client.patch(path, change).expect(200));
        }
    });
    let after = client.get(path).expect(200).data();
    for (place, change) in &changes {
        let leaf = place.rsplit('/').next().unwrap();
        let sent = [format!("/{leaf}"), format!("/settings/{leaf}"), format!("/settings/config/{leaf}")];
        let sent = sent.iter().find_map(|place| change.pointer(place));
        assert_eq!(after.pointer(place), sent, "{place}");
    }
}

/// A 2xx answer is durable: what was answered is there after a kill.
#[test]
fn acknowledged_writes_survive_a_kill() {
    let mut server = Server::start();
    let kept = create_unconfigured(&server.client());
    let deleted = create_unconfigured(&server.client());
    let changed = server.client().patch(&service(&kept), &json!({"name": "Kept"})).expect(200);
    server.client().delete(&service(&deleted)).expect(200);
    server.kill_and_restart();
    assert_eq!(server.client().get(&service(&kept)).expect(200).body, changed.body);
    server.client().get(&service(&deleted)).expect(404);
}
