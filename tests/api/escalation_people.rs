//! Steps of escalation policies that notify people: contacts, and the contact on duty.

use rstest::rstest;
use serde_json::{Value, json};

use crate::contacts::{contact_item, create_contact};
use crate::notification_channels::{create_channel, webhook};
use crate::oncall::{SCHEDULES, create_schedule, daily};
use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::sink::Sink;
use crate::support::{UNKNOWN_ID, create_unconfigured, eventually};

const POLICIES: &str = "/v1/escalation-policies";

/// A channel that gets only messages addressed to contacts.
fn channel(client: &Client, sink: &Sink) -> Value {
    create_channel(client, &webhook(&sink.url(), &json!({"events": ["incident.acknowledged"]})))["id"].clone()
}

/// A contact with a channel of its own, in quiet hours all week.
fn sleeper(client: &Client, name: &str, sink: &Sink) -> Value {
    let week = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let quiet = json!({"hours": [{"days": week, "from": "00:00", "to": "24:00"}]});
    create_contact(client, name, &json!({"channel_ids": [channel(client, sink)], "quiet_hours": quiet}))
}

/// A schedule in which this contact is always on duty.
fn always(client: &Client, contact: &Value) -> Value {
    let mut layer = daily(&[contact]);
    layer["starts_at"] = json!("2020-01-01T00:00:00Z");
    create_schedule(client, "Shop", &[layer])["id"].clone()
}

fn create_policy(client: &Client, steps: &Value) -> Value {
    client.post(POLICIES, &json!({"name": "Shop", "steps": steps})).expect(201).data()
}

fn open_incident(client: &Client, severity: &str) -> String {
    let body = json!({"title": "Checkout is slow", "status": "investigating", "severity": severity,
        "message": "We are looking into it."});
    let incident = client.post("/v1/incidents", &body).expect(201).data();
    format!("/v1/incidents/{}", incident["id"].as_str().unwrap())
}

fn resolve(client: &Client, incident: &str) {
    client.post(&format!("{incident}/resolve"), &json!({"message": "It works again."})).expect(200);
}

fn events(sink: &Sink) -> Vec<String> {
    sink.received().iter().map(|message| message.event()).collect()
}

async fn until_events(sink: &Sink, count: usize) -> Vec<String> {
    eventually("it is told", || (sink.received().len() >= count).then_some(())).await;
    events(sink)
}

/// The names of the contacts with held messages, and the reasons.
fn held(client: &Client) -> Vec<(Value, Value)> {
    let rows = client.get("/v1/notifications?status=waiting").expect(200).data();
    let held = rows.as_array().unwrap().iter().filter(|row| !row["held_by"].is_null());
    held.map(|row| (row["contact"]["name"].clone(), row["held_by"].clone())).collect()
}

#[test]
fn a_step_names_channels_contacts_and_schedules() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    let contact = sleeper(&client, "Anna", &sink);
    let schedule = always(&client, &contact);
    let steps = json!([{"after_seconds": 0, "channel_ids": [], "contact_ids": [contact], "schedule_ids": []},
        {"after_seconds": 60, "channel_ids": [], "contact_ids": [], "schedule_ids": [schedule]}]);
    let policy = create_policy(&client, &steps);
    assert_eq!(policy["steps"], steps);
    let refused = [contact_item(&contact), format!("{SCHEDULES}/{}", schedule.as_str().unwrap())]
        .map(|path| client.delete(&path).expect(422).errors().remove(0).1);
    let expected = [
        "This contact is still in use: on-call schedule Shop, escalation policy Shop.",
        "Escalation policies tell whoever is on duty in this schedule: Shop.",
    ];
    assert_eq!(refused, expected);
}

/// A step that is wrong, and the field that is named.
#[rstest]
#[case(json!({"after_seconds": 0}), "steps.0.channel_ids")]
#[case(json!({"after_seconds": 0, "channel_ids": [], "contact_ids": [], "schedule_ids": []}), "steps.0.channel_ids")]
#[case(json!({"after_seconds": 0, "contact_ids": [UNKNOWN_ID]}), "steps.0.contact_ids.0")]
#[case(json!({"after_seconds": 0, "schedule_ids": [UNKNOWN_ID]}), "steps.0.schedule_ids.0")]
#[case(json!({"after_seconds": 0, "contact_ids": null}), "steps.0.contact_ids")]
fn a_step_without_recipients_is_refused(#[case] step: Value, #[case] field: &str) {
    let client = Server::shared().tenant("business");
    let errors = client.post(POLICIES, &json!({"name": "Shop", "steps": [step]})).expect(422).errors();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].0, field, "{errors:?}");
}

