//! Open incidents after changes of the policies, the services and the maintenances that they follow.

use std::time::Duration;

use rstest::rstest;
use sea_orm::{ConnectionTrait as _, Statement};
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::planned;
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create, eventually, service, until_status};

/// A service that is checked every second, with this tag.
fn watched(client: &Client, name: &str, target: &Target, tag: &str) -> String {
    let body = json!({"name": name, "check_type": "http", "target": target.url(), "tags": [tag],
        "settings": {"interval_seconds": 1, "retries": 0, "flapping_changes": 0}});
    create(client, &body)
}

/// A policy for the services with this tag, before all others; its path.
fn policy(client: &Client, tag: &str, rules: &Value) -> String {
    let tags = client.get("/v1/tags?per_page=100").expect(200).data();
    let tag = tags.as_array().unwrap().iter().find(|known| known["key"] == tag).unwrap()["id"].clone();
    let mut body = json!({"name": "Ours", "tag_id": tag, "group_by": "none"});
    for (key, value) in rules.as_object().unwrap() {
        body[key] = value.clone();
    }
    let made = client.post("/v1/incident-policies", &body).expect(201).data();
    format!("/v1/incident-policies/{}", made["id"].as_str().unwrap())
}

/// Changes the policy that an organisation has from the start.
fn change_default(client: &Client, changes: &Value) {
    let policies = client.get("/v1/incident-policies").expect(200).data();
    let default = policies.as_array().unwrap().iter().find(|policy| policy["name"] == "Default").unwrap();
    let path = format!("/v1/incident-policies/{}", default["id"].as_str().unwrap());
    client.patch(&path, changes).expect(200);
}

fn incidents_of(client: &Client, id: &str) -> Vec<Value> {
    client.get(&format!("{}/incidents", service(id))).expect(200).data().as_array().unwrap().clone()
}

/// Waits until the service has exactly one incident, and it has this status.
async fn until_incident(client: &Client, id: &str, status: &str) -> String {
    eventually(&format!("an incident that is {status}"), || {
        let found = incidents_of(client, id);
        assert!(found.len() <= 1, "{found:?}");
        let found = found.first().filter(|incident| incident["status"] == status)?;
        Some(found["id"].as_str().unwrap().to_owned())
    })
    .await
}

/// The policy is deleted while its incident is open, and perhaps made again as Terraform does: the first one that matches resolves
/// the incident. The deleted one would have left that to people.
#[rstest]
#[case::the_next_one_takes_over(json!({"resolve_after_seconds": 1}), None)]
#[case::it_is_made_again(json!({"resolve_after_seconds": null}), Some(json!({"resolve_after_seconds": 1})))]
#[tokio::test]
async fn an_incident_of_a_deleted_policy_follows_the_next_policy(
    #[case] default: Value,
    #[case] made_again: Option<Value>,
) {
    let server = Server::start();
    let client = server.client();
    let mut target = Target::start();
    let id = watched(&client, "Shop", &target, "shop");
    change_default(&client, &default);
    let deleted = policy(&client, "shop", &json!({"resolve_after_seconds": null}));
    until_status(&client, &id, "up").await;
    target.stop();
    until_incident(&client, &id, "investigating").await;
    client.delete(&deleted).expect(200);
    if let Some(rules) = made_again {
        policy(&client, "shop", &rules);
    }
    target.start_again();
    until_incident(&client, &id, "resolved").await;
}

/// A later failure joins an incident whose policy was deleted, by the rules of the next policy.
#[tokio::test]
async fn an_incident_of_a_deleted_policy_grows_by_the_next_policy() {
    let server = Server::start();
    let client = server.client();
    let (mut first, mut second) = (Target::start(), Target::start());
    let (a, b) = (watched(&client, "a", &first, "shop"), watched(&client, "b", &second, "shop"));
    change_default(&client, &json!({"group_by": "tag", "group_window_seconds": 3_600}));
    let deleted = policy(&client, "shop", &json!({"group_by": "tag", "group_window_seconds": 3_600}));
    for id in [&a, &b] {
        until_status(&client, id, "up").await;
    }
    first.stop();
    let incident = until_incident(&client, &a, "investigating").await;
    client.delete(&deleted).expect(200);
    second.stop();
    assert_eq!(until_incident(&client, &b, "investigating").await, incident);
}

