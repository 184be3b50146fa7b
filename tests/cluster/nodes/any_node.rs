//! Any node answers any request, and what it took is in force at the owner. Each thing is done at one node and undone at the
//! other, so one of both does not own the service.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use crate::bus::node::Nodes;
use crate::bus::{now, patience, within};
use crate::nodes::scene::{Scene, Watched, told};
use crate::nodes::{IN_FORCE, JOINED, ms};
use crate::support::client::Client;
use crate::support::{create_watched, service};

const SERVICES: usize = 8;
/// Requests that are sent four times each.
const REQUESTS: usize = 20;
/// No visit for this long means that the page is not checked any more.
const QUIET: Duration = Duration::from_secs(3);
/// A change applies, and the next check, which is due within a second, has run.
const CHECKED: Duration = IN_FORCE.saturating_add(Duration::from_secs(2));

/// The last visits of the pages are before `IN_FORCE` after `since_ms`.
async fn assert_quiet(scene: &Scene, those: &[Watched], since_ms: i64) {
    let latest_ms = since_ms + ms(patience(IN_FORCE));
    let visits = |watched: &Watched| scene.site.visits(&watched.page).last().copied();
    loop {
        let last_ms = those.iter().filter_map(visits).max().unwrap_or(since_ms).max(since_ms);
        assert!(last_ms < latest_ms, "a page is visited still, after {} ms", last_ms - since_ms);
        if now().ms() - last_ms > ms(QUIET) {
            return;
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// Every page is visited soon.
async fn until_visited(scene: &Scene, those: &[Watched], since_ms: i64) {
    let is_visited =
        |watched: &Watched| scene.site.visits(&watched.page).last().is_some_and(|last| *last > since_ms);
    within(CHECKED, "every page is visited", async || those.iter().all(is_visited)).await;
}

#[tokio::test]
async fn a_write_at_one_node_is_read_at_every_node_at_once() {
    let Some(scene) = Scene::start(2, 0).await else { return };
    let clients = [scene.nodes.client(0), scene.nodes.client(1)];
    for round in 0..SERVICES {
        let (here, there) = (&clients[round % 2], &clients[(round + 1) % 2]);
        let page = format!("page-{round}");
        let id = create_watched(here, &scene.site.url(&page), &crate::nodes::scene::settings());
        let seen = there.get(&service(&id)).expect(200).data();
        assert_eq!(seen["target"], scene.site.url(&page));
        let name = format!("Renamed {round}");
        there.patch(&service(&id), &json!({"name": name})).expect(200);
        assert_eq!(here.get(&service(&id)).expect(200).data()["name"], name.as_str());
        for client in &clients {
            let listed = client.get("/v1/services?per_page=100").expect(200).data();
            let names = listed.as_array().unwrap().iter().filter(|one| one["name"] == name.as_str());
            assert_eq!(names.count(), 1, "{listed}");
        }
        here.post(&format!("{}/pause", service(&id)), &json!({})).expect(200);
        assert_eq!(there.get(&service(&id)).expect(200).data()["status"], "paused");
        there.post(&format!("{}/resume", service(&id)), &json!({})).expect(200);
        assert_eq!(here.get(&service(&id)).expect(200).data()["is_paused"], false);
        there.delete(&service(&id)).expect(200);
        here.get(&service(&id)).expect(404);
    }
}

#[tokio::test]
async fn a_change_at_any_node_applies_at_the_owner_within_two_seconds() {
    let Some(mut scene) = Scene::start(2, SERVICES).await else { return };
    let those = scene.services.clone();
    // Paused at one node, resumed at the other; then the other way round.
    for turn in [0, 1] {
        let client_of = |number: usize| scene.nodes.client((number + turn) % 2);
        for (number, watched) in those.iter().enumerate() {
            client_of(number).post(&format!("{}/pause", service(&watched.id)), &json!({})).expect(200);
        }
        assert_quiet(&scene, &those, now().ms()).await;
        let resumed = now().ms();
        for (number, watched) in those.iter().enumerate() {
            client_of(number + 1).post(&format!("{}/resume", service(&watched.id)), &json!({})).expect(200);
        }
        until_visited(&scene, &those, resumed).await;
        for node in [0, 1] {
            scene.until_these(node, &those, "up").await;
        }
    }
    // Another page for each, by way of either node.
    let moved: Vec<Watched> =
        those.iter().map(|one| Watched { page: format!("moved-{}", one.page), ..one.clone() }).collect();
    let changed = now().ms();
    for (number, watched) in moved.iter().enumerate() {
        let change = json!({"target": scene.site.url(&watched.page)});
        scene.nodes.client(number / 2 % 2).patch(&service(&watched.id), &change).expect(200);
    }
    until_visited(&scene, &moved, changed).await;
    assert_quiet(&scene, &those, now().ms()).await;
    // Deleted at either node.
    for (number, watched) in moved.iter().enumerate() {
        scene.nodes.client(number / 2 % 2).delete(&service(&watched.id)).expect(200);
    }
    assert_quiet(&scene, &moved, now().ms()).await;
    // Services created afterwards are checked at once, whichever node created them.
    let made = now().ms();
    let fresh: Vec<Watched> =
        (0..SERVICES).map(|number| scene.add(number % 2, &format!("fresh-{number}"))).collect();
    until_visited(&scene, &fresh, made).await;
    for node in [0, 1] {
        scene.until_these(node, &fresh, "up").await;
        assert!(fresh.iter().all(|one| told(&scene.nodes.client(node), one)["status"] == "up"));
    }
}

/// The same request reaches both nodes at the same moment, again and again: it happens once, and both return the same.
#[tokio::test]
async fn a_request_sent_to_two_nodes_happens_once() {
    let Some(nodes) = Nodes::start(2).await else { return };
    nodes.until_even(&[0, 1], JOINED).await;
    let clients = [nodes.client(0), nodes.client(1)];
    for round in 0..REQUESTS {
        let (name, key) = (format!("Once {round}"), format!("Idempotency-Key: once-{round}"));
        let body = json!({"name": name, "check_type": "tcp", "target": "127.0.0.1:9"}).to_string();
        let ask = |client: &Client| loop {
            let lines = ["Content-Type: application/json", &key];
            let answer = client.send("POST", "/v1/services", &lines, body.as_bytes());
            // The other node is at it.
            if answer.status != 409 {
                return answer.expect(201).data()["id"].as_str().unwrap().to_owned();
            }
        };
        let ids: Vec<String> = std::thread::scope(|scope| {
            let asked: Vec<_> =
                clients.iter().cycle().take(4).map(|client| scope.spawn(|| ask(client))).collect();
            asked.into_iter().map(|asked| asked.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        let listed = clients[1].get("/v1/services?per_page=100").expect(200).data();
        let named = listed.as_array().unwrap().iter().filter(|one| one["name"] == name.as_str());
        assert_eq!(named.count(), 1, "{listed}");
    }
}