/// The contact on duty is notified at any hour, by its own channel, and also of the end.
#[tokio::test]
async fn the_contact_on_duty_is_notified_at_any_hour() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    let contact = sleeper(&client, "Anna", &sink);
    let schedule = always(&client, &contact);
    create_policy(
        &client,
        &json!([{"after_seconds": 0, "schedule_ids": [schedule], "contact_ids": [contact]}]),
    );
    let incident = open_incident(&client, "minor");
    assert_eq!(until_events(&sink, 1).await, ["incident.escalated"]);
    let shown = client.get("/v1/notifications").expect(200).data();
    assert_eq!(shown[0]["contact"], json!({"id": contact, "name": "Anna"}));
    resolve(&client, &incident);
    assert_eq!(until_events(&sink, 2).await, ["incident.escalated", "incident.resolved"]);
}

/// A contact that is named itself is left alone in its quiet hours, but not with what is bad enough; a step of which everything
/// is held reaches nobody, and the next one is taken at once.
#[tokio::test]
async fn quiet_hours_delay_messages_to_named_contacts() {
    let client = Server::shared().tenant("business");
    let (asleep, awake) = (Sink::start(), Sink::start());
    let contact = sleeper(&client, "Anna", &asleep);
    create_policy(
        &client,
        &json!([{"after_seconds": 0, "contact_ids": [contact]},
        {"after_seconds": 3_600, "channel_ids": [channel(&client, &awake)]}]),
    );
    open_incident(&client, "major");
    assert_eq!(until_events(&awake, 1).await, ["incident.escalated"]);
    assert_eq!(events(&asleep), [""; 0]);
    assert_eq!(held(&client), [(json!("Anna"), json!("quiet_hours"))]);
    open_incident(&client, "critical");
    assert_eq!(until_events(&asleep, 1).await, ["incident.escalated"]);
    assert_eq!(asleep.received()[0].json()["data"]["incident"]["severity"], "critical");
}

/// Held messages are sent as soon as a contact removes its quiet hours.
#[tokio::test]
async fn held_messages_are_sent_when_quiet_hours_are_removed() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    let contact = sleeper(&client, "Anna", &sink);
    create_policy(&client, &json!([{"after_seconds": 0, "contact_ids": [contact]}]));
    open_incident(&client, "major");
    eventually("it waits", || (held(&client).len() == 1).then_some(())).await;
    client.patch(&contact_item(&contact), &json!({"quiet_hours": null})).expect(200);
    assert_eq!(until_events(&sink, 1).await, ["incident.escalated"]);
}

/// A contact that a step informed is notified of the first joined service at once and the others together, that the severity rises, and
/// the end.
#[tokio::test]
async fn a_notified_contact_gets_the_later_changes_of_an_incident() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    let contact = create_contact(&client, "Anna", &json!({"channel_ids": [channel(&client, &sink)]}));
    create_policy(&client, &json!([{"after_seconds": 0, "contact_ids": [contact]}]));
    let incident = open_incident(&client, "minor");
    until_events(&sink, 1).await;
    let services = [(); 3].map(|()| create_unconfigured(&client));
    for count in 1..=3 {
        client.patch(&incident, &json!({"service_ids": services[..count]})).expect(200);
    }
    let joined = |message: usize| sink.received()[message].json()["data"]["incident"]["joined"].clone();
    assert_eq!(until_events(&sink, 2).await, ["incident.escalated", "incident.service_joined"]);
    assert_eq!(joined(1)["services"][0]["id"], json!(services[0]));
    eventually("the others wait", || (held(&client) == [(json!("Anna"), json!("batch"))]).then_some(()))
        .await;
    client.patch(&incident, &json!({"severity": "critical"})).expect(200);
    assert_eq!(until_events(&sink, 4).await[2..], ["incident.service_joined", "incident.worsened"]);
    assert_eq!(joined(2)["count"], 2);
    let worse = sink.received()[3].json()["data"]["incident"].clone();
    assert_eq!((&worse["severity"], &worse["previous_severity"]), (&json!("critical"), &json!("minor")));
    resolve(&client, &incident);
    assert_eq!(until_events(&sink, 5).await[4..], ["incident.resolved"]);
}

/// Nobody is on duty, and the named contact has no channel: the next step is taken at once.
#[tokio::test]
async fn a_step_without_recipients_is_skipped() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    let contact = create_contact(&client, "Anna", &json!({}));
    let mut never = daily(&[&contact]);
    (never["starts_at"], never["ends_at"]) = (json!("2000-01-01"), json!("2000-01-02"));
    let schedule = create_schedule(&client, "Museum", &[never])["id"].clone();
    create_policy(
        &client,
        &json!([{"after_seconds": 0, "schedule_ids": [schedule]},
        {"after_seconds": 3_600, "contact_ids": [contact]},
        {"after_seconds": 3_600, "channel_ids": [channel(&client, &sink)]}]),
    );
    open_incident(&client, "major");
    assert_eq!(until_events(&sink, 1).await, ["incident.escalated"]);
}

