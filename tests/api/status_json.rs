//! The JSON of status pages for aggregators, in the form of Atlassian Statuspage.

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::pages::{create_page, fresh, get_at, host_of, id_of, new_component, visit};
use crate::support::server::Server;
use crate::support::{create, service};

const DOCUMENTS: [(&str, &[&str]); 8] = [
    ("summary", &["page", "components", "incidents", "scheduled_maintenances", "status"]),
    ("status", &["page", "status"]),
    ("components", &["page", "components"]),
    ("incidents", &["page", "incidents"]),
    ("incidents/unresolved", &["page", "incidents"]),
    ("scheduled-maintenances", &["page", "scheduled_maintenances"]),
    ("scheduled-maintenances/upcoming", &["page", "scheduled_maintenances"]),
    ("scheduled-maintenances/active", &["page", "scheduled_maintenances"]),
];

/// A page with its id and its host.
fn page(client: &Client) -> (String, String) {
    let page = create_page(client, &json!({"slug": fresh("machines"), "name": "Machines"}));
    (id_of(&page), host_of(&page))
}

fn document(client: &Client, host: &str, name: &str) -> Value {
    get_at(client, host, &format!("/api/v2/{name}.json")).expect(200).json()
}

/// A manual service with a status.
fn manual(client: &Client, status: &str) -> String {
    let id = create(client, &json!({"name": "Till", "check_type": "manual"}));
    let stated = json!({"status": status, "reason": "Seen"});
    client.post(&format!("{}/status-override", service(&id)), &stated).expect(200);
    id
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

/// A change of the status moves `updated_at` of its component and of the page, and of nothing else.
#[test]
fn a_change_of_a_status_is_an_update() {
    let client = Server::shared_client();
    let (id, host) = page(&client);
    let till = manual(&client, "up");
    for name in ["Till", "Other"] {
        let service = if name == "Till" { till.clone() } else { manual(&client, "up") };
        new_component(&client, &id, &json!({"name": name, "service_id": service}));
    }
    let times = || {
        let shown = document(&client, &host, "summary");
        let of = |name: &str| {
            let all = shown["components"].as_array().unwrap();
            all.iter().find(|one| one["name"] == name).unwrap()["updated_at"].as_str().unwrap().to_owned()
        };
        [of("Till"), of("Other"), shown["page"]["updated_at"].as_str().unwrap().to_owned()]
    };
    let before = times();
    let stated = json!({"status": "down", "reason": "Seen"});
    client.post(&format!("{}/status-override", service(&till)), &stated).expect(200);
    let after = times();
    assert!(after[0] > before[0] && after[2] > before[2], "{before:?} {after:?}");
    assert_eq!(after[1], before[1]);
    assert_eq!(times(), after, "nothing has changed since");
}

#[test]
fn every_document_has_its_members_and_can_be_read_from_any_origin() {
    let client = Server::shared_client();
    let (id, host) = page(&client);
    for (name, members) in DOCUMENTS {
        let path = format!("/api/v2/{name}.json");
        let answer = get_at(&client, &host, &path).expect(200);
        for (header, value) in [
            ("content-type", "application/json; charset=utf-8"),
            ("access-control-allow-origin", "*"),
            ("x-robots-tag", "noindex"),
            ("vary", "Accept-Encoding"),
        ] {
            assert_eq!(answer.header(header), Some(value), "{name}");
        }
        let found = answer.json();
        assert_eq!(found.as_object().unwrap().keys().collect::<Vec<_>>(), members, "{name}");
        assert_eq!(found["page"]["id"], id);
        assert_eq!(found["page"]["name"], "Machines");
        assert_eq!(found["page"]["time_zone"], "Etc/UTC");
        let known = format!("If-None-Match: {}", answer.header("etag").unwrap());
        visit(&client, "GET", &host, &path, &[&known]).expect(304);
    }
    get_at(&client, &host, "/api/v2/other.json").expect(404);
    // Some clients write names with capitals.
    get_at(&client, &host, "/api/v2/Incidents.json").expect(200);
    client
        .patch(
            &format!("/v1/statuspages/{id}"),
            &json!({"access_type": "password", "password": "correct horse"}),
        )
        .expect(200);
    let refused = get_at(&client, &host, "/api/v2/summary.json").expect(401);
    assert!(!refused.body.contains("Machines"), "{}", refused.body);
}

#[test]
fn components_have_the_words_of_the_format() {
    let client = Server::shared_client();
    let (id, host) = page(&client);
    let group = new_component(
        &client,
        &id,
        &json!({"name": "Group", "is_group": true, "hide_operational_children": true}),
    );
    new_component(
        &client,
        &id,
        &json!({"name": "Healthy", "parent_id": group, "service_id": manual(&client, "up")}),
    );
    let slow = manual(&client, "degraded");
    new_component(&client, &id, &json!({"name": "Slow", "parent_id": group, "service_id": slow}));
    new_component(&client, &id, &json!({"name": "Gone", "service_id": manual(&client, "down")}));
    new_component(&client, &id, &json!({"name": "Cellar", "is_visible": false}));
    let unmeasured =
        create(&client, &json!({"name": "Paused", "check_type": "http", "target": "http://127.0.0.1:9/"}));
    client.post(&format!("{}/pause", service(&unmeasured)), &json!({})).expect(200);
    new_component(&client, &id, &json!({"name": "Unmeasured", "service_id": unmeasured}));
    let found = document(&client, &host, "components")["components"].clone();
    assert_eq!(names(&found), ["Group", "Slow", "Gone", "Unmeasured"]);
    let words: Vec<&str> =
        found.as_array().unwrap().iter().map(|one| one["status"].as_str().unwrap()).collect();
    assert_eq!(words, ["degraded_performance", "degraded_performance", "major_outage", "operational"]);
    assert_eq!(found[0]["group"], true);
    assert_eq!(found[0]["components"], json!([found[1]["id"]]));
    assert_eq!((&found[1]["group_id"], &found[1]["only_show_if_degraded"]), (&json!(group), &json!(true)));
    assert_eq!(found[3]["watchkeeper"], json!({"status": "unknown"}), "the format has no word for it");
    let status = document(&client, &host, "status")["status"].clone();
    assert_eq!(status, json!({"indicator": "major", "description": "Partial System Outage"}));

    client.patch(&format!("/v1/statuspages/{id}"), &json!({"status_json_includes_hidden": true})).expect(200);
    let all = document(&client, &host, "components")["components"].clone();
    assert_eq!(names(&all), ["Group", "Healthy", "Slow", "Gone", "Unmeasured"]);

    client.delete(&format!("{}/status-override", service(&slow))).expect(200);
    client.delete(&service(&slow)).expect(200);
    let last = document(&client, &host, "components")["components"].clone();
    assert_eq!(last[2]["status"], "degraded_performance", "the last status that was known");
    assert_eq!(last[2]["watchkeeper"], json!({"status": "unknown"}));
}

#[test]
fn incidents_are_listed_with_their_updates() {
    let client = Server::shared_client();
    let (id, host) = page(&client);
    let till = manual(&client, "up");
    new_component(&client, &id, &json!({"name": "Public till", "service_id": till}));
    let announce = |title: &str, is_published: bool| {
        let body = json!({"title": title, "message": "We *look*.", "severity": "major", "service_ids": [till],
            "is_published": is_published});
        id_of(&client.post("/v1/incidents", &body).expect(201).data())
    };
    announce("Internal", false);
    let over = announce("Over", true);
    client.post(&format!("/v1/incidents/{over}/resolve"), &json!({"message": "Oiled."})).expect(200);
    let open = announce("Open", true);
    let notice = json!({"title": "Notice", "message": "Back in January.", "kind": "notice", "is_published": true,
        "statuspage_ids": [id]});
    client.post("/v1/incidents", &notice).expect(201);

    let all = document(&client, &host, "incidents")["incidents"].clone();
    let mut listed = names(&all);
    listed.sort_unstable();
    assert_eq!(listed, ["Notice", "Open", "Over"]);
    let unresolved = document(&client, &host, "incidents/unresolved")["incidents"].clone();
    assert_eq!(unresolved.as_array().unwrap().len(), 2);
    assert_eq!(document(&client, &host, "summary")["incidents"], unresolved);
    let found =
        |title: &str| all.as_array().unwrap().iter().find(|one| one["name"] == title).unwrap().clone();
    assert_eq!(found("Notice")["impact"], "none");
    let (over, shown) = (found("Over"), found("Open"));
    assert_eq!((&over["status"], &over["impact"]), (&json!("resolved"), &json!("major")));
    assert!(over["resolved_at"].is_string() && shown["resolved_at"].is_null());
    let bodies: Vec<&str> = over["incident_updates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|update| update["body"].as_str().unwrap())
        .collect();
    assert_eq!(bodies, ["Oiled.", "We look."], "the newest first");
    assert_eq!(names(&shown["components"]), ["Public till"]);
    let page = document(&client, &host, "status")["page"]["url"].as_str().unwrap().to_owned();
    assert_eq!(shown["shortlink"], format!("{page}/incidents/{open}"));

    client.patch(&format!("/v1/statuspages/{id}"), &json!({"show_affected_services": false})).expect(200);
    let unnamed = document(&client, &host, "incidents/unresolved")["incidents"].clone();
    assert!(unnamed.as_array().unwrap().iter().all(|one| one["components"] == json!([])), "{unnamed}");

    client.delete(&format!("/v1/incidents/{open}")).expect(200);
    let rest = document(&client, &host, "incidents")["incidents"].clone();
    assert_eq!(rest.as_array().unwrap().len(), 2, "a deleted incident is gone at once");
}

#[test]
fn maintenances_are_listed_by_their_state() {
    let client = Server::shared_client();
    let (id, host) = page(&client);
    let window = |title: &str, start: &str, end: Value| {
        let body = json!({"title": title, "message": "Work.", "statuspage_ids": [id], "scheduled_start": start,
            "scheduled_end": end});
        id_of(&client.post("/v1/maintenances", &body).expect(201).data())
    };
    window("Coming", "2199-01-02T03:04:05Z", json!("2199-01-02T04:00:00Z"));
    window("Running", "2026-01-01T00:00:00Z", Value::Null);
    let over = window("Over", "2026-01-01T00:00:00Z", Value::Null);
    client.post(&format!("/v1/maintenances/{over}/complete"), &json!({})).expect(200);
    let cancelled = window("Cancelled", "2199-01-02T03:04:05Z", Value::Null);
    client.post(&format!("/v1/maintenances/{cancelled}/cancel"), &json!({})).expect(200);
    let listed = |name: &str| {
        let found = document(&client, &host, name)["scheduled_maintenances"].clone();
        let mut listed: Vec<String> = names(&found).into_iter().map(str::to_owned).collect();
        listed.sort_unstable();
        listed
    };
    assert_eq!(listed("scheduled-maintenances"), ["Coming", "Over", "Running"]);
    assert_eq!(listed("scheduled-maintenances/upcoming"), ["Coming"]);
    assert_eq!(listed("scheduled-maintenances/active"), ["Running"]);
    assert_eq!(listed("summary"), ["Coming", "Running"]);
    let running =
        document(&client, &host, "scheduled-maintenances/active")["scheduled_maintenances"][0].clone();
    assert_eq!((&running["status"], &running["impact"]), (&json!("in_progress"), &json!("maintenance")));
    assert_eq!(
        running["scheduled_until"], "2026-01-02T00:00:00.000Z",
        "an open end is a day after the start"
    );
}
