//! `POST /v1/incidents/{id}/updates` and `/resolve` (contract 4.10.4).

use rstest::rstest;
use serde_json::{Value, json};

use crate::incidents::{id_of, incident, open_incident};
use crate::support::client::Client;
use crate::support::server::Server;

fn post(client: &Client, id: &str, body: &Value) -> Value {
    client.post(&format!("{}/updates", incident(id)), body).expect(201).data()
}

fn statuses(incident: &Value) -> Vec<&str> {
    incident["updates"].as_array().unwrap().iter().map(|entry| entry["status"].as_str().unwrap()).collect()
}

/// Contract 4.10.4: an entry is added, its status taken over; 201 with the whole incident.
#[test]
fn an_entry_moves_an_open_incident() {
    let server = Server::shared();
    let client = server.client();
    let id = id_of(&open_incident(&client, &json!({})));
    let body = json!({"status": "identified", "message": " It is the cache. ", "notify_subscribers": false,
        "nonsense": 1});
    let answer = client.post(&format!("{}/updates", incident(&id)), &body).expect(201);
    assert_eq!(answer.header("location"), Some(&*format!("{}{}", server.base(), incident(&id))));
    let seen = answer.data();
    assert_eq!((&seen["status"], &seen["resolved_at"]), (&json!("identified"), &Value::Null));
    assert_eq!(statuses(&seen), ["investigating", "identified"], "oldest first");
    let entry = &seen["updates"][1];
    assert_eq!(entry["message"], "It is the cache.");
    assert_eq!(entry["message_translations"], json!({"en": "It is the cache."}));
    assert_eq!(entry["notify_subscribers"], false);
    assert_ne!(entry["id"], seen["updates"][0]["id"]);
    let seen = post(&client, &id, &json!({"status": "monitoring", "message": "Better."}));
    assert_eq!(seen["updates"][2]["notify_subscribers"], true, "the default");
    assert_eq!(client.get(&incident(&id)).expect(200).data(), seen);
}

/// Contract 4.10.4: `resolved` ends it now; once more changes nothing but the timeline; another status opens it again.
#[test]
fn entries_end_and_reopen_an_incident() {
    let client = Server::shared_client();
    let id = id_of(&open_incident(&client, &json!({})));
    let over = post(&client, &id, &json!({"status": "resolved", "message": "Over."}));
    assert_eq!(
        (&over["status"], &over["resolved_at"]),
        (&json!("resolved"), &over["updates"][1]["created_at"])
    );
    let again = post(&client, &id, &json!({"status": "resolved", "message": "Really."}));
    assert_eq!(again["resolved_at"], over["resolved_at"]);
    assert_eq!(statuses(&again), ["investigating", "resolved", "resolved"]);
    let reopened = post(&client, &id, &json!({"status": "investigating", "message": "Not over."}));
    assert_eq!((&reopened["status"], &reopened["resolved_at"]), (&json!("investigating"), &Value::Null));
    assert_eq!(client.get(&incident(&id)).expect(200).data(), reopened);
}

/// Contract 4.10.4: 200, an entry with status `resolved`, `resolved_at` now unless it is given.
#[rstest]
#[case(json!({}), None)]
#[case(json!({"resolved_at": null}), None)]
#[case(json!({"resolved_at": "2026-01-03T01:00:00+01:00", "notify_subscribers": false}), Some("2026-01-03T00:00:00.000Z"))]
#[case(json!({"resolved_at": "2026-01-02"}), Some("2026-01-02T00:00:00.000Z"))]
fn an_incident_is_resolved(#[case] fields: Value, #[case] resolved_at: Option<&str>) {
    let client = Server::shared_client();
    let id = id_of(&open_incident(&client, &json!({"started_at": "2026-01-02"})));
    let mut body = fields;
    body["message"] = "Over.".into();
    let seen = client.post(&format!("{}/resolve", incident(&id)), &body).expect(200).data();
    assert_eq!(seen["status"], "resolved");
    let last = &seen["updates"][1];
    assert_eq!((&last["status"], &last["message"]), (&json!("resolved"), &json!("Over.")));
    assert_eq!(last["notify_subscribers"], body.get("notify_subscribers").cloned().unwrap_or(json!(true)));
    match resolved_at {
        Some(resolved_at) => assert_eq!(seen["resolved_at"], resolved_at),
        None => assert_eq!(seen["resolved_at"], last["created_at"]),
    }
    assert_eq!(client.get(&incident(&id)).expect(200).data(), seen);
}

/// Contract 4.10.4, 1.8: what is over cannot be resolved: 409 before any field, without `Retry-After`.
#[test]
fn a_resolved_incident_cannot_be_resolved_again() {
    let client = Server::shared_client();
    let made = open_incident(&client, &json!({"status": "resolved"}));
    let path = incident(&id_of(&made));
    for body in [json!({"message": "Over."}), json!({}), json!({"resolved_at": "x"})] {
        let refused = client.post(&format!("{path}/resolve"), &body).expect(409);
        assert_eq!(refused.message(), "The incident is already resolved.");
        assert_eq!(refused.header("retry-after"), None);
    }
    assert_eq!(client.get(&path).expect(200).data(), made);
}

