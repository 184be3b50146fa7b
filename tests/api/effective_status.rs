//! Status of components as visitors see it (contract 4.14.5), row by row, from outside.

use rstest::rstest;
use serde_json::{Value, json};

use crate::incidents::{incident, open_incident};
use crate::support::client::Client;
use crate::support::pages::{component, id_of, new_component, new_page, shown, statuspage};
use crate::support::planned::{in_state, operate};
use crate::support::server::Server;
use crate::support::{create, create_unconfigured, service};

fn manual(client: &Client) -> String {
    create(client, &json!({"name": "Till", "check_type": "manual"}))
}

fn state(client: &Client, id: &str, status: &str) {
    let body = json!({"status": status, "reason": "because"});
    client.post(&format!("{}/status-override", service(id)), &body).expect(200);
}

/// A page with one component of one service.
struct Scene {
    client: Client,
    page: String,
    service: String,
    component: String,
}

impl Scene {
    fn of(service: String, client: Client) -> Self {
        let page = new_page(&client);
        let component = new_component(&client, &page, &json!({ "service_id": service }));
        Self { client, page, service, component }
    }

    fn manual() -> Self {
        let client = Server::shared_client();
        Self::of(manual(&client), client)
    }

    fn effective(&self) -> Value {
        shown(&self.client, &self.page, &self.component)["effective_status"].clone()
    }

    /// An open incident of kind standard that affects the service.
    fn incident(&self, fields: &Value) -> String {
        let mut body = json!({"service_ids": [self.service], "is_published": true});
        for (key, value) in fields.as_object().unwrap() {
            body[key] = value.clone();
        }
        id_of(&open_incident(&self.client, &body))
    }
}

/// Rows 3 and 6 with the mapping.
#[rstest]
#[case("up", "operational")]
#[case("down", "major_outage")]
#[case("degraded", "degraded")]
#[case("maintenance", "under_maintenance")]
fn an_override_is_shown(#[case] stated: &str, #[case] status: &str) {
    let scene = Scene::manual();
    assert_eq!(scene.effective(), "operational");
    state(&scene.client, &scene.service, stated);
    assert_eq!(scene.effective(), status);
    assert_eq!(shown(&scene.client, &scene.page, &scene.component)["status"], status);
    scene.client.delete(&format!("{}/status-override", service(&scene.service))).expect(200);
    assert_eq!(scene.effective(), "operational");
}

/// Row 6: an unchecked and a paused service are unknown; row 2: without a service operational.
#[test]
fn unmeasured_components_are_unknown() {
    let client = Server::shared_client();
    let scene = Scene::of(create_unconfigured(&client), client);
    assert_eq!(scene.effective(), "unknown");
    let paused = Scene::manual();
    paused.client.post(&format!("{}/pause", service(&paused.service)), &json!({})).expect(200);
    assert_eq!(paused.effective(), "unknown");
    let unlinked = new_component(&scene.client, &scene.page, &json!({}));
    assert_eq!(shown(&scene.client, &scene.page, &unlinked)["effective_status"], "operational");
}

/// Row 5: the worst impact of open, published incidents; the severity sets it.
#[test]
fn published_incidents_are_shown() {
    let scene = Scene::manual();
    let minor = scene.incident(&json!({"severity": "minor"}));
    assert_eq!(scene.effective(), "degraded");
    let critical = scene.incident(&json!({"severity": "critical"}));
    scene.incident(&json!({"severity": "major"}));
    assert_eq!(scene.effective(), "major_outage");
    let resolve = |id: &str| {
        scene.client.post(&format!("{}/resolve", incident(id)), &json!({"message": "Done."})).expect(200);
    };
    resolve(&critical);
    assert_eq!(scene.effective(), "partial_outage");
    resolve(&minor);
    assert_eq!(scene.effective(), "partial_outage");
}

/// Row 5: internal incidents, notices and resolved ones say nothing.
#[rstest]
#[case(json!({"is_published": false}))]
#[case(json!({"kind": "notice"}))]
#[case(json!({"status": "resolved"}))]
#[case(json!({"service_ids": []}))]
fn other_incidents_have_no_effect(#[case] fields: Value) {
    let scene = Scene::manual();
    let mut fields = fields;
    fields["severity"] = json!("critical");
    scene.incident(&fields);
    assert_eq!(scene.effective(), "operational");
}

