//! Name servers that answer nobody any more (reliability 10): no service is called down, no incident begins, and when they
//! answer again everything is as before.

use std::time::Duration;

use serde_json::json;

use crate::crowd::labelled;
use crate::support::client::Client;
use crate::support::name_server::NameServer;
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create_watched, eventually, until_status};

const SERVICES: usize = 20;

fn attempts_without_resolver(client: &Client) -> u64 {
    labelled(client, "attempts_shed_total", "reason=\"resolver_unavailable\"")
}

fn assert_no_incident(client: &Client) {
    let incidents = client.get("/v1/incidents").expect(200).data();
    assert_eq!(incidents, json!([]));
}

#[tokio::test]
async fn a_dead_resolver_calls_nobody_down() {
    let (names, target) = (NameServer::start_short_lived(), Target::start());
    let server = Server::with("", &[("WATCHKEEPER_PROBE__DNS_SERVERS", &names.address.to_string())]);
    let client = server.client();
    let port = target.url().trim_end_matches('/').rsplit(':').next().unwrap().to_owned();
    let watched = json!({"interval_seconds": 1, "timeout_seconds": 1, "retries": 0});
    let ids: Vec<String> = (0..SERVICES)
        .map(|number| {
            let host = format!("shop{number}.example.com");
            names.address_of(&host, [127, 0, 0, 1]);
            create_watched(&client, &format!("http://{host}:{port}/"), &watched)
        })
        .collect();
    for id in &ids {
        until_status(&client, id, "up").await;
    }

    names.set_dead(true);
    // Each of them many times, whatever was still known of their addresses.
    let many = 10 * SERVICES as u64;
    while attempts_without_resolver(&client) < many {
        assert_no_incident(&client);
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    names.set_dead(false);
    let shed = attempts_without_resolver(&client);
    println!("{shed} attempts had no resolver");
    let heads = target.requests().len();
    let looked = || (target.requests().len() >= heads + 3 * SERVICES).then_some(());
    eventually("they are looked at again", looked).await;
    for id in &ids {
        until_status(&client, id, "up").await;
        for status in ["down", "degraded"] {
            let checks = client.get(&format!("/v1/services/{id}/checks?status={status}")).expect(200).data();
            assert_eq!(checks, json!([]));
        }
        let uptime = client.get(&format!("/v1/services/{id}/uptime?days=30")).expect(200).data();
        let today = &uptime.as_array().unwrap()[29];
        assert_eq!((&today["status"], &today["downtime_seconds"]), (&json!("up"), &json!(0)));
    }
    assert_no_incident(&client);
}
