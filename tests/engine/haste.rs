//! Many services on one host that become uncertain at once: they are checked more often, within the room that a location has
//! for each host.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use watchkeeper::config::limits::EngineLimits;

use crate::facts::START;
use crate::script::Scripted;
use crate::world::{Watching, World, clock, definition, in_paused_time};

const SERVICES: i64 = 500;
/// Of `EngineLimits`: per location and host.
const HASTY_A_SECOND: usize = 20;

/// The most checks of one second, by location, from the second `from` on.
fn busiest_seconds(script: &str, from: i64) -> HashMap<String, usize> {
    in_paused_time(async || {
        let limits = EngineLimits::default();
        let world = World::start(Scripted::cast(script, Instant::now()), &clock(), limits);
        for number in 1..=SERVICES {
            let watching = Watching {
                at: "abc".into(),
                hash: crate::world::id(number).stable_hash(),
                ..Watching::default()
            };
            world.engine.apply(Arc::new(definition(number, 1, Some(&watching)))).await.expect("it runs");
        }
        tokio::time::sleep(Duration::from_secs(180)).await;
        let checks = world.facts.checks();
        world.end().await;
        let mut counts: HashMap<(String, i64), usize> = HashMap::new();
        for check in checks {
            let second = check.checked_at.ms_since(START).div_euclid(1_000);
            if second >= from {
                *counts.entry((check.location.to_string(), second)).or_default() += 1;
            }
        }
        let mut busiest: HashMap<String, usize> = HashMap::new();
        for ((location, _), count) in counts {
            let known = busiest.entry(location).or_default();
            *known = count.max(*known);
        }
        busiest
    })
}

#[test]
fn rechecks_do_not_flood_a_host_with_uncertain_services() {
    let calm = busiest_seconds("a: 0 up; b: 0 up; c: 0 up", 10);
    let torn = busiest_seconds("a: 0 up, 70 down; b: 0 up, 70 degraded; c: 0 up", 10);
    for (location, busiest) in &torn {
        // Fast rechecks are five times as frequent; those within the budget are once a second, in addition.
        let most = 5 * calm[location] + 2 * HASTY_A_SECOND;
        assert!((2 * calm[location]..=most).contains(busiest), "calm {calm:?}, torn {torn:?}");
    }
}
