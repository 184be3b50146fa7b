//! Events that are no incidents: they are told once when they begin and once when they are over, and can be looked at.

use rstest::rstest;
use serde_json::{Value, json};

use crate::notification_channels::{create_channel, webhook};
use crate::probes::unfriendly_target;
use crate::support::client::Client;
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::sink::Sink;
use crate::support::target::Target;
use crate::support::{create, create_watched, eventually};

/// Trouble of locations and of the process counts after a second.
const SOON: (&str, &str) = ("WATCHKEEPER_WATCHDOG__NOTICE_AFTER_SECONDS", "1");

/// A channel that is told of this event alone.
fn sink_for(client: &Client, event: &str) -> Sink {
    let sink = Sink::start();
    create_channel(client, &webhook(&sink.url(), &json!({"events": [event]})));
    sink
}

/// The notices that a sink was told of: whether they are over, and their titles.
async fn until_told(sink: &Sink, expected: &[(bool, &str)]) -> Vec<Value> {
    let told = eventually(&format!("{expected:?}"), || {
        let received = sink.received();
        (received.len() >= expected.len()).then_some(received)
    })
    .await;
    let notices: Vec<Value> = told.iter().map(|message| message.json()["data"]["notice"].clone()).collect();
    let said: Vec<(bool, &str)> =
        notices.iter().map(|notice| (notice["is_over"] == true, notice["title"].as_str().unwrap())).collect();
    assert_eq!(said, expected);
    assert!(notices.iter().all(|notice| notice["id"] == notices[0]["id"]), "{notices:?}");
    notices
}

fn ping(client: &Client, service: &str, path: &str) {
    let shown = client.get(&format!("/v1/services/{service}")).expect(200).data();
    let url = shown["heartbeat"]["ping_url"].as_str().unwrap();
    let address = format!("{}{path}", &url[url.find("/ping/").unwrap()..]);
    client.without_token().send("POST", &address, &[], b"").expect(200);
}

#[tokio::test]
async fn a_missed_heartbeat_is_told_until_the_next_ping() {
    let client = Server::shared().tenant("business");
    let sink = sink_for(&client, "heartbeat.missed");
    let backup = create(&client, &json!({"name": "Backup", "check_type": "heartbeat"}));
    ping(&client, &backup, "/fail");
    let begin = until_told(&sink, &[(false, "Backup has not reported")]).await;
    assert_eq!((&begin[0]["severity"], &begin[0]["is_over"]), (&json!("major"), &json!(false)));
    ping(&client, &backup, "");
    until_told(&sink, &[(false, "Backup has not reported"), (true, "Backup reports again")]).await;
    let rows = client.get("/v1/notices?lasts=false").expect(200).data();
    assert_eq!((&rows[0]["event"], &rows[0]["about"]), (&json!("heartbeat.missed"), &json!(backup)));
    assert!(rows[0]["ended_at"].is_string(), "{rows}");
    assert_eq!(client.get("/v1/notices?lasts=true").expect(200).data(), json!([]));
}

/// Whoever works on a service has not to be told that it does not report.
#[tokio::test]
async fn what_a_maintenance_covers_is_not_told_before_it_ends() {
    let client = Server::shared().tenant("business");
    let sink = sink_for(&client, "heartbeat.missed");
    let [covered, other] =
        ["Covered", "Other"].map(|name| create(&client, &json!({"name": name, "check_type": "heartbeat"})));
    let window =
        json!({"title": "Work", "service_ids": [covered], "scheduled_start": "2026-01-01T00:00:00Z"});
    let window = create_maintenance(&client, &window);
    ping(&client, &covered, "/fail");
    ping(&client, &other, "/fail");
    until_told(&sink, &[(false, "Other has not reported")]).await;
    client.post(&format!("/v1/maintenances/{window}/complete"), &json!({})).expect(200);
    let told = eventually("the other one", || {
        let received = sink.received();
        (received.len() == 2).then_some(received)
    })
    .await;
    assert_eq!(told[1].json()["data"]["notice"]["title"], "Covered has not reported");
}

fn create_maintenance(client: &Client, body: &Value) -> String {
    client.post("/v1/maintenances", body).expect(201).data()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_history_that_is_away_is_told_to_the_operator() {
    let Some(postgres) = Postgres::start() else { return };
    let server = Server::with("", &[("WATCHKEEPER_HISTORY_URL", &postgres.url()), SOON]);
    let (client, other) = (server.client(), server.tenant("business"));
    let sink = sink_for(&client, "monitor.trouble");
    let elsewhere = sink_for(&other, "monitor.trouble");
    let target = Target::start();
    create(
        &client,
        &json!({"name": "Shop", "check_type": "http", "target": target.url(), "settings": {"interval_seconds": 1}}),
    );
    eventually("it is looked at", || (!target.requests().is_empty()).then_some(())).await;
    postgres.stop();
    let told = eventually("it is told", || sink.received().first().map(|message| message.json())).await;
    assert_eq!(told["data"]["notice"]["severity"], "critical", "{told}");
    postgres.start_again();
    let history = told["data"]["notice"]["id"].clone();
    let over = eventually("it is over", || {
        let all = sink.received();
        let mut notices = all.iter().map(|message| message.json()["data"]["notice"].clone());
        notices.find(|notice| notice["id"] == history && notice["is_over"] == true)
    })
    .await;
    assert_eq!(over["title"], "Over: Watchkeeper cannot write its history");
    assert!(elsewhere.received().is_empty(), "it concerns nobody else");
}

#[tokio::test]
async fn an_impaired_location_is_told_to_those_who_see_it_so() {
    let location = |number: u8| {
        format!("[[probe.locations]]\ncode = 'l{number}'\nsource_address = '127.0.9.{number}'\n")
    };
    let server = Server::embedded(&(1..=3).map(location).collect::<String>(), &[SOON]);
    let (client, neighbour) = (server.client(), server.tenant("team"));
    let sink = sink_for(&client, "location.impaired");
    let elsewhere = sink_for(&neighbour, "location.impaired");
    let target = unfriendly_target([127, 0, 9, 2].into());
    let settings = json!({"interval_seconds": 1, "retries": 0});
    for _ in 0..5 {
        create_watched(&client, &format!("http://{target}/"), &settings);
    }
    until_told(&sink, &[(false, "Location l2 has lost its network")]).await;
    assert!(elsewhere.received().is_empty(), "the neighbour has seen nothing");
}

#[rstest]
#[case("lasts=yes", "lasts")]
fn a_wrong_filter_is_refused(#[case] query: &str, #[case] key: &str) {
    let client = Server::shared().tenant("business");
    assert_eq!(client.get(&format!("/v1/notices?{query}")).expect(422).errors()[0].0, key);
}
