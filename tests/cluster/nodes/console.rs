//! The console of any node shows and changes the services of all nodes, and says which of them nobody watches.

use std::time::Duration;

use serde_json::json;

use crate::bus::within;
use crate::nodes::TAKEN_OVER;
use crate::nodes::scene::{Scene, Watched};
use crate::support::console::ConsoleUser;
use crate::support::{create_watched, service};

const SERVICES: usize = 8;
const SLEEPER: usize = 1;
/// Until a check has run, at any of the nodes.
const KNOWN: Duration = Duration::from_secs(20);

/// Services that are checked once an hour, so that any further check is one that somebody asked for.
fn add_hourly_services(scene: &mut Scene) {
    for number in 0..SERVICES {
        let page = format!("hourly-{number}");
        let settings = json!({"interval_seconds": 3_600, "timeout_seconds": 5, "retries": 0});
        let id = create_watched(&scene.nodes.client(number % 2), &scene.site.url(&page), &settings);
        scene.services.push(Watched { id, page });
    }
}

/// Of eight services each node owns some, so some of these requests are answered by another node than the owner.
#[tokio::test]
async fn any_node_has_any_service_checked_at_once() {
    let Some(mut scene) = Scene::start(2, 0).await else { return };
    add_hourly_services(&mut scene);
    let visits = |watched: &Watched| scene.site.visits(&watched.page).len();
    within(KNOWN, "the first checks", async || scene.services.iter().all(|one| visits(one) > 0)).await;
    scene.until_all(0, "up").await;
    let client = scene.nodes.client(0);
    let before: Vec<usize> = scene.services.iter().map(visits).collect();
    for watched in &scene.services {
        client.post(&format!("{}/check-now", service(&watched.id)), &json!({})).expect(202);
    }
    let has_grown = || scene.services.iter().zip(&before).all(|(one, before)| visits(one) > *before);
    within(KNOWN, "the requested checks", async || has_grown()).await;
}

/// A frozen node owns its partitions until their leases end: until then nobody answers for its services.
#[tokio::test]
async fn a_service_without_an_owner_is_shown_from_what_is_stored() {
    let Some(scene) = Scene::start(2, SERVICES).await else { return };
    let client = scene.nodes.client(0);
    let user = ConsoleUser::invited(&client, "editor");
    scene.nodes.server(SLEEPER).signal("STOP");
    let absent = |watched: &&Watched| {
        let screen = user.get(&format!("/services/{}", watched.id)).expect(200).body;
        screen.contains("the node that checks the service")
    };
    within(TAKEN_OVER, "a screen without an owner", async || scene.services.iter().any(|one| absent(&one)))
        .await;
    user.get("/services").expect(200);
    user.get("").expect(200);
    scene.nodes.server(SLEEPER).signal("CONT");
    within(TAKEN_OVER, "all have an owner", async || !scene.services.iter().any(|one| absent(&one))).await;
}
