//! Incidents from the side of a service (contract 4.9, 4.12, 4.7, 4.3.9): how it is hit, when it recovers, and what becomes
//! of them when it is deleted.

use rstest::rstest;
use serde_json::{Value, json};

use crate::incidents::{id_of, incident, open_incident, tenant};
use crate::support::client::Client;
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{UNKNOWN_ID, create_unconfigured, create_watched, eventually, service, until_status};

fn list(client: &Client, id: &str) -> Value {
    client.get(&format!("{}/incidents", service(id))).expect(200).data()
}

/// `service_impact` of the only incident of a service.
fn impact(client: &Client, id: &str) -> Value {
    let rows = list(client, id);
    assert_eq!(rows.as_array().unwrap().len(), 1);
    rows[0]["service_impact"].clone()
}

/// Contract 4.9: rows as in `/v1/incidents`, and how the service is hit.
#[test]
fn rows_are_incidents_with_the_impact_on_the_service() {
    let client = Server::shared_client();
    let (id, other) = (create_unconfigured(&client), create_unconfigured(&client));
    let made = open_incident(&client, &json!({"service_ids": [id, other], "severity": "major"}));
    let mut expected = made.clone();
    for key in ["statuspages", "updates", "internal_updates"] {
        expected.as_object_mut().unwrap().shift_remove(key);
    }
    expected["service_impact"] = json!({"impact": "partial_outage", "is_recovered": false,
        "added_at": made["created_at"], "recovered_at": null});
    let seen = list(&client, &id);
    assert_eq!(seen.to_string(), json!([expected]).to_string());
}

/// Contract 4.9: the initial impact by severity; a notice has none.
#[rstest]
#[case(json!({"severity": "minor"}), json!("degraded"))]
#[case(json!({"severity": "major"}), json!("partial_outage"))]
#[case(json!({"severity": "critical"}), json!("major_outage"))]
#[case(json!({}), json!("degraded"))]
#[case(json!({"severity": "critical", "kind": "notice"}), Value::Null)]
fn the_impact_follows_the_severity(#[case] fields: Value, #[case] expected: Value) {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let mut fields = fields;
    fields["service_ids"] = json!([id]);
    open_incident(&client, &fields);
    assert_eq!(impact(&client, &id)["impact"], expected);
}

/// Contract 4.10.3: derived impacts follow a changed severity; a service that joins later joins later.
#[test]
fn a_changed_severity_and_a_changed_list_are_seen() {
    let client = Server::shared_client();
    let (id, late) = (create_unconfigured(&client), create_unconfigured(&client));
    let made = open_incident(&client, &json!({"service_ids": [id]}));
    let before = impact(&client, &id);
    let path = incident(&id_of(&made));
    client.patch(&path, &json!({"severity": "critical", "service_ids": [late, id]})).expect(200);
    let mut after = before.clone();
    after["impact"] = "major_outage".into();
    assert_eq!(impact(&client, &id), after);
    let joined = impact(&client, &late);
    assert_eq!(joined["impact"], "major_outage");
    assert!(joined["added_at"].as_str() > before["added_at"].as_str());
    client.patch(&path, &json!({"service_ids": [late]})).expect(200);
    assert_eq!(list(&client, &id), json!([]));
}

/// Contract 4.9: recovered at the latest when the incident is resolved; reopening takes that back.
#[test]
fn resolving_recovers_and_reopening_does_not() {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let made = open_incident(&client, &json!({"service_ids": [id], "started_at": "2026-01-01"}));
    let path = incident(&id_of(&made));
    let body = json!({"message": "Over.", "resolved_at": "2026-01-02"});
    client.post(&format!("{path}/resolve"), &body).expect(200);
    let seen = impact(&client, &id);
    assert_eq!(
        (&seen["is_recovered"], &seen["recovered_at"]),
        (&json!(true), &json!("2026-01-02T00:00:00.000Z"))
    );
    client.patch(&path, &json!({"resolved_at": "2026-01-03"})).expect(200);
    assert_eq!(impact(&client, &id)["recovered_at"], "2026-01-03T00:00:00.000Z");
    client.post(&format!("{path}/updates"), &json!({"status": "identified", "message": "No."})).expect(201);
    let seen = impact(&client, &id);
    assert_eq!((&seen["is_recovered"], &seen["recovered_at"]), (&json!(false), &Value::Null));
    client.post(&format!("{path}/updates"), &json!({"status": "resolved", "message": "Yes."})).expect(201);
    assert_eq!(impact(&client, &id)["is_recovered"], true);
}

