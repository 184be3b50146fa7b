//! `/v1/incidents` (contract 4.10.1-4.10.3): create, read, change, delete.
//!
//! The timeline is in `incident_timeline`, filters in `incident_filters`, languages in `incident_languages`, the side
//! of the services in `service_incidents`.

use std::sync::Arc;

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::{UNKNOWN_ID, create, create_unconfigured};

/// Contract 4.10.1: the keys of an incident by itself, in this order.
const KEYS: &str = "id title title_translations kind status severity is_published started_at resolved_at created_at \
    created_by services attachments sla_counts_as_downtime acknowledged statuspages updates internal_updates";

/// The path of an incident.
pub(crate) fn incident(id: &str) -> String {
    format!("/v1/incidents/{id}")
}

/// A client of an organisation of its own on the shared server, which it keeps alive.
pub(crate) fn tenant() -> Client {
    let server = Server::shared();
    Client { _server: Some(Arc::clone(&server)), ..server.tenant("business") }
}

/// Creates an incident with these fields beside title and message, and gives it.
pub(crate) fn open_incident(client: &Client, fields: &Value) -> Value {
    let mut body = json!({"title": "Checkout is slow", "message": "We are looking into it."});
    for (key, value) in fields.as_object().unwrap() {
        body[key] = value.clone();
    }
    client.post("/v1/incidents", &body).expect(201).data()
}

/// The id of something.
pub(crate) fn id_of(data: &Value) -> String {
    data["id"].as_str().unwrap().to_owned()
}

/// Contract 4.10.2: every default, the first timeline entry, `Location`; reading gives the same.
#[test]
fn a_created_incident_is_returned_completely_and_can_be_read() {
    let server = Server::shared();
    let client = server.client();
    let body = json!({"title": "  Checkout is slow ", "message": " We are looking into it.\n"});
    let created = client.post("/v1/incidents", &body).expect(201);
    let made = created.data();
    let keys: Vec<&String> = made.as_object().unwrap().keys().collect();
    assert_eq!(keys, KEYS.split_whitespace().collect::<Vec<_>>());
    let id = id_of(&made);
    assert_eq!(created.header("location"), Some(&*format!("{}/v1/incidents/{id}", server.base())));
    for (key, value) in [
        ("title", json!("Checkout is slow")),
        ("title_translations", json!({"en": "Checkout is slow"})),
        ("kind", json!("standard")),
        ("status", json!("investigating")),
        ("severity", json!("minor")),
        ("is_published", json!(false)),
        ("resolved_at", Value::Null),
        ("services", json!([])),
        ("attachments", json!([])),
        ("sla_counts_as_downtime", json!(false)),
        ("statuspages", json!([])),
    ] {
        assert_eq!(made[key], value, "{key}");
    }
    assert_eq!(made["started_at"], made["created_at"]);
    let me = client.get("/v1/me").expect(200).json();
    assert_eq!(made["created_by"]["avatar_url"], "");
    assert_eq!(
        made["created_by"].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["id", "name", "avatar_url"]
    );
    assert!(me.to_string().contains(made["created_by"]["name"].as_str().unwrap()));
    let entry = &made["updates"][0];
    assert_eq!(made["updates"].as_array().unwrap().len(), 1);
    let keys: Vec<&String> = entry.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "status", "message", "message_translations", "notify_subscribers", "created_at"]);
    assert_eq!(entry["status"], "investigating");
    assert_eq!(entry["message"], "We are looking into it.");
    assert_eq!(entry["message_translations"], json!({"en": "We are looking into it."}));
    assert_eq!(entry["notify_subscribers"], true);
    assert_eq!(entry["created_at"], made["created_at"]);
    assert_eq!(client.get(&incident(&id)).expect(200).body, created.body);
}

