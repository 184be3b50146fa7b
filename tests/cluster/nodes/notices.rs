//! A notice starts and ends once, whichever node leads: also when the leader dies in between.

use std::collections::{BTreeMap, BTreeSet};

use rstest::rstest;
use serde_json::json;

use crate::bus::node::Nodes;
use crate::nodes::{JOINED, TAKEN_OVER};
use crate::support::client::Client;
use crate::support::sink::Sink;
use crate::support::{eventually, service};

/// Heartbeats that fail while all nodes live, and as many that fail when one of them is dead.
const EACH: usize = 4;

/// A heartbeat: the path of its pings.
fn heartbeat(client: &Client, name: &str) -> String {
    let made =
        client.post("/v1/services", &json!({"name": name, "check_type": "heartbeat"})).expect(201).data();
    let shown = client.get(&service(made["id"].as_str().unwrap())).expect(200).data();
    let url = shown["heartbeat"]["ping_url"].as_str().unwrap();
    url[url.find("/ping/").unwrap()..].to_owned()
}

fn ping(client: &Client, address: &str) {
    client.without_token().send("POST", address, &[], b"").expect(200);
}

/// Titles of the notices that a sink received, each with the ids of its messages.
fn received_notices(sink: &Sink) -> BTreeMap<String, BTreeSet<String>> {
    let mut messages = BTreeMap::<String, BTreeSet<String>>::new();
    for message in sink.received() {
        let title = message.json()["data"]["notice"]["title"].as_str().unwrap().to_owned();
        messages.entry(title).or_default().insert(message.header("webhook-id").to_owned());
    }
    messages
}

#[rstest]
#[case::the_leader_dies("KILL")]
#[case::the_leader_freezes_and_resumes("STOP")]
#[tokio::test]
async fn a_notice_is_sent_once(#[case] signal: &str) {
    let Some(nodes) = Nodes::start(2).await else { return };
    nodes.until_even(&[0, 1], JOINED).await;
    let leading = nodes.until_led().await;
    let (client, sink) = (nodes.client(1 - leading), Sink::start());
    let channel = json!({"kind": "webhook", "name": "Hook", "events": ["heartbeat.missed"], "settings": {"url": sink.url(), "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}});
    client.post("/v1/notification-channels", &channel).expect(201);
    let heartbeats: Vec<String> =
        (0..2 * EACH).map(|number| heartbeat(&client, &format!("Backup {number}"))).collect();
    let (first, later) = heartbeats.split_at(EACH);
    first.iter().for_each(|address| ping(&client, &format!("{address}/fail")));
    eventually("the first notices arrive", || (received_notices(&sink).len() == EACH).then_some(())).await;
    nodes.server(leading).signal(signal);
    nodes.until_owned(&[1 - leading], TAKEN_OVER).await;
    if signal == "STOP" {
        nodes.server(leading).signal("CONT");
    }
    first.iter().for_each(|address| ping(&client, address));
    later.iter().for_each(|address| ping(&client, &format!("{address}/fail")));
    let begun = (0..2 * EACH).map(|number| format!("Backup {number} has not reported"));
    let over = (0..EACH).map(|number| format!("Backup {number} reports again"));
    let expected: BTreeSet<String> = begun.chain(over).collect();
    eventually("everything is told", || {
        let told: BTreeSet<String> = received_notices(&sink).into_keys().collect();
        expected.is_subset(&told).then_some(())
    })
    .await;
    let told = received_notices(&sink);
    assert!(told.values().all(|messages| messages.len() == 1), "each once: {told:?}");
    assert!(told.keys().eq(expected.iter()), "and nothing else: {told:?}");
    let notices = client.get("/v1/notices?per_page=100").expect(200).data();
    assert_eq!(notices.as_array().unwrap().len(), 2 * EACH, "{notices}");
}
