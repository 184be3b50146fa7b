//! Locations that cannot check because of a local fault: after a minute their results no longer count, and a service that
//! no other location checks is unknown, never down; each recovers with its next check.

use std::sync::Arc;
use std::time::Duration;

use rstest::rstest;
use tokio::time::Instant;
use watchkeeper::config::limits::EngineLimits;
use watchkeeper::model::check::LocalFault;

use crate::play::play;
use crate::script::Scripted;
use crate::world::{Watching, World, clock, definition, in_paused_time};

#[rstest]
#[case::unknown_after_a_minute_until_the_next_check(
    "a: 0 up, 50 trouble, 170 up",
    "0 watch every=10; 200 end",
    "0 unknown>up votes | 50 up>no_data gap | 110 no_data>unknown stale | 170 unknown>up votes"
)]
#[case::less_than_a_minute_is_a_gap_alone(
    "a: 0 up, 50 trouble, 100 up",
    "0 watch every=10; 200 end",
    "0 unknown>up votes | 50 up>no_data gap | 100 no_data>up votes"
)]
#[case::down_becomes_unknown(
    "a: 0 down, 50 trouble, 170 down",
    "0 watch every=10; 200 end",
    "0 unknown>down votes | 50 down>no_data gap | 110 no_data>unknown stale | 170 unknown>down votes"
)]
#[case::the_others_decide_alone(
    "a: 0 up, 50 trouble; b: 0 up",
    "0 watch every=10 at=ab; 200 end",
    "0 unknown>up votes"
)]
#[case::a_vote_for_down_of_the_blind_counts_no_more(
    "a: 0 down, 50 trouble; b: 0 up",
    "0 watch every=10 at=ab; 200 end",
    "0 unknown>down votes | 0.001 down>degraded votes | 110 degraded>up votes"
)]
#[case::one_failure_in_a_long_interval_is_a_gap_alone(
    "a: 0 up, 300 trouble, 301 up",
    "0 watch every=300; 1000 end",
    "0 unknown>up votes | 300 up>no_data gap | 600 no_data>up votes"
)]
fn results_of_a_blind_location_do_not_count(
    #[case] script: &str,
    #[case] moves: &str,
    #[case] changes: &str,
) {
    assert_eq!(play(script, moves).changes(), changes);
}

/// The other service is checked every ten minutes: it becomes unknown without a check.
#[test]
fn a_service_that_is_not_due_is_unknown_until_its_next_check() {
    in_paused_time(async || {
        let script = "a: 0 up, 5 trouble, 300 up";
        let world = World::start(Scripted::cast(script, Instant::now()), &clock(), EngineLimits::default());
        for (number, every_ms) in [(1, 1_000), (2, 600_000)] {
            let watching = Watching { every_ms, target: number, ..Watching::default() };
            let number = i64::try_from(number).expect("a small number");
            let definition = Arc::new(definition(number, 1, Some(&watching)));
            world.engine.apply(definition).await.expect("the engine runs");
        }
        let known = world.engine.roster().find("a").expect("the location");
        tokio::time::sleep(Duration::from_secs(64)).await;
        assert_eq!((known.impaired_by(), world.engine.roster().is_blind_here()), (None, false));
        tokio::time::sleep(Duration::from_secs(4)).await;
        assert_eq!(known.impaired_by(), Some(LocalFault::NoPorts));
        assert!(world.engine.roster().is_blind_here());
        world.engine.flush().await.expect("the engine runs");
        let of_second = |line: &String| line.contains('>');
        let lines: Vec<String> = world.facts.lines().into_iter().filter(of_second).collect();
        assert_eq!(lines.len(), 5, "{lines:?}");
        assert!(lines.contains(&"65 up>unknown stale".to_owned()), "the one that was not due: {lines:?}");
        tokio::time::sleep(Duration::from_secs(240)).await;
        assert_eq!(known.impaired_by(), None, "one attempt that looks ends it");
        world.engine.flush().await.expect("the engine runs");
        let changes = world.facts.changes();
        let of =
            |service| changes.iter().rev().find(|change| change.service == service).map(|change| change.to);
        assert_eq!(of(1).map(|to| to.as_str()), Some("up"));
        assert_eq!(of(2).map(|to| to.as_str()), Some("unknown"), "it is looked at when its turn comes");
        tokio::time::sleep(Duration::from_secs(300)).await;
        world.engine.flush().await.expect("the engine runs");
        let newest = world.facts.changes().last().map(|change| (change.service, change.to.as_str()));
        assert_eq!(newest, Some((2, "up")));
        drop(known);
        world.end().await;
    });
}