/// Contract 4.10.2: every field that a client may set, read back.
#[test]
fn every_field_of_a_new_incident_is_stored() {
    let client = Server::shared_client();
    let service = create(&client, &json!({"name": "b shop", "check_type": "manual"}));
    let other = create(&client, &json!({"name": "a till", "check_type": "manual"}));
    let made = open_incident(
        &client,
        &json!({"status": "identified", "severity": "critical", "kind": "standard", "is_published": true,
            "started_at": "2026-01-02T03:04:05.6789+01:00", "resolved_at": "nonsense that is not read",
            "service_ids": [service, other, service], "statuspage_ids": [null, null], "notify_subscribers": false,
            "sla_counts_as_downtime": true, "id": "x", "created_at": 1, "nonsense": {}}),
    );
    for (key, value) in [
        ("status", json!("identified")),
        ("severity", json!("critical")),
        ("is_published", json!(true)),
        ("started_at", json!("2026-01-02T02:04:05.678Z")),
        ("resolved_at", Value::Null),
        ("services", json!([{"id": other, "name": "a till"}, {"id": service, "name": "b shop"}])),
        ("statuspages", json!([])),
        ("sla_counts_as_downtime", json!(true)),
    ] {
        assert_eq!(made[key], value, "{key}");
    }
    assert_eq!(made["updates"][0]["notify_subscribers"], false);
    assert_eq!(made["updates"][0]["status"], "identified");
    assert_eq!(client.get(&incident(&id_of(&made))).expect(200).data(), made);
}

/// Contract 4.10.1: a notice is always minor.
#[test]
fn a_notice_is_always_minor() {
    let client = Server::shared_client();
    let made = open_incident(&client, &json!({"kind": "notice", "severity": "critical"}));
    assert_eq!((&made["kind"], &made["severity"]), (&json!("notice"), &json!("minor")));
    let path = incident(&id_of(&made));
    assert_eq!(client.patch(&path, &json!({"severity": "major"})).expect(200).data()["severity"], "minor");
    client.patch(&path, &json!({"severity": "worst"})).expect(422);
}

/// Contract 4.10.2, `resolved_at`; 2.3: a history import needs `incidents.create` alone.
#[rstest]
#[case(json!({"started_at": "2026-01-01"}), "2026-01-01T00:00:00.000Z")]
#[case(json!({"started_at": "2026-01-01", "resolved_at": null}), "2026-01-01T00:00:00.000Z")]
#[case(json!({"started_at": "2026-01-01", "resolved_at": "2026-01-01"}), "2026-01-01T00:00:00.000Z")]
#[case(json!({"started_at": "2026-01-01", "resolved_at": "2026-01-01T12:00:00Z"}), "2026-01-01T12:00:00.000Z")]
fn an_incident_of_the_past_is_imported(#[case] times: Value, #[case] resolved_at: &str) {
    let server = Server::shared();
    let client = server.member(&server.organisation("business"), "incidents.create");
    let mut fields = times;
    fields["status"] = "resolved".into();
    let made = open_incident(&client, &fields);
    assert_eq!((&made["status"], &made["resolved_at"]), (&json!("resolved"), &json!(resolved_at)));
    assert_eq!(made["updates"][0]["status"], "resolved");
}

/// Contract 4.10.2: without any time, it began now and is over now.
#[test]
fn an_import_without_times_lasted_no_time() {
    let made = open_incident(&Server::shared_client(), &json!({"status": "resolved", "started_at": null}));
    assert_eq!(made["resolved_at"], made["started_at"]);
    assert_eq!(made["created_at"], made["started_at"]);
}

const REQUIRED: &str = "This field is required.";
const NOT_NULL: &str = "This field must not be null.";
const STRING: &str = "This value must be a string.";
const BOOLEAN: &str = "This value must be true or false.";
const LIST: &str = "This value must be a list.";
const TIMESTAMP: &str = "This is not a valid ISO 8601 date or date-time between 1970 and 2200.";
const FUTURE: &str = "This time must not be in the future.";
const BEFORE_START: &str = "This time must not be earlier than started_at.";