/// A person adds a service that works: it is not awaited. One that has failed meanwhile is.
#[rstest]
#[case::it_works(false)]
#[case::it_fails_later(true)]
#[tokio::test]
async fn only_failed_services_are_awaited(#[case] fails: bool) {
    let server = Server::start();
    let client = server.client();
    let (mut failing, mut other) = (Target::start(), Target::start());
    let id = watched(&client, "failing", &failing, "shop");
    let added = watched(&client, "added", &other, "unwanted");
    change_default(&client, &json!({"resolve_after_seconds": 0}));
    policy(&client, "unwanted", &json!({"down_severity": null}));
    for id in [&id, &added] {
        until_status(&client, id, "up").await;
    }
    failing.stop();
    let incident = until_incident(&client, &id, "investigating").await;
    client.patch(&format!("/v1/incidents/{incident}"), &json!({"service_ids": [id, added]})).expect(200);
    if fails {
        other.stop();
        until_status(&client, &added, "down").await;
        failing.start_again();
        eventually("the first one has recovered", || {
            let found = incidents_of(&client, &id);
            (found[0]["service_impact"]["is_recovered"] == true).then_some(())
        })
        .await;
        // Long enough for a pass that would resolve it.
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        assert_eq!(incidents_of(&client, &id)[0]["status"], "investigating");
        other.start_again();
    } else {
        failing.start_again();
    }
    until_incident(&client, &id, "resolved").await;
    assert_eq!(incidents_of(&client, &added)[0]["service_impact"]["is_recovered"], true);
}

#[derive(Clone, Copy, Debug)]
enum HeldBackBy {
    Maintenance,
    Override,
    Policy,
}

/// An outage that is held back is not examined, and so not written, until it is released; then it is examined.
#[rstest]
#[case(HeldBackBy::Maintenance)]
#[case(HeldBackBy::Override)]
#[case(HeldBackBy::Policy)]
#[tokio::test]
async fn a_held_back_outage_is_ignored_until_it_is_released(#[case] by: HeldBackBy) {
    let server = Server::start();
    let client = server.client();
    let mut target = Target::start();
    let id = watched(&client, "Shop", &target, "shop");
    until_status(&client, &id, "up").await;
    let path = format!("{}/status-override", service(&id));
    let held = match by {
        HeldBackBy::Maintenance => planned::in_state(&client, "in_progress", &[&id]),
        HeldBackBy::Override => {
            client.post(&path, &json!({"status": "maintenance", "reason": "Work"})).expect(200);
            path
        }
        HeldBackBy::Policy => policy(&client, "shop", &json!({"down_severity": null})),
    };
    target.stop();
    until_at_rest(&server).await;
    assert_eq!(incidents_of(&client, &id).len(), 0);
    match by {
        HeldBackBy::Maintenance => planned::operate(&client, &held, "complete").expect(200),
        HeldBackBy::Override => client.delete(&held).expect(200),
        HeldBackBy::Policy => client.patch(&held, &json!({"down_severity": "major"})).expect(200),
    };
    until_incident(&client, &id, "investigating").await;
}

/// Likewise when the maintenance covers the service no more, is cancelled or deleted.
#[rstest]
#[case::another_service("PATCH")]
#[case::deleted("DELETE")]
#[tokio::test]
async fn an_outage_is_released_by_a_maintenance_that_no_longer_covers_it(#[case] method: &str) {
    let server = Server::start();
    let client = server.client();
    let mut target = Target::start();
    let id = watched(&client, "Shop", &target, "shop");
    until_status(&client, &id, "up").await;
    let path = planned::maintenance(&planned::in_state(&client, "in_progress", &[&id]));
    target.stop();
    until_at_rest(&server).await;
    match method {
        "PATCH" => {
            let other = create(&client, &json!({"name": "Other", "check_type": "manual"}));
            client.patch(&path, &json!({"service_ids": [other]})).expect(200)
        }
        _ => client.delete(&path).expect(200),
    };
    until_incident(&client, &id, "investigating").await;
}

/// Waits until there is an outage without a time at which it is due again.
async fn until_at_rest(server: &Server) {
    let database = server.main_database().await;
    let question = "SELECT look_at FROM outage WHERE look_at IS NULL AND told_at IS NULL";
    let statement = Statement::from_string(database.get_database_backend(), question);
    for _ in 0..1_200 {
        if database.query_one_raw(statement.clone()).await.unwrap().is_some() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the outage is looked at again and again");
}
