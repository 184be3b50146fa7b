//! `/v1/services/{id}/status-override` (contract 4.3.10, 4.3.7): what a person states wins.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create, create_unconfigured, create_watched, service, until_status};

fn path(id: &str) -> String {
    format!("{}/status-override", service(id))
}

/// Contract 4.3.10: set, replaced, removed; a second removal changes nothing.
#[test]
fn an_override_is_set_replaced_and_removed() {
    let client = Server::shared_client();
    let id = create(&client, &json!({"name": "Till", "check_type": "manual"}));
    let me = client.get("/v1/me").expect(200).json();
    for status in ["down", "degraded", "maintenance", "up"] {
        let body = json!({"status": status, "reason": "  seen by eye "});
        let seen = client.post(&path(&id), &body).expect(200).data();
        for (key, value) in [
            ("effective_status", json!(status)),
            ("status_override", json!(status)),
            ("status_override_reason", json!("seen by eye")),
            ("status_override_by", me["token"]["name"].clone()),
            ("status", json!("unknown")),
        ] {
            assert_eq!(seen[key], value, "{key}");
        }
        assert!(seen["status_override_at"].is_string());
    }
    let removed = client.delete(&path(&id)).expect(200);
    for suffix in ["", "_reason", "_at", "_by"] {
        assert_eq!(removed.data()[format!("status_override{suffix}")], Value::Null);
    }
    assert_eq!(removed.data()["effective_status"], "operational");
    // Uptime continues.
    let without_uptime = |mut service: Value| {
        service["uptime_30d"].take();
        service
    };
    let again = client.delete(&path(&id)).expect(200).data();
    assert_eq!(without_uptime(again), without_uptime(removed.data()));
}

/// Contract 4.3.7: the override wins over a pause; what is measured stays visible.
#[test]
fn an_override_wins_over_a_pause() {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    client.post(&format!("{}/pause", service(&id)), &json!({})).expect(200);
    let seen = client.post(&path(&id), &json!({"status": "up", "reason": "x"})).expect(200).data();
    assert_eq!((&seen["status"], &seen["effective_status"]), (&json!("paused"), &json!("up")));
}

/// Contract 4.3.7: checks go on during an override.
#[tokio::test]
async fn checks_continue_during_an_override() {
    let (client, target) = (Server::shared_client(), Target::start());
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 604_800}));
    client.post(&path(&id), &json!({"status": "down", "reason": "x"})).expect(200);
    let seen = until_status(&client, &id, "up").await;
    assert_eq!(seen["effective_status"], "down");
}

#[rstest]
#[case(json!({}), &[("status", "This field is required."), ("reason", "This field is required.")])]
#[case(json!({"status": "operational", "reason": "x"}), &[("status", "Unknown value. Allowed: up, down, degraded, maintenance.")])]
#[case(json!({"status": null, "reason": "x"}), &[("status", "This field must not be null.")])]
#[case(json!({"status": "up", "reason": " "}), &[("reason", "Use at least 1 characters.")])]
#[case(json!({"status": "up", "reason": "x".repeat(501)}), &[("reason", "Use at most 500 characters.")])]
#[case(json!({"status": 1, "reason": 2}), &[("status", "This value must be a string."), ("reason", "This value must be a string.")])]
fn a_wrong_override_is_refused(#[case] body: Value, #[case] expected: &[(&str, &str)]) {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let expected: Vec<_> =
        expected.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect();
    assert_eq!(client.post(&path(&id), &body).errors(), expected);
    assert_eq!(client.get(&service(&id)).expect(200).data()["status_override"], Value::Null);
}
