//! A node that reaches NATS and not PostgreSQL: others take over its services. Without PostgreSQL for all: every node continues.

use std::time::Duration;

use tokio::time::Instant;

use crate::bus::node::Nodes;
use crate::bus::relay::Relay;
use crate::bus::{now, within};
use crate::nodes::scene::Scene;
use crate::nodes::{JOINED, TAKEN_OVER, ms};

const SERVICES: usize = 30;
/// Until a node that cannot write has given everything back, and others have it.
const GIVEN_BACK: Duration = Duration::from_secs(15);
/// The longest time that a service is not checked, or its outage not reported.
const UNWATCHED: Duration = Duration::from_secs(20);
/// Longer than any node waits before it releases its partitions.
const AWAY_SECONDS: u64 = 16;

// The way to PostgreSQL is carried by this process, which also asks the nodes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_cannot_write_releases_its_partitions_and_takes_none() {
    let Some(mut nodes) = Nodes::start(2).await else { return };
    let relay = Relay::to(nodes.postgres.port()).await;
    nodes.join_by(relay.port());
    let mut scene = Scene::of(nodes, SERVICES).await;
    let begin = now().ms();
    let cut_at = Instant::now();
    relay.cut();
    scene.site.break_pages(scene.services.iter().map(|one| one.page.as_str()));
    println!("given back and taken after {:?}", scene.nodes.until_owned(&[0, 1], GIVEN_BACK).await);
    scene.until_all(0, "down").await;
    println!("all outages are known after {:?}", cut_at.elapsed());
    assert!(cut_at.elapsed() < crate::bus::patience(UNWATCHED));
    assert_eq!(scene.nodes.number(2, "partitions_owned"), 0);
    assert!(scene.nodes.number(2, "database_contact_age_seconds") >= 8);
    within(JOINED, "all know it", async || {
        scene.everybody().into_iter().all(|node| scene.nodes.number(node, "nodes_cut_off") == 1)
    })
    .await;
    let ready = scene.nodes.client(2).get("/readyz");
    assert!(ready.status == 503 && ready.body.contains("this node cannot write"), "{}", ready.body);
    let ready = scene.nodes.client(0).get("/readyz").expect(200).body;
    assert!(ready.contains("other nodes check their services: c"), "{ready}");
    assert!(scene.nodes.server(2).log().contains("releasing partitions"));

    // It takes nothing of a node that dies either, so the third gets everything.
    let taken = scene.nodes.number(2, "partitions_taken_total");
    scene.nodes.server_mut(0).kill();
    scene.nodes.until_owned(&[1], TAKEN_OVER).await;
    assert_eq!(scene.nodes.number(2, "partitions_taken_total"), taken);
    scene.nodes.server_mut(0).restart();

    scene.site.mend_pages();
    relay.mend();
    println!("shared again after {:?}", scene.nodes.until_even(&scene.everybody(), JOINED).await);
    scene.until_all(2, "up").await;
    scene.assert_no_gap_above(ms(UNWATCHED), begin, now().ms());
}

#[tokio::test]
async fn no_node_releases_partitions_while_postgresql_is_unavailable_for_all() {
    let Some(nodes) = Nodes::start(2).await else { return };
    nodes.until_even(&[0, 1], JOINED).await;
    let numbers = |name| [0, 1].map(|node| nodes.number(node, name));
    let before = ["partitions_owned", "partitions_released_total", "partitions_lost_total"].map(numbers);
    nodes.postgres.stop();
    within(2 * JOINED, "it is away for long", async || {
        numbers("database_contact_age_seconds").into_iter().all(|seconds| seconds >= AWAY_SECONDS)
    })
    .await;
    let after = ["partitions_owned", "partitions_released_total", "partitions_lost_total"].map(numbers);
    assert_eq!((after, numbers("nodes_cut_off")), (before, [0, 0]));
    nodes.postgres.start_again();
    within(JOINED, "it is there again", async || {
        numbers("database_contact_age_seconds").into_iter().all(|seconds| seconds < AWAY_SECONDS)
    })
    .await;
    nodes.until_even(&[0, 1], JOINED).await;
}
