//! `POST /v1/trials`: one check of a service that is not stored.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{UNKNOWN_ID, create_watched, service};

fn shop(url: &str, conditions: &Value) -> Value {
    json!({"name": "Shop", "check_type": "http", "target": url,
        "settings": {"interval_seconds": 60, "config": {"conditions": conditions}}})
}

#[test]
fn a_trial_says_what_each_condition_found_and_stores_nothing() {
    let client = Server::shared().tenant("business");
    let target = Target::start();
    let conditions = json!([
        {"field": "status_code", "operator": "neq", "value": 200, "status": "down"},
        {"field": "response_time_ms", "operator": "gte", "value": 0, "status": "degraded"},
        {"field": "body", "operator": "contains", "value": "ok", "status": "degraded"},
    ]);
    let tried = client.post("/v1/trials", &shop(&target.url(), &conditions)).expect(200).data();
    assert_eq!((&tried["status"], &tried["status_code"]), (&json!("degraded"), &json!(200)), "{tried:#}");
    assert_eq!(tried["error_code"], "condition_failed");
    assert!(tried["timings"]["total"].as_f64().unwrap() > 0.0 && tried["timings"]["tls"].is_null());
    let states: Vec<&str> =
        tried["conditions"].as_array().unwrap().iter().map(|row| row["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["unmet", "met", "met"]);
    assert_eq!(tried["conditions"][0]["found"], 200.0);
    assert_eq!(tried["conditions"][2]["found"], Value::Null, "a body may hold secrets");
    assert_eq!(client.get("/v1/services").expect(200).json()["meta"]["total"], 0);
    assert_eq!(client.get("/v1/audit-log?object=service").expect(200).data(), json!([]));
}

#[test]
fn a_target_that_does_not_answer_is_a_result() {
    let client = Server::shared().tenant("business");
    let mut target = Target::start();
    let url = target.url();
    target.stop();
    let tried = client.post("/v1/trials", &shop(&url, &json!([]))).expect(200).data();
    assert_eq!((&tried["status"], &tried["error_code"]), (&json!("down"), &json!("connect_refused")));
    assert_eq!(tried["conditions"], json!([]));
}

/// Same validation as for creating a service, and nothing to try for types that are not checked.
#[rstest]
#[case(json!({"check_type": "http", "target": "https://a.test/"}), "name")]
#[case(json!({"name": "x", "check_type": "tcp", "target": "no port", "settings": {"interval_seconds": 60}}), "target")]
#[case(json!({"name": "x", "check_type": "http", "target": "https://a.test/"}), "settings")]
#[case(json!({"name": "x", "check_type": "heartbeat"}), "check_type")]
#[case(json!({"name": "x", "check_type": "manual"}), "check_type")]
#[case(json!({"service_id": UNKNOWN_ID}), "service_id")]
fn what_cannot_be_tried_is_refused(#[case] body: Value, #[case] field: &str) {
    let refused = Server::shared().tenant("business").post("/v1/trials", &body).expect(422).json();
    assert!(refused["errors"][field].is_array(), "{refused:#}");
}

#[test]
fn a_trial_of_a_service_has_its_fields() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let client = server.member(&organisation, "all");
    let target = Target::start();
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 3600}));
    let conditions = json!([{"field": "status_code", "operator": "eq", "value": 200, "status": "down"}]);
    let body = json!({"service_id": id, "settings": {"config": {"conditions": conditions}}});
    let tried = client.post("/v1/trials", &body).expect(200).data();
    assert_eq!(tried["status"], "down", "{tried:#}");
    let stored = client.get(&format!("/v1/services/{id}")).expect(200).data();
    assert_ne!(stored["settings"]["config"]["conditions"], conditions, "nothing is stored");
    server.member(&organisation, "services.create").post("/v1/trials", &body).expect(403);
}

/// A trial leaves no trace, so a stored secret goes nowhere but where the service sends it.
#[test]
fn stored_secrets_are_sent_only_to_the_stored_target() {
    let client = Server::shared().tenant("business");
    let (own, other) = (Target::start(), Target::start());
    let config = json!({"headers": {"X-Api-Key": "hush"}, "auth": {"type": "bearer", "token": "secret"}});
    let settings = json!({"interval_seconds": 3600, "config": config});
    let id = create_watched(&client, &own.url(), &settings);
    let seen =
        |target: &Target, text: &str| target.requests().iter().filter(|head| head.contains(text)).count();
    let path = format!("{}health", own.url());
    client.post("/v1/trials", &json!({"service_id": id, "target": path})).expect(200);
    assert_eq!(seen(&own, "GET /health"), 1, "another path of the stored target");
    let body = json!({"service_id": id, "target": other.url()});
    let refused = client.post("/v1/trials", &body).expect(422).json();
    for field in ["settings.config.headers.X-Api-Key", "settings.config.auth.token"] {
        let text = refused["errors"][field][0].as_str().unwrap_or_default();
        assert!(text.contains("enter it again"), "{field}: {refused:#}");
    }
    assert_eq!(other.requests(), Vec::<String>::new(), "nothing was sent");
    // Another site at the same address is another target.
    let stored = client.get(&service(&id)).expect(200).data();
    let mut headers = stored["settings"]["config"]["headers"].clone();
    headers["Host"] = json!("other.example");
    let body = json!({"service_id": id, "settings": {"config": {"headers": headers}}});
    let refused = client.post("/v1/trials", &body).expect(422).json();
    assert!(refused["errors"]["settings.config.headers.X-Api-Key"].is_array(), "{refused:#}");
    // What is entered again, or removed, may be tried anywhere.
    let config = json!({"headers": {"X-Api-Key": "entered"}, "auth": null});
    let body = json!({"service_id": id, "target": other.url(), "settings": {"config": config}});
    client.post("/v1/trials", &body).expect(200);
    assert_eq!((seen(&other, "entered"), seen(&other, "secret")), (1, 0));
}

/// Nothing of a trial is stored, so a key has no effect: neither on the same request nor on another one, nor a malformed one.
#[test]
fn a_trial_is_not_stored_under_a_key() {
    let client = Server::shared().tenant("business");
    let target = Target::start();
    let bodies = [shop(&target.url(), &json!([])), shop(&target.url(), &json!(null))];
    for (body, key) in [(&bodies[0], "one"), (&bodies[0], "one"), (&bodies[1], "one"), (&bodies[0], "no key")]
    {
        let lines = ["Content-Type: application/json", &format!("Idempotency-Key: {key}")];
        let tried = client.send("POST", "/v1/trials", &lines, body.to_string().as_bytes()).expect(200);
        assert_eq!(tried.header("idempotent-replayed"), None);
    }
    assert_eq!(target.requests().len(), 4, "each request is a check");
}
