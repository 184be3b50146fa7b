//! `/v1/escalation-policies`: recipients of incidents, step by step, until an acknowledgement.

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};

use crate::notification_channels::{create_channel, webhook};
use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::sink::Sink;
use crate::support::{UNKNOWN_ID, create_unconfigured, eventually};

const PATH: &str = "/v1/escalation-policies";
const KEYS: &str = "id position name min_severity applies_to incident_policy_ids tag_ids service_ids steps \
    repeat_after_seconds created_at updated_at";

fn create_policy(client: &Client, body: &Value) -> Value {
    client.post(PATH, body).expect(201).data()
}

fn item(policy: &Value) -> String {
    format!("{PATH}/{}", policy["id"].as_str().unwrap())
}

/// A channel that gets escalations, and the end of the incidents of which it got the start.
fn pager(client: &Client, sink: &Sink) -> Value {
    create_channel(client, &webhook(&sink.url(), &json!({"events": ["incident.resolved"]})))["id"].clone()
}

fn open_incident(client: &Client, more: &Value) -> String {
    let mut body = json!({"title": "Checkout is slow", "status": "investigating", "severity": "major",
        "message": "We are looking into it."});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    let incident = client.post("/v1/incidents", &body).expect(201).data();
    format!("/v1/incidents/{}", incident["id"].as_str().unwrap())
}

fn escalation(client: &Client, incident: &str) -> Value {
    client.get(&format!("{incident}/escalation")).expect(200).data()
}

fn events(sink: &Sink) -> Vec<String> {
    sink.received().iter().map(|message| message.event()).collect()
}

async fn until_events(sink: &Sink, count: usize) -> Vec<String> {
    eventually("it is told", || (sink.received().len() >= count).then_some(())).await;
    events(sink)
}

fn names(client: &Client) -> Vec<Value> {
    let rows = client.get(PATH).expect(200).data();
    rows.as_array().unwrap().iter().map(|row| row["name"].clone()).collect()
}

#[test]
fn a_policy_is_created_shown_changed_and_deleted() {
    let client = Server::shared().tenant("business");
    let channel = pager(&client, &Sink::start());
    let step = |after: u32| json!({"after_seconds": after, "channel_ids": [channel], "contact_ids": [], "schedule_ids": []});
    let steps = json!([step(0), step(900)]);
    let policy = create_policy(&client, &json!({"name": "Shop", "steps": steps}));
    let keys: Vec<&String> = policy.as_object().unwrap().keys().collect();
    assert_eq!(keys, KEYS.split_whitespace().collect::<Vec<_>>());
    for (key, value) in [
        ("position", json!(1)),
        ("min_severity", json!("minor")),
        ("applies_to", json!("all")),
        ("steps", steps.clone()),
        ("repeat_after_seconds", Value::Null),
    ] {
        assert_eq!(policy[key], value, "{key}");
    }
    assert_eq!(client.get(&item(&policy)).expect(200).data(), policy);
    let opener = client.get("/v1/incident-policies").expect(200).data()[0]["id"].clone();
    let tag = client.post("/v1/tags", &json!({"key": "shop"})).expect(201).data()["id"].clone();
    let body = json!({"incident_policy_ids": [opener], "tag_ids": [tag], "repeat_after_seconds": 600});
    let changed = client.patch(&item(&policy), &body).expect(200).data();
    assert_eq!((&changed["applies_to"], &changed["steps"]), (&json!("selected"), &steps));
    assert_eq!((&changed["incident_policy_ids"], &changed["tag_ids"]), (&json!([opener]), &json!([tag])));
    let everything = client.patch(&item(&policy), &json!({"applies_to": "all"})).expect(200).data();
    assert_eq!((&everything["tag_ids"], &everything["repeat_after_seconds"]), (&json!([]), &json!(600)));
    client.delete(&item(&policy)).expect(200);
    client.get(&item(&policy)).expect(404);
}

/// A new policy is first; positions are 1, 2, 3 … after every addition, move and deletion.
#[test]
fn policies_have_an_order() {
    let client = Server::shared().tenant("business");
    let channel = pager(&client, &Sink::start());
    let steps = json!([{"after_seconds": 0, "channel_ids": [channel]}]);
    let a = create_policy(&client, &json!({"name": "a", "steps": steps}));
    create_policy(&client, &json!({"name": "b", "steps": steps, "position": 2}));
    let c = create_policy(&client, &json!({"name": "c", "steps": steps}));
    assert_eq!(names(&client), ["c", "a", "b"]);
    client.patch(&item(&c), &json!({"position": 3})).expect(200);
    assert_eq!(names(&client), ["a", "b", "c"]);
    client.delete(&item(&a)).expect(200);
    let places = client.get(PATH).expect(200).data();
    let places: Vec<i64> =
        places.as_array().unwrap().iter().map(|row| row["position"].as_i64().unwrap()).collect();
    assert_eq!(places, [1, 2]);
}

