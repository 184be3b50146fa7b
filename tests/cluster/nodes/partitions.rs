//! The 64 partitions always have one owner each, and the nodes own the same number, or nearly.

use std::time::Duration;

use crate::bus::node::Nodes;
use crate::nodes::{JOINED, LEFT};
use crate::support::eventually;

/// A node that starts alone owns everything within this time.
const ALONE: Duration = Duration::from_secs(15);

#[tokio::test]
async fn nodes_that_join_and_leave_share_the_partitions_evenly() {
    let Some(mut nodes) = Nodes::start(1).await else { return };
    println!("alone after {:?}", nodes.until_even(&[0], ALONE).await);
    assert_eq!(nodes.number(0, "partitions_owned"), 64);
    nodes.join();
    println!("two after {:?}", nodes.until_even(&[0, 1], JOINED).await);
    nodes.join();
    println!("three after {:?}", nodes.until_even(&[0, 1, 2], JOINED).await);
    nodes.server(1).signal("TERM");
    println!("without the second one after {:?}", nodes.until_owned(&[0, 2], LEFT).await);
    println!("evenly after {:?}", nodes.until_even(&[0, 2], JOINED).await);
    let ended = eventually("the node ends", || nodes.server_mut(1).try_wait()).await;
    assert_eq!(ended, Some(0), "{}", nodes.server(1).log());
    nodes.server_mut(1).restart();
    println!("three again after {:?}", nodes.until_even(&[0, 1, 2], JOINED).await);
    for node in 0..3 {
        assert_eq!(nodes.fenced(node), 0, "nobody wrote what was another's");
    }
}
