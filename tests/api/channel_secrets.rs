//! Secrets of channels: every kind, every secret setting, whatever comes of a message, and nowhere in clear: not in databases,
//! in the log at its most talkative, in answers, in events or numbers, nor in what others say.
//!
//! Others repeat what they were sent. A secret counts as shown in base64, hex and as part of an address, too.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use sea_orm::{ConnectionTrait, Database, DbBackend, Statement};
use serde_json::{Value, json};

use crate::incidents::{id_of, open_incident};
use crate::notification_channels::create_channel;
use crate::support::client::Client;
use crate::support::eventually;
use crate::support::listener::Listener;
use crate::support::server::Server;
use crate::support::sink::{Conduct, Received, Sink};

/// Part of every secret, so that one search finds them all.
const MARKER: &str = "qZ7xPv93Lm0W";

/// Key bytes of a webhook that hold the marker, in base64.
fn hook_secret() -> String {
    format!("whsec_{}", BASE64.encode(format!("{MARKER}-and-some-more-bytes")))
}

/// The settings of every kind, each secret one with the marker.
fn settings(base: &str, mail_port: u16) -> Vec<(&'static str, Value)> {
    let address = |path: &str| format!("{base}{path}{MARKER}");
    let webhook =
        json!({"url": format!("{base}/hook"), "secret": hook_secret(), "previous_secret": hook_secret()});
    let email = json!({"host": "127.0.0.1", "port": mail_port, "encryption": "none", "from": "a@example.org",
        "to": ["b@example.org"], "username": "status", "password": format!("/{MARKER}&\"<")});
    let template = json!({"url": address("/tickets?key="), "body": "{}",
        "headers": {"Authorization": format!("Basic {}", BASE64.encode(format!("joe:{MARKER}"))), "X-Key": MARKER}});
    vec![
        ("webhook", webhook),
        ("slack", json!({"url": address("/services/T0/B0/")})),
        ("discord", json!({"url": address("/api/webhooks/7/")})),
        ("teams", json!({"url": address("/workflows/7/invoke?api-version=1&sig=")})),
        ("telegram", json!({"bot_token": format!("123:{MARKER}"), "chat_id": "-1", "base_url": base})),
        ("pagerduty", json!({"routing_key": format!("{MARKER}01234567890123456789"), "base_url": base})),
        ("opsgenie", json!({"api_key": format!("genie-{MARKER}"), "base_url": base})),
        ("ntfy", json!({"topic": "ops", "token": format!("tk_{MARKER}/+"), "base_url": base})),
        ("gotify", json!({"server": base, "app_token": format!("A.{MARKER}")})),
        (
            "matrix",
            json!({"homeserver": base, "room_id": "!r:example.org", "access_token": format!("syt_{MARKER}")}),
        ),
        ("email", email),
        ("template", template),
    ]
}

/// A mail server that repeats everything it receives, passwords too.
fn repeating_mail_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let _ = stream.write_all(b"220 here\r\n");
            for line in lines.map_while(Result::ok) {
                let answer = match line.split(' ').next() {
                    Some("EHLO") => "250-here\r\n250 AUTH PLAIN LOGIN\r\n".to_owned(),
                    Some("QUIT") => "221 bye\r\n".to_owned(),
                    _ => format!("535 not with {line}\r\n"),
                };
                if stream.write_all(answer.as_bytes()).is_err() {
                    break;
                }
            }
        }
    });
    port
}

/// Every form in which the marker would be readable.
fn forms() -> Vec<String> {
    let hex: String = MARKER.bytes().map(|byte| format!("{byte:02x}")).collect();
    let in_base64 = (0..3).map(|before| {
        let text = BASE64.encode(format!("{}{MARKER}", "x".repeat(before)));
        text[(before * 8_usize).div_ceil(6)..(before + MARKER.len()) * 8 / 6].to_owned()
    });
    let in_address = MARKER.bytes().map(|byte| format!("%{byte:02X}")).collect();
    in_base64.chain([MARKER.to_owned(), hex.to_uppercase(), hex, in_address]).collect()
}

/// Fails when a text shows the marker.
#[track_caller]
fn assert_hidden(what: &str, bytes: &[u8]) {
    for form in forms() {
        let at = bytes.windows(form.len()).position(|window| window == form.as_bytes());
        let around = at.map(|at| {
            let part = &bytes[at.saturating_sub(300)..(at + 100).min(bytes.len())];
            String::from_utf8_lossy(part).into_owned()
        });
        assert!(at.is_none(), "{what} shows {form}: {around:?}");
    }
}

