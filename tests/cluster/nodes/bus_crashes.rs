//! nats-server is killed again and again, after nodes have come and gone: it may bring back what it had taken away, and
//! every partition has a living owner all the same.
//!
//! Three kills; with `WATCHKEEPER_ENDURE=1` twenty, and longer waits before them, so that the server's notes of what is to
//! be taken away are out of date.

use std::time::Duration;

use tokio::time::sleep;
use watchkeeper::bus::subjects::{BusSubject, LEASES};
use watchkeeper::id::Id;

use crate::bus::node::Nodes;
use crate::nodes::{JOINED, endures};
use crate::support::eventually;

/// Until all partitions are owned after the server is there again.
const OWNED_AGAIN: Duration = Duration::from_secs(20);

fn rounds() -> usize {
    if endures() { 20 } else { 3 }
}

/// The server runs for so long before it is killed: its notes are written every two minutes.
fn run_time() -> Duration {
    if endures() { Duration::from_secs(130) } else { Duration::from_secs(1) }
}

/// Stops a node in order; returns when it has ended.
async fn stop(nodes: &mut Nodes, node: usize) {
    nodes.server(node).signal("TERM");
    let ended = eventually("the node ends", || nodes.server_mut(node).try_wait()).await;
    assert_eq!(ended, Some(0), "{}", nodes.server(node).log());
}

#[tokio::test]
async fn every_partition_has_an_owner_after_the_bus_was_killed() {
    let Some(mut nodes) = Nodes::start(3).await else { return };
    nodes.until_even(&[0, 1, 2], JOINED).await;
    for round in 0..rounds() {
        // One leaves for good, and the ledger changes afterwards.
        stop(&mut nodes, 2).await;
        nodes.until_even(&[0, 1], JOINED).await;
        stop(&mut nodes, 1).await;
        nodes.server_mut(1).restart();
        nodes.until_even(&[0, 1], JOINED).await;
        sleep(run_time()).await;
        nodes.bus.server.kill();
        nodes.bus.server.resume().await;
        eventually("both nodes are connected again", || {
            (0..2).all(|node| nodes.number(node, "bus_connected") == 1).then_some(())
        })
        .await;
        println!("round {round}: owned after {:?}", nodes.until_owned(&[0, 1], OWNED_AGAIN).await);
        nodes.server_mut(2).restart();
        nodes.until_even(&[0, 1, 2], JOINED).await;
    }
}

/// A server may restore the lease of a dead node: it stays there permanently.
#[tokio::test]
async fn an_expired_lease_holds_no_partition() {
    let Some(nodes) = Nodes::start(2).await else { return };
    nodes.until_even(&[0, 1], JOINED).await;
    let ghost = nodes.bus.node("c").await;
    // Without a time after which it is taken away.
    let key = BusSubject::Living("c".parse().unwrap()).to_string();
    ghost.jetstream().publish(key, Id::random().to_string().into()).await.unwrap().await.unwrap();
    eventually("the key is believed at first", || (nodes.number(0, "nodes") == 3).then_some(())).await;
    eventually("and not any more", || (0..2).all(|node| nodes.number(node, "nodes") == 2).then_some(()))
        .await;
    println!("owned after {:?}", nodes.until_even(&[0, 1], OWNED_AGAIN).await);
    for node in 0..2 {
        eventually("all have an owner", || (nodes.number(node, "partitions_unowned") == 0).then_some(()))
            .await;
        assert!(nodes.server(node).log().contains("partitions released"), "a release is logged");
    }
}

/// Foreign values among the leases are ignored, and the log reports them once.
#[tokio::test]
async fn a_malformed_lease_is_ignored_and_logged() {
    let Some(nodes) = Nodes::start(1).await else { return };
    nodes.until_even(&[0], JOINED).await;
    let stranger = nodes.bus.node("b").await;
    let living = |name: &str| BusSubject::Living(name.parse().unwrap()).to_string();
    for key in [living("b"), living("a"), format!("$KV.{LEASES}.node.B_B")] {
        stranger.jetstream().publish(key, "no lease".into()).await.unwrap().await.unwrap();
    }
    let logged = || {
        let log = nodes.server(0).log();
        let of = |key: &str| {
            log.matches(&format!("not a lease of a node key=\"$KV.{LEASES}.node.{key}\"")).count()
        };
        (of("b") > 0 && of("B_B") > 0).then_some([of("b"), of("B_B")])
    };
    assert_eq!(eventually("both are logged", logged).await, [1, 1], "{}", nodes.server(0).log());
    let is_alone = || (nodes.number(0, "nodes") == 1).then_some(());
    eventually("it writes its own key again", is_alone).await;
    assert_eq!(nodes.number(0, "partitions_owned"), 64);
    assert_eq!(nodes.number(0, "partitions_lost_total"), 0, "its own key was no other process either");
}
