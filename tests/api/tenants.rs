//! Two organisations on one server (contract 1.5): neither can see, count or guess what the other has.

use serde_json::json;

use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{UNKNOWN_ID, create_unconfigured, create_watched, service, until_checks};

/// Contract 1.5: a foreign id answers byte for byte like an unknown one, on every route.
#[test]
fn a_foreign_id_answers_like_an_unknown_one() {
    let server = Server::shared();
    let (mine, theirs) = (server.tenant("business"), server.tenant("business"));
    let foreign = create_unconfigured(&theirs);
    let before = theirs.get(&service(&foreign)).expect(200).body;
    for (method, rest, body) in [
        ("GET", "", ""),
        ("PUT", "", r#"{"name": "taken"}"#),
        ("PATCH", "", r#"{"name": ""}"#),
        ("DELETE", "", ""),
        ("DELETE", "?delete_orphaned_incidents=1", ""),
        ("POST", "/pause", ""),
        ("POST", "/resume", ""),
        ("POST", "/status-override", r#"{"status": "down", "reason": "x"}"#),
        ("DELETE", "/status-override", ""),
        ("POST", "/heartbeat/rotate", ""),
        ("POST", "/simulate", "{}"),
        ("GET", "/metrics", ""),
        ("GET", "/response-times?range=x", ""),
        ("GET", "/uptime", ""),
        ("GET", "/checks?cursor=x", ""),
    ] {
        let ask = |id: &str| mine.send(method, &format!("{}{rest}", service(id)), &[], body.as_bytes());
        let (unknown, foreign) = (ask(UNKNOWN_ID), ask(&foreign));
        assert_eq!(unknown.status, 404, "{method} {rest}");
        assert_eq!(foreign.without_request_id(), unknown.without_request_id(), "{method} {rest}");
    }
    assert_eq!(theirs.get(&service(&foreign)).expect(200).body, before);
}

/// Lists and counts hold one's own alone.
#[test]
fn lists_and_counts_contain_only_the_own_organisation() {
    let server = Server::shared();
    let (mine, theirs) = (server.tenant("business"), server.tenant("business"));
    let own = create_unconfigured(&mine);
    create_unconfigured(&theirs);
    create_unconfigured(&theirs);
    let list = mine.get("/v1/services").expect(200).json();
    assert_eq!((&list["meta"]["total"], &list["data"][0]["id"]), (&json!(1), &json!(own)));
    assert_eq!(mine.get("/v1/me").expect(200).json()["limits"]["services"]["usage"], 1);
}

/// Contract 4.8: a cursor of another organisation is refused.
#[tokio::test]
async fn a_cursor_of_another_organisation_is_refused() {
    let server = Server::shared();
    let (target, other) = (Target::start(), server.tenant("business"));
    let client = server.client();
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 1}));
    until_checks(&client, &id, 2).await;
    let page = client.get(&format!("{}/checks?per_page=1", service(&id))).expect(200).json();
    let cursor = page["meta"]["next_cursor"].as_str().unwrap();
    let own = create_unconfigured(&other);
    other.get(&format!("{}/checks?cursor={cursor}", service(&own))).expect(422);
}
