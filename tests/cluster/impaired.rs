//! A location in another process that loses its own network, but not its way to the engine: it knows it itself, its failing
//! checks are no data, and the engine shows it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bus::Bus;
use crate::bus::place::{Place, changes, checks, engine, invited, probe, until_online};
use crate::namespace::{Peer, inside, ip, may_make_namespaces};
use crate::support::client::Client;
use crate::support::{create_watched, eventually, until_checks, until_status};

async fn until_standing(client: &Client, standing: &str) {
    let stands = || probe(client, "fra").filter(|probe| probe["status"] == standing).map(drop);
    eventually(&format!("fra is {standing}"), stands).await;
}

async fn a_location_loses_its_network() {
    let Some(bus) = Bus::start().await else { return };
    let peer = Peer::start();
    peer.lay_cable("near", "10.77.0.1/24", "far", "10.77.0.2/24");
    peer.ip("addr add 10.88.0.1/32 dev lo");
    peer.serve("10.88.0.1:80");
    ip("route add default via 10.77.0.2");
    let engine = engine(&bus);
    let client = engine.client();
    let remote = Place::with_references("10.77.0.2", &invited(&engine, "fra"));
    until_online(&client, "fra").await;
    let settings =
        json!({"interval_seconds": 1, "timeout_seconds": 1, "retries": 0, "assigned_probes": ["fra"]});
    let id = create_watched(&client, "http://10.88.0.1/", &settings);
    until_checks(&client, &id, 3).await;

    peer.ip("route add blackhole 10.77.0.1/32");
    until_standing(&client, "impaired").await;
    let told = client.get("/metrics").expect(200).body;
    assert!(told.contains("watchkeeper_location_impaired{location=\"fra\"} 1\n"), "{told}");
    tokio::time::sleep(Duration::from_secs(5)).await;
    peer.ip("route del blackhole 10.77.0.1/32");
    until_standing(&client, "online").await;
    until_status(&client, &id, "up").await;
    let all = checks(&client, &id);
    assert!(all.iter().all(|check: &Value| check["status"] == "up"), "{all:?}");
    let told = changes(&engine).await;
    assert!(told.lines().all(|change| !change.starts_with("3 ")), "{told}");
    assert_eq!(remote.log().matches("location impaired").count(), 1, "{}", remote.log());
}

#[test]
fn a_remote_location_without_network_is_impaired_and_reports_no_target_down() {
    if may_make_namespaces() {
        inside(a_location_loses_its_network);
    }
}
