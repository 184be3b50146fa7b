//! Messages about services that join an incident, a raised severity and the end; in quiet hours and while a channel is off.

use serde_json::{Value, json};

use crate::incidents::{id_of, open_incident};
use crate::notification_channels::{create_channel, webhook};
use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::sink::{Received, Sink};
use crate::support::{create_unconfigured, eventually};

/// Quiet hours that are now, whenever that is, but for what is critical.
fn always(zone: &str) -> Value {
    let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    json!({"hours": [{"days": days, "from": "00:00", "to": "24:00"}], "time_zone": zone, "except_from": "critical"})
}

fn channel(client: &Client, sink: &Sink, more: &Value) -> String {
    let channel = create_channel(client, &webhook(&sink.url(), more));
    format!("/v1/notification-channels/{}", id_of(&channel))
}

fn path(incident: &Value) -> String {
    format!("/v1/incidents/{}", id_of(incident))
}

fn events(sink: &Sink) -> Vec<String> {
    sink.received().iter().map(Received::event).collect()
}

async fn until_events(sink: &Sink, count: usize) -> Vec<String> {
    eventually("it is told", || (sink.received().len() >= count).then_some(())).await;
    events(sink)
}

/// The messages of the organisation in this state, as event and what holds it.
fn messages(client: &Client, status: &str) -> Vec<(Value, Value)> {
    let rows = client.get(&format!("/v1/notifications?status={status}")).expect(200).data();
    rows.as_array().unwrap().iter().map(|row| (row["event"].clone(), row["held_by"].clone())).collect()
}

/// Waits until these messages alone wait: what has just arrived still does until the answer is recorded.
async fn until_waiting(client: &Client, expected: &[(Value, Value)]) {
    eventually("these wait", || (messages(client, "waiting") == expected).then_some(())).await;
}

/// The first joined services are reported at once, the next ones together.
#[tokio::test]
async fn joined_services_are_reported_by_name_and_then_in_a_batch() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    channel(&client, &sink, &json!({}));
    let services = [(); 5].map(|()| create_unconfigured(&client));
    let incident = open_incident(&client, &json!({"service_ids": [services[0]]}));
    until_events(&sink, 1).await;
    for count in 2..=5 {
        client.patch(&path(&incident), &json!({"service_ids": services[..count]})).expect(200);
    }
    assert_eq!(until_events(&sink, 2).await, ["incident.opened", "incident.service_joined"]);
    let joined = sink.received()[1].json()["data"]["incident"]["joined"].clone();
    assert_eq!(joined["services"][0]["id"], json!(services[1]), "{joined}");
    until_waiting(&client, &[(json!("incident.service_joined"), json!("batch"))]).await;
    // The end takes along what waits.
    client.post(&format!("{}/resolve", path(&incident)), &json!({"message": "Over."})).expect(200);
    until_events(&sink, 4).await;
    assert_eq!(events(&sink)[2..], ["incident.service_joined", "incident.resolved"]);
    let joined = sink.received()[2].json()["data"]["incident"]["joined"].clone();
    assert_eq!(joined["count"], 3, "{joined}");
}

/// A raised severity is sent to channels that were notified of less, with the default events, and releases held messages.
#[tokio::test]
async fn a_raised_severity_is_reported_and_releases_held_messages() {
    let client = Server::shared().tenant("business");
    let [plain, asleep, few, pager] = [(); 4].map(|()| Sink::start());
    channel(&client, &plain, &json!({}));
    channel(&client, &asleep, &json!({"quiet_hours": always("UTC")}));
    let only_start = json!({"quiet_hours": always("UTC"), "events": ["incident.opened"]});
    channel(&client, &few, &only_start);
    channel(&client, &pager, &json!({"min_severity": "critical"}));
    let incident = open_incident(&client, &json!({"severity": "minor"}));
    until_events(&plain, 1).await;
    client.patch(&path(&incident), &json!({"severity": "critical"})).expect(200);
    assert_eq!(until_events(&plain, 2).await, ["incident.opened", "incident.worsened"]);
    let worse = plain.received()[1].json()["data"]["incident"].clone();
    assert_eq!((&worse["severity"], &worse["previous_severity"]), (&json!("critical"), &json!("minor")));
    assert_eq!(until_events(&asleep, 2).await, ["incident.opened", "incident.worsened"]);
    assert_eq!(until_events(&few, 1).await, ["incident.opened"]);
    assert_eq!(until_events(&pager, 1).await, ["incident.opened"]);
    until_waiting(&client, &[]).await;
}

