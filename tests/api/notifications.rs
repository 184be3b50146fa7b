//! Notifications: changes of incidents arrive at channels, and every delivery is listed.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::incidents::{id_of, open_incident};
use crate::notification_channels::{SECRET, create_channel, webhook};
use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::sink::{Conduct, Received, Sink};
use crate::support::{create_unconfigured, eventually};

/// Every event that a channel can get.
fn every_event() -> Value {
    json!({"events": ["incident.opened", "incident.updated", "incident.acknowledged", "incident.reopened",
        "incident.resolved"]})
}

fn events(sink: &Sink) -> Vec<String> {
    sink.received().iter().map(Received::event).collect()
}

async fn until_received(sink: &Sink, count: usize) -> Vec<Received> {
    eventually(&format!("{count} messages"), || {
        let received = sink.received();
        (received.len() >= count).then_some(received)
    })
    .await
}

fn resolve(client: &Client, incident: &Value) {
    client
        .post(&format!("/v1/incidents/{}/resolve", id_of(incident)), &json!({"message": "Over."}))
        .expect(200);
}

fn deliveries(client: &Client, query: &str) -> Vec<Value> {
    client.get(&format!("/v1/notifications?{query}")).expect(200).data().as_array().unwrap().clone()
}

async fn until_status(client: &Client, status: &str, count: usize) -> Vec<Value> {
    eventually(&format!("{count} are {status}"), || {
        let rows = deliveries(client, &format!("status={status}"));
        (rows.len() == count).then_some(rows)
    })
    .await
}

/// Standard Webhooks: `{id}.{timestamp}.{body}` under the key behind `whsec_`.
fn is_signed(received: &Received, secret: &str) -> bool {
    let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    let head = format!("{}.{}.", received.header("webhook-id"), received.header("webhook-timestamp"));
    let signature = mac.chain_update(head).chain_update(&received.body).finalize().into_bytes();
    let expected = format!("v1,{}", BASE64.encode(signature));
    received.header("webhook-signature").split(' ').any(|signature| signature == expected)
}

#[tokio::test]
async fn messages_of_an_incident_arrive_in_order() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    create_channel(&client, &webhook(&sink.url(), &every_event()));
    let service = create_unconfigured(&client);
    let incident = open_incident(&client, &json!({"service_ids": [service], "severity": "major"}));
    let path = format!("/v1/incidents/{}", id_of(&incident));
    client.post(&format!("{path}/acknowledge"), &json!({})).expect(200);
    client.patch(&path, &json!({"severity": "critical"})).expect(200);
    resolve(&client, &incident);
    let received = until_received(&sink, 4).await;
    let expected = ["incident.opened", "incident.acknowledged", "incident.updated", "incident.resolved"];
    assert_eq!(events(&sink), expected);
    assert!(received.iter().all(|message| is_signed(message, SECRET)));
    let data = &received[0].json()["data"];
    assert_eq!(data["incident"]["id"], incident["id"]);
    assert_eq!(data["incident"]["title"], "Checkout is slow");
    assert_eq!(data["incident"]["message"], "We are looking into it.");
    assert_eq!(data["incident"]["severity"], "major");
    assert_eq!(data["incident"]["services"][0]["id"], service);
    assert_eq!(received[3].json()["data"]["incident"]["status"], "resolved");
    let rows = until_status(&client, "delivered", 4).await;
    let ids: Vec<&str> = received.iter().rev().map(|message| message.header("webhook-id")).collect();
    assert_eq!(rows.iter().map(|row| row["id"].as_str().unwrap()).collect::<Vec<_>>(), ids);
    assert_eq!(rows[3]["tries"][0]["status_code"], 204);
    assert_eq!(rows[3]["incident_id"], incident["id"]);
}

