//! Reliability of notifications: whenever the process is killed, each message arrives at least once, always under the same id,
//! in the order of its incident; a channel that takes nothing holds up no other.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::Method;
use serde_json::{Value, json};
use tokio::time::Instant;
use watchkeeper::clock::Clock;
use watchkeeper::egress::outbound::{OutboundClient, OutboundParts, OutboundRequest, OutboundUrl};
use watchkeeper::egress::{EgressGate, EgressPolicy};

use crate::endures;
use crate::support::client::Client;
use crate::support::eventually;
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::sink::{Conduct, Received, Sink};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// Incidents under way at once, each with its own order of messages.
const INCIDENTS: usize = 3;
/// The part of what bare requests do that deliveries reach at least.
const SHARE: f64 = 0.05;

fn rounds() -> u64 {
    if endures() { 100 } else { 6 }
}

/// Any moment from a change to its delivery: milliseconds that differ from round to round (Knuth's multiplicative hash).
fn moment(round: u64) -> Duration {
    Duration::from_millis(round.wrapping_mul(2_654_435_761) % 400)
}

fn add_channel(client: &Client, sink: &Sink, events: &Value) {
    let body = json!({"kind": "webhook", "name": "Hook", "settings": {"url": sink.url(), "secret": SECRET},
        "events": events});
    client.post("/v1/notification-channels", &body).expect(201);
}

fn open(client: &Client) -> String {
    let incident = json!({"title": "Checkout is slow", "message": "We look into it."});
    client.post("/v1/incidents", &incident).expect(201).data()["id"].as_str().unwrap().to_owned()
}

fn update(client: &Client, incident: &str, text: &str) {
    let body = json!({"status": "monitoring", "message": text});
    client.post(&format!("/v1/incidents/{incident}/updates"), &body).expect(201);
}

fn waiting(client: &Client) -> usize {
    client.get("/v1/notifications?status=waiting").expect(200).data().as_array().unwrap().len()
}

/// Incident and newest timeline entry in a message.
fn read(message: &Received) -> (String, String) {
    let incident = &message.json()["data"]["incident"];
    let text = |key: &str| incident[key].as_str().unwrap().to_owned();
    (text("id"), text("message"))
}

async fn each_message_arrives_under_one_id(variables: &[(&str, &str)]) {
    let mut server = Server::with("", variables);
    let sink = Sink::start();
    add_channel(&server.client(), &sink, &json!(["incident.opened", "incident.updated"]));
    let incidents: Vec<String> = (0..INCIDENTS).map(|_| open(&server.client())).collect();
    let mut sent: BTreeMap<String, Vec<String>> =
        incidents.iter().map(|id| (id.clone(), vec!["We look into it.".to_owned()])).collect();
    for round in 1..=rounds() {
        for incident in &incidents {
            for part in 0..3 {
                let text = format!("round {round}, part {part}");
                update(&server.client(), incident, &text);
                sent.get_mut(incident).unwrap().push(text);
            }
        }
        // Some of it is on its way by then.
        tokio::time::sleep(moment(round)).await;
        server.kill_and_restart();
    }
    let client = server.client();
    eventually("nothing waits", || (waiting(&client) == 0).then_some(())).await;
    let received = sink.received();
    let mut first_seen = HashSet::new();
    let mut arrived: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut texts_of_id = BTreeMap::new();
    for message in &received {
        let id = message.header("webhook-id").to_owned();
        let (incident, text) = read(message);
        let known = texts_of_id.entry(id.clone()).or_insert_with(|| (incident.clone(), text.clone()));
        assert_eq!(*known, (incident.clone(), text.clone()), "an id stands for one message");
        if first_seen.insert(id) {
            arrived.entry(incident).or_default().push(text);
        } else {
            // A repeated message is the last one of its incident: no later one has been sent.
            assert_eq!(arrived[&incident].last(), Some(&text), "out of order");
        }
    }
    assert_eq!(arrived, sent, "each once, in its order");
    println!("{} messages, {} requests, {} kills", first_seen.len(), received.len(), rounds());
}

#[tokio::test]
async fn each_message_arrives_under_one_id_on_sqlite() {
    each_message_arrives_under_one_id(&[]).await;
}

#[tokio::test]
async fn each_message_arrives_under_one_id_on_postgres() {
    let Some(main) = Postgres::start() else { return };
    each_message_arrives_under_one_id(&[("WATCHKEEPER_DATABASE_URL", &main.url())]).await;
}

