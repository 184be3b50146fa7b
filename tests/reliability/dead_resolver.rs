//! Name servers that no longer respond (reliability 10): no service is reported down, no incident starts, and when they
//! answer again everything is as before. After a minute Watchkeeper reports that it cannot check.

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
async fn a_dead_resolver_reports_no_target_down() {
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

/// The only service needs the resolver. Every place that reports the blindness shows it, and each withdraws it.
#[tokio::test]
async fn a_location_without_resolver_is_impaired_after_a_minute_and_its_service_unknown() {
    let (names, target, watchdog) = (NameServer::start_short_lived(), Target::start(), Target::start());
    let server = Server::with(
        "",
        &[
            ("WATCHKEEPER_PROBE__DNS_SERVERS", &names.address.to_string()),
            ("WATCHKEEPER_WATCHDOG__PING_URL", &watchdog.url()),
            ("WATCHKEEPER_WATCHDOG__PING_INTERVAL_SECONDS", "1"),
            ("WATCHKEEPER_WATCHDOG__NOTICE_AFTER_SECONDS", "1"),
        ],
    );
    let client = server.client();
    let port = target.url().trim_end_matches('/').rsplit(':').next().unwrap().to_owned();
    names.address_of("shop.example.com", [127, 0, 0, 1]);
    let watched = json!({"interval_seconds": 1, "timeout_seconds": 1, "retries": 0});
    let id = create_watched(&client, &format!("http://shop.example.com:{port}/"), &watched);
    until_status(&client, &id, "up").await;
    let probe = || client.get("/v1/probes").expect(200).data()[0].clone();
    let ready = || client.without_token().get("/readyz").expect(200).body;
    let lasting = || client.get("/v1/notices?lasts=true").expect(200).data();
    assert_eq!((probe()["status"].as_str(), ready().contains("impaired")), (Some("online"), false));

    names.set_dead(true);
    while attempts_without_resolver(&client) < 20 {
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    let is_impaired = || (probe()["status"] == "impaired").then_some(());
    eventually("the location is impaired", is_impaired).await;
    assert_eq!(probe()["impaired_by"], "resolver_unavailable");
    until_status(&client, &id, "unknown").await;
    assert!(
        ready().contains("location local is impaired: none of its checks could be made since "),
        "{}",
        ready()
    );
    assert_eq!(labelled(&client, "location_blind", "location=\"local\",reason=\"resolver_unavailable\""), 1);
    let is_told = || {
        let told = lasting().to_string();
        (told.contains("monitor.trouble") && told.contains("location.impaired")).then_some(())
    };
    eventually("a notice tells it", is_told).await;
    let withheld = || labelled(&client, "watchdog_pings_total", "result=\"withheld\"");
    eventually("pings are withheld", || (withheld() >= 2).then_some(())).await;
    let pings = watchdog.requests().len();
    let before = withheld();
    eventually("they stay away", || (withheld() >= before + 2).then_some(())).await;
    assert_eq!(watchdog.requests().len(), pings, "silence is the message");
    assert_no_incident(&client);

    names.set_dead(false);
    until_status(&client, &id, "up").await;
    assert_eq!((probe()["status"].as_str(), ready().contains("impaired")), (Some("online"), false));
    eventually("pings leave again", || (watchdog.requests().len() > pings).then_some(())).await;
    eventually("the notices are over", || (lasting() == json!([])).then_some(())).await;
    let log = server.log();
    assert_eq!(log.matches("no check could run for a minute").count(), 1);
    assert_eq!(log.matches("location no longer impaired: checks can run").count(), 1);
    let down = client.get(&format!("/v1/services/{id}/checks?status=down")).expect(200).data();
    assert_eq!(down, json!([]));
}
