//! Heartbeats of which several periods pass while no process listens.

use serde_json::json;

use crate::heartbeat::{address, ping, pretend_last_ping, run};
use crate::support::moments::in_ms;
use crate::support::server::Server;
use crate::support::{create, eventually, service, until_checks};

/// No process listened for a part of two consecutive periods: a notice reports it until the next ping.
#[tokio::test]
async fn two_consecutive_unheard_periods_cause_a_notice() {
    let mut server = Server::start();
    let settings = json!({"interval_seconds": 600, "config": {"grace_seconds": 0}});
    let body = json!({"name": "Backup", "check_type": "heartbeat", "settings": settings});
    let id = create(&server.client(), &body);
    let shown = server.client().get(&service(&id)).expect(200).data();
    ping(&server.client(), "GET", &address(&shown)).expect(200);
    until_checks(&server.client(), &id, 1).await;
    server.kill();
    let ago = |seconds: i64| in_ms(-seconds * 1_000).ms();
    // The ping was 1,300 seconds ago, so the next one was expected 700 seconds ago. The absence in between ended 600 seconds ago: the
    // one after is expected now.
    pretend_last_ping(&server, in_ms(-1_300_000)).await;
    let [main, _] = server.urls();
    let earlier = format!("UPDATE listening_span SET from_at = {}, to_at = {}", ago(1_400), ago(800));
    run(&main, &earlier).await;
    let later = format!(
        "INSERT INTO listening_span (node, from_at, to_at) SELECT node, {}, {} FROM listening_span",
        ago(600),
        ago(300)
    );
    run(&main, &later).await;
    server.restart();
    let client = server.client();
    let about_pings = |lasts: bool| {
        let rows = client.get(&format!("/v1/notices?lasts={lasts}")).expect(200).data();
        rows.as_array().unwrap().iter().any(|row| row["about"] == json!(format!("pings/{id}"))).then_some(())
    };
    eventually("the notice begins", || about_pings(true)).await;
    assert_eq!(client.get(&service(&id)).expect(200).data()["status"], "unknown");
    ping(&client, "GET", &address(&shown)).expect(200);
    eventually("the notice ends", || about_pings(false)).await;
}
