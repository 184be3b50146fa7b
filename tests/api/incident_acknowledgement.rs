//! `POST /v1/incidents/{id}/acknowledge`: who works on an incident.

use rstest::rstest;
use serde_json::{Value, json};

use crate::incidents::{id_of, incident, open_incident};
use crate::support::UNKNOWN_ID;
use crate::support::server::Server;

fn acknowledge(id: &str) -> String {
    format!("{}/acknowledge", incident(id))
}

/// Person and time are in the response and in the internal timeline; the public timeline does not change.
#[rstest]
#[case(json!({}), "Acknowledged by All permissions.")]
#[case(json!({"note": null}), "Acknowledged by All permissions.")]
#[case(json!({"note": " I look at { $by }. "}), "Acknowledged by All permissions: I look at { $by }.")]
fn an_acknowledgement_is_shown_to_members_only(#[case] body: Value, #[case] message: &str) {
    let client = Server::shared().tenant("business");
    let made = open_incident(&client, &json!({}));
    let id = id_of(&made);
    assert_eq!((&made["acknowledged"], &made["internal_updates"]), (&Value::Null, &json!([])));
    let seen = client.post(&acknowledge(&id), &body).expect(200).data();
    let me = client.get("/v1/me").expect(200).json();
    let by = json!({"id": me["token"]["id"], "name": me["token"]["name"], "avatar_url": ""});
    assert_eq!(seen["acknowledged"]["by"], by);
    let entry = &seen["internal_updates"][0];
    let message = message.replace("All permissions", me["token"]["name"].as_str().unwrap());
    assert_eq!((&entry["message"], &entry["status"]), (&json!(message), &json!("investigating")));
    assert_eq!(entry["created_at"], seen["acknowledged"]["at"]);
    assert_eq!(seen["updates"], made["updates"], "visitors learn nothing");
    assert_eq!(client.get(&incident(&id)).expect(200).data(), seen);
}

/// There is nothing that one has to say.
#[test]
fn an_acknowledgement_needs_no_body() {
    let client = Server::shared().tenant("business");
    let id = id_of(&open_incident(&client, &json!({})));
    let seen = client.send("POST", &acknowledge(&id), &[], b"").expect(200).data();
    assert!(seen["acknowledged"]["at"].is_string(), "{seen}");
}

/// The first one counts until the incident is reopened; a resolved incident has none.
#[test]
fn the_first_acknowledgement_counts_until_the_incident_is_opened_again() {
    let client = Server::shared_client();
    let id = id_of(&open_incident(&client, &json!({})));
    let first = client.post(&acknowledge(&id), &json!({})).expect(200).data();
    assert_eq!(client.post(&acknowledge(&id), &json!({"note": "Me too."})).expect(200).data(), first);
    client.post(&format!("{}/resolve", incident(&id)), &json!({"message": "Over."})).expect(200);
    let refused = client.post(&acknowledge(&id), &json!({"note": 1})).expect(409);
    assert_eq!(refused.message(), "The incident is already resolved.");
    assert_eq!(refused.header("retry-after"), None);
    let reopened = json!({"status": "identified", "message": "Not over."});
    let reopened = client.post(&format!("{}/updates", incident(&id)), &reopened).expect(201).data();
    assert_eq!(reopened["acknowledged"], Value::Null);
    let second = client.post(&acknowledge(&id), &json!({"note": "Again."})).expect(200).data();
    assert_eq!(second["internal_updates"].as_array().unwrap().len(), 2);
}

#[rstest]
#[case(json!({"note": 1}), "This value must be a string.")]
#[case(json!({"note": "x".repeat(1_001)}), "Use at most 1000 characters.")]
fn a_wrong_note_is_refused(#[case] body: Value, #[case] message: &str) {
    let client = Server::shared_client();
    let id = id_of(&open_incident(&client, &json!({})));
    let errors = client.post(&acknowledge(&id), &body).expect(422).json()["errors"].clone();
    assert_eq!(errors, json!({"note": [message]}));
    assert_eq!(client.get(&incident(&id)).expect(200).data()["acknowledged"], Value::Null);
}

#[test]
fn a_foreign_incident_is_not_found() {
    let server = Server::shared();
    let foreign = id_of(&open_incident(&server.tenant("business"), &json!({})));
    let client = server.tenant("business");
    for id in [UNKNOWN_ID, &foreign] {
        client.post(&acknowledge(id), &json!({})).expect(404);
    }
}