/// The critical policy is entered, although the policy for everything has done its last step.
#[tokio::test]
async fn a_raised_severity_starts_the_policy_that_now_matches_first() {
    let client = Server::shared().tenant("business");
    let [night, day] = [(); 2].map(|()| Sink::start());
    for (sink, name, least, position) in [(&night, "Night", "critical", 1), (&day, "Day", "minor", 2)] {
        let pager = create_channel(&client, &webhook(&sink.url(), &json!({"events": ["incident.resolved"]})));
        let steps = json!([{"after_seconds": 0, "channel_ids": [pager["id"]]}]);
        let body = json!({"name": name, "min_severity": least, "position": position, "steps": steps});
        client.post("/v1/escalation-policies", &body).expect(201);
    }
    let incident = open_incident(&client, &json!({"severity": "minor"}));
    until_events(&day, 1).await;
    client.patch(&path(&incident), &json!({"severity": "critical"})).expect(200);
    assert_eq!(until_events(&night, 1).await, ["incident.escalated"]);
    let escalation = client.get(&format!("{}/escalation", path(&incident))).expect(200).data();
    assert_eq!(escalation["policy_name"], "Night");
    client.patch(&path(&incident), &json!({"severity": "minor"})).expect(200);
    let escalation = client.get(&format!("{}/escalation", path(&incident))).expect(200).data();
    assert_eq!(escalation["policy_name"], "Night", "it does not go back");
}

#[tokio::test]
async fn a_disabled_channel_gets_the_end_after_it_is_enabled_again() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    let channel = channel(&client, &sink, &json!({}));
    let incident = open_incident(&client, &json!({}));
    until_events(&sink, 1).await;
    client.patch(&channel, &json!({"is_enabled": false})).expect(200);
    client.post(&format!("{}/resolve", path(&incident)), &json!({"message": "Over."})).expect(200);
    until_waiting(&client, &[(json!("incident.resolved"), Value::Null)]).await;
    client.patch(&channel, &json!({"is_enabled": true})).expect(200);
    assert_eq!(until_events(&sink, 2).await, ["incident.opened", "incident.resolved"]);
}

/// Other quiet hours that are now hold what waits as before, and other changes release nothing.
#[tokio::test]
async fn changed_quiet_hours_apply_to_held_messages() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    let channel = channel(&client, &sink, &json!({"quiet_hours": always("UTC")}));
    open_incident(&client, &json!({"severity": "minor"}));
    let held = [(json!("incident.opened"), json!("quiet_hours"))];
    for change in [
        json!({"digest_above": 30}),
        json!({"quiet_hours": always("Europe/Berlin")}),
        json!({"name": "Night"}),
    ] {
        client.patch(&channel, &change).expect(200);
        assert_eq!(messages(&client, "waiting"), held, "{change}");
    }
    assert_eq!(events(&sink), [""; 0]);
    client.patch(&channel, &json!({"quiet_hours": null})).expect(200);
    assert_eq!(until_events(&sink, 1).await, ["incident.opened"]);
}

/// Held messages about an incident that is deleted with its service are deleted, too.
#[tokio::test]
async fn held_messages_are_deleted_with_the_service_and_its_incidents() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    channel(&client, &sink, &json!({"quiet_hours": always("UTC")}));
    let service = create_unconfigured(&client);
    open_incident(&client, &json!({"severity": "minor", "service_ids": [service]}));
    assert_eq!(messages(&client, "waiting").len(), 1);
    client.delete(&format!("/v1/services/{service}?delete_orphaned_incidents=true")).expect(200);
    assert_eq!(messages(&client, "waiting"), []);
}
