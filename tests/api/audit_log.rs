//! `/v1/audit-log`: every write leaves one entry, in the transaction of the change, without a secret.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, create, create_unconfigured, service};

const PATH: &str = "/v1/audit-log";
const KEYS: &str = "id at actor address action object changes request_id";

/// The entries that a query selects, newest first.
fn entries(client: &Client, query: &str) -> Vec<Value> {
    let page = client.get(&format!("{PATH}?per_page=100{query}")).expect(200).data();
    page.as_array().unwrap().clone()
}

/// What the command line does with tokens is in the log too, without the text of the token.
#[test]
fn commands_about_tokens_leave_entries() {
    let server = Server::start();
    let client = server.client();
    let create = ["token", "create", "--org", "Default", "--name", "Bot", "--permissions", "services.view"];
    let made = server.command_json(&create);
    let entry = entries(&client, "&object=token").swap_remove(0);
    assert_eq!((&entry["action"], &entry["actor"]["kind"]), (&json!("create"), &json!("command")));
    assert_eq!(entry["object"], json!({"kind": "token", "id": made["id"], "name": "Bot"}));
    assert!(!entry.to_string().contains(made["token"].as_str().unwrap()), "{entry}");
    server.command_json(&["token", "revoke", made["id"].as_str().unwrap()]);
    let deleted = "delete token Bot: name \"Bot\" → null, permissions [\"services.view\"] → null";
    assert_eq!(newest(&client), deleted);
}

