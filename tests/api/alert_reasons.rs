//! Alerts say why: what an outage makes of webhooks, of the timeline for members, and of the log.

use serde_json::{Value, json};

use crate::incidents::id_of;
use crate::notification_channels::{create_channel, webhook};
use crate::support::client::Client;
use crate::support::scoped::{confined, made};
use crate::support::server::Server;
use crate::support::sink::{Received, Sink};
use crate::support::target::Target;
use crate::support::{create, eventually, until_status};

/// Error codes of a connection to a stopped target.
const REFUSALS: [&str; 2] = ["connect_refused", "connect_reset"];

/// The incident of the first message about an event.
async fn until_event(sink: &Sink, event: &str) -> Value {
    let found = |received: &Received| received.event() == event;
    let received = eventually(event, || sink.received().into_iter().find(found)).await;
    received.json()["data"]["incident"].clone()
}

/// Changes the one policy that an organisation has from the start.
fn change_policy(client: &Client, changes: &Value) {
    let policy = client.get("/v1/incident-policies").expect(200).data()[0].clone();
    client.patch(&format!("/v1/incident-policies/{}", id_of(&policy)), changes).expect(200);
}

/// From the outage to its end, at one location.
#[tokio::test]
async fn an_alert_has_its_reason_and_its_end_the_duration() {
    let server = Server::with("[[probe.locations]]\ncode = 'a'\nname = 'Frankfurt'\n", &[]);
    let client = server.client();
    let sink = Sink::start();
    create_channel(&client, &webhook(&sink.url(), &json!({})));
    change_policy(&client, &json!({"resolve_after_seconds": 1, "open_after_seconds": 0}));
    let mut target = Target::start();
    let gateway = create(&client, &json!({"name": "Gateway", "check_type": "manual"}));
    let id = create(
        &client,
        &json!({"name": "Shop", "check_type": "http", "target": target.url(), "depends_on": [gateway],
            "settings": {"interval_seconds": 1, "retries": 0}}),
    );
    until_status(&client, &id, "up").await;
    target.stop();
    let opened = until_event(&sink, "incident.opened").await;
    let service = &opened["services"][0];
    assert_eq!((&service["id"], &service["name"]), (&json!(id), &json!("Shop")));
    assert_eq!((&service["target"], &service["depends_on"]), (&json!(target.url()), &json!(["Gateway"])));
    assert_eq!((&service["since"], &opened["services_count"]), (&opened["started_at"], &json!(1)));
    let failure = &service["last_failure"];
    // A connection that still waited to be accepted is reset.
    let code = failure["error_code"].as_str().unwrap().to_owned();
    assert!(REFUSALS.contains(&&*code), "{failure}");
    assert!(!failure["error_message"].as_str().unwrap().is_empty(), "{failure}");
    assert_eq!(failure["status_code"], Value::Null);
    assert_eq!(
        (&failure["failing_locations"], &failure["other_locations"]),
        (&json!(["Frankfurt"]), &json!([]))
    );
    assert!(failure["at"].as_str().unwrap() >= service["since"].as_str().unwrap(), "{service}");
    assert_eq!((&opened["duration_seconds"], &service["duration_seconds"]), (&Value::Null, &Value::Null));
    let incident = client.get(&format!("/v1/incidents/{}", id_of(&opened))).expect(200).data();
    let entry = incident["internal_updates"][0]["message"].as_str().unwrap();
    let expected = format!("Shop ({}): {code}, ", target.url());
    assert!(
        entry.starts_with(&expected) && entry.contains("; seen by Frankfurt; depends on Gateway"),
        "{entry}"
    );
    assert!(!incident["updates"].to_string().contains("connect"), "visitors see nothing of it");
    let log = server.log();
    let line =
        log.lines().find(|line| line.contains("status changed") && line.contains("to=\"down\"")).unwrap();
    for field in [&*format!("error_code=\"{code}\""), "failing_locations=\"Frankfurt\"", &target.url()] {
        assert!(line.contains(field), "{field}: {line}");
    }
    target.start_again();
    let over = until_event(&sink, "incident.resolved").await;
    let service = &over["services"][0];
    assert!(over["duration_seconds"].is_i64() && service["duration_seconds"].is_i64(), "{over}");
    let last = service["last_failure"]["error_code"].as_str().expect("what it was is not forgotten");
    assert!(REFUSALS.contains(&last), "{over}");
}

/// A confined token sees the incident of a service inside, but no entry in which the engine names services.
#[tokio::test]
async fn a_confined_token_sees_no_reasons_of_others() {
    let server = Server::start();
    let client = server.client();
    change_policy(&client, &json!({"open_after_seconds": 0, "group_by": "tags"}));
    made(&client, "/v1/tags", &json!({"key": "inside"}));
    made(&client, "/v1/access-scopes", &json!({"name": "Inside", "tags": ["inside"]}));
    let mut target = Target::start();
    let service = |name: &str, tags: &[&str]| {
        create(
            &client,
            &json!({"name": name, "check_type": "http", "target": target.url(), "tags": tags,
            "settings": {"interval_seconds": 1, "retries": 0}}),
        )
    };
    let ids = [service("Inside", &["inside", "both"]), service("Secret", &["both"])];
    for id in &ids {
        until_status(&client, id, "up").await;
    }
    target.stop();
    let whole = eventually("an incident with reasons", || {
        let rows = client.get("/v1/incidents").expect(200).data();
        let of_both =
            rows.as_array().unwrap().iter().find(|row| row["services"].as_array().unwrap().len() == 2)?;
        let whole = client.get(&format!("/v1/incidents/{}", id_of(of_both))).expect(200).data();
        whole["internal_updates"].to_string().contains("Secret").then_some(whole)
    })
    .await;
    let path = format!("/v1/incidents/{}", id_of(&whole));
    let organisation = client.get("/v1/me").expect(200).json()["organization"]["public_id"].clone();
    let seen = confined(&server, organisation.as_str().unwrap(), "Inside").get(&path).expect(200).data();
    assert_eq!(seen["internal_updates"], json!([]));
    assert!(!seen.to_string().contains("Secret"), "{seen}");
}
