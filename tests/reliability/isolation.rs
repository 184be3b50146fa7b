//! A receiver that fails, hangs, asks to wait or answers oddly delays no other recipient, channel or organisation by more than two
//! seconds, and gets nothing twice or out of order for it.

use std::time::Duration;

use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::client::Client;
use crate::support::eventually;
use crate::support::server::Server;
use crate::support::sink::{Conduct, Received, Sink};
use crate::support::smtp_sink::{SmtpConduct, SmtpSink};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// Maximum delay that a receiver may cause for others.
const DELAY: Duration = Duration::from_secs(2);
/// Maximum time from the API to a receiver on a busy machine.
const WAY: Duration = Duration::from_secs(3);

fn id(value: &Value) -> String {
    value["id"].as_str().unwrap().to_owned()
}

fn add_channel(client: &Client, body: &Value) -> String {
    id(&client.post("/v1/notification-channels", body).expect(201).data())
}

fn add_webhook(client: &Client, sink: &Sink) -> String {
    let settings = json!({"url": sink.url(), "secret": SECRET});
    add_channel(client, &json!({"kind": "webhook", "name": "Hook", "settings": settings}))
}

/// A channel to this sink that gets only the end: it is for contacts.
fn add_mails(client: &Client, sink: &SmtpSink, more: &Value) -> String {
    let mut body = json!({"kind": "email", "name": "Mails", "settings": sink.settings("list@example.org")});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    add_channel(client, &body)
}

fn add_contact(client: &Client, name: &str, channel: &str) -> String {
    let email = format!("{name}@example.org");
    let contact = json!({"name": name, "email": email, "channel_ids": [channel]});
    id(&client.post("/v1/contacts", &contact).expect(201).data())
}

fn page(client: &Client, severity: &str, steps: &Value) {
    let policy = json!({"name": "Page", "min_severity": severity, "steps": steps});
    client.post("/v1/escalation-policies", &policy).expect(201);
}

fn open(client: &Client, title: &str, severity: &str) -> String {
    let incident = json!({"title": title, "message": "We look into it.", "severity": severity});
    id(&client.post("/v1/incidents", &incident).expect(201).data())
}

fn deliveries(client: &Client, query: &str) -> Vec<Value> {
    let path = format!("/v1/notifications?per_page=100&{query}");
    client.get(&path).expect(200).data().as_array().unwrap().clone()
}

/// Milliseconds until the next try of a message.
fn wait_ms(row: &Value) -> i64 {
    let time = |at: &Value| chrono::DateTime::parse_from_rfc3339(at.as_str().unwrap()).unwrap();
    let tries = row["tries"].as_array().unwrap();
    (time(&row["next_try_at"]) - time(&tries.last().unwrap()["at"])).num_milliseconds()
}

fn title(message: &Received) -> String {
    message.json()["data"]["incident"]["title"].as_str().unwrap().to_owned()
}

/// A permanently full mailbox: mails to others of the same server do not wait.
#[tokio::test]
async fn a_full_mailbox_delays_no_other_recipient() {
    let server = Server::start();
    let client = server.client();
    let full = |recipient: &str| if recipient.starts_with("anna@") { "452 4.2.2 Full" } else { "250 OK" };
    let sink = SmtpSink::with(SmtpConduct { recipient: full, ..SmtpConduct::default() });
    let channel = add_mails(&client, &sink, &json!({"events": ["incident.resolved"]}));
    let [anna, ben] = ["anna", "ben"].map(|name| add_contact(&client, name, &channel));
    page(
        &client,
        "minor",
        &json!([{"after_seconds": 0, "contact_ids": [anna]}, {"after_seconds": 5, "contact_ids": [ben]}]),
    );
    for number in 0..6 {
        open(&client, &format!("Outage {number}"), "critical");
    }
    let sent = eventually("Ben has all", || {
        let sent = sink.sent_to("ben@example.org");
        (sent.len() == 6).then_some(sent)
    })
    .await;
    let took = sent[5].at.duration_since(sent[0].at);
    assert!(took <= DELAY + WAY, "{took:?}");
    assert!(sink.sent_to("anna@example.org").is_empty());
}

/// A receiver that cannot handle some messages gets the others.
#[tokio::test]
async fn failing_messages_delay_no_other_message() {
    let server = Server::start();
    let client = server.client();
    let sink = Sink::with(Conduct::Judge(|received| {
        (if title(received).starts_with("poison") { 500 } else { 204 }, String::new())
    }));
    add_webhook(&client, &sink);
    for number in 0..6 {
        open(&client, &format!("poison {number}"), "minor");
    }
    let failed = || sink.received().len() >= 8;
    eventually("all have failed, and a probe of the circuit", || failed().then_some(())).await;
    for number in 0..3 {
        let began = Instant::now();
        open(&client, &format!("good {number}"), "critical");
        let arrived = || sink.received().iter().any(|message| title(message) == format!("good {number}"));
        eventually("the good one arrives", || arrived().then_some(())).await;
        assert!(began.elapsed() <= DELAY + WAY, "{:?}", began.elapsed());
    }
}

