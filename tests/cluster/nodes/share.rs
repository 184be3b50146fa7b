//! Every service is checked by one node, on schedule, and all nodes show the same.

use std::time::Duration;

use tokio::time::sleep;

use crate::bus::now;
use crate::nodes::endures;
use crate::nodes::scene::{INTERVAL_MS, Scene, assert_no_due_time_is_missing, assert_outages};

const SERVICES: usize = 40;
const BROKEN: usize = 6;
/// The schedule is observed for this long.
const WATCHED: Duration = Duration::from_secs(10);

#[tokio::test]
async fn two_nodes_check_every_service_once_an_interval() {
    let Some(scene) = Scene::start(2, SERVICES).await else { return };
    // The first check may be anywhere between two due times.
    sleep(Duration::from_secs(2)).await;
    let begin = now().ms();
    sleep(WATCHED).await;
    let end = now().ms();
    // A visit that a busy machine has delayed is soon followed by the next one; the due times below say what was scheduled.
    for watched in scene.services.iter().filter(|_| endures()) {
        let rhythm = scene.rhythm(watched, begin, end);
        let soon = rhythm.sooner_than(INTERVAL_MS / 2);
        assert!(soon.is_empty(), "{}: too soon in {}", watched.page, rhythm.as_told());
    }
    scene.assert_no_gap_above(2 * INTERVAL_MS, begin, end);
    let statuses = scene.statuses(0).unwrap();
    assert_eq!(statuses.len(), SERVICES);
    assert_eq!(Some(statuses), scene.statuses(1));

    let broken = &scene.services[..BROKEN];
    scene.site.break_pages(broken.iter().map(|one| one.page.as_str()));
    for node in [0, 1] {
        scene.until_these(node, broken, "down").await;
    }
    assert_eq!(scene.statuses(0).unwrap(), scene.statuses(1).unwrap());
    scene.until_these(0, &scene.services[BROKEN..], "up").await;
    scene.site.mend_pages();
    for node in [1, 0] {
        scene.until_all(node, "up").await;
    }
    let history = scene.until_stored(0).await;
    for (number, watched) in scene.services.iter().enumerate() {
        assert_no_due_time_is_missing(&history, watched);
        assert_outages(&history, watched, usize::from(number < BROKEN));
    }
}
