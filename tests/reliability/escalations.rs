//! Steps of escalations under kills: each step of each incident is sent under one id, and none is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::json;

use crate::endures;
use crate::support::client::Client;
use crate::support::eventually;
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::sink::Sink;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const INCIDENTS: usize = 3;

fn steps() -> usize {
    if endures() { 20 } else { 5 }
}

/// Any moment of a second, which is the time between two steps (Knuth's multiplicative hash).
fn moment(round: u64) -> Duration {
    Duration::from_millis(round.wrapping_mul(2_654_435_761) % 1_000)
}

fn open(client: &Client) -> String {
    let incident = json!({"title": "Checkout is slow", "message": "We look into it."});
    client.post("/v1/incidents", &incident).expect(201).data()["id"].as_str().unwrap().to_owned()
}

fn taken(client: &Client, incident: &str) -> u64 {
    let shown = client.get(&format!("/v1/incidents/{incident}/escalation")).expect(200).data();
    shown["steps_taken"].as_u64().unwrap()
}

async fn each_step_happens_once(variables: &[(&str, &str)]) {
    let mut server = Server::with("", variables);
    let sink = Sink::start();
    let client = server.client();
    let channel = json!({"kind": "webhook", "name": "Hook", "settings": {"url": sink.url(), "secret": SECRET},
        "events": ["incident.resolved"]});
    let channel = client.post("/v1/notification-channels", &channel).expect(201).data()["id"].clone();
    let step = json!({"after_seconds": 1, "channel_ids": [channel]});
    let policy = json!({"name": "Shop", "steps": vec![step; steps()]});
    client.post("/v1/escalation-policies", &policy).expect(201);
    let incidents: Vec<String> = (0..INCIDENTS).map(|_| open(&client)).collect();
    let mut kills = 0;
    while incidents.iter().any(|incident| taken(&server.client(), incident) < steps() as u64) {
        kills += 1;
        tokio::time::sleep(moment(kills)).await;
        server.kill_and_restart();
    }
    let client = server.client();
    let waiting = || client.get("/v1/notifications?status=waiting").expect(200).data() == json!([]);
    eventually("nothing waits", || waiting().then_some(())).await;
    let mut messages: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for message in sink.received() {
        assert_eq!(message.event(), "incident.escalated");
        let incident = message.json()["data"]["incident"]["id"].as_str().unwrap().to_owned();
        messages.entry(incident).or_default().insert(message.header("webhook-id").to_owned());
    }
    for incident in &incidents {
        assert_eq!(messages[incident].len(), steps(), "each step once");
    }
    println!("{INCIDENTS} incidents, {} steps each, {kills} kills", steps());
}

#[tokio::test]
async fn each_step_happens_once_on_sqlite() {
    each_step_happens_once(&[]).await;
}

#[tokio::test]
async fn each_step_happens_once_on_postgres() {
    let Some(main) = Postgres::start() else { return };
    each_step_happens_once(&[("WATCHKEEPER_DATABASE_URL", &main.url())]).await;
}
