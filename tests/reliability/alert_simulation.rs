//! Services that fail and recover, people who edit, switch and silence, receivers that refuse, a process that is killed: whatever
//! happens in whichever order, everybody who must know of an incident knows it in the end, once, in order, and nobody's alert
//! stays open.
//!
//! A real server, real receivers. Each run draws its steps from a seed, which it prints; `WATCHKEEPER_TEST_SEED` repeats one. The
//! steps come in rounds. At the end of a round everything is switched on, nothing waits any more, and what each
//! receiver has accepted is held against what the API shows of every incident.

mod receivers;
mod rules;
mod world;

use serde_json::json;

use crate::alert_simulation::world::World;
use crate::endures;
use crate::support::server::Server;

/// Steps of one round, after which everything that must be known is.
const STEPS_PER_ROUND: usize = 100;

fn rounds() -> usize {
    if endures() { 100 } else { 3 }
}

/// The seed of this run.
fn seed() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    let drawn = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    std::env::var("WATCHKEEPER_TEST_SEED").map_or_else(|_| drawn(), |text| text.parse().unwrap())
}

#[tokio::test]
async fn every_recipient_gets_every_required_message_once_in_order() {
    let seed = seed();
    println!("WATCHKEEPER_TEST_SEED={seed}");
    let mut world = World::new(Server::start(), seed);
    for round in 0..rounds() {
        for _ in 0..STEPS_PER_ROUND {
            world.step().await;
        }
        world.settle().await;
        world.check(&format!("WATCHKEEPER_TEST_SEED={seed}, round {round}"));
    }
    let (messages, incidents) = world.totals();
    println!("{} steps, {incidents} incidents, {messages} messages", rounds() * STEPS_PER_ROUND);
    assert!(incidents >= rounds(), "the steps are worth taking: {}", json!(incidents));
}