/// A digest that its receiver refuses does not delay an alert.
#[tokio::test]
async fn a_refused_digest_delays_no_alert() {
    let server = Server::start();
    let client = server.client();
    let end = |text: &str| {
        let is_digest = text.contains("messages in one");
        Some((Duration::ZERO, if is_digest { "451 Later" } else { "250 Taken" }))
    };
    let sink = SmtpSink::with(SmtpConduct { end, ..SmtpConduct::default() });
    let channel = add_mails(&client, &sink, &json!({"digest_above": 1}));
    let anna = add_contact(&client, "anna", &channel);
    page(&client, "critical", &json!([{"after_seconds": 0, "contact_ids": [anna]}]));
    for number in 0..4 {
        open(&client, &format!("Noise {number}"), "minor");
    }
    let deadline = Instant::now() + Duration::from_secs(90);
    while !sink.sent().iter().any(|mail| mail.text.contains("messages in one")) {
        assert!(Instant::now() < deadline, "no digest was sent");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    open(&client, "Page Anna", "critical");
    eventually("Anna is told", || sink.sent_to("anna@example.org").pop()).await;
    let digest = deliveries(&client, "event=digest");
    assert_eq!(digest[0]["status"], "waiting", "{digest:?}");
}

/// A mail server that scans what it takes for a while gets one copy.
#[tokio::test]
async fn a_mail_server_that_answers_late_gets_one_copy() {
    let server = Server::start();
    let client = server.client();
    let end = |_: &str| Some((Duration::from_secs(12), "250 Taken"));
    let sink = SmtpSink::with(SmtpConduct { end, ..SmtpConduct::default() });
    add_mails(&client, &sink, &json!({}));
    let other = Sink::start();
    add_webhook(&client, &other);
    open(&client, "Once please", "critical");
    eventually("the other one arrives", || other.received().pop()).await;
    let delivered = eventually("the mail is delivered", || {
        deliveries(&client, "status=delivered").into_iter().find(|row| row["tries"][0]["detail"] == "Taken")
    })
    .await;
    assert_eq!(delivered["tries"].as_array().unwrap().len(), 1, "{delivered}");
    assert_eq!(sink.sent().len(), 1);
}

/// The answer to the end of a mail is lost: it may have been taken, so it comes again late and under the same id, also after a
/// restart and a change of the channel.
#[tokio::test]
async fn a_possibly_accepted_mail_is_repeated_late() {
    let mut server = Server::start();
    let sink = SmtpSink::with(SmtpConduct { end: |_| None, ..SmtpConduct::default() });
    let channel = add_mails(&server.client(), &sink, &json!({}));
    open(&server.client(), "Once please", "critical");
    let client = server.client();
    let row = eventually("the try has ended", || {
        deliveries(&client, "status=waiting").into_iter().find(|row| row["tries"][0].is_object())
    })
    .await;
    assert_eq!(row["tries"][0]["outcome"], "unconfirmed", "{row}");
    assert!(wait_ms(&row) >= 600_000, "{row}");
    let sent = &sink.sent()[0];
    assert_eq!(sent.header("Message-ID"), format!("<{}@example.org>", id(&row)));
    server.kill_and_restart();
    let client = server.client();
    let changed = json!({"name": "Other mails"});
    client.patch(&format!("/v1/notification-channels/{channel}"), &changed).expect(200);
    let other = Sink::start();
    add_webhook(&client, &other);
    open(&client, "Something else", "minor");
    eventually("the courier is at work again", || other.received().pop()).await;
    let again = sink.sent().iter().filter(|mail| mail.text.contains("Once please")).count();
    assert_eq!(again, 1);
    let rows = deliveries(&client, "status=waiting");
    let row = rows.iter().find(|known| known["id"] == row["id"]).unwrap();
    assert!(wait_ms(row) >= 600_000, "{row}");
}

/// A receiver that requests a delay of years gets a quarter of an hour.
#[tokio::test]
async fn a_pause_is_a_quarter_of_an_hour_at_most() {
    let server = Server::start();
    let client = server.client();
    let sink = Sink::with(Conduct::Answer(429, "Retry-After: 99999999\r\n"));
    add_webhook(&client, &sink);
    open(&client, "First", "major");
    let row = eventually("the try has ended", || {
        deliveries(&client, "status=waiting").into_iter().find(|row| row["tries"][0].is_object())
    })
    .await;
    assert!((890_000..=910_000).contains(&wait_ms(&row)), "{row}");
}

/// Forty receivers of one organisation that hang, with thirty messages each.
#[tokio::test]
async fn hanging_channels_delay_neither_their_neighbours_nor_other_organisations() {
    let server = Server::start();
    let [flooded, calm] = [server.client(), server.tenant("business")];
    let hanging = Sink::with(Conduct::Hang);
    for _ in 0..40 {
        add_webhook(&flooded, &hanging);
    }
    let [neighbour, other] = [(); 2].map(|()| Sink::start());
    add_webhook(&calm, &other);
    for number in 0..30 {
        open(&flooded, &format!("Flood {number}"), "minor");
    }
    eventually("they hang", || (hanging.count() >= 40).then_some(())).await;
    add_webhook(&flooded, &neighbour);
    for (client, sink) in [(&calm, &other), (&flooded, &neighbour)] {
        let began = Instant::now();
        open(client, "Told at once", "major");
        eventually("it arrives", || sink.received().pop()).await;
        let (took, organisation) = (began.elapsed(), client.get("/v1/me").data()["organisation"].clone());
        assert!(took <= DELAY + WAY, "{took:?}, {organisation}");
    }
}

/// A receiver that has the end of an incident does not get its start: that would open an alert that nobody closes.
#[tokio::test]
async fn an_overtaken_message_is_not_redelivered() {
    let server = Server::start();
    let client = server.client();
    let sink = Sink::with(Conduct::Answer(400, ""));
    let settings = json!({"routing_key": "0".repeat(32), "base_url": sink.base()});
    add_channel(&client, &json!({"kind": "pagerduty", "name": "Pager", "settings": settings}));
    let incident = open(&client, "Shop fails", "critical");
    let dead = eventually("the begin is dead", || deliveries(&client, "status=dead").pop()).await;
    sink.behave(Conduct::Answer(202, ""));
    client.post(&format!("/v1/incidents/{incident}/resolve"), &json!({"message": "Over."})).expect(200);
    eventually("the end is delivered", || deliveries(&client, "status=delivered").pop()).await;
    let all = client.post("/v1/notifications/redeliver", &json!({})).expect(200).data();
    assert_eq!(all, json!({"redelivered": 0}));
    let path = format!("/v1/notifications/{}/redeliver", id(&dead));
    client.post(&path, &json!({})).expect(409);
    let actions: Vec<Value> =
        sink.received().iter().map(|message| message.json()["event_action"].clone()).collect();
    assert_eq!(actions, ["trigger", "resolve"]);
}

/// An unreadable message prevents neither the delivery of others nor the listing.
/// The process starts, watches the others, and says so.
#[tokio::test]
async fn a_service_that_cannot_be_read_stops_no_other() {
    let mut server = Server::start();
    let client = server.client();
    let [_, whole] = ["Broken", "Whole"].map(|name| {
        let service = json!({"name": name, "check_type": "heartbeat"});
        client.post("/v1/services", &service).expect(201).data()
    });
    server.kill();
    let main = server.main_database().await;
    main.execute_unprepared(
        "UPDATE service SET paused_reason = 'nonsense', paused_at = 1 WHERE name = 'Broken'",
    )
    .await
    .unwrap();
    main.close().await.unwrap();
    server.restart();
    let client = server.client();
    let url = whole["heartbeat"]["ping_url"].as_str().unwrap();
    let path = &url[url.find("/ping/").unwrap()..];
    client.without_token().get(path).expect(200);
    let path = format!("/v1/services/{}", id(&whole));
    eventually("it is watched", || (client.get(&path).expect(200).data()["status"] == "up").then_some(()))
        .await;
    let ready = client.get("/readyz").expect(200).json();
    let warning = "services that are not checked because their rows in the database cannot be read: 1; the log names them";
    assert_eq!(ready["warnings"][0], warning, "{ready}");
    let metrics = client.get("/metrics").expect(200).body;
    assert!(metrics.contains("\nwatchkeeper_services_unreadable 1\n"), "{metrics}");
}

#[tokio::test]
async fn a_row_that_cannot_be_read_stops_no_other() {
    let mut server = Server::start();
    let sink = Sink::with(Conduct::Answer(500, ""));
    add_webhook(&server.client(), &sink);
    open(&server.client(), "Broken", "major");
    eventually("it is tried", || sink.received().pop()).await;
    server.kill();
    let main = server.main_database().await;
    main.execute_unprepared("UPDATE notification_delivery SET message = 'nonsense', tries = 0, due_at = 0")
        .await
        .unwrap();
    main.close().await.unwrap();
    sink.behave(Conduct::Answer(204, ""));
    server.restart();
    let client = server.client();
    open(&client, "Whole", "major");
    let delivered =
        eventually("the other one is told", || deliveries(&client, "status=delivered").pop()).await;
    assert_eq!(delivered["headline"], "Whole");
    assert!(deliveries(&client, "status=waiting").is_empty(), "what cannot be read is not shown");
    let metrics = client.get("/metrics").expect(200).body;
    assert!(metrics.contains("\nwatchkeeper_notifications_unreadable_total 1\n"), "{metrics}");
}