/// Contract 4.10.2, 5.3: each field of a create by itself.
#[rstest]
#[case("title", json!(null), NOT_NULL)]
#[case("title", json!(" "), "Use at least 1 characters.")]
#[case("title", json!("x".repeat(256)), "Use at most 255 characters.")]
#[case("title", json!(7), STRING)]
#[case("title", json!(["x"]), STRING)]
#[case("title", json!({}), "A text in the default language (en) is required.")]
#[case("message", json!(null), NOT_NULL)]
#[case("message", json!(""), "Use at least 1 characters.")]
#[case("message", json!("x".repeat(10_001)), "Use at most 10000 characters.")]
#[case("message", json!(false), STRING)]
#[case("status", json!(null), NOT_NULL)]
#[case("status", json!("open"), "Unknown value. Allowed: investigating, identified, monitoring, resolved.")]
#[case("status", json!("Resolved"), "Unknown value. Allowed: investigating, identified, monitoring, resolved.")]
#[case("status", json!(1), STRING)]
#[case("severity", json!("none"), "Unknown value. Allowed: minor, major, critical.")]
#[case("severity", json!(null), NOT_NULL)]
#[case("severity", json!([]), STRING)]
#[case("kind", json!("agent_liveness"), "Incidents of this kind are made by the server only.")]
#[case("kind", json!("outage"), "Unknown value. Allowed: standard, notice.")]
#[case("kind", json!(null), NOT_NULL)]
#[case("kind", json!(0), STRING)]
#[case("is_published", json!("true"), BOOLEAN)]
#[case("is_published", json!(null), NOT_NULL)]
#[case("started_at", json!("soon"), TIMESTAMP)]
#[case("started_at", json!(1_795_193_460), STRING)]
#[case("started_at", json!("2199-01-01"), FUTURE)]
#[case("started_at", json!("2201-01-01"), TIMESTAMP)]
#[case("service_ids", json!(null), NOT_NULL)]
#[case("service_ids", json!("AAAAAAAAAAAAAAAAAAAAA"), LIST)]
#[case("service_ids", json!(vec![UNKNOWN_ID; 501]), "Send at most 500 entries.")]
#[case("statuspage_ids", json!(null), NOT_NULL)]
#[case("statuspage_ids", json!({}), LIST)]
#[case("statuspage_ids", json!(vec![Value::Null; 101]), "Send at most 100 entries.")]
#[case("notify_subscribers", json!(1), BOOLEAN)]
#[case("notify_subscribers", json!(null), NOT_NULL)]
#[case("sla_counts_as_downtime", json!("no"), BOOLEAN)]
#[case("sla_counts_as_downtime", json!(null), NOT_NULL)]
fn a_wrong_field_is_refused(#[case] field: &str, #[case] value: Value, #[case] text: &str) {
    let mut body = json!({"title": "x", "message": "y"});
    body[field] = value;
    let answer = Server::shared_client().post("/v1/incidents", &body);
    assert_eq!(answer.errors(), [(field.to_owned(), text.to_owned())]);
    assert_eq!(answer.message(), text);
}

/// Contract 4.10.2: the longest texts and lists that are allowed.
#[test]
fn the_longest_texts_and_lists_are_accepted() {
    let client = Server::shared_client();
    let service = create_unconfigured(&client);
    let body = json!({"title": "ü".repeat(255), "message": "😀".repeat(10_000), "service_ids": vec![service; 500],
        "statuspage_ids": vec![Value::Null; 100]});
    let made = client.post("/v1/incidents", &body).expect(201).data();
    assert_eq!((&made["title"], &made["updates"][0]["message"]), (&body["title"], &body["message"]));
    assert_eq!(made["services"].as_array().unwrap().len(), 1);
}

/// Contract 4.10.2: ids that are malformed, unknown or foreign, each at its place.
#[test]
fn unknown_ids_are_refused_at_their_index() {
    let server = Server::shared();
    let (mine, theirs) = (server.tenant("business"), server.tenant("business"));
    let (own, foreign) = (create_unconfigured(&mine), create_unconfigured(&theirs));
    let unknown = |kind: &str, id: &str| format!("No {kind} with the ID {id} exists.");
    let form = "This is not a valid ID.".to_owned();
    let lists = json!({"service_ids": [own, "short", foreign, null, 7, UNKNOWN_ID],
        "statuspage_ids": [null, own, "short", 7]});
    let expected = [
        ("service_ids.1", form.clone()),
        ("service_ids.2", unknown("service", &foreign)),
        ("service_ids.3", NOT_NULL.into()),
        ("service_ids.4", STRING.into()),
        ("service_ids.5", unknown("service", UNKNOWN_ID)),
        ("statuspage_ids.1", unknown("status page", &own)),
        ("statuspage_ids.2", form),
        ("statuspage_ids.3", STRING.into()),
    ]
    .map(|(path, text)| (path.to_owned(), text));
    let mut body = lists.clone();
    (body["title"], body["message"]) = ("x".into(), "y".into());
    assert_eq!(mine.post("/v1/incidents", &body).errors(), expected);
    let made = open_incident(&mine, &json!({"service_ids": [own]}));
    assert_eq!(mine.patch(&incident(&id_of(&made)), &lists).errors(), expected);
    assert_eq!(mine.get(&incident(&id_of(&made))).expect(200).data(), made);
    assert_eq!(mine.get("/v1/incidents").expect(200).json()["meta"]["total"], 1, "nothing was stored");
}

