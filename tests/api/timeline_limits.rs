//! Limits of timelines (contract 7 no. 45): 1,000 entries and 1,000,000 characters, beyond which only the end is accepted.

use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde_json::{Value, json};
use watchkeeper::id::Id;
use watchkeeper_entities::{incident, incident_update, maintenance, maintenance_update};

use crate::incidents::{id_of, incident, open_incident};
use crate::support::client::Answer;
use crate::support::moments::moment;
use crate::support::planned;
use crate::support::server::Server;

const FULL: &str = "The timeline is full.";

/// Adds this number of entries of this text to the stored timeline of an incident.
async fn fill_incident(server: &Server, id: &str, count: usize, text: &str) {
    let database = server.main_database().await;
    let found = incident::Entity::find().filter(incident::Column::PublicId.eq(id)).one(&database).await;
    let key = found.unwrap().unwrap().id;
    let entry = |_| incident_update::ActiveModel {
        public_id: Set(Id::random().to_string()),
        incident_id: Set(key),
        status: Set("investigating".into()),
        message: Set(json!({ "en": text }).to_string()),
        notify_subscribers: Set(false),
        is_internal: Set(false),
        names_services: Set(false),
        created_at: Set(0),
        ..Default::default()
    };
    let entries = incident_update::Entity::insert_many((0..count).map(entry));
    entries.exec_without_returning(&database).await.unwrap();
}

/// As [`fill_incident`], of a maintenance.
async fn fill_maintenance(server: &Server, id: &str, count: usize, text: &str) {
    let database = server.main_database().await;
    let found = maintenance::Entity::find().filter(maintenance::Column::PublicId.eq(id)).one(&database).await;
    let key = found.unwrap().unwrap().id;
    let entry = |_| maintenance_update::ActiveModel {
        public_id: Set(Id::random().to_string()),
        maintenance_id: Set(key),
        status: Set("scheduled".into()),
        message: Set(json!({ "en": text }).to_string()),
        notify_subscribers: Set(false),
        created_at: Set(0),
        ..Default::default()
    };
    let entries = maintenance_update::Entity::insert_many((0..count).map(entry));
    entries.exec_without_returning(&database).await.unwrap();
}

fn updates(data: &Value) -> usize {
    data["updates"].as_array().unwrap().len()
}

fn assert_full(answer: Answer) {
    assert_eq!(answer.expect(422).errors(), [("message".to_owned(), FULL.to_owned())]);
}

#[tokio::test]
async fn an_incident_has_at_most_a_thousand_entries_and_its_end() {
    let server = Server::shared();
    let client = server.client();
    let id = id_of(&open_incident(&client, &json!({})));
    fill_incident(&server, &id, 998, "x").await;
    let path = format!("{}/updates", incident(&id));
    let entry = json!({"status": "identified", "message": "It is the cache."});
    assert_eq!(updates(&client.post(&path, &entry).expect(201).data()), 1_000);
    assert_full(client.post(&path, &entry));
    let body = json!({"message": "Over."});
    let over = client.post(&format!("{}/resolve", incident(&id)), &body).expect(200).data();
    assert_eq!((&over["status"], updates(&over)), (&json!("resolved"), 1_001));
    assert_eq!(client.get(&incident(&id)).expect(200).data(), over);
}

#[tokio::test]
async fn an_incident_has_at_most_a_million_characters() {
    let server = Server::shared();
    let client = server.client();
    let made = open_incident(&client, &json!({}));
    let id = id_of(&made);
    let first = made["updates"][0]["message"].as_str().unwrap().chars().count();
    fill_incident(&server, &id, 99, &"ä".repeat(10_000)).await;
    let path = format!("{}/updates", incident(&id));
    let entry = |length: usize| json!({"status": "identified", "message": "ö".repeat(length)});
    assert_full(client.post(&path, &entry(10_000 - first + 1)));
    client.post(&path, &entry(10_000 - first)).expect(201);
    assert_full(client.post(&path, &entry(1)));
}

#[tokio::test]
async fn a_maintenance_has_at_most_a_thousand_entries_and_its_end() {
    let server = Server::shared();
    let client = server.client();
    let id = planned::in_state(&client, "in_progress", &[]);
    let path = planned::maintenance(&id);
    let before = updates(&planned::shown(&client, &id));
    fill_maintenance(&server, &id, 1_000 - before, "x").await;
    let extension = json!({"scheduled_end": null, "message": "It takes longer."});
    assert_full(client.post(&format!("{path}/extend"), &extension));
    let extension = json!({"scheduled_start": moment(-60), "scheduled_end": null});
    let extended = client.post(&format!("{path}/extend"), &extension).expect(200).data();
    assert_eq!((&extended["scheduled_end"], updates(&extended)), (&Value::Null, 1_000), "left out");
    let over = client.post(&format!("{path}/complete"), &json!({})).expect(200).data();
    assert_eq!((&over["status"], updates(&over)), (&json!("completed"), 1_001));
}