/// The newest entry, as `action kind name: field old → new, …`.
fn newest(client: &Client) -> String {
    let entry = entries(client, "").swap_remove(0);
    let changes: Vec<String> = entry["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| format!("{} {} → {}", change["field"].as_str().unwrap(), change["old"], change["new"]))
        .collect();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let object = &entry["object"];
    let what = format!("{} {} {}", text(&entry["action"]), text(&object["kind"]), text(&object["name"]));
    format!("{what}: {}", changes.join(", ")).trim_end_matches(": ").to_owned()
}

#[test]
fn an_entry_says_who_did_what_from_where() {
    let client = Server::shared().tenant("business");
    let me = client.get("/v1/me").expect(200).json();
    let id = create_unconfigured(&client);
    let entry = &entries(&client, "")[0];
    let keys: Vec<&String> = entry.as_object().unwrap().keys().collect();
    assert_eq!(keys, KEYS.split_whitespace().collect::<Vec<_>>());
    let actor = json!({"kind": "token", "id": me["token"]["id"], "name": me["token"]["name"]});
    assert_eq!((&entry["actor"], &entry["address"]), (&actor, &json!("127.0.0.1")));
    assert_eq!(entry["object"], json!({"kind": "service", "id": id, "name": "Shop"}));
    assert_eq!(entry["action"], "create");
    assert!(entry["request_id"].is_string());
}

#[test]
fn old_and_new_values_are_there() {
    let client = Server::shared().tenant("business");
    let id = create_unconfigured(&client);
    client.patch(&service(&id), &json!({"name": "Store"})).expect(200);
    assert_eq!(newest(&client), r#"update service Store: name "Shop" → "Store""#);
    client.post(&format!("{}/pause", service(&id)), &json!({})).expect(200);
    assert!(
        newest(&client).starts_with("pause service Store: is_paused false → true"),
        "{}",
        newest(&client)
    );
    let tag = client.post("/v1/tags", &json!({"key": "team", "value": "shop"})).expect(201).data();
    client
        .patch(&format!("/v1/tags/{}", tag["id"].as_str().unwrap()), &json!({"color": "#112233"}))
        .expect(200);
    assert!(newest(&client).contains(r##"→ "#112233""##), "{}", newest(&client));
    client.delete(&service(&id)).expect(200);
    assert!(
        newest(&client).starts_with(r#"delete service Store: name "Store" → null"#),
        "{}",
        newest(&client)
    );
}

/// Secrets: of headers and channels, shown once, and those of addresses.
#[test]
fn no_entry_has_a_secret() {
    const SECRET: &str = "hunter2hunter2";
    let server = Server::shared();
    let client = server.tenant("business");
    let settings =
        json!({"interval_seconds": 3_600, "headers": {"Authorization": format!("Bearer {SECRET}")}});
    let body =
        json!({"name": "Shop", "check_type": "http", "target": "http://127.0.0.1:9/", "settings": settings});
    let id = create(&client, &body);
    let settings = json!({"headers": {"Authorization": format!("Basic {SECRET}")}});
    client.patch(&service(&id), &json!({"settings": settings})).expect(200);
    let heartbeat = json!({"name": "Job", "check_type": "heartbeat"});
    let job = client.post("/v1/services", &heartbeat).expect(201).data();
    let ping = job["heartbeat"]["ping_url"].as_str().unwrap();
    let page = json!({"name": "Page", "access_type": "password", "password": SECRET});
    client.post("/v1/statuspages", &page).expect(201);
    let token = json!({"name": "Bot", "permissions": ["services.view"]});
    let token = client.post("/v1/tokens", &token).expect(201).data()["token"].clone();
    let wall = client.post("/v1/wall-keys", &json!({"name": "Wall"})).expect(201).data()["secret"].clone();
    let invited = json!({"email": "audit-secret@example.com", "role": "viewer"});
    let user = client.post("/v1/users", &invited).expect(201).data();
    let ticket = user["link"].as_str().unwrap().split_once("ticket=").unwrap().1;
    let all = client.get(&format!("{PATH}?per_page=100")).expect(200).body;
    for secret in
        [SECRET, ping.rsplit_once('/').unwrap().1, token.as_str().unwrap(), wall.as_str().unwrap(), ticket]
    {
        assert!(!all.contains(secret), "{secret}");
    }
    assert_eq!(entries(&client, "&actor=token").len(), 7);
}

#[test]
fn refused_requests_and_reads_leave_no_entry() {
    let client = Server::shared().tenant("business");
    client.post("/v1/services", &json!({})).expect(422);
    client.patch(&service(UNKNOWN_ID), &json!({"name": "A"})).expect(404);
    client.get("/v1/services").expect(200);
    assert_eq!(entries(&client, ""), Vec::<Value>::new());
}

/// The second request gets the stored response, and changes nothing.
#[test]
fn a_repeated_request_leaves_one_entry() {
    let client = Server::shared().tenant("business");
    let body = json!({"key": "a"}).to_string();
    for _ in 0..2 {
        let lines = ["Content-Type: application/json", "Idempotency-Key: audit-1"];
        client.send("POST", "/v1/tags", &lines, body.as_bytes()).expect(201);
    }
    assert_eq!(entries(&client, "").len(), 1);
}

#[rstest]
#[case("&action=create", &["create tag", "create service"])]
#[case("&object=tag", &["delete tag", "create tag"])]
#[case("&object=service&action=create", &["create service"])]
#[case("&actor=token", &["delete tag", "create tag", "create service"])]
#[case("&actor=user", &[])]
#[case("&to=2020-01-01", &[])]
#[case("&from=2020-01-01", &["delete tag", "create tag", "create service"])]
fn filters_choose_entries(#[case] query: &str, #[case] expected: &[&str]) {
    let client = Server::shared().tenant("business");
    create_unconfigured(&client);
    let tag = client.post("/v1/tags", &json!({"key": "a"})).expect(201).data();
    client.delete(&format!("/v1/tags/{}", tag["id"].as_str().unwrap())).expect(200);
    let found = entries(&client, query);
    let named = |entry: &Value| {
        format!("{} {}", entry["action"].as_str().unwrap(), entry["object"]["kind"].as_str().unwrap())
    };
    assert_eq!(found.iter().map(named).collect::<Vec<_>>(), expected);
}

#[test]
fn filters_name_an_object_and_an_actor() {
    let client = Server::shared().tenant("business");
    let me = client.get("/v1/me").expect(200).json();
    let id = create_unconfigured(&client);
    create_unconfigured(&client);
    assert_eq!(entries(&client, &format!("&object={id}")).len(), 1);
    assert_eq!(entries(&client, &format!("&actor={}", me["token"]["id"].as_str().unwrap())).len(), 2);
    assert_eq!(entries(&client, &format!("&actor={UNKNOWN_ID}")).len(), 0);
    client.get(&format!("{PATH}?from=2026-01-02&to=2026-01-01")).expect(422);
}

/// Another organisation sees nothing of it.
#[test]
fn entries_belong_to_an_organisation() {
    let server = Server::shared();
    create_unconfigured(&server.tenant("business"));
    assert_eq!(entries(&server.tenant("business"), ""), Vec::<Value>::new());
}