fn notifications(client: &Client) -> Vec<Value> {
    client.get("/v1/notifications?per_page=100").expect(200).data().as_array().unwrap().clone()
}

/// Sends a message to every channel while the sinks behave like this, and waits until each has been tried.
async fn notify_all(client: &Client, sink: &Sink, conduct: Conduct, channels: usize) {
    sink.behave(conduct);
    let incident = open_incident(client, &json!({}));
    eventually("all have been tried", || {
        let rows = notifications(client);
        let mine = rows.iter().filter(|row| row["incident_id"] == incident["id"]);
        let tried = mine.filter(|row| row["tries"].get(0).is_some());
        (tried.count() == channels).then_some(())
    })
    .await;
}

/// Every response that shows channels.
fn answers(client: &Client, channels: &[Value]) -> Vec<String> {
    let mut answers = vec![client.get("/metrics").body];
    for path in ["/v1/notification-channels", "/v1/notifications", "/v1/meta/channel-types", "/v1/me"] {
        answers.push(client.get(path).expect(200).body);
    }
    for row in notifications(client) {
        answers.push(client.get(&format!("/v1/notifications/{}", id_of(&row))).expect(200).body);
    }
    for channel in channels {
        let path = format!("/v1/notification-channels/{}", id_of(channel));
        answers.push(client.get(&path).expect(200).body);
        answers.push(client.post(&format!("{path}/test"), &json!({})).expect(200).body);
        // A refusal repeats nothing of what it refuses.
        let wrong = json!({"settings": {MARKER: MARKER}, "name": ""});
        let refused = client.patch(&path, &wrong).expect(422).body;
        answers.push(refused.replace(&format!("settings.{MARKER}"), ""));
    }
    answers
}

/// All rows of a database, as the server writes them.
async fn dump(url: &str) -> String {
    let database = Database::connect(url).await.unwrap();
    let query = |text: String| Statement::from_string(DbBackend::Postgres, text);
    let tables =
        "SELECT table_name::text AS text FROM information_schema.tables WHERE table_schema = 'public'";
    let mut dumped = String::new();
    for table in database.query_all_raw(query(tables.to_owned())).await.unwrap() {
        let table: String = table.try_get("", "text").unwrap();
        let rows = database.query_all_raw(query(format!("SELECT t::text AS text FROM \"{table}\" t"))).await;
        dumped.extend(rows.unwrap().iter().map(|row| row.try_get::<String>("", "text").unwrap() + "\n"));
    }
    assert!(dumped.contains("pagerduty"), "it has the channels");
    database.close().await.unwrap();
    dumped
}

async fn a_secret_is_nowhere_in_clear(server: &Server) {
    let client = server.client();
    let sink = Sink::start();
    let mut events = Listener::open(&client, "", None);
    let settings = settings(&sink.base(), repeating_mail_server());
    let channels: Vec<Value> = settings
        .iter()
        .map(|(kind, settings)| {
            create_channel(&client, &json!({"kind": kind, "name": "One", "settings": settings}))
        })
        .collect();
    let count = channels.len();
    let mut shown: Vec<String> = channels.iter().map(Value::to_string).collect();
    for conduct in
        [Conduct::Answer(200, ""), Conduct::Echo, Conduct::EchoLater, Conduct::Close, Conduct::Hang]
    {
        notify_all(&client, &sink, conduct, count).await;
    }
    sink.behave(Conduct::Echo);
    shown.extend(answers(&client, &channels));
    shown.extend(events.all(std::time::Duration::from_secs(1)).iter().map(|event| event.data.to_string()));
    for answer in shown {
        assert_hidden("an answer", answer.as_bytes());
    }
    let arrived = sink.received().iter().map(Received::whole).collect::<String>();
    assert!(arrived.contains(MARKER), "the secrets were on their way");
    assert_hidden("the log", server.log().as_bytes());
    for file in server.files() {
        assert_hidden(&file.display().to_string(), &std::fs::read(&file).unwrap_or_default());
    }
}

#[tokio::test]
async fn a_secret_is_nowhere_in_clear_on_sqlite() {
    a_secret_is_nowhere_in_clear(&Server::embedded("", &[("WATCHKEEPER_LOG", "trace")])).await;
}

#[tokio::test]
async fn a_secret_is_nowhere_in_clear_on_postgres() {
    let Some(server) = Server::on_postgres(&[("WATCHKEEPER_LOG", "trace")]) else { return };
    a_secret_is_nowhere_in_clear(&server).await;
    for url in &server.urls()[..1] {
        assert_hidden("the database", dump(url).await.as_bytes());
    }
}