/// Contract 4.10.2: the end of an import, its start, and what is in the future.
#[rstest]
#[case(json!({"resolved_at": "2025-12-31"}), &[("resolved_at", BEFORE_START)])]
#[case(json!({"resolved_at": "2199-01-01"}), &[("resolved_at", FUTURE)])]
#[case(json!({"resolved_at": "x"}), &[("resolved_at", TIMESTAMP)])]
#[case(json!({"resolved_at": 5}), &[("resolved_at", STRING)])]
#[case(json!({"started_at": "x", "resolved_at": "1970-01-01"}), &[("started_at", TIMESTAMP)])]
#[case(json!({"started_at": "2199-01-01", "resolved_at": "2199-01-02"}), &[("started_at", FUTURE), ("resolved_at", FUTURE)])]
fn a_wrong_end_is_refused(#[case] times: Value, #[case] expected: &[(&str, &str)]) {
    let mut body = json!({"title": "x", "message": "y", "status": "resolved", "started_at": "2026-01-01"});
    for (key, value) in times.as_object().unwrap() {
        body[key] = value.clone();
    }
    let expected: Vec<_> = expected.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
    assert_eq!(Server::shared_client().post("/v1/incidents", &body).errors(), expected);
}

/// Contract 5.3: everything that is wrong, in the order of the table.
#[test]
fn all_errors_are_in_the_order_of_the_table() {
    let body = json!({"sla_counts_as_downtime": 1, "notify_subscribers": 1, "statuspage_ids": 1, "service_ids": 1,
        "resolved_at": 1, "started_at": 1, "is_published": 1, "kind": 1, "severity": 1, "status": 1});
    let answer = Server::shared_client().post("/v1/incidents", &body);
    let paths: Vec<String> = answer.errors().into_iter().map(|(path, _)| path).collect();
    let table = "title message status severity kind is_published started_at service_ids statuspage_ids \
        notify_subscribers sla_counts_as_downtime";
    assert_eq!(paths, table.split_whitespace().collect::<Vec<_>>());
    assert_eq!(answer.message(), format!("{REQUIRED} (and 10 more errors)"));
}

/// Contract 1.2: what is no JSON object.
#[rstest]
#[case("[]", "The request body must be a JSON object.")]
#[case("{", "The request body is not valid JSON.")]
fn a_body_that_is_not_an_object_is_400(
    #[case] body: &str,
    #[case] message: &str,
    #[values("", "/updates", "/resolve")] rest: &str,
) {
    let client = Server::shared_client();
    let id = id_of(&open_incident(&client, &json!({})));
    let path = if rest.is_empty() { "/v1/incidents".into() } else { format!("{}{rest}", incident(&id)) };
    assert_eq!(client.send("POST", &path, &[], body.as_bytes()).expect(400).message(), message);
}

/// Contract 4.10.4: any state can be deleted; a second delete finds nothing.
#[rstest]
fn an_incident_is_deleted_once(#[values("investigating", "resolved")] status: &str) {
    let client = Server::shared_client();
    let service = create_unconfigured(&client);
    let made =
        open_incident(&client, &json!({"status": status, "service_ids": [service], "is_published": true}));
    let id = id_of(&made);
    let deleted = client.delete(&incident(&id)).expect(200);
    assert_eq!(deleted.json(), json!({"data": {"id": id, "deleted": true}}));
    client.delete(&incident(&id)).expect(404);
    client.get(&incident(&id)).expect(404);
    assert_eq!(client.get(&format!("/v1/services/{service}/incidents")).expect(200).data(), json!([]));
}

/// An incident outlives the process.
#[test]
fn an_incident_survives_a_kill() {
    let mut server = Server::start();
    let client = server.client();
    let service = create_unconfigured(&client);
    let made = open_incident(&client, &json!({"service_ids": [service], "severity": "major"}));
    server.kill_and_restart();
    assert_eq!(server.client().get(&incident(&id_of(&made))).expect(200).data(), made);
}
