//! Limits of plans (contract 3): API access, active services, the shortest interval.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::{create_unconfigured, service};

/// Contract 3.2, 1.8: the plan is named before route, permission and rate; `/v1/me` answers.
#[test]
fn plans_without_api_access_are_refused_on_every_path() {
    let server = Server::shared();
    for plan in ["free", "solo"] {
        let client = server.tenant(plan);
        for (method, path) in [
            ("GET", "/v1/services"),
            ("POST", "/v1/services"),
            ("GET", "/v1/nowhere"),
            ("POST", "/v1/me"),
            ("DELETE", "/v1/probes"),
        ] {
            let mut refused = client.send(method, path, &[], b"").expect(403).json();
            refused.as_object_mut().unwrap().remove("request_id");
            let expected = json!({"message": "The plan of this organisation does not include API access.",
                "upsell": {"reason": "feature", "key": "api_access"}});
            assert_eq!(refused, expected, "{plan} {method} {path}");
        }
        client.get("/v1/me").expect(200);
    }
}

const TWO_SERVICES: &str = "[plans.team]\nservices = 2\n";

fn unpaused(client: &Client) -> u64 {
    client.get("/v1/me").expect(200).json()["limits"]["services"]["usage"].as_u64().unwrap()
}

/// Contract 3.3: parallel creates on the last slot give one 201, and 403 with `upsell` to all others.
#[test]
fn the_last_slot_is_used_once() {
    let server = Server::with(TWO_SERVICES, &[]);
    let client = server.tenant("team");
    create_unconfigured(&client);
    let body = json!({"name": "x", "check_type": "manual"});
    let answers: Vec<_> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..8).map(|_| scope.spawn(|| client.post("/v1/services", &body))).collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (made, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 201);
    assert_eq!((made.len(), refused.len()), (1, 7));
    for answer in refused {
        let mut seen = answer.expect(403).json();
        seen.as_object_mut().unwrap().remove("request_id");
        let expected = json!({"message": "The plan allows 2 active services; 2 are in use.",
            "upsell": {"reason": "limit", "key": "services"}, "limit": 2, "usage": 2});
        assert_eq!(seen.to_string(), expected.to_string());
    }
    assert_eq!(unpaused(&client), 2);
    assert_eq!(client.get("/v1/services").expect(200).json()["meta"]["total"], 2);
}

/// Contract 4.3.8, 1.8: pausing frees a slot, resuming needs one; field errors precede the quota.
#[test]
fn pausing_frees_a_slot_and_resuming_needs_one() {
    let server = Server::with(TWO_SERVICES, &[]);
    let client = server.tenant("team");
    let first = create_unconfigured(&client);
    create_unconfigured(&client);
    client.post("/v1/services", &json!({"name": ""})).expect(422);
    client.post(&format!("{}/pause", service(&first)), &Value::Null).expect(200);
    create_unconfigured(&client);
    let refused = client.post(&format!("{}/resume", service(&first)), &Value::Null).expect(403).json();
    assert_eq!(refused["upsell"], json!({"reason": "limit", "key": "services"}));
    assert_eq!((&refused["limit"], &refused["usage"]), (&json!(2), &json!(2)));
    assert_eq!(client.get(&service(&first)).expect(200).data()["is_paused"], true);
    assert_eq!(unpaused(&client), 2);
    // A service that is not paused is resumed without a slot.
    let running = client.get("/v1/services?page=2&per_page=1").expect(200).data()[0]["id"].clone();
    client.post(&format!("{}/resume", service(running.as_str().unwrap())), &Value::Null).expect(200);
    client.delete(&service(running.as_str().unwrap())).expect(200);
    client.post(&format!("{}/resume", service(&first)), &Value::Null).expect(200);
}

/// Contract 3.1: the shortest interval is a field error, not an upsell.
#[test]
fn an_interval_below_the_plan_is_a_field_error() {
    let server = Server::with("[plans.team]\nmin_interval_seconds = 90\n", &[]);
    let settings = json!({"interval_seconds": 89});
    let body = json!({"name": "x", "check_type": "tcp", "target": "127.0.0.1:9", "settings": settings});
    let refused = server.tenant("team").post("/v1/services", &body);
    let text = "The smallest allowed value is 90.".to_owned();
    assert_eq!(refused.errors(), [("settings.interval_seconds".to_owned(), text)]);
    assert!(refused.json().get("upsell").is_none());
}

