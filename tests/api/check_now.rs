//! `POST /v1/services/{id}/check-now`: the locations check at once.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create, create_watched, service, until_checks};

#[tokio::test]
async fn a_requested_check_is_an_ordinary_one() {
    let client = Server::shared().tenant("business");
    let target = Target::start();
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 3600}));
    until_checks(&client, &id, 1).await;
    let path = format!("{}/check-now", service(&id));
    let requested = client.post(&path, &json!({})).expect(202).data();
    assert!(requested["requested_at"].is_string());
    let checks = until_checks(&client, &id, 2).await;
    assert_eq!(checks[0]["status"], "up");
    let refused = client.post(&path, &json!({})).expect(429);
    assert!(refused.header("retry-after").is_some(), "one request per service and ten seconds");
}

#[rstest]
#[case(json!({"name": "Job", "check_type": "heartbeat"}))]
#[case(json!({"name": "Lamp", "check_type": "manual"}))]
#[case(json!({"name": "Shop", "check_type": "http", "target": "https://a.test/"}))]
fn services_that_are_not_checked_refuse(#[case] body: Value) {
    let client = Server::shared().tenant("business");
    let id = create(&client, &body);
    client.post(&format!("{}/check-now", service(&id)), &json!({})).expect(409);
}

#[test]
fn paused_services_refuse_and_responders_may_ask() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let client = server.member(&organisation, "all");
    let target = Target::start();
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 3600}));
    let path = format!("{}/check-now", service(&id));
    server.member(&organisation, "services.view").post(&path, &json!({})).expect(403);
    server.member(&organisation, "services.pause").post(&path, &json!({})).expect(202);
    client.post(&format!("{}/pause", service(&id)), &json!({})).expect(200);
    let refused = client.post(&path, &json!({})).expect(409);
    assert_eq!(refused.message(), "The service is paused; resume it first.");
}