/// Others' messages arrive within two seconds, whatever some sinks do.
#[tokio::test]
async fn an_unresponsive_receiver_delays_no_other() {
    let server = Server::start();
    let client = server.client();
    let bad = [
        Conduct::Answer(500, ""),
        Conduct::Hang,
        Conduct::Close,
        Conduct::Drip,
        Conduct::Answer(302, "Location: http://127.0.0.1:9/\r\n"),
        Conduct::Flood,
    ]
    .map(Sink::with);
    let good = Sink::start();
    let events = json!(["incident.opened"]);
    for sink in bad.iter().chain([&good]) {
        add_channel(&client, sink, &events);
    }
    let before = memory_kib(server.process());
    let count = if endures() { 1_000 } else { 100 };
    let mut opened: BTreeMap<String, Instant> = BTreeMap::new();
    for _ in 0..count {
        let at = Instant::now();
        opened.insert(open(&client), at);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    eventually("the good one has all", || (good.received().len() == count).then_some(())).await;
    let lateness = |message: &Received| message.at.duration_since(opened[&read(message).0]);
    let mut lateness: Vec<Duration> = good.received().iter().map(lateness).collect();
    lateness.sort_unstable();
    let p99 = lateness[(lateness.len() * 99 / 100).min(lateness.len() - 1)];
    let grown = memory_kib(server.process()).saturating_sub(before);
    println!("p99 from fact to delivery {p99:?}, memory grown by {grown} KiB");
    assert!(p99 <= Duration::from_secs(2), "{p99:?}");
    assert!(grown < 64 * 1_024, "{grown} KiB");
}

/// So many bare requests to a sink, as many at once as a channel has under way: requests a second.
async fn bare(sink: &Sink, count: usize) -> f64 {
    let egress = EgressGate { policy: EgressPolicy::PrivateAllowed, source: None };
    let dns_servers = &["127.0.0.1:9".parse().unwrap()];
    let parts = OutboundParts { egress, dns_servers, ca_file: None, clock: Clock::System };
    let outbound = OutboundClient::new(parts).unwrap();
    let request = || OutboundRequest {
        method: Method::POST,
        url: OutboundUrl::parse(&sink.url()).unwrap(),
        headers: Vec::new(),
        body: Bytes::from_static(&[b'x'; 500]),
        deadline: Duration::from_secs(10),
    };
    let began = Instant::now();
    let answers = stream::iter((0..count).map(|_| outbound.send(request()))).buffer_unordered(16);
    answers.for_each(async |answer| assert_eq!(answer.unwrap().status, 204)).await;
    count as f64 / began.elapsed().as_secs_f64()
}

/// Many messages wait for a channel: they are delivered at 500 a second at least once it takes them, and cost nothing before. On a
/// machine that is busy with other things, or by a program that is not optimised, the floor is a share of what bare requests do.
#[tokio::test]
async fn a_backlog_is_delivered_quickly() {
    let server = Server::start();
    let client = server.client();
    let sink = Sink::with(Conduct::Answer(500, ""));
    add_channel(&client, &sink, &json!(["incident.opened"]));
    let count = if endures() { 10_000 } else { 2_000 };
    for _ in 0..count {
        open(&client);
    }
    // The circuit is open by now; what is sent in vain is little.
    let in_vain = sink.received().len();
    assert!(in_vain < 60, "{in_vain} requests in vain");
    let used = cpu(server.process());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let idle = cpu(server.process()).saturating_sub(used);
    sink.behave(Conduct::Answer(204, ""));
    let channel = client.get("/v1/notification-channels").expect(200).data()[0]["id"].clone();
    let path = format!("/v1/notification-channels/{}", channel.as_str().unwrap());
    let began = Instant::now();
    client.patch(&path, &json!({"name": "Mended"})).expect(200);
    let taken = || sink.count() - in_vain >= count;
    eventually("all are delivered", || taken().then_some(())).await;
    let rate = count as f64 / began.elapsed().as_secs_f64();
    let floor = bare(&sink, count).await;
    println!(
        "{count} messages at {rate:.0}/s, bare requests at {floor:.0}/s; {idle} ms of CPU in 2 s while they waited"
    );
    assert!(rate >= 500.0 || rate >= floor * SHARE, "{rate}/s of {floor}/s");
    assert!(idle <= 200, "{idle} ms");
}

fn memory_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

/// Milliseconds of CPU that the process has used.
pub(crate) fn cpu(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()) * 10
}