/// Contract 7, no. 45: pausing makes room for active services, but not without end.
#[test]
fn services_of_any_state_are_limited() {
    let server = Server::with(TWO_SERVICES, &[]);
    let client = server.tenant("team");
    let mut last = String::new();
    for _ in 0..8 {
        last = create_unconfigured(&client);
        client.post(&format!("{}/pause", service(&last)), &json!({})).expect(200);
    }
    let body = json!({"name": "x", "check_type": "manual"});
    let mut refused = client.post("/v1/services", &body).expect(402).json();
    refused.as_object_mut().unwrap().remove("request_id");
    let expected = json!({"message": "The plan allows 8 services of any state; 8 exist.",
        "upsell": {"reason": "limit", "key": "services_total"}, "limit": 8, "usage": 8});
    assert_eq!(refused, expected);
    client.delete(&service(&last)).expect(200);
    client.post("/v1/services", &body).expect(201);
    client.post("/v1/services", &body).expect(402);
}

/// Contract 3.3: after a downgrade nothing is deleted, the newest services beyond the limit are paused.
#[tokio::test]
async fn after_a_downgrade_the_newest_services_are_paused() {
    let mut server = Server::with(TWO_SERVICES, &[]);
    let client = server.tenant("team");
    let older = create_unconfigured(&client);
    let newer = create_unconfigured(&client);
    server.terminate().await;
    let settings = server.data().parent().unwrap().join("settings.toml");
    std::fs::write(settings, "[plans.team]\nservices = 1\n").unwrap();
    server.restart();
    let client = Client { token: client.token, ..server.client() };
    let shown = client.get(&service(&newer)).expect(200).data();
    assert_eq!((&shown["paused_reason"], &shown["status"]), (&json!("plan_limit"), &json!("paused")));
    assert_eq!(client.get(&service(&older)).expect(200).data()["is_paused"], false);
    assert_eq!(unpaused(&client), 1);
    client.post(&format!("{}/resume", service(&newer)), &Value::Null).expect(403);
    let paused = client.post(&format!("{}/pause", service(&newer)), &Value::Null).expect(200).data();
    assert_eq!(paused["paused_reason"], "manual");
    assert_eq!(paused["paused_at"], shown["paused_at"]);
}

/// Contract 3.3: policies, scopes and series count like status pages: 402 on what would be one too many, and a change of
/// what there is needs no place.
#[rstest]
#[case::policies("incident-policies", "incident_policies", json!({"name": "Shop"}), "incident policies")]
#[case::scopes("access-scopes", "access_scopes", json!({"name": "Shop", "tags": ["shop"]}), "access scopes")]
#[case::targets("sla-targets", "sla_targets", json!({"name": "Shop", "tag_id": "shop", "objective": 99.9,
    "period": "month", "time_zone": "UTC"}), "SLA targets")]
#[case::series("maintenances", "maintenance_series", json!({
    "title": "Backup", "message": "We back up.", "scheduled_start": "2196-01-01T02:00:00Z",
    "scheduled_end": "2196-01-01T03:00:00Z", "recurrence": {"rrule": "FREQ=DAILY", "time_zone": "UTC"},
}), "series of maintenances")]
fn the_plan_limits_resources_of_services(
    #[case] path: &str,
    #[case] key: &str,
    #[case] mut body: Value,
    #[case] things: &str,
) {
    let server = Server::with(&format!("[plans.team]\n{key} = 2\n"), &[]);
    let client = server.tenant("team");
    let tag = client.post("/v1/tags", &json!({"key": "shop"})).expect(201).data()["id"].clone();
    if key == "sla_targets" {
        body["tag_id"] = tag;
    }
    let path = format!("/v1/{path}");
    let usage = || client.get("/v1/me").expect(200).json()["limits"][key]["usage"].as_u64().unwrap();
    let mut made = Value::Null;
    for number in usage()..2 {
        body["name"] = json!(format!("Shop {number}"));
        made = client.post(&path, &body).expect(201).data();
    }
    body["name"] = json!("Shop again");
    let mut refused = client.post(&path, &body).expect(402).json();
    refused.as_object_mut().unwrap().remove("request_id");
    let expected = json!({"message": format!("The plan allows 2 {things}; 2 exist."),
        "upsell": {"reason": "limit", "key": key}, "limit": 2, "usage": 2});
    assert_eq!(refused, expected);
    assert_eq!(usage(), 2);
    let id = made["id"].as_str().unwrap();
    client.patch(&format!("{path}/{id}"), &json!({})).expect(200);
    if key == "maintenance_series" {
        // A single one does not count.
        body.as_object_mut().unwrap().remove("recurrence");
        client.post(&path, &body).expect(201);
    } else {
        client.delete(&format!("{path}/{id}")).expect(200);
        client.post(&path, &body).expect(201);
    }
}
