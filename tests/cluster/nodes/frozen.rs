//! A frozen node loses its partitions, does not know it when it resumes, and must do no harm then.
//!
//! It is frozen for 20 s, with `WATCHKEEPER_ENDURE=1` for 60 s.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

use crate::bus::{now, patience};
use crate::nodes::scene::{INTERVAL_MS, Scene, Watched, assert_outages};
use crate::nodes::{JOINED, TAKEN_OVER, endures, ms};

const SERVICES: usize = 20;
/// Services that go down while the node is frozen.
const BROKEN: usize = 8;
/// The services are watched for this long after the wake.
const WATCHED: Duration = Duration::from_secs(10);
/// A check is stored as having started at most this long after it was due.
const LATEST_MS: i64 = 5_000;
const SLEEPER: usize = 1;

fn standstill() -> Duration {
    Duration::from_secs(if endures() { 60 } else { 20 })
}

/// The woken node is refused what it writes, or writes nothing: what is acknowledged by the time at which it knows of its loss
/// are the results of the last moments before it was frozen.
async fn assert_fenced(scene: &Scene, acknowledged: u64, last_moments: u64) {
    let begin = Instant::now();
    let takeovers = scene.nodes.number(SLEEPER, "partition_takeovers_total");
    loop {
        let (fenced, owned) = (scene.nodes.fenced(SLEEPER), scene.nodes.number(SLEEPER, "partitions_owned"));
        let since = scene.nodes.number(SLEEPER, "results_acked_total") - acknowledged;
        if fenced > 0 {
            println!("{fenced} facts were fenced");
            return;
        }
        assert!(
            since <= last_moments || scene.nodes.number(SLEEPER, "partition_takeovers_total") > takeovers,
            "{since} results were written after the wake, and there were {last_moments}"
        );
        if owned == 0 {
            println!("nothing was written");
            return;
        }
        assert!(begin.elapsed() < patience(JOINED), "the node does not notice: it owns {owned}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// After the wake every page had one visit too many at most.
fn assert_one_extra_check(scene: &Scene, woken_ms: i64, end_ms: i64) {
    let due = usize::try_from((end_ms - woken_ms) / INTERVAL_MS).unwrap() + 1;
    for watched in &scene.services {
        let rhythm = scene.rhythm(watched, woken_ms, end_ms);
        // A visit that a busy machine has delayed is soon followed by the next one.
        let soon = if endures() { rhythm.sooner_than(INTERVAL_MS / 2).len() } else { 0 };
        assert!(
            soon <= 1 && rhythm.count() <= due + 1,
            "{}: {soon} too soon, {due} due: {}",
            watched.page,
            rhythm.as_told()
        );
    }
}

fn visits(scene: &Scene, from_ms: i64, until_ms: i64) -> u64 {
    scene.services.iter().map(|watched| scene.rhythm(watched, from_ms, until_ms).count() as u64).sum()
}

/// While the node is frozen some services go down, and half of those come up again.
async fn change_targets(scene: &Scene, broken: &[Watched]) {
    let pages = |those: &[Watched]| those.iter().map(|one| one.page.clone()).collect::<Vec<_>>();
    let (lasting, passing) = broken.split_at(broken.len() / 2);
    scene.site.break_pages(pages(broken).iter().map(String::as_str));
    scene.until_these(0, broken, "down").await;
    scene.site.mend_pages();
    scene.site.break_pages(pages(lasting).iter().map(String::as_str));
    scene.until_these(0, passing, "up").await;
    scene.until_these(0, lasting, "down").await;
}

#[tokio::test]
async fn a_frozen_node_causes_no_wrong_results_when_it_resumes() {
    let Some(scene) = Scene::start(2, SERVICES).await else { return };
    sleep(Duration::from_secs(2)).await;
    let acknowledged = scene.nodes.number(SLEEPER, "results_acked_total");
    let asked = now().ms();
    scene.nodes.server(SLEEPER).signal("STOP");
    let (stopped, stopped_at) = (now().ms(), Instant::now());
    println!("taken over after {:?}", scene.nodes.until_owned(&[0], TAKEN_OVER).await);
    let broken = &scene.services[..BROKEN];
    change_targets(&scene, broken).await;
    sleep_until(stopped_at + standstill()).await;

    let woken = now().ms();
    scene.nodes.server(SLEEPER).signal("CONT");
    assert_fenced(&scene, acknowledged, visits(&scene, asked - 2 * INTERVAL_MS, stopped + INTERVAL_MS)).await;
    sleep(Duration::from_millis(u64::try_from(woken + ms(WATCHED) - now().ms()).unwrap_or(0))).await;
    let end = now().ms();
    assert_one_extra_check(&scene, woken, end);
    scene.assert_no_gap_above(ms(TAKEN_OVER) + INTERVAL_MS, asked, end);
    println!("shared after {:?}", scene.nodes.until_even(&scene.everybody(), JOINED).await);
    for node in scene.everybody() {
        scene.until_these(node, &broken[..BROKEN / 2], "down").await;
        scene.until_these(node, &scene.services[BROKEN / 2..], "up").await;
    }
    scene.site.mend_pages();
    for node in scene.everybody() {
        scene.until_all(node, "up").await;
    }
    // Checks under way when the node was stopped are no data.
    let history = scene.until_stored(2).await;
    for (number, watched) in scene.services.iter().enumerate() {
        assert_outages(&history, watched, usize::from(number < BROKEN));
        let late =
            history.checks(&watched.id).iter().filter(|one| one.checked_ms - one.scheduled_ms > LATEST_MS);
        let late: Vec<_> = late.collect();
        assert!(
            late.is_empty(),
            "{}: made up for after the standstill from {stopped} to {woken}: {late:?}",
            watched.page
        );
    }
}
