//! Incidents that open and close by themselves, with real targets that fail and recover (contract 4.9, 4.12).

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::planned;
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create, eventually, ms_of_day, service, until_status};

/// A service that is checked every second, with these tags.
fn watched(client: &Client, name: &str, target: &Target, tags: &[&str]) -> String {
    let body = json!({"name": name, "check_type": "http", "target": target.url(), "tags": tags,
        "settings": {"interval_seconds": 1, "retries": 0}});
    create(client, &body)
}

/// The one policy that an organisation has from the start, changed.
fn policy(client: &Client, changes: &Value) {
    let id = client.get("/v1/incident-policies").expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    client.patch(&format!("/v1/incident-policies/{id}"), changes).expect(200);
}

fn incidents(client: &Client) -> Vec<Value> {
    let rows = client.get("/v1/incidents?per_page=100").expect(200).data().as_array().unwrap().clone();
    let whole = |row: &Value| {
        client.get(&format!("/v1/incidents/{}", row["id"].as_str().unwrap())).expect(200).data()
    };
    rows.iter().map(whole).collect()
}

/// Waits until there is exactly one incident, and it meets the condition.
async fn until_one(client: &Client, what: &str, is: impl Fn(&Value) -> bool) -> Value {
    eventually(what, || {
        let found = incidents(client);
        assert!(found.len() <= 1, "{what}: {found:?}");
        found.into_iter().find(|incident| is(incident))
    })
    .await
}

fn statuses(incident: &Value) -> Vec<&str> {
    incident["updates"].as_array().unwrap().iter().map(|entry| entry["status"].as_str().unwrap()).collect()
}

fn impact(client: &Client, id: &str) -> Value {
    client.get(&format!("{}/incidents", service(id))).expect(200).data()[0]["service_impact"].clone()
}

/// The whole way: down, incident, up, recovered, watched, resolved; times are those of the status, not of the writing.
#[tokio::test]
async fn a_failed_target_opens_an_incident_until_it_recovers() {
    let server = Server::start();
    let client = server.client();
    let mut target = Target::start();
    let id = watched(&client, "Shop", &target, &[]);
    policy(&client, &json!({"resolve_after_seconds": 2, "down_severity": "critical"}));
    until_status(&client, &id, "up").await;
    target.stop();
    until_status(&client, &id, "down").await;
    let open = until_one(&client, "the incident", |_| true).await;
    assert_eq!((&open["title"], &open["status"]), (&json!("Shop is down"), &json!("investigating")));
    assert_eq!((&open["severity"], &open["is_published"]), (&json!("critical"), &json!(false)));
    assert_eq!((&open["created_by"], &open["kind"]), (&Value::Null, &json!("standard")));
    assert_eq!(
        open["updates"][0]["message"],
        "We are not getting the expected response. We are looking into it."
    );
    let stood_ms = ms_of_day(&open["created_at"]) - ms_of_day(&open["started_at"]);
    assert!((0..=2_000).contains(&stood_ms), "the incident stood {stood_ms} ms after the first bad look");
    assert_eq!(
        (&impact(&client, &id)["impact"], &impact(&client, &id)["is_recovered"]),
        (&json!("major_outage"), &json!(false))
    );
    target.start_again();
    let watched = until_one(&client, "the return", |seen| seen["status"] == "monitoring").await;
    assert_eq!(watched["resolved_at"], Value::Null);
    let recovered_at = impact(&client, &id)["recovered_at"].clone();
    let over = until_one(&client, "the end", |seen| seen["status"] == "resolved").await;
    assert_eq!(over["resolved_at"], recovered_at);
    assert_eq!(statuses(&over), ["investigating", "monitoring", "resolved"]);
}

/// A short recovery does not end the incident: it continues, and its timeline shows the relapse.
#[tokio::test]
async fn a_relapse_belongs_to_the_incident() {
    let server = Server::start();
    let client = server.client();
    let mut target = Target::start();
    let id = watched(&client, "Shop", &target, &[]);
    policy(&client, &json!({"resolve_after_seconds": 60}));
    until_status(&client, &id, "up").await;
    target.stop();
    until_one(&client, "the incident", |_| true).await;
    target.start_again();
    until_one(&client, "the return", |seen| seen["status"] == "monitoring").await;
    target.stop();
    let again = until_one(&client, "the relapse", |seen| statuses(seen).len() == 3).await;
    assert_eq!(statuses(&again), ["investigating", "monitoring", "investigating"]);
    assert_eq!(again["updates"][2]["message"], "A service that had recovered is affected again.");
    assert_eq!(impact(&client, &id)["is_recovered"], false);
}

