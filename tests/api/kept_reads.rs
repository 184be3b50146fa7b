//! Cached reads are shown only while they equal the stored rows: a read after an acknowledged write sees it.

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::planned::{in_state, operate};
use crate::support::server::Server;
use crate::support::{create, service};

fn tenant() -> Client {
    let server = Server::shared();
    Client { _server: Some(std::sync::Arc::clone(&server)), ..server.tenant("business") }
}

/// The service as it is shown alone and in the list, which must agree.
fn read(client: &Client, id: &str) -> Value {
    let alone = client.get(&service(id)).expect(200).data();
    let rows = client.get("/v1/services?per_page=100").expect(200).data();
    let listed = rows.as_array().unwrap().iter().find(|row| row["id"] == id).cloned();
    for member in ["name", "tags", "is_paused", "status_override", "effective_status", "heartbeat", "target"]
    {
        assert_eq!(listed.as_ref().unwrap()[member], alone[member], "{member}");
    }
    alone
}

/// Every kind of write that changes what is shown of a service, each between two reads.
#[test]
fn a_read_after_a_write_sees_it() {
    let client = tenant();
    let id = create(&client, &json!({"name": "Shop", "check_type": "manual", "tags": ["env:prod"]}));
    let path = service(&id);
    let tag = read(&client, &id)["tags"][0]["id"].as_str().unwrap().to_owned();
    let note = |what: &str, member: &str, expected: &Value| {
        assert_eq!(&read(&client, &id)[member], expected, "{what}");
    };
    client.patch(&path, &json!({"name": "Store"})).expect(200);
    note("a new name", "name", &json!("Store"));
    client.post(&format!("{path}/pause"), &json!({})).expect(200);
    note("a pause", "is_paused", &json!(true));
    client.post(&format!("{path}/resume"), &json!({})).expect(200);
    note("its end", "is_paused", &json!(false));
    client.post(&format!("{path}/status-override"), &json!({"status": "down", "reason": "x"})).expect(200);
    note("a stated status", "status_override", &json!("down"));
    client.delete(&format!("{path}/status-override")).expect(200);
    note("no stated status", "status_override", &Value::Null);
    client.patch(&format!("/v1/tags/{tag}"), &json!({"color": "#000000"})).expect(200);
    assert_eq!(read(&client, &id)["tags"][0]["color"], "#000000", "a tag of another colour");
    client.patch(&path, &json!({"tags": []})).expect(200);
    note("no tags", "tags", &json!([]));
    let planned = in_state(&client, "in_progress", &[&id]);
    note("planned work", "effective_status", &json!("maintenance"));
    operate(&client, &planned, "complete").expect(200);
    note("its completion", "effective_status", &json!("operational"));
}

/// A ping concerns one service alone, a new service the list.
#[test]
fn pings_and_new_services_are_shown_at_once() {
    let client = tenant();
    let job = |name: &str| create(&client, &json!({"name": name, "check_type": "heartbeat"}));
    let (first, second) = (job("first"), job("second"));
    let before = read(&client, &first);
    assert_eq!(before["heartbeat"]["last_ping_at"], Value::Null);
    read(&client, &second);
    let url = before["heartbeat"]["ping_url"].as_str().unwrap();
    client.without_token().send("POST", &url[url.find("/ping/").unwrap()..], &[], b"").expect(200);
    assert!(read(&client, &first)["heartbeat"]["last_ping_at"].is_string());
    assert_eq!(read(&client, &second)["heartbeat"]["last_ping_at"], Value::Null);
    let third = job("third");
    read(&client, &third);
    client.delete(&service(&second)).expect(200);
    let rows = client.get("/v1/services?per_page=100").expect(200).data();
    let names: Vec<&str> = rows.as_array().unwrap().iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, ["first", "third"]);
}
