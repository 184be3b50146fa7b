//! A node is killed again and again, while some services go down and come up: others go on, nothing is stored twice, and
//! no service that was up is reported down.
//!
//! Three rounds at 20 checks a second, with `WATCHKEEPER_ENDURE=1` twenty at 2,000, or at
//! `WATCHKEEPER_TESTS_CHECKS_PER_SECOND`: that needs an optimised program (`WATCHKEEPER_TESTS_BINARY`) and an idle machine.

use std::time::Duration;

use tokio::time::sleep;

use crate::bus::now;
use crate::nodes::scene::{INTERVAL_MS, Scene, assert_outages};
use crate::nodes::{JOINED, TAKEN_OVER, checks_per_second, endures, ms};

/// Services that go down in every round.
const FLAPPING: usize = 8;
/// A process that is killed may not have written what it measured in its last second, and what was under way.
const LOST_IN_A_KILL: usize = 2;

fn rounds() -> usize {
    if endures() { 20 } else { 3 }
}

/// Each is checked every second.
fn services() -> usize {
    if endures() { checks_per_second().unwrap_or(2_000) } else { 20 }
}

/// Any moment within an interval; it differs from round to round.
fn moment(round: usize) -> Duration {
    Duration::from_millis(u64::try_from(round).unwrap().wrapping_mul(2_654_435_761) % 1_000)
}

/// Kills a node that was alive; the others own all partitions then.
async fn kill(scene: &mut Scene, victim: usize) {
    let others = scene.nodes.others(victim);
    let takeovers = |scene: &Scene| -> u64 {
        others.iter().map(|node| scene.nodes.number(*node, "partition_takeovers_total")).sum()
    };
    let before = takeovers(scene);
    scene.nodes.server_mut(victim).kill();
    let took = scene.nodes.until_owned(&others, TAKEN_OVER).await;
    println!("node {victim} was killed; all partitions are owned after {took:?}");
    assert!(takeovers(scene) > before, "a takeover is counted");
}

/// Pages break, and are mended; the node is killed right after the one or the other.
async fn round(scene: &mut Scene, round: usize) {
    let (victim, is_killed_while_up) = (round % scene.nodes.count(), round.is_multiple_of(2));
    let flapping = scene.services[..FLAPPING].to_vec();
    let witness = scene.nodes.others(victim)[0];
    scene.site.break_pages(flapping.iter().map(|one| one.page.as_str()));
    if is_killed_while_up {
        sleep(moment(round)).await;
        kill(scene, victim).await;
    }
    scene.until_these(witness, &flapping, "down").await;
    scene.site.mend_pages();
    if !is_killed_while_up {
        sleep(moment(round)).await;
        kill(scene, victim).await;
    }
    scene.nodes.server_mut(victim).restart();
    for node in scene.everybody() {
        scene.until_all(node, "up").await;
    }
    println!("shared after {:?}", scene.nodes.until_even(&scene.everybody(), JOINED).await);
}

#[tokio::test]
async fn kills_lose_no_service_and_store_nothing_twice() {
    let Some(mut scene) = Scene::start(3, services()).await else { return };
    let begin = now().ms();
    for number in 0..rounds() {
        round(&mut scene, number).await;
    }
    scene.assert_no_gap_above(ms(TAKEN_OVER) + INTERVAL_MS, begin, now().ms());
    // One more may have been given up when the nodes ended.
    let history = scene.stored_at_the_end(LOST_IN_A_KILL * rounds() + 1).await;
    for (number, watched) in scene.services.iter().enumerate() {
        assert_outages(&history, watched, if number < FLAPPING { rounds() } else { 0 });
    }
}