const REQUIRED: &str = "This field is required.";
const NOT_NULL: &str = "This field must not be null.";
const BOOLEAN: &str = "This value must be true or false.";
const STATUSES: &str = "Unknown value. Allowed: investigating, identified, monitoring, resolved.";

/// Contract 4.10.4, 5.3: fields of a timeline entry.
#[rstest]
#[case(json!({}), &[("status", REQUIRED), ("message", REQUIRED)])]
#[case(json!({"status": null, "message": null, "notify_subscribers": null}), &[("status", NOT_NULL), ("message", NOT_NULL), ("notify_subscribers", NOT_NULL)])]
#[case(json!({"status": "closed", "message": "x"}), &[("status", STATUSES)])]
#[case(json!({"status": "monitoring", "message": " "}), &[("message", "Use at least 1 characters.")])]
#[case(json!({"status": "monitoring", "message": "x".repeat(10_001)}), &[("message", "Use at most 10000 characters.")])]
#[case(json!({"status": 1, "message": 1, "notify_subscribers": 1}), &[("status", "This value must be a string."), ("message", "This value must be a string."), ("notify_subscribers", BOOLEAN)])]
fn a_wrong_entry_is_refused(#[case] body: Value, #[case] expected: &[(&str, &str)]) {
    check_refused("updates", &body, expected);
}

/// Contract 4.10.4, 5.3: fields of a resolution.
#[rstest]
#[case(json!({}), &[("message", REQUIRED)])]
#[case(json!({"message": null, "notify_subscribers": null}), &[("message", NOT_NULL), ("notify_subscribers", NOT_NULL)])]
#[case(json!({"message": {}, "notify_subscribers": "x", "resolved_at": 1}), &[("message", "A text in the default language (en) is required."), ("notify_subscribers", BOOLEAN), ("resolved_at", "This value must be a string.")])]
#[case(json!({"message": "x", "resolved_at": "x"}), &[("resolved_at", "This is not a valid ISO 8601 date or date-time between 1970 and 2200.")])]
#[case(json!({"message": "x", "resolved_at": "2025-12-31"}), &[("resolved_at", "This time must not be earlier than started_at.")])]
#[case(json!({"message": "x", "resolved_at": "2199-12-31"}), &[("resolved_at", "This time must not be in the future.")])]
fn a_wrong_resolution_is_refused(#[case] body: Value, #[case] expected: &[(&str, &str)]) {
    check_refused("resolve", &body, expected);
}

#[track_caller]
fn check_refused(act: &str, body: &Value, expected: &[(&str, &str)]) {
    let client = Server::shared_client();
    let made = open_incident(&client, &json!({"started_at": "2026-01-01"}));
    let path = incident(&id_of(&made));
    let expected: Vec<_> = expected.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
    assert_eq!(client.post(&format!("{path}/{act}"), body).errors(), expected);
    assert_eq!(client.get(&path).expect(200).data(), made, "nothing has changed");
}

/// Contract 2.2, 1.8 step 10: an entry that resolves needs `incidents.resolve`, too: after 404 and 400, before fields.
#[test]
fn an_entry_that_resolves_needs_a_further_permission() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let made = open_incident(&server.member(&organisation, "all"), &json!({}));
    let path = format!("{}/updates", incident(&id_of(&made)));
    let editor = server.member(&organisation, "incidents.edit");
    for body in [json!({"status": "resolved", "message": "Over."}), json!({"status": "resolved"})] {
        let refused = editor.post(&path, &body).expect(403);
        assert_eq!(refused.message(), "This token is missing the permission 'incidents.resolve'.");
        assert_eq!(refused.json().get("upsell"), None);
    }
    editor.send("POST", &path, &[], b"{").expect(400);
    editor.post("/v1/incidents/AAAAAAAAAAAAAAAAAAAAA/updates", &json!({"status": "resolved"})).expect(404);
    editor.post(&path, &json!({"status": "Resolved", "message": "Over."})).expect(422);
    editor.post(&path, &json!({"status": "monitoring", "message": "Better."})).expect(201);
    let both = server.member(&organisation, "incidents.edit,incidents.resolve");
    let over = both.post(&path, &json!({"status": "resolved", "message": "Over."})).expect(201).data();
    assert_eq!(over["status"], "resolved");
    editor.post(&path, &json!({"status": "resolved", "message": "Over."})).expect(403);
}

/// Contract 4.10.1: many entries written at once are all kept, each once.
#[test]
fn simultaneous_entries_are_all_kept() {
    let client = Server::shared_client();
    let id = id_of(&open_incident(&client, &json!({})));
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (client, id) = (client.clone(), &id);
            scope.spawn(move || {
                post(&client, id, &json!({"status": "monitoring", "message": number.to_string()}))
            });
        }
    });
    let seen = client.get(&incident(&id)).expect(200).data();
    let mut messages: Vec<_> =
        seen["updates"].as_array().unwrap()[1..].iter().map(|entry| entry["message"].clone()).collect();
    messages.sort_by_key(ToString::to_string);
    assert_eq!(json!(messages), json!(["0", "1", "2", "3", "4", "5", "6", "7"]));
}