#[tokio::test]
async fn a_failed_message_is_retried_with_the_same_id_before_the_next() {
    let client = Server::shared().tenant("business");
    let sink = Sink::with(Conduct::Answer(500, ""));
    create_channel(&client, &webhook(&sink.url(), &every_event()));
    let incident = open_incident(&client, &json!({}));
    resolve(&client, &incident);
    until_received(&sink, 2).await;
    assert_eq!(events(&sink)[..2], ["incident.opened", "incident.opened"]);
    sink.behave(Conduct::Answer(204, ""));
    let rows = until_status(&client, "delivered", 2).await;
    let received = sink.received();
    let ids: Vec<&str> = received.iter().map(|message| message.header("webhook-id")).collect();
    let (last, others) = ids.split_last().unwrap();
    assert!(others.iter().all(|id| *id == others[0]) && *last != others[0], "{ids:?}");
    assert_eq!(received.last().unwrap().event(), "incident.resolved");
    let tries = rows[1]["tries"].as_array().unwrap();
    assert_eq!(tries.len(), others.len());
    assert_eq!((&tries[0]["outcome"], &tries[0]["status_code"]), (&json!("failed"), &json!(500)));
    assert!(received.iter().all(|message| is_signed(message, SECRET)), "each try is signed anew");
}

/// Events beyond the limit of a minute are one message at its end; later ones are sent separately again.
#[tokio::test]
async fn many_simultaneous_events_are_one_digest() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    create_channel(&client, &webhook(&sink.url(), &json!({"digest_above": 2})));
    let incidents: Vec<Value> = (0..5).map(|_| open_incident(&client, &json!({}))).collect();
    until_received(&sink, 2).await;
    let held = until_status(&client, "waiting", 3).await;
    assert!(held.iter().all(|row| row["held_by"] == "digest" && row["next_try_at"].is_string()), "{held:?}");
    resolve(&client, &incidents[4]);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(90);
    while sink.received().len() < 3 {
        assert!(tokio::time::Instant::now() < deadline, "no digest has come");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let digest = sink.received()[2].clone();
    assert_eq!(digest.event(), "digest");
    assert!(is_signed(&digest, SECRET));
    let told = digest.json()["data"]["digest"].clone();
    assert_eq!(told["count"], 4, "{told}");
    let about: Vec<&Value> =
        told["messages"].as_array().unwrap().iter().map(|message| &message["about"]).collect();
    let expected = [&incidents[2]["id"], &incidents[3]["id"], &incidents[4]["id"], &incidents[4]["id"]];
    assert_eq!(about, expected);
    let gathered = until_status(&client, "gathered", 4).await;
    assert!(gathered.iter().all(|row| row["digest_id"] == digest.header("webhook-id")), "{gathered:?}");
    resolve(&client, &incidents[3]);
    let last = until_received(&sink, 4).await;
    assert_eq!(last[3].event(), "incident.resolved");
}

#[tokio::test]
async fn a_channel_gets_only_matching_incidents() {
    let client = Server::shared().tenant("business");
    let [all, severe, tagged, named, off] = [(); 5].map(|()| Sink::start());
    let tag = client.post("/v1/tags", &json!({"key": "env"})).expect(201).data();
    let shop = create_unconfigured(&client);
    let mail = create_unconfigured(&client);
    client.patch(&format!("/v1/services/{shop}"), &json!({"tags": ["env"]})).expect(200);
    for (sink, more) in [
        (&all, json!({})),
        (&severe, json!({"min_severity": "critical"})),
        (&tagged, json!({"tag_ids": [tag["id"]]})),
        (&named, json!({"service_ids": [mail]})),
        (&off, json!({"is_enabled": false})),
    ] {
        create_channel(&client, &webhook(&sink.url(), &more));
    }
    let of_shop = open_incident(&client, &json!({"service_ids": [shop], "severity": "critical"}));
    let of_mail = open_incident(&client, &json!({"service_ids": [mail], "severity": "minor"}));
    // Less severe now, but channels that got the start also get the end.
    let path = format!("/v1/incidents/{}", id_of(&of_shop));
    client.patch(&path, &json!({"severity": "minor"})).expect(200);
    resolve(&client, &of_shop);
    resolve(&client, &of_mail);
    until_status(&client, "delivered", 4 + 2 + 2 + 2).await;
    let of = |sink: &Sink| {
        let event_and_title = |message: &Received| {
            (message.event().replace("incident.", ""), message.json()["data"]["incident"]["id"].clone())
        };
        let mut event_and_title: Vec<_> = sink.received().iter().map(event_and_title).collect();
        event_and_title.sort_by_key(|(_, id)| *id != of_shop["id"]);
        event_and_title
    };
    let whole = |incident: &Value| {
        ["opened", "resolved"].map(|event| (event.to_owned(), incident["id"].clone())).to_vec()
    };
    assert_eq!(of(&all), [whole(&of_shop), whole(&of_mail)].concat());
    assert_eq!(of(&severe), whole(&of_shop));
    assert_eq!(of(&tagged), whole(&of_shop));
    assert_eq!(of(&named), whole(&of_mail));
    assert_eq!(of(&off), []);
}

