//! The nats-server or PostgreSQL is unavailable: checks continue on schedule, everything is stored once afterwards, no service is reported
//! down, and the API says what is true, or that it cannot say.
//!
//! Away for 10 s each; with `WATCHKEEPER_ENDURE=1` NATS for 5 minutes, PostgreSQL for one.

use std::time::Duration;

use serde_json::json;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use crate::bus::{now, within};
use crate::nodes::scene::{INTERVAL_MS, Scene, Watched, assert_no_due_time_is_missing, assert_outages};
use crate::nodes::{JOINED, endures};
use crate::support::client::Client;
use crate::support::{eventually, service};

const SERVICES: usize = 20;
/// Until the partitions are shared again: after the reconnection as after a join.
const SHARED: Duration = JOINED.saturating_mul(2);

fn away(endure_seconds: u64) -> Duration {
    Duration::from_secs(if endures() { endure_seconds } else { 10 })
}

/// Checks that the node shows the service correctly or answers 503; returns true for 503.
fn is_unavailable(client: &Client, watched: &Watched) -> bool {
    let answer = client.get(&service(&watched.id));
    if answer.status == 503 {
        return true;
    }
    let told = answer.expect(200).data();
    assert_eq!((&told["status"], &told["name"]), (&json!("up"), &json!("Shop")), "{told}");
    false
}

/// Asks one of the nodes while PostgreSQL is away: reads are true or refused, and writes are refused. An answer may take
/// seconds, so the nodes are asked at the same time.
async fn ask_while_away(scene: &Scene, node: usize) {
    let away_since = Instant::now();
    let mut unavailable = 0;
    for turn in 0.. {
        if away_since.elapsed() > away(60) {
            break;
        }
        let (client, watched) = (scene.nodes.client(node), scene.services[node].clone());
        let is_refused = move || {
            client.get("/healthz").expect(200);
            let path = service(&watched.id);
            match turn % 3 {
                0 => return is_unavailable(&client, &watched),
                1 => client.patch(&path, &json!({"name": "Lost"})).expect(503),
                _ => client.delete(&path).expect(503),
            };
            false
        };
        unavailable += usize::from(spawn_blocking(is_refused).await.unwrap());
        sleep(Duration::from_millis(200)).await;
    }
    assert!(unavailable > 0, "node {node} never said that it cannot read");
}

/// From `begin_ms` until now every check was made in time; all of them are stored, and each service was up.
async fn assert_nothing_happened(scene: &Scene, begin_ms: i64) {
    scene.assert_no_gap_above(2 * INTERVAL_MS, begin_ms, now().ms());
    for node in scene.everybody() {
        scene.until_all(node, "up").await;
    }
    let history = scene.until_stored(0).await;
    for watched in &scene.services {
        assert_no_due_time_is_missing(&history, watched);
        assert_outages(&history, watched, 0);
    }
}

#[tokio::test]
async fn checks_continue_while_the_nats_server_is_unavailable() {
    let Some(mut scene) = Scene::start(2, SERVICES).await else { return };
    sleep(Duration::from_secs(2)).await;
    let begin = now().ms();
    scene.nodes.bus.server.kill();
    let away_since = Instant::now();
    while away_since.elapsed() < away(300) {
        for node in scene.everybody() {
            let watched = &scene.services[node];
            is_unavailable(&scene.nodes.client(node), watched);
        }
        sleep(Duration::from_millis(500)).await;
    }
    // A write is taken, and no node says that it is not there, or it is refused.
    let made = now().ms();
    let body = |page: &str| {
        let settings = crate::nodes::scene::settings();
        json!({"name": "Shop", "check_type": "http", "target": scene.site.url(page), "settings": settings})
    };
    let mut fresh = Vec::new();
    for node in scene.everybody() {
        let page = format!("fresh-{node}");
        let answer = scene.nodes.client(node).post("/v1/services", &body(&page));
        if answer.status == 503 {
            continue;
        }
        let id = answer.expect(201).data()["id"].as_str().unwrap().to_owned();
        for reader in scene.everybody() {
            // A node that does not own it cannot get its live status.
            let answer = scene.nodes.client(reader).get(&service(&id));
            assert!([200, 503].contains(&answer.status), "{}: {}", answer.status, answer.body);
        }
        fresh.push(Watched { id, page });
    }
    println!("{} services were made without NATS", fresh.len());
    scene.nodes.bus.server.resume().await;
    within(SHARED, "the bus is back", async || {
        scene.everybody().into_iter().all(|node| scene.nodes.number(node, "bus_connected") == 1)
    })
    .await;
    let shared = scene.nodes.until_even(&scene.everybody(), SHARED).await;
    println!("shared after {shared:?}");
    assert_nothing_happened(&scene, begin).await;
    for watched in &fresh {
        eventually("what was made meanwhile is checked", || {
            (scene.rhythm(watched, made, now().ms()).count() > 0).then_some(())
        })
        .await;
    }
    for node in scene.everybody() {
        scene.until_these(node, &fresh, "up").await;
    }
}

#[tokio::test]
async fn checks_continue_while_postgresql_is_unavailable() {
    let Some(scene) = Scene::start(2, SERVICES).await else { return };
    sleep(Duration::from_secs(2)).await;
    let begin = now().ms();
    scene.nodes.postgres.stop();
    let [first, second] = [0, 1].map(|node| ask_while_away(&scene, node));
    tokio::join!(first, second);
    scene.nodes.postgres.start_again();
    let begun = Instant::now();
    for node in scene.everybody() {
        let client = scene.nodes.client(node);
        eventually("it is ready", || (client.get("/readyz").status == 200).then_some(())).await;
    }
    println!("ready after {:?}", begun.elapsed());
    scene.nodes.until_even(&scene.everybody(), SHARED).await;
    assert_nothing_happened(&scene, begin).await;
    for node in scene.everybody() {
        assert!(!is_unavailable(&scene.nodes.client(node), &scene.services[node]), "nothing was written");
    }
}
