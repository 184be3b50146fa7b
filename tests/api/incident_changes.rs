//! `PUT` and `PATCH /v1/incidents/{id}` (contract 4.10.3): what a change changes, and what it may not.

use rstest::rstest;
use serde_json::{Value, json};

use crate::incidents::{id_of, incident, open_incident};
use crate::support::server::Server;
use crate::support::{create, create_unconfigured};

const NOT_NULL: &str = "This field must not be null.";
const STRING: &str = "This value must be a string.";
const BOOLEAN: &str = "This value must be true or false.";
const LIST: &str = "This value must be a list.";
const TIMESTAMP: &str = "This is not a valid ISO 8601 date or date-time between 1970 and 2200.";
const FUTURE: &str = "This time must not be in the future.";
const BEFORE_START: &str = "This time must not be earlier than started_at.";

/// Contract 1.1, 4.10.3: PUT and PATCH change what was sent and nothing else.
#[rstest]
fn an_update_changes_only_the_sent_fields(#[values("PUT", "PATCH")] method: &str) {
    let client = Server::shared_client();
    let service = create_unconfigured(&client);
    let before = open_incident(&client, &json!({"service_ids": [service], "started_at": "2026-01-01"}));
    let path = incident(&id_of(&before));
    let body = json!({"title": "New", "severity": "major", "is_published": true, "status": "monitoring",
        "kind": "standard", "sla_counts_as_downtime": true, "message": 7, "notify_subscribers": 7, "id": "x",
        "created_at": null, "updates": []});
    let after = client.json(method, &path, &body).expect(200).data();
    let mut expected = before.clone();
    for (key, value) in [
        ("title", json!("New")),
        ("title_translations", json!({"en": "New"})),
        ("severity", json!("major")),
        ("is_published", json!(true)),
        ("status", json!("monitoring")),
        ("sla_counts_as_downtime", json!(true)),
    ] {
        expected[key] = value;
    }
    assert_eq!(after, expected, "a changed status adds no entry");
    assert_eq!(client.get(&path).expect(200).data(), after);
    assert_eq!(client.json(method, &path, &json!({})).expect(200).data(), after);
}

/// Contract 4.10.3: lists replace; a start is changed by the rules of create.
#[test]
fn lists_replace_and_the_start_can_move() {
    let client = Server::shared_client();
    let names = ["a", "b", "c"];
    let ids = names.map(|name| create(&client, &json!({"name": name, "check_type": "manual"})));
    let made = open_incident(&client, &json!({"service_ids": [ids[0], ids[1]]}));
    let path = incident(&id_of(&made));
    let body = json!({"service_ids": [ids[2], ids[1], ids[2]], "started_at": "2026-01-01T00:00:00+02:00"});
    let changed = client.patch(&path, &body).expect(200).data();
    let expected = json!([{"id": ids[1], "name": "b"}, {"id": ids[2], "name": "c"}]);
    assert_eq!(
        (&changed["services"], &changed["started_at"]),
        (&expected, &json!("2025-12-31T22:00:00.000Z"))
    );
    assert_eq!(client.get(&path).expect(200).data(), changed);
    let emptied = client.patch(&path, &json!({"service_ids": []})).expect(200).data();
    assert_eq!(emptied["services"], json!([]));
    assert_eq!(client.get(&path).expect(200).data()["services"], json!([]));
}

