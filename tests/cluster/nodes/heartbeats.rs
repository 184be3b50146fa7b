//! A heartbeat service may be pinged at any node: its owner is notified, and every node shows it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use crate::bus::node::Nodes;
use crate::bus::within;
use crate::nodes::{IN_FORCE, JOINED, endures};
use crate::support::client::Client;
use crate::support::{eventually, service};

const SERVICES: usize = 6;
/// The shortest interval of heartbeats.
const INTERVAL_SECONDS: u64 = 30;

/// A service with a deadline of its interval, without grace: its id and the path of its pings.
fn create(client: &Client) -> (String, String) {
    let settings = json!({"interval_seconds": INTERVAL_SECONDS, "config": {"grace_seconds": 0}});
    let body = json!({"name": "Backup", "check_type": "heartbeat", "settings": settings});
    let made = client.post("/v1/services", &body).expect(201).data();
    let url = made["heartbeat"]["ping_url"].as_str().unwrap();
    (made["id"].as_str().unwrap().to_owned(), url[url.find("/ping/").unwrap()..].to_owned())
}

fn seen(client: &Client, id: &str) -> Value {
    client.get(&service(id)).expect(200).data()
}

/// Pings every service, the even ones at the node `first`, the odd ones at the other; both show it then.
async fn ping_all(clients: &[Client; 2], made: &[(String, String)], first: usize) {
    for (number, (id, address)) in made.iter().enumerate() {
        let (here, there) = (&clients[(number + first) % 2], &clients[(number + first + 1) % 2]);
        here.without_token().get(address).expect(200);
        let told = seen(here, id);
        assert_eq!(told["status"], "up", "what is answered is in force: {told}");
        within(IN_FORCE, "the other node shows the ping", async || {
            let other = seen(there, id);
            other["status"] == "up" && other["heartbeat"]["last_ping_at"] == told["heartbeat"]["last_ping_at"]
        })
        .await;
    }
}

#[tokio::test]
async fn a_ping_counts_at_any_node() {
    let Some(nodes) = Nodes::start(2).await else { return };
    nodes.until_even(&[0, 1], JOINED).await;
    let clients = [nodes.client(0), nodes.client(1)];
    let made: Vec<_> = (0..SERVICES).map(|number| create(&clients[number / 2 % 2])).collect();
    let begin = Instant::now();
    ping_all(&clients, &made, 0).await;
    sleep_until(begin + Duration::from_secs(INTERVAL_SECONDS * 2 / 3)).await;
    ping_all(&clients, &made, 1).await;
    // The deadlines of the first pings have passed.
    sleep_until(begin + Duration::from_secs(INTERVAL_SECONDS + 3)).await;
    for (id, _) in &made {
        for client in &clients {
            assert_eq!(seen(client, id)["status"], "up", "a ping was not heard");
        }
    }
    if !endures() {
        return;
    }
    for (id, _) in &made {
        for client in &clients {
            let missed = || (seen(client, id)["status"] == "down").then_some(());
            eventually("the missing ping is seen", missed).await;
        }
    }
    ping_all(&clients, &made, 0).await;
}

/// The owner cannot be notified then: it finds the ping in the database.
#[tokio::test]
async fn a_ping_counts_while_the_nats_server_is_unavailable() {
    let Some(mut nodes) = Nodes::start(2).await else { return };
    nodes.until_even(&[0, 1], JOINED).await;
    let clients = [nodes.client(0), nodes.client(1)];
    let made: Vec<_> = (0..SERVICES).map(|_| create(&clients[0])).collect();
    let begin = Instant::now();
    ping_all(&clients, &made, 0).await;
    nodes.bus.server.kill();
    sleep_until(begin + Duration::from_secs(INTERVAL_SECONDS * 2 / 3)).await;
    for (_, address) in &made {
        clients[0].without_token().get(address).expect(200);
    }
    // The deadlines of the first pings have passed.
    sleep_until(begin + Duration::from_secs(INTERVAL_SECONDS + 3)).await;
    nodes.bus.server.resume().await;
    for (node, client) in clients.iter().enumerate() {
        within(JOINED, "the bus is back", async || nodes.number(node, "bus_connected") == 1).await;
        for (id, _) in &made {
            assert_eq!(seen(client, id)["status"], "up", "a stored ping was not heard");
        }
    }
}