/// Row 3 before 4 before 5 before 6.
#[test]
fn override_outranks_maintenance_outranks_incident() {
    let client = Server::shared_client();
    let scene = Scene::of(create_unconfigured(&client), client);
    scene.incident(&json!({"severity": "critical"}));
    assert_eq!(scene.effective(), "major_outage");
    let planned = in_state(&scene.client, "scheduled", &[&scene.service]);
    assert_eq!(scene.effective(), "major_outage", "planned work has not begun");
    operate(&scene.client, &planned, "start").expect(200);
    assert_eq!(scene.effective(), "under_maintenance");
    scene.client.post(&format!("{}/pause", service(&scene.service)), &json!({})).expect(200);
    assert_eq!(scene.effective(), "under_maintenance", "row 4 stands before the pause in row 6");
    state(&scene.client, &scene.service, "degraded");
    assert_eq!(scene.effective(), "degraded");
    scene.client.delete(&format!("{}/status-override", service(&scene.service))).expect(200);
    operate(&scene.client, &planned, "complete").expect(200);
    assert_eq!(scene.effective(), "major_outage");
}

/// Contract 4.10.2: chosen pages show an incident, and no others; maintenance counts on every page (choice 31).
#[test]
fn an_incident_counts_on_the_pages_that_show_it() {
    let scene = Scene::manual();
    let other_page = new_page(&scene.client);
    let there = new_component(&scene.client, &other_page, &json!({ "service_id": scene.service }));
    let effective_there = || shown(&scene.client, &other_page, &there)["effective_status"].clone();
    let id = scene.incident(&json!({"severity": "major", "statuspage_ids": [other_page]}));
    assert_eq!((scene.effective(), effective_there()), (json!("operational"), json!("partial_outage")));
    scene.client.patch(&incident(&id), &json!({"statuspage_ids": []})).expect(200);
    assert_eq!((scene.effective(), effective_there()), (json!("partial_outage"), json!("partial_outage")));
    // A page without a visible component of the service does not show the incident.
    scene.client.patch(&component(&other_page, &there), &json!({"is_visible": false})).expect(200);
    let hidden = shown(&scene.client, &other_page, &there);
    assert_eq!((&hidden["status"], &hidden["effective_status"]), (&json!("operational"), &Value::Null));
    scene.client.patch(&component(&other_page, &there), &json!({"is_visible": true})).expect(200);
    in_state(&scene.client, "in_progress", &[&scene.service]);
    assert_eq!(
        (scene.effective(), effective_there()),
        (json!("under_maintenance"), json!("under_maintenance"))
    );
}

/// Rows of the table for groups, hidden and nested ones, with components of manual services.
#[test]
fn groups_summarise_their_visible_components() {
    let client = Server::shared_client();
    let page = new_page(&client);
    let group =
        |parent: Option<&str>| new_component(&client, &page, &json!({"is_group": true, "parent_id": parent}));
    let leaf = |parent: &str, stated: &str| {
        let service = manual(&client);
        state(&client, &service, stated);
        new_component(&client, &page, &json!({"service_id": service, "parent_id": parent}))
    };
    let effective = |id: &str| shown(&client, &page, id)["effective_status"].clone();
    let hide = |id: &str, is_visible: bool| {
        client.patch(&component(&page, id), &json!({ "is_visible": is_visible })).expect(200)
    };
    let outer = group(None);
    assert_eq!(effective(&outer), "unknown", "row 2");
    let up = leaf(&outer, "up");
    assert_eq!(effective(&outer), "operational");
    leaf(&outer, "maintenance");
    assert_eq!(effective(&outer), "under_maintenance");
    leaf(&outer, "degraded");
    assert_eq!(effective(&outer), "degraded");
    let inner = group(Some(&outer));
    assert_eq!((effective(&inner), effective(&outer)), (json!("unknown"), json!("degraded")));
    let down = leaf(&inner, "down");
    assert_eq!((effective(&inner), effective(&outer)), (json!("major_outage"), json!("partial_outage")));
    leaf(&inner, "up");
    assert_eq!(effective(&inner), "partial_outage");
    hide(&down, false);
    assert_eq!((effective(&inner), effective(&down)), (json!("operational"), Value::Null));
    let seen = shown(&client, &page, &inner);
    assert_eq!(seen["status"], "partial_outage", "as if everything were visible");
    hide(&outer, false);
    for id in [&outer, &up, &inner] {
        assert_eq!(effective(id), Value::Null, "at or below a hidden group");
    }
    hide(&outer, true);
    // Hidden only by `hide_operational_children`: it counts.
    client.patch(&component(&page, &inner), &json!({"hide_operational_children": true})).expect(200);
    assert_eq!(effective(&inner), "operational");
}

/// Contract 4.14.5: the whole page, the list and the single component say the same, published or not.
#[test]
fn every_response_shows_the_same_status() {
    let scene = Scene::manual();
    state(&scene.client, &scene.service, "down");
    scene.client.post(&format!("{}/unpublish", statuspage(&scene.page)), &json!({})).expect(200);
    let single = shown(&scene.client, &scene.page, &scene.component);
    assert_eq!(single["effective_status"], "major_outage");
    let whole = scene.client.get(&statuspage(&scene.page)).expect(200).data();
    assert_eq!(whole["components"], json!([single]));
}
