//! Many new services at once: their first checks are spread over an interval, and a single one is checked at
//! once all the same.
//!
//! 20,000 services, with `WATCHKEEPER_ENDURE=1` the promised 100,000.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use watchkeeper::config::limits::EngineLimits;

use crate::facts::START;
use crate::script::Scripted;
use crate::world::{Watching, World, clock, definition, in_paused_time};

const INTERVAL_MS: i64 = 300_000;

fn services() -> i64 {
    if std::env::var("WATCHKEEPER_ENDURE").is_ok_and(|value| value == "1") { 100_000 } else { 20_000 }
}

#[test]
fn many_new_services_are_spread_over_a_minute_without_missed_runs() {
    in_paused_time(async || {
        let world =
            World::start(Scripted::cast("a: 0 up/0.05", Instant::now()), &clock(), EngineLimits::default());
        let watching = |number: i64| Watching {
            every_ms: INTERVAL_MS,
            target: number.unsigned_abs(),
            hash: number.unsigned_abs().wrapping_mul(0x9e37_79b9_7f4a_7c15),
            ..Watching::default()
        };
        for number in 1..=services() {
            let definition = Arc::new(definition(number, 1, Some(&watching(number))));
            world.engine.apply(definition).await.expect("the engine runs");
        }
        tokio::time::sleep(Duration::from_secs(10)).await;
        let alone = services() + 1;
        let single = Arc::new(definition(alone, 1, Some(&watching(alone))));
        world.engine.apply(single).await.expect("the engine runs");
        tokio::time::sleep(Duration::from_millis(200)).await;
        let looked_at = world.facts.checks().iter().any(|check| check.service == alone);
        assert!(looked_at, "one that comes alone does not wait for the others");
        tokio::time::sleep(Duration::from_millis(INTERVAL_MS.unsigned_abs() - 10_000)).await;
        let (mut a_second, mut first) = (vec![0_i64; 62], HashMap::new());
        for check in world.facts.checks() {
            first.entry(check.service).or_insert(check.checked_at.ms_since(START));
        }
        assert_eq!(first.len() as i64, services() + 1, "all are looked at within an interval");
        for at_ms in first.values() {
            a_second[usize::try_from(at_ms / 1_000).expect("after the start").min(61)] += 1;
        }
        let most = (services() / 60).max(100) * 13 / 10 + 100;
        assert!(a_second.iter().all(|count| *count <= most), "{most} a second at most: {a_second:?}");
        assert_eq!(a_second[61], 0, "a minute is the longest wait");
        assert_eq!(world.engine.counters().missed.get(), 0, "nothing counts as missed");
        world.end().await;
    });
}