/// A member that is wrong, and what is said about it.
#[rstest]
#[case::no_name("name", Value::Null, "name")]
#[case::no_steps("steps", Value::Null, "steps")]
#[case::empty("steps", json!([]), "steps")]
#[case::no_channel("steps", json!([{"after_seconds": 0, "channel_ids": []}]), "steps.0.channel_ids")]
#[case::unknown_channel("steps", json!([{"after_seconds": 0, "channel_ids": [UNKNOWN_ID]}]), "steps.0.channel_ids.0")]
#[case::no_time("steps", json!([{"channel_ids": ["CHANNEL"]}]), "steps.0.after_seconds")]
#[case::too_long("steps", json!([{"after_seconds": 86_401, "channel_ids": ["CHANNEL"]}]), "steps.0.after_seconds")]
#[case::unknown_member("steps", json!([{"after_seconds": 0, "channel_ids": ["CHANNEL"], "when": 1}]), "steps.0.when")]
#[case::hasty("repeat_after_seconds", json!(59), "repeat_after_seconds")]
#[case::severity("min_severity", json!("awful"), "min_severity")]
#[case::position("position", json!(3), "position")]
#[case::tag("tag_ids", json!([UNKNOWN_ID]), "tag_ids.0")]
#[case::service("service_ids", json!([UNKNOWN_ID]), "service_ids.0")]
#[case::opener("incident_policy_ids", json!([UNKNOWN_ID]), "incident_policy_ids.0")]
fn an_invalid_policy_is_refused(#[case] key: &str, #[case] value: Value, #[case] field: &str) {
    let client = Server::shared().tenant("business");
    let channel = pager(&client, &Sink::start());
    let value: Value =
        serde_json::from_str(&value.to_string().replace("CHANNEL", channel.as_str().unwrap())).unwrap();
    let mut body = json!({"name": "Shop", "steps": [{"after_seconds": 0, "channel_ids": [channel]}]});
    body[key] = value;
    let errors = client.post(PATH, &body).expect(422).errors();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].0, field, "{errors:?}");
    assert_eq!(client.get(PATH).expect(200).data(), json!([]));
}

#[test]
fn rows_used_by_a_policy_cannot_be_deleted() {
    let client = Server::shared().tenant("business");
    let channel = pager(&client, &Sink::start());
    let tag = client.post("/v1/tags", &json!({"key": "shop"})).expect(201).data()["id"].clone();
    let steps = json!([{"after_seconds": 0, "channel_ids": [channel]}]);
    let policy = create_policy(&client, &json!({"name": "Shop", "steps": steps, "tag_ids": [tag]}));
    let paths = [("tags", &tag), ("notification-channels", &channel)]
        .map(|(path, id)| format!("/v1/{path}/{}", id.as_str().unwrap()));
    let refused = paths.each_ref().map(|path| client.delete(path).expect(422).errors().remove(0).1);
    let expected = [
        "This tag is still in use: escalation policy Shop.",
        "Escalation policies tell this notification channel: Shop.",
    ];
    assert_eq!(refused, expected);
    client.delete(&item(&policy)).expect(200);
    for path in paths {
        client.delete(&path).expect(200);
    }
}

/// Recipients of a step also get the end; recipients of later steps get neither.
#[tokio::test]
async fn steps_continue_until_an_acknowledgement() {
    let client = Server::shared().tenant("business");
    let [first, second, third] = [(); 3].map(|()| Sink::start());
    let step =
        |after: u32, sink: &Sink| json!({"after_seconds": after, "channel_ids": [pager(&client, sink)]});
    let steps = json!([step(0, &first), step(1, &second), step(3_600, &third)]);
    let policy = create_policy(&client, &json!({"name": "Shop", "steps": steps}));
    let incident = open_incident(&client, &json!({}));
    assert_eq!(until_events(&first, 1).await, ["incident.escalated"]);
    let facts = first.received()[0].json()["data"]["incident"].clone();
    assert_eq!((&facts["title"], &facts["severity"]), (&json!("Checkout is slow"), &json!("major")));
    assert_eq!(until_events(&second, 1).await, ["incident.escalated"]);
    let shown = escalation(&client, &incident);
    assert_eq!((&shown["policy_id"], &shown["policy_name"]), (&policy["id"], &json!("Shop")));
    assert_eq!((&shown["round"], &shown["steps_taken"]), (&json!(1), &json!(2)));
    client.post(&format!("{incident}/acknowledge"), &json!({})).expect(200);
    assert_eq!(escalation(&client, &incident), Value::Null);
    let end = json!({"message": "It works again."});
    client.post(&format!("{incident}/resolve"), &end).expect(200);
    for sink in [&first, &second] {
        assert_eq!(until_events(sink, 2).await, ["incident.escalated", "incident.resolved"]);
    }
    assert_eq!(events(&third), [""; 0]);
}