/// Two contacts share a channel that the step names as well: it gets the step once, and the end once.
#[tokio::test]
async fn a_shared_channel_gets_each_message_once() {
    let client = Server::shared().tenant("business");
    let (shared, last) = (Sink::start(), Sink::start());
    let channel = create_channel(&client, &webhook(&shared.url(), &json!({"events": ["incident.resolved"]})));
    let people =
        ["Anna", "Ben"].map(|name| create_contact(&client, name, &json!({"channel_ids": [channel["id"]]})));
    let end = create_contact(&client, "Cleo", &json!({"channel_ids": [self::channel(&client, &last)]}));
    create_policy(
        &client,
        &json!([
        {"after_seconds": 0, "channel_ids": [channel["id"]], "contact_ids": people},
        {"after_seconds": 0, "contact_ids": [end]}]),
    );
    let incident = open_incident(&client, "major");
    assert_eq!(until_events(&last, 1).await, ["incident.escalated"]);
    resolve(&client, &incident);
    assert_eq!(until_events(&last, 2).await, ["incident.escalated", "incident.resolved"]);
    assert_eq!(until_events(&shared, 2).await, ["incident.escalated", "incident.resolved"]);
}

/// A message for two contacts with the same channel is for that channel: it stays when one of them is deleted.
#[tokio::test]
async fn a_message_for_several_contacts_survives_the_deletion_of_one() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    let shared = channel(&client, &sink);
    let [anna, ben] =
        ["Anna", "Ben"].map(|name| create_contact(&client, name, &json!({"channel_ids": [shared]})));
    let policy = create_policy(&client, &json!([{"after_seconds": 0, "contact_ids": [anna, ben]}]));
    let incident = open_incident(&client, "major");
    assert_eq!(until_events(&sink, 1).await, ["incident.escalated"]);
    assert_eq!(client.get("/v1/notifications").expect(200).data()[0]["contact"], Value::Null);
    client.delete(&format!("{POLICIES}/{}", policy["id"].as_str().unwrap())).expect(200);
    client.delete(&contact_item(&anna)).expect(200);
    resolve(&client, &incident);
    assert_eq!(until_events(&sink, 2).await, ["incident.escalated", "incident.resolved"]);
}

/// Each contact is notified in its own language; texts without that language are in the language of the organisation.
#[tokio::test]
async fn contacts_are_notified_in_their_language() {
    let server = Server::shared();
    let client = server.bilingual_tenant();
    let (german, english) = (Sink::start(), Sink::start());
    let contact = |name, sink, language| {
        create_contact(&client, name, &json!({"channel_ids": [channel(&client, sink)], "language": language}))
    };
    let people = [contact("Anna", &german, "de"), contact("Ben", &english, "en")];
    create_policy(&client, &json!([{"after_seconds": 0, "contact_ids": people}]));
    let body = json!({"title": {"en": "Checkout is slow", "de": "Kasse ist langsam"}, "status": "investigating",
        "severity": "major", "message": {"en": "We are looking into it."}});
    client.post("/v1/incidents", &body).expect(201);
    until_events(&german, 1).await;
    until_events(&english, 1).await;
    let incidents = [&german, &english].map(|sink| sink.received()[0].json()["data"]["incident"].clone());
    assert_eq!(incidents[0]["title"], "Kasse ist langsam");
    assert_eq!(incidents[1]["title"], "Checkout is slow");
    let texts = incidents.each_ref().map(|incident| incident["text"].clone());
    assert_eq!(texts[0], texts[1], "what is not translated comes in the language of the organisation");
}

/// Messages held for a contact are dropped with it.
#[tokio::test]
async fn a_deleted_contact_gets_no_more_messages() {
    let client = Server::shared().tenant("business");
    let sink = Sink::start();
    let contact = sleeper(&client, "Anna", &sink);
    let policy = create_policy(&client, &json!([{"after_seconds": 0, "contact_ids": [contact]}]));
    open_incident(&client, "major");
    eventually("it waits", || (held(&client).len() == 1).then_some(())).await;
    client.delete(&format!("{POLICIES}/{}", policy["id"].as_str().unwrap())).expect(200);
    client.delete(&contact_item(&contact)).expect(200);
    assert_eq!(held(&client), []);
    let given_up = client.get("/v1/notifications?status=dead").expect(200).data();
    assert_eq!((given_up.as_array().unwrap().len(), &given_up[0]["contact"]), (1, &Value::Null));
    assert_eq!(events(&sink), [""; 0]);
}