#[tokio::test]
async fn a_dead_message_is_retried_on_request() {
    let client = Server::shared().tenant("business");
    let sink = Sink::with(Conduct::Echo);
    let channel = create_channel(&client, &webhook(&sink.url(), &every_event()));
    let incident = open_incident(&client, &json!({}));
    resolve(&client, &incident);
    let dead = until_status(&client, "dead", 2).await;
    assert_eq!(dead[0]["tries"][0]["outcome"], "refused");
    assert!(dead[0]["tries"][0]["detail"].as_str().unwrap().len() <= 300);
    sink.behave(Conduct::Answer(204, ""));
    let path = format!("/v1/notifications/{}", id_of(&dead[1]));
    client.post(&format!("{path}/redeliver"), &json!({})).expect(200);
    until_status(&client, "delivered", 1).await;
    assert_eq!(client.post(&format!("{path}/redeliver"), &json!({})).expect(422).errors()[0].0, "status");
    let all =
        client.post("/v1/notifications/redeliver", &json!({"channel_id": channel["id"]})).expect(200).data();
    assert_eq!(all, json!({"redelivered": 1}));
    until_status(&client, "delivered", 2).await;
    assert_eq!(client.get(&path).expect(200).data()["tries"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn deliveries_are_filtered_and_paged_by_cursor() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    let channel = create_channel(&client, &webhook(&sink.url(), &every_event()));
    let first = open_incident(&client, &json!({}));
    for _ in 0..4 {
        open_incident(&client, &json!({}));
    }
    resolve(&client, &first);
    until_status(&client, "delivered", 6).await;
    let of = |query: &str| deliveries(&client, query).len();
    assert_eq!(of("event=incident.opened"), 5);
    assert_eq!(of("event=incident.opened,incident.resolved"), 6);
    assert_eq!(of("status=dead,waiting"), 0);
    assert_eq!(of(&format!("incident_id={}", id_of(&first))), 2);
    assert_eq!(of(&format!("channel_id={}", id_of(&channel))), 6);
    assert_eq!(of(&format!("channel_id={}", crate::support::UNKNOWN_ID)), 0);
    let mut walked = Vec::new();
    let mut next = "/v1/notifications?per_page=4".to_owned();
    loop {
        let page = client.get(&next).expect(200).json();
        walked.extend(page["data"].as_array().unwrap().iter().map(id_of));
        let Some(cursor) = page["meta"]["next_cursor"].as_str() else { break };
        next = format!("/v1/notifications?per_page=4&cursor={cursor}");
    }
    assert_eq!(walked, deliveries(&client, "").iter().map(id_of).collect::<Vec<_>>());
    for (query, field) in
        [("cursor=AAAA", "cursor"), ("status=lost", "status"), ("incident_id=x", "incident_id")]
    {
        let errors = client.get(&format!("/v1/notifications?{query}")).expect(422).errors();
        assert!(errors[0].0.starts_with(field), "{errors:?}");
    }
}

/// A retry delay requested by a sink is respected; it applies to the whole channel.
#[tokio::test]
async fn a_requested_retry_delay_is_respected() {
    let client = Server::shared().tenant("business");
    let sink = Sink::with(Conduct::Answer(429, "Retry-After: 3\r\n"));
    create_channel(&client, &webhook(&sink.url(), &every_event()));
    open_incident(&client, &json!({}));
    let first = until_received(&sink, 1).await;
    sink.behave(Conduct::Answer(204, ""));
    open_incident(&client, &json!({}));
    until_status(&client, "delivered", 2).await;
    let waited = sink.received()[1].at.duration_since(first[0].at);
    assert!(waited >= Duration::from_millis(2_900), "{waited:?}");
}

/// Deleting the last service of an incident ends it; channels that got the start get the end.
#[tokio::test]
async fn an_end_by_a_deleted_service_is_reported() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    create_channel(&client, &webhook(&sink.url(), &json!({})));
    let service = create_unconfigured(&client);
    open_incident(&client, &json!({"service_ids": [service]}));
    client.delete(&format!("/v1/services/{service}")).expect(200);
    until_received(&sink, 2).await;
    assert_eq!(events(&sink), ["incident.opened", "incident.resolved"]);
}