/// Contract 4.9, 4.12: an incident changes nothing about a service; when the measured status returns to `up`, the service
/// has recovered while the incident continues. A notice affects nothing, so nothing recovers from it.
#[tokio::test]
async fn a_service_that_is_up_again_has_recovered() {
    let (client, mut target) = (tenant(), Target::start());
    let watched = json!({"interval_seconds": 30, "timeout_seconds": 1});
    target.stop();
    let id = create_watched(&client, &target.url(), &watched);
    let down = until_status(&client, &id, "down").await;
    let fields = json!({"service_ids": [id], "severity": "critical", "is_published": true});
    let made = open_incident(&client, &fields);
    let mut notice = fields.clone();
    notice["kind"] = "notice".into();
    open_incident(&client, &notice);
    let seen = client.get(&service(&id)).expect(200).data();
    assert_eq!((&seen["status"], &seen["effective_status"]), (&down["status"], &json!("down")));
    target.start_again();
    // A changed setting makes it check at once instead of after its interval.
    client.patch(&service(&id), &json!({"settings": {"timeout_seconds": 2}})).expect(200);
    until_status(&client, &id, "up").await;
    let recovered = eventually("the service recovers", || {
        let path = format!("{}/incidents?kind=standard", service(&id));
        let seen = client.get(&path).expect(200).data()[0]["service_impact"].clone();
        (seen["is_recovered"] == true).then_some(seen)
    })
    .await;
    assert_eq!(recovered["impact"], "major_outage");
    assert!(recovered["recovered_at"].as_str() >= recovered["added_at"].as_str());
    let notice = client.get(&format!("{}/incidents?kind=notice", service(&id))).expect(200).data();
    assert_eq!(notice[0]["service_impact"]["is_recovered"], false);
    let still_open = client.get(&incident(&id_of(&made))).expect(200).data();
    assert_eq!((&still_open["status"], &still_open["resolved_at"]), (&json!("investigating"), &Value::Null));
    // Measured recoveries stay when the incident is resolved and reopened.
    let path = incident(&id_of(&made));
    client.post(&format!("{path}/resolve"), &json!({"message": "Over."})).expect(200);
    client.post(&format!("{path}/updates"), &json!({"status": "monitoring", "message": "No."})).expect(201);
    let filtered = client.get(&format!("{}/incidents?kind=standard", service(&id))).expect(200).data();
    assert_eq!(filtered[0]["service_impact"], recovered);
}

/// Contract 4.9, 1.8: permissions in their order, then 404, then the filter.
#[test]
fn both_permissions_are_needed() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let id = create_unconfigured(&server.member(&organisation, "all"));
    let path = format!("{}/incidents", service(&id));
    for (has, missing) in [
        ("incidents.view", "services.view"),
        ("services.view", "incidents.view"),
        ("incidents.edit", "services.view"),
    ] {
        let refused = server.member(&organisation, has).get(&path).expect(403);
        assert_eq!(refused.message(), format!("This token is missing the permission '{missing}'."));
    }
    let client = server.member(&organisation, "services.view,incidents.view");
    assert_eq!(client.get(&path).expect(200).data(), json!([]));
    let foreign = create_unconfigured(&server.tenant("business"));
    let refusals = [UNKNOWN_ID, &foreign, "short"].map(|id| {
        client.get(&format!("{}/incidents?resolved=x", service(id))).expect(404).without_request_id()
    });
    assert!(refusals.iter().all(|refusal| refusal == &refusals[0]));
}

fn count_today(client: &Client, id: &str, days: u8) -> Vec<Value> {
    let data = client.get(&format!("{}/uptime?days={days}", service(id))).expect(200).data();
    data.as_array().unwrap().iter().rev().map(|day| day["incidents"].clone()).collect()
}

/// Contract 4.7: incidents that were open at any moment of a day, without notices; newest day first here.
#[test]
fn days_count_the_incidents_that_were_open() {
    let client = tenant();
    let (id, other) = (create_unconfigured(&client), create_unconfigured(&client));
    assert_eq!(count_today(&client, &id, 2), [0, 0]);
    let days = client.get(&format!("{}/uptime?days=4", service(&id))).expect(200).data();
    let noon = |back: usize| format!("{}T12:00:00Z", days[3 - back]["date"].as_str().unwrap());
    for fields in [
        json!({"started_at": noon(2), "status": "resolved", "resolved_at": noon(1), "service_ids": [id, other]}),
        json!({"started_at": noon(1), "service_ids": [id], "severity": "critical", "is_published": true}),
        json!({"started_at": noon(3), "kind": "notice", "service_ids": [id]}),
        json!({"started_at": noon(3), "service_ids": [other]}),
    ] {
        open_incident(&client, &fields);
    }
    assert_eq!(count_today(&client, &id, 4), [1, 2, 1, 0]);
    assert_eq!(count_today(&client, &id, 1), [1]);
    assert_eq!(count_today(&client, &other, 4), [1, 2, 2, 1]);
}

/// The incidents that table 4.3.9 knows, all of one service: open and resolved, shared with another service and not.
struct Left {
    client: Client,
    id: String,
    alone_open: Value,
    alone_resolved: Value,
    shared_open: Value,
    shared_resolved: Value,
}

impl Left {
    fn new() -> Self {
        let client = tenant();
        let (id, other) = (create_unconfigured(&client), create_unconfigured(&client));
        let make = |fields: Value| open_incident(&client, &fields);
        Self {
            alone_open: make(json!({"service_ids": [id], "is_published": true, "severity": "major"})),
            alone_resolved: make(
                json!({"service_ids": [id], "status": "resolved", "started_at": "2026-01-01"}),
            ),
            shared_open: make(json!({"service_ids": [id, other]})),
            shared_resolved: make(json!({"service_ids": [other, id], "status": "resolved"})),
            client,
            id,
        }
    }