/// Contract 4.10.3: each field of an update by itself, on an open incident.
#[rstest]
#[case("title", json!(null), NOT_NULL)]
#[case("title", json!(""), "Use at least 1 characters.")]
#[case("title", json!("x".repeat(256)), "Use at most 255 characters.")]
#[case("severity", json!("bad"), "Unknown value. Allowed: minor, major, critical.")]
#[case("severity", json!(null), NOT_NULL)]
#[case("is_published", json!(0), BOOLEAN)]
#[case("is_published", json!(null), NOT_NULL)]
#[case("status", json!("resolved"), "Resolve the incident with the resolve operation or a timeline entry.")]
#[case("status", json!("open"), "Unknown value. Allowed: investigating, identified, monitoring.")]
#[case("status", json!(null), NOT_NULL)]
#[case("status", json!(3), STRING)]
#[case("resolved_at", json!(null), NOT_NULL)]
#[case("resolved_at", json!("x"), TIMESTAMP)]
#[case("resolved_at", json!("2026-01-01"), "The incident is not resolved.")]
#[case("kind", json!("notice"), "This field cannot be changed after creation.")]
#[case("kind", json!("agent_liveness"), "This field cannot be changed after creation.")]
#[case("kind", json!("?"), "This field cannot be changed after creation.")]
#[case("kind", json!(null), NOT_NULL)]
#[case("kind", json!(1), STRING)]
#[case("started_at", json!("2199-01-01"), FUTURE)]
#[case("started_at", json!(1), STRING)]
#[case("service_ids", json!(null), NOT_NULL)]
#[case("statuspage_ids", json!(""), LIST)]
#[case("sla_counts_as_downtime", json!(null), NOT_NULL)]
fn a_wrong_change_is_refused(#[case] field: &str, #[case] value: Value, #[case] text: &str) {
    let client = Server::shared_client();
    let made = open_incident(&client, &json!({}));
    let path = incident(&id_of(&made));
    let mut body = json!({"is_published": true, "title": "changed"});
    body[field] = value;
    assert_eq!(client.patch(&path, &body).errors(), [(field.to_owned(), text.to_owned())]);
    assert_eq!(client.get(&path).expect(200).data(), made, "nothing has changed");
}

/// Contract 5.3: the order of the table of 4.10.3.
#[test]
fn all_errors_are_in_the_order_of_the_table() {
    let client = Server::shared_client();
    let path = incident(&id_of(&open_incident(&client, &json!({}))));
    let body = json!({"sla_counts_as_downtime": 1, "statuspage_ids": 1, "service_ids": 1, "started_at": 1, "kind": 1,
        "resolved_at": 1, "status": 1, "is_published": 1, "severity": 1, "title": 1});
    let paths: Vec<String> = client.patch(&path, &body).errors().into_iter().map(|(path, _)| path).collect();
    let table = "title severity is_published status resolved_at kind started_at service_ids statuspage_ids \
        sla_counts_as_downtime";
    assert_eq!(paths, table.split_whitespace().collect::<Vec<_>>());
}

/// Contract 4.10.3, 1.8: a resolved incident takes no open status (409 before any field), but a new end and all else.
#[test]
fn a_resolved_incident_accepts_a_new_end_but_no_status() {
    let client = Server::shared_client();
    let made = open_incident(
        &client,
        &json!({"status": "resolved", "started_at": "2026-01-02", "resolved_at": "2026-01-04"}),
    );
    let path = incident(&id_of(&made));
    for status in ["investigating", "identified", "monitoring"] {
        let refused = client.patch(&path, &json!({"status": status, "title": ""})).expect(409);
        assert_eq!(refused.message(), "The incident is already resolved.");
        assert_eq!(refused.header("retry-after"), None);
    }
    let resolve_here = "Resolve the incident with the resolve operation or a timeline entry.";
    for (body, field, text) in [
        (json!({"status": "resolved"}), "status", resolve_here),
        (json!({"status": "x"}), "status", "Unknown value. Allowed: investigating, identified, monitoring."),
        (json!({"resolved_at": null}), "resolved_at", NOT_NULL),
        (json!({"resolved_at": "2026-01-01"}), "resolved_at", BEFORE_START),
        (json!({"resolved_at": "2199-01-01"}), "resolved_at", FUTURE),
        (json!({"started_at": "2026-01-05"}), "resolved_at", BEFORE_START),
    ] {
        assert_eq!(client.patch(&path, &body).errors(), [(field.to_owned(), text.to_owned())], "{body}");
    }
    assert_eq!(client.get(&path).expect(200).data(), made);
    let moved =
        client.patch(&path, &json!({"resolved_at": "2026-01-03", "title": "Over"})).expect(200).data();
    assert_eq!(
        (&moved["resolved_at"], &moved["title"]),
        (&json!("2026-01-03T00:00:00.000Z"), &json!("Over"))
    );
    let both = json!({"started_at": "2025-12-01", "resolved_at": "2025-12-02"});
    let moved = client.patch(&path, &both).expect(200).data();
    assert_eq!(moved["started_at"], "2025-12-01T00:00:00.000Z");
    assert_eq!(client.get(&path).expect(200).data(), moved);
}
