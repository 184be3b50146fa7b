//! The measurement store is unavailable (contract 4.8, 5.1): 503, never an empty list, never a false status.
//!
//! The history is on a PostgreSQL of its own that the test stops and starts; everything else continues.

use serde_json::json;

use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create_watched, eventually, service, until_checks, until_status};

#[tokio::test]
async fn an_unavailable_history_is_503_and_complete_after_its_return() {
    let Some(postgres) = Postgres::start() else { return };
    let (server, target) =
        (Server::with("", &[("WATCHKEEPER_HISTORY_URL", &postgres.url())]), Target::start());
    let client = server.client();
    let id = create_watched(&client, &target.url(), &json!({"interval_seconds": 1}));
    until_status(&client, &id, "up").await;
    let before = until_checks(&client, &id, 2).await;

    postgres.stop();
    for path in ["checks", "checks?status=down", "metrics", "response-times", "uptime"] {
        let answer = client.get(&format!("{}/{path}", service(&id))).expect(503);
        assert_eq!(answer.header("retry-after"), Some("30"), "{path}");
        assert_eq!(answer.message(), "Measurement data is not available at the moment.");
        assert!(answer.header("x-ratelimit-remaining").is_some());
    }
    // Errors of the request are reported first.
    client.get(&format!("{}/checks?status=x", service(&id))).expect(422);
    let seen = client.get(&service(&id)).expect(200).data();
    assert_eq!(seen["status"], "up", "storage trouble is no verdict");
    client.patch(&service(&id), &json!({"name": "renamed"})).expect(200);
    let ready = client.get("/readyz").expect(503).json();
    assert_eq!(ready["databases"], json!({"main": "ok", "history": "away"}));

    postgres.start_again();
    let path = format!("{}/checks?per_page=100", service(&id));
    eventually("the history answers", || (client.get(&path).status == 200).then_some(())).await;
    let after = until_checks(&client, &id, before.len() + 1).await;
    assert!(before.iter().all(|check| after.contains(check)), "what was acknowledged is there");
    assert_eq!(client.get(&service(&id)).expect(200).data()["status"], "up");
}
