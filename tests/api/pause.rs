//! `POST /v1/services/{id}/pause` and `/resume` (contract 4.3.8).
//!
//! Quotas of resuming are in `plans`.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create, create_unconfigured, create_watched, service, until_status};

/// Contract 4.3.8: a pause shows at once, a second one changes nothing, resuming takes it away.
#[test]
fn a_service_is_paused_once_and_resumed_once() {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    let paused = client.post(&format!("{}/pause", service(&id)), &json!({})).expect(200);
    for (key, value) in [
        ("status", json!("paused")),
        ("effective_status", json!("paused")),
        ("is_paused", json!(true)),
        ("paused_reason", json!("manual")),
    ] {
        assert_eq!(paused.data()[key], value, "{key}");
    }
    assert!(paused.data()["paused_at"].is_string());
    let again = client.post(&format!("{}/pause", service(&id)), &json!({})).expect(200);
    assert_eq!(again.body, paused.body);
    let resumed = client.post(&format!("{}/resume", service(&id)), &json!({})).expect(200);
    for (key, value) in [
        ("status", json!("unknown")),
        ("is_paused", json!(false)),
        ("paused_reason", Value::Null),
        ("paused_at", Value::Null),
    ] {
        assert_eq!(resumed.data()[key], value, "{key}");
    }
    assert_eq!(client.post(&format!("{}/resume", service(&id)), &json!({})).expect(200).body, resumed.body);
}

/// Contract 1.2: the body of an action is optional and ignored, whatever it is.
#[rstest]
#[case(b"")]
#[case(b"{}")]
#[case(b"not json")]
#[case(b"[1, 2]")]
fn an_action_ignores_its_body(#[case] body: &[u8], #[values("pause", "resume")] act: &str) {
    let client = Server::shared_client();
    let id = create_unconfigured(&client);
    client.send("POST", &format!("{}/{act}", service(&id)), &["Content-Type: text/plain"], body).expect(200);
}

/// Contract 4.3.7: a paused manual service is paused.
#[test]
fn a_manual_service_can_be_paused() {
    let client = Server::shared_client();
    let id = create(&client, &json!({"name": "Till", "check_type": "manual"}));
    let paused = client.post(&format!("{}/pause", service(&id)), &json!({})).expect(200).data();
    assert_eq!((&paused["status"], &paused["effective_status"]), (&json!("paused"), &json!("paused")));
}

/// Contract 4.3.8: nothing is checked while paused; resuming starts a check at once.
#[tokio::test]
async fn resuming_starts_a_check_at_once() {
    let (client, target) = (Server::shared_client(), Target::start());
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 604_800}));
    until_status(&client, &id, "up").await;
    client.post(&format!("{}/pause", service(&id)), &json!({})).expect(200);
    assert_eq!(client.get(&service(&id)).expect(200).data()["status"], "paused");
    assert_eq!(target.requests().len(), 1);
    client.post(&format!("{}/resume", service(&id)), &json!({})).expect(200);
    until_status(&client, &id, "up").await;
    assert_eq!(target.requests().len(), 2);
}

/// A pause outlives the process.
#[test]
fn a_pause_survives_a_kill() {
    let mut server = Server::start();
    let id = create_unconfigured(&server.client());
    let paused = server.client().post(&format!("{}/pause", service(&id)), &json!({})).expect(200);
    server.kill_and_restart();
    assert_eq!(server.client().get(&service(&id)).expect(200).body, paused.body);
}