/// The reopened incident restarts its policy.
#[tokio::test]
async fn a_reopened_incident_restarts_its_escalation() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    let steps = json!([{"after_seconds": 0, "channel_ids": [pager(&client, &sink)]}]);
    create_policy(&client, &json!({"name": "Shop", "steps": steps}));
    let incident = open_incident(&client, &json!({}));
    until_events(&sink, 1).await;
    let shown = escalation(&client, &incident);
    assert_eq!(
        (&shown["steps_taken"], &shown["next_at"]),
        (&json!(1), &Value::Null),
        "it ends with its last step"
    );
    client.patch(&incident, &json!({"severity": "critical"})).expect(200);
    client.post(&format!("{incident}/resolve"), &json!({"message": "It works."})).expect(200);
    until_events(&sink, 2).await;
    let again = json!({"status": "investigating", "message": "No, it does not."});
    client.post(&format!("{incident}/updates"), &again).expect(201);
    let expected = ["incident.escalated", "incident.resolved", "incident.escalated"];
    assert_eq!(until_events(&sink, 3).await, expected);
}

/// The first policy that matches decides, alone.
#[tokio::test]
async fn an_incident_follows_the_first_policy_that_matches() {
    let client = Server::shared().tenant("business");
    let sinks = [(); 3].map(|()| Sink::start());
    client.post("/v1/tags", &json!({"key": "shop"})).expect(201);
    let service = create_unconfigured(&client);
    let tagged =
        client.patch(&format!("/v1/services/{service}"), &json!({"tags": ["shop"]})).expect(200).data();
    let tag = tagged["tags"][0]["id"].clone();
    let chosen = [json!({"min_severity": "critical"}), json!({"tag_ids": [tag]}), json!({})];
    for ((place, sink), mut body) in (1..).zip(&sinks).zip(chosen) {
        let steps = json!([{"after_seconds": 0, "channel_ids": [pager(&client, sink)]}]);
        body["steps"] = steps;
        (body["name"], body["position"]) = (json!(format!("Policy {place}")), json!(place));
        create_policy(&client, &body);
    }
    let incident = open_incident(&client, &json!({"service_ids": [service]}));
    until_events(&sinks[1], 1).await;
    assert_eq!(escalation(&client, &incident)["policy_name"], "Policy 2");
    let grave = open_incident(&client, &json!({"service_ids": [service], "severity": "critical"}));
    until_events(&sinks[0], 1).await;
    assert_eq!(escalation(&client, &grave)["policy_name"], "Policy 1");
    let other = open_incident(&client, &json!({}));
    until_events(&sinks[2], 1).await;
    assert_eq!(escalation(&client, &other)["policy_name"], "Policy 3");
    let counts = sinks.each_ref().map(|sink| events(sink).len());
    assert_eq!(counts, [1, 1, 1]);
}

/// An incident that the engine opened is assigned by the incident policy that opened it.
#[tokio::test]
async fn an_incident_policy_selects_its_escalation_policy() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    let opener = client.get("/v1/incident-policies").expect(200).data()[0]["id"].clone();
    let steps = json!([{"after_seconds": 0, "channel_ids": [pager(&client, &sink)]}]);
    create_policy(&client, &json!({"name": "Engine", "steps": steps, "incident_policy_ids": [opener]}));
    let by_people = open_incident(&client, &json!({}));
    assert_eq!(escalation(&client, &by_people), Value::Null);
    let body = json!({"name": "Shop", "check_type": "tcp", "target": "127.0.0.1:9",
        "settings": {"interval_seconds": 30}});
    client.post("/v1/services", &body).expect(201);
    assert_eq!(until_events(&sink, 1).await, ["incident.escalated"]);
}

/// A step with disabled channels reaches nobody: the next one is taken at once.
#[tokio::test]
async fn a_step_without_recipients_is_skipped() {
    let client = Server::shared().tenant("business");
    let (off, on) = (Sink::start(), Sink::start());
    let silent = create_channel(&client, &webhook(&off.url(), &json!({"is_enabled": false})))["id"].clone();
    let steps = json!([{"after_seconds": 0, "channel_ids": [silent]},
        {"after_seconds": 3_600, "channel_ids": [pager(&client, &on)]}]);
    create_policy(&client, &json!({"name": "Shop", "steps": steps}));
    open_incident(&client, &json!({}));
    assert_eq!(until_events(&on, 1).await, ["incident.escalated"]);
    assert_eq!(events(&off), [""; 0]);
}

/// A step that is due while nothing runs is taken once afterwards; those behind it wait from then on.
#[tokio::test]
async fn a_step_due_during_a_restart_happens_once() {
    let mut server = Server::start();
    let client = server.client();
    let (first, second) = (Sink::start(), Sink::start());
    let step =
        |after: u32, sink: &Sink| json!({"after_seconds": after, "channel_ids": [pager(&client, sink)]});
    let steps = json!([step(2, &first), step(3_600, &second)]);
    create_policy(&client, &json!({"name": "Shop", "steps": steps}));
    let incident = open_incident(&client, &json!({}));
    server.kill();
    tokio::time::sleep(Duration::from_secs(3)).await;
    server.restart();
    let client = server.client();
    until_events(&first, 1).await;
    server.kill_and_restart();
    let client_after = server.client();
    drop(client);
    eventually("the step is written down", || {
        let shown = escalation(&client_after, &incident);
        (shown["steps_taken"] == 1).then_some(())
    })
    .await;
    let ids: Vec<String> = first.received().iter().map(|told| told.header("webhook-id").to_owned()).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(events(&second), [""; 0]);
}
