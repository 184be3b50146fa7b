//! A token has one limit, whichever nodes it uses.

use crate::bus::node::Nodes;
use crate::nodes::JOINED;

const LIMIT: u64 = 60;

#[tokio::test]
async fn exactly_the_limit_passes_on_all_nodes_together() {
    let limit = LIMIT.to_string();
    let Some(nodes) = Nodes::start_with(2, &[("WATCHKEEPER_RATE_LIMIT_PER_MINUTE", &limit)]).await else {
        return;
    };
    nodes.until_even(&[0, 1], JOINED).await;
    let clients = [nodes.client(0), nodes.client(1)];
    let mut remaining = Vec::new();
    for client in clients.iter().cycle() {
        let answer = client.get("/v1/me");
        remaining.push(answer.header("x-ratelimit-remaining").unwrap().parse::<u64>().unwrap());
        if answer.status == 429 {
            break;
        }
        answer.expect(200);
    }
    let first = remaining[0];
    assert!(first < LIMIT, "{remaining:?}");
    let counted_down: Vec<u64> = (0..=first).rev().chain([0]).collect();
    assert_eq!(remaining, counted_down);
    for client in &clients {
        client.get("/v1/me").expect(429);
    }
}