/// Failures within the window are one incident if they belong together by the policy; a, b and c are of one cluster, all are
/// in production. The sizes of the incidents are expected.
#[rstest]
#[case::by_default_tags_group_nothing(json!({}), &[1, 1, 1, 1])]
#[case::any_common_tag(json!({"group_by": "tags"}), &[4])]
#[case::the_same_value_of_a_named_key(json!({"group_by_tag_keys": ["team", "Cluster"]}), &[1, 3])]
#[case::a_named_key_without_value(json!({"group_by": "tags", "group_by_tag_keys": ["prod"]}), &[4])]
#[tokio::test]
async fn related_failures_are_one_incident(#[case] changes: Value, #[case] expected: &[usize]) {
    let server = Server::start();
    let client = server.client();
    policy(&client, &changes);
    let (mut cluster, mut other) = (Target::start(), Target::start());
    let mut ids: Vec<String> =
        ["a", "b", "c"].map(|name| watched(&client, name, &cluster, &["prod", "cluster:x"])).into();
    ids.push(watched(&client, "d", &other, &["prod", "cluster:y"]));
    for id in &ids {
        until_status(&client, id, "up").await;
    }
    cluster.stop();
    other.stop();
    for id in &ids {
        until_status(&client, id, "down").await;
    }
    let found = eventually("each service has its incident", || {
        let found = incidents(&client);
        let size = |incident: &Value| incident["services"].as_array().unwrap().len();
        (found.iter().map(size).sum::<usize>() == 4).then_some(found)
    })
    .await;
    let mut sizes = Vec::new();
    for incident in &found {
        let names: Vec<&str> = incident["services"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        let others = match names.len() - 1 {
            0 => "is down".to_owned(),
            number => format!("and {number} other services are down"),
        };
        let title = incident["title"].as_str().unwrap();
        assert!(names.iter().any(|name| title == format!("{name} {others}")), "{title}: {names:?}");
        sizes.push(names.len());
    }
    sizes.sort_unstable();
    assert_eq!(sizes, expected);
}

/// Edited fields stay, whatever the engine learns; a member who sets the status also resolves.
#[tokio::test]
async fn edited_fields_are_not_overwritten() {
    let server = Server::start();
    let client = server.client();
    let mut target = Target::start();
    let ids = ["a", "b"].map(|name| watched(&client, name, &target, &["shop"]));
    policy(&client, &json!({"resolve_after_seconds": 0, "open_after_seconds": 0, "group_by": "tags"}));
    for id in &ids {
        until_status(&client, id, "up").await;
    }
    target.stop();
    let open =
        until_one(&client, "the incident", |seen| seen["services"].as_array().unwrap().len() == 2).await;
    let path = format!("/v1/incidents/{}", open["id"].as_str().unwrap());
    client.patch(&path, &json!({"title": "Ours", "severity": "minor"})).expect(200);
    client
        .post(&format!("{path}/updates"), &json!({"status": "identified", "message": "The cable."}))
        .expect(201);
    target.start_again();
    eventually("both have recovered", || {
        let recovered = |id: &String| impact(&client, id)["is_recovered"] == true;
        ids.iter().all(recovered).then_some(())
    })
    .await;
    // Long enough for a pass that would resolve it.
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
    let left = client.get(&path).expect(200).data();
    assert_eq!(
        (&left["title"], &left["severity"], &left["status"]),
        (&json!("Ours"), &json!("minor"), &json!("identified"))
    );
    assert_eq!(statuses(&left).last(), Some(&"identified"), "the engine has nothing to add");
}

/// An incident that a person has resolved stays resolved until the next edge, which makes a new one.
#[tokio::test]
async fn a_resolved_incident_stays_resolved_until_the_next_edge() {
    let server = Server::start();
    let client = server.client();
    let mut target = Target::start();
    let id = watched(&client, "Shop", &target, &[]);
    until_status(&client, &id, "up").await;
    target.stop();
    let first = until_one(&client, "the incident", |_| true).await;
    let path = format!("/v1/incidents/{}", first["id"].as_str().unwrap());
    client.post(&format!("{path}/resolve"), &json!({"message": "Never mind."})).expect(200);
    tokio::time::sleep(std::time::Duration::from_millis(2_500)).await;
    assert_eq!(incidents(&client).len(), 1, "it is down still, and no edge has come");
    target.start_again();
    until_status(&client, &id, "up").await;
    target.stop();
    until_status(&client, &id, "down").await;
    let found =
        eventually("the next one", || Some(incidents(&client)).filter(|found| found.len() == 2)).await;
    assert_eq!(client.get(&path).expect(200).data()["status"], "resolved");
    assert_eq!(found.iter().filter(|incident| incident["status"] == "investigating").count(), 1);
}

/// Contract 4.12: no incident while a maintenance covers the service; if it is down still when that ends, there is one then.
#[tokio::test]
async fn a_maintenance_delays_incidents() {
    let server = Server::start();
    let client = server.client();
    let mut target = Target::start();
    let id = watched(&client, "Shop", &target, &[]);
    until_status(&client, &id, "up").await;
    let work = planned::in_state(&client, "in_progress", &[&id]);
    target.stop();
    until_status(&client, &id, "down").await;
    tokio::time::sleep(std::time::Duration::from_millis(2_500)).await;
    assert_eq!(incidents(&client).len(), 0);
    planned::operate(&client, &work, "complete").expect(200);
    until_one(&client, "the incident", |_| true).await;
}

/// An outage that ends before the delay of the policy opens no incident.
#[tokio::test]
async fn a_policy_delays_incidents() {
    let server = Server::start();
    let client = server.client();
    let mut target = Target::start();
    let id = watched(&client, "Shop", &target, &[]);
    policy(&client, &json!({"open_after_seconds": 3_600}));
    until_status(&client, &id, "up").await;
    target.stop();
    until_status(&client, &id, "down").await;
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
    assert_eq!(incidents(&client).len(), 0);
    target.start_again();
    until_status(&client, &id, "up").await;
    policy(&client, &json!({"open_after_seconds": 0}));
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
    assert_eq!(incidents(&client).len(), 0, "it is over");
}
