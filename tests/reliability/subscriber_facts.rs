//! Facts for subscribers under kills: each entry and each reminder becomes one fact, and none is left out.

use std::collections::BTreeMap;
use std::time::Duration;

use sea_orm::{EntityTrait, QueryOrder};
use serde_json::json;
use watchkeeper::clock::Clock;
use watchkeeper_entities::subscriber_fact::{Column, Entity};

use crate::endures;
use crate::support::client::Client;
use crate::support::postgres::Postgres;
use crate::support::server::Server;

const HOUR_MS: i64 = 3_600_000;

fn count() -> i64 {
    if endures() { 60 } else { 8 }
}

/// Any moment of half a second (Knuth's multiplicative hash).
fn moment(round: u64) -> Duration {
    Duration::from_millis(round.wrapping_mul(2_654_435_761) % 500)
}

/// Plans a maintenance whose hour before its start is in this number of milliseconds.
fn plan(client: &Client, ms: i64) {
    let start = Clock::System.now().plus_ms(HOUR_MS + ms).to_string();
    let body = json!({"title": "Upgrade", "scheduled_start": start});
    client.post("/v1/maintenances", &body).expect(201);
}

/// The number of facts of each kind.
async fn facts(server: &Server) -> BTreeMap<String, usize> {
    let main = server.main_database().await;
    let rows = Entity::find().order_by_asc(Column::Id).all(&main).await.unwrap();
    main.close().await.unwrap();
    let mut counted = BTreeMap::new();
    for row in rows {
        *counted.entry(row.kind).or_default() += 1;
    }
    counted
}

async fn each_fact_is_written_once(variables: &[(&str, &str)]) {
    let mut server = Server::with("", variables);
    let begun = tokio::time::Instant::now();
    // The last kill comes when the last reminder is due.
    let span_ms = count() * 500;
    for number in 1..=count() {
        plan(&server.client(), number * 500 + 1_500);
    }
    let incident = json!({"title": "Slow", "message": "We look into it.", "is_published": true});
    let incident = server.client().post("/v1/incidents", &incident).expect(201).data();
    let updates = format!("/v1/incidents/{}/updates", incident["id"].as_str().unwrap());
    let mut kills = 0;
    while begun.elapsed() < Duration::from_millis(span_ms.unsigned_abs() + 2_000) {
        kills += 1;
        let news = json!({"status": "monitoring", "message": format!("News {kills}")});
        server.client().post(&updates, &news).expect(201);
        tokio::time::sleep(moment(kills)).await;
        server.kill_and_restart();
    }
    let planned = usize::try_from(count()).unwrap();
    let expected = BTreeMap::from([
        ("incident_entry".to_owned(), usize::try_from(kills).unwrap() + 1),
        ("maintenance_announced".to_owned(), planned),
        ("maintenance_hour_before".to_owned(), planned),
    ]);
    // Two more rounds of the clock: later rounds find nothing due.
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(facts(&server).await, expected);
    println!("{} facts, {kills} kills", expected.values().sum::<usize>());
}

#[tokio::test]
async fn each_fact_is_written_once_on_sqlite() {
    each_fact_is_written_once(&[]).await;
}

#[tokio::test]
async fn each_fact_is_written_once_on_postgres() {
    let Some(main) = Postgres::start() else { return };
    each_fact_is_written_once(&[("WATCHKEEPER_DATABASE_URL", &main.url())]).await;
}
