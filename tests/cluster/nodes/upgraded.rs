//! An upgrade, node by node: an earlier version and this one share the services meanwhile.
//!
//! It is run with the program of the earlier version: `WATCHKEEPER_TESTS_EARLIER_BINARY`.

use std::time::Duration;

use tokio::time::sleep;

use crate::bus::node::Nodes;
use crate::bus::now;
use crate::nodes::scene::{INTERVAL_MS, Scene, assert_no_due_time_is_missing, assert_outages};
use crate::nodes::{JOINED, LEFT, endures};
use crate::support::eventually;
use crate::support::server::OTHER_BINARY;

const EARLIER: &str = "WATCHKEEPER_TESTS_EARLIER_BINARY";
const SERVICES: usize = 20;

/// Both versions run for this long.
fn side_by_side() -> Duration {
    Duration::from_secs(if endures() { 3_600 } else { 10 })
}

#[tokio::test]
async fn two_versions_share_the_services_and_nothing_is_missed() {
    let Ok(earlier) = std::env::var(EARLIER) else {
        println!("NOT RUN: {EARLIER} names no program of an earlier version");
        return;
    };
    let Some(mut nodes) = Nodes::start_with(1, &[(OTHER_BINARY, &earlier)]).await else { return };
    nodes.forget_settings();
    nodes.join();
    let mut scene = Scene::of(nodes, SERVICES).await;
    let begin = now().ms();
    sleep(side_by_side()).await;
    for watched in &scene.services {
        let end = now().ms();
        let visits = scene.rhythm(watched, begin, end).count();
        // One more at each end; a check that was late counts as any other.
        let due = usize::try_from((end - begin) / INTERVAL_MS).unwrap() + 2;
        assert!(visits <= due, "{}: checked by both versions, {visits} times of {due}", watched.page);
    }
    scene.nodes.server(0).signal("TERM");
    println!("handed over after {:?}", scene.nodes.until_owned(&[1], LEFT).await);
    eventually("the earlier version ends", || scene.nodes.server_mut(0).try_wait()).await;
    scene.nodes.upgrade(0);
    scene.nodes.server_mut(0).restart();
    println!("shared after {:?}", scene.nodes.until_even(&[0, 1], JOINED).await);
    sleep(Duration::from_secs(3)).await;
    scene.assert_no_gap_above(2 * INTERVAL_MS, begin, now().ms());
    for node in scene.everybody() {
        scene.until_all(node, "up").await;
    }
    // At each hand-over what both have checked is stored once.
    let history = scene.until_told(3).await;
    for watched in &scene.services {
        assert_no_due_time_is_missing(&history, watched);
        assert_outages(&history, watched, 0);
    }
}
