//! A stopped node hands its services over: no due check is missed, and nothing is lost.

use std::time::Duration;

use tokio::time::sleep;

use crate::bus::now;
use crate::nodes::LEFT;
use crate::nodes::scene::{INTERVAL_MS, Scene, assert_no_due_time_is_missing, assert_outages};
use crate::support::eventually;

const SERVICES: usize = 20;
/// The services are observed for this long after the stop.
const WATCHED: Duration = Duration::from_secs(8);

#[tokio::test]
async fn sigterm_misses_no_check() {
    let Some(mut scene) = Scene::start(2, SERVICES).await else { return };
    sleep(Duration::from_secs(2)).await;
    let asked = now().ms();
    scene.nodes.server(1).signal("TERM");
    println!("handed over after {:?}", scene.nodes.until_owned(&[0], LEFT).await);
    let ended = eventually("the node ends", || scene.nodes.server_mut(1).try_wait()).await;
    assert_eq!(ended, Some(0), "{}", scene.nodes.server(1).log());
    sleep(WATCHED).await;
    let end = now().ms();
    scene.assert_no_gap_above(2 * INTERVAL_MS, asked - INTERVAL_MS, end);
    // One more at each end, and one that both have checked while one handed over to the other.
    let most = usize::try_from((end - asked) / INTERVAL_MS).unwrap() + 3;
    for watched in &scene.services {
        let rhythm = scene.rhythm(watched, asked, end);
        assert!(rhythm.count() <= most, "{}: checked by both: {}", watched.page, rhythm.as_told());
    }
    scene.until_all(0, "up").await;
    // Checks made by both nodes during the handover are stored once.
    let history = scene.until_stored(1).await;
    for watched in &scene.services {
        assert_no_due_time_is_missing(&history, watched);
        assert_outages(&history, watched, 0);
    }
}