    fn read(&self, made: &Value) -> Value {
        self.client.get(&incident(&id_of(made))).expect(200).data()
    }

    /// The incident as it was, without the deleted service.
    fn detached(&self, made: &Value) -> Value {
        let mut detached = made.clone();
        detached["services"].as_array_mut().unwrap().retain(|service| service["id"] != *self.id);
        detached
    }

    fn delete(&self, query: &str) -> Value {
        let deleted = self.client.delete(&format!("{}{query}", service(&self.id))).expect(200);
        deleted.data()["cleanup"].clone()
    }
}

/// Contract 4.3.9, without the flag: what concerned this service alone ends with a public entry, nothing is lost.
#[rstest]
fn a_deleted_service_resolves_incidents_that_affect_it_alone(
    #[values("", "?delete_orphaned_incidents=0", "?delete_orphaned_incidents=")] query: &str,
) {
    let left = Left::new();
    let cleanup = left.delete(query);
    let expected = json!({"incidents_resolved": 1, "incidents_deleted": 0, "incidents_detached": 3,
        "maintenances_cancelled": 0, "maintenances_deleted": 0, "maintenances_detached": 0});
    assert_eq!(cleanup, expected);
    let ended = left.read(&left.alone_open);
    let entry = &ended["updates"][1];
    assert_eq!((&ended["status"], &entry["status"]), (&json!("resolved"), &json!("resolved")));
    assert_eq!(entry["notify_subscribers"], false);
    assert_eq!(entry["created_at"], ended["resolved_at"]);
    assert!(!entry["message"].as_str().unwrap().is_empty());
    assert_eq!(entry["message_translations"], json!({"en": entry["message"]}));
    assert_eq!(ended["services"], json!([]));
    for made in [&left.alone_resolved, &left.shared_open, &left.shared_resolved] {
        assert_eq!(left.read(made), left.detached(made));
    }
}

/// Contract 4.3.9, with the flag: incidents and maintenances of this service alone are deleted, whatever their state.
#[test]
fn a_deleted_service_can_delete_incidents_that_affect_it_alone() {
    let left = Left::new();
    let cleanup = left.delete("?delete_orphaned_incidents=TRUE");
    let expected = json!({"incidents_resolved": 0, "incidents_deleted": 2, "incidents_detached": 2,
        "maintenances_cancelled": 0, "maintenances_deleted": 0, "maintenances_detached": 0});
    assert_eq!(cleanup, expected);
    for made in [&left.alone_open, &left.alone_resolved] {
        left.client.get(&incident(&id_of(made))).expect(404);
    }
    for made in [&left.shared_open, &left.shared_resolved] {
        assert_eq!(left.read(made), left.detached(made));
    }
}

/// Contract 2.3: without the further permission nothing at all happens.
#[test]
fn without_the_permission_a_delete_touches_nothing() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let all = server.member(&organisation, "all");
    let id = create_unconfigured(&all);
    let made = open_incident(&all, &json!({"service_ids": [id]}));
    let deleter = server.member(&organisation, "services.delete");
    let refused = deleter.delete(&format!("{}?delete_orphaned_incidents=1", service(&id))).expect(403);
    assert_eq!(refused.message(), "This token is missing the permission 'incidents.delete'.");
    assert_eq!(all.get(&incident(&id_of(&made))).expect(200).data(), made);
    deleter.delete(&service(&id)).expect(200);
    assert_eq!(all.get(&incident(&id_of(&made))).expect(200).data()["status"], "resolved");
}

/// Contract 4.3.9: a delete and simultaneous writes that name the service do not block each other; whatever came
/// first, nothing concerns a service that is gone.
#[test]
fn a_delete_does_not_collide_with_new_links_on_postgresql() {
    let Some(postgres) = Postgres::start() else { return };
    let server = Server::with("", &[("WATCHKEEPER_DATABASE_URL", &postgres.url())]);
    let client = &server.client();
    for _ in 0..15 {
        let id = create_unconfigured(client);
        let incident = json!({"title": "T", "message": "M", "service_ids": [id]});
        let window = json!({"title": "T", "scheduled_start": "2100-01-01", "service_ids": [id]});
        std::thread::scope(|scope| {
            for (path, body) in [("/v1/incidents", &incident), ("/v1/maintenances", &window)] {
                scope.spawn(move || {
                    let status = client.post(path, body).status;
                    assert!([201, 422].contains(&status), "{path}: {status}");
                });
            }
            scope.spawn(|| client.delete(&service(&id)).expect(200));
        });
    }
    let open = client.get("/v1/incidents?resolved=0").expect(200).json();
    let waiting = client.get("/v1/maintenances?status=scheduled").expect(200).json();
    assert_eq!((&open["meta"]["total"], &waiting["meta"]["total"]), (&json!(0), &json!(0)));
}
