//! Notifications for subscribers of status pages, as stored in the database: no request shows them yet.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::{Value, json};
use watchkeeper_entities::subscriber_fact::{Column, Entity};
use watchkeeper_entities::{statuspage, subscriber_fact_page};

use crate::incidents::{id_of, open_incident};
use crate::support::create_unconfigured;
use crate::support::moments::moment;
use crate::support::pages::{new_component, new_page};
use crate::support::planned::{in_state, maintenance, operate, planned};
use crate::support::server::Server;

/// Kinds and texts of all facts, oldest first, with the ids of the pages that they are for.
async fn facts(server: &Server) -> Vec<(String, String, Vec<String>)> {
    let main = server.main_database().await;
    let mut facts = Vec::new();
    for row in Entity::find().order_by_asc(Column::Id).all(&main).await.unwrap() {
        let for_pages = subscriber_fact_page::Entity::find()
            .filter(subscriber_fact_page::Column::FactId.eq(row.id))
            .all(&main)
            .await
            .unwrap();
        let keys = for_pages.iter().map(|page| page.statuspage_id);
        let pages = statuspage::Entity::find().filter(statuspage::Column::Id.is_in(keys)).all(&main).await;
        let text: Value = serde_json::from_str(&row.message).unwrap();
        let ids = pages.unwrap().into_iter().map(|page| page.public_id).collect();
        facts.push((row.kind, text["en"].as_str().unwrap().to_owned(), ids));
    }
    main.close().await.unwrap();
    facts
}

fn kinds(facts: &[(String, String, Vec<String>)]) -> Vec<&str> {
    facts.iter().map(|(kind, _, _)| kind.as_str()).collect()
}

/// Contract 4.10: an internal incident notifies nobody; its publication sends the newest entry.
#[tokio::test]
async fn a_published_incident_notifies_the_pages_that_show_it() {
    let server = Server::start();
    let client = server.client();
    let service = create_unconfigured(&client);
    let page = new_page(&client);
    new_component(&client, &page, &json!({"service_id": service}));
    let incident = open_incident(&client, &json!({"service_ids": [service]}));
    let path = format!("/v1/incidents/{}", id_of(&incident));
    let say = |text: &str, notifies: bool| {
        let body = json!({"status": "monitoring", "message": text, "notify_subscribers": notifies});
        client.post(&format!("{path}/updates"), &body).expect(201);
    };
    say("Nearly.", true);
    assert!(facts(&server).await.is_empty());
    client.patch(&path, &json!({"is_published": true})).expect(200);
    say("Psst.", false);
    client.post(&format!("{path}/resolve"), &json!({"message": "Over."})).expect(200);
    let fact = |text: &str| ("incident_entry".to_owned(), text.to_owned(), vec![page.clone()]);
    assert_eq!(facts(&server).await, [fact("Nearly."), fact("Over.")]);
    // A deleted incident notifies nobody.
    client.delete(&path).expect(200);
    assert!(facts(&server).await.is_empty());
}

/// Contract 4.11.3: the operations, and the flags that keep them quiet.
#[tokio::test]
async fn the_milestones_of_a_maintenance_are_notified() {
    let server = Server::start();
    let client = server.client();
    let loud = id_of(&planned(&client, &json!({"message": "We upgrade."})));
    let moved = json!({"scheduled_start": moment(100_000), "notify_subscribers": true});
    client.patch(&maintenance(&loud), &moved).expect(200);
    operate(&client, &loud, "start").expect(200);
    operate(&client, &loud, "complete").expect(200);
    in_state(&client, "cancelled", &[]);
    let flags = json!({"notify_announcement": false, "notify_start": false, "notify_complete": false});
    let quiet = id_of(&planned(&client, &flags));
    operate(&client, &quiet, "start").expect(200);
    operate(&client, &quiet, "complete").expect(200);
    let facts = facts(&server).await;
    let expected = [
        "maintenance_announced",
        "maintenance_moved",
        "maintenance_started",
        "maintenance_completed",
        "maintenance_announced",
        "maintenance_cancelled",
    ];
    assert_eq!(kinds(&facts), expected);
    assert_eq!(facts[0].1, "We upgrade.");
}
