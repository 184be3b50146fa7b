//! Changes of what is watched: pause, resume, other settings, deletion, and messages out of order.

use std::sync::Arc;
use std::time::Duration;

use rstest::rstest;
use tokio::time::Instant;
use watchkeeper::config::limits::EngineLimits;
use watchkeeper::model::verdict::Verdict;

use crate::play::play;
use crate::script::Scripted;
use crate::world::{Watching, World, address, clock, definition, id, in_paused_time};

/// A changed definition, a pause and a resume while the service is watched (contract 4.3.7 and 4.3.8).
#[rstest]
#[case::a_pause_ends_the_status_and_a_resume_checks_at_once(
    "a: 0 up",
    "0 watch; 70 pause; 100 resume; 130 end",
    "0 a up | 0 unknown>up votes | 60 a up | 70 up>unknown paused | 100 a up | 100 unknown>up votes | 120 a up"
)]
#[case::another_target_makes_older_results_worthless(
    "a: 0 up, 65 down",
    "0 watch; 70 watch target=2; 100 end",
    "0 a up | 0 unknown>up votes | 60 a up | 70 a down | 70 up>unknown reconfigured | 70.001 unknown>down votes"
)]
#[case::the_same_target_keeps_them(
    "a: 0 up",
    "0 watch; 70 watch retries=3; 125 end",
    "0 a up | 0 unknown>up votes | 60 a up | 120 a up"
)]
#[case::a_further_location_joins_at_its_due_time(
    "a: 0 up; b: 0 up",
    "0 watch; 65 watch at=ab; 125 end",
    "0 a up | 0 unknown>up votes | 60 a up | 90 b up | 120 a up"
)]
#[case::a_result_under_way_of_the_old_target_is_dropped(
    "a: 0 down/8, 1 up",
    "0 watch; 5 watch target=2; 50 end",
    "5 a up | 5 unknown>up votes"
)]
#[case::a_result_under_way_at_a_pause_is_dropped("a: 0 down/8", "0 watch; 5 pause; 50 end", "")]
fn only_one_definition_is_in_force(#[case] script: &str, #[case] moves: &str, #[case] facts: &str) {
    assert_eq!(play(script, moves).text(), facts);
}

#[test]
fn dropped_results_are_counted() {
    assert_eq!(play("a: 0 down/8, 1 up", "0 watch; 5 watch target=2; 50 end").dropped, 1);
    assert_eq!(play("a: 0 hang", "0 watch; 5 end").dropped, 1, "a check under way at the end");
}

#[test]
fn a_late_older_definition_changes_nothing() {
    in_paused_time(async || {
        let world =
            World::start(Scripted::cast("a: 0 up", Instant::now()), &clock(), EngineLimits::default());
        let engine = world.engine.clone();
        let watched = Arc::new(definition(1, 3, Some(&Watching::default())));
        engine.apply(Arc::clone(&watched)).await.expect("the engine runs");
        tokio::time::sleep(Duration::from_secs(30)).await;
        engine.apply(Arc::new(definition(1, 2, None))).await.expect("the engine runs");
        tokio::time::sleep(Duration::from_secs(61)).await;
        assert_eq!(world.facts.lines(), ["0 a up", "0 unknown>up votes", "60 a up"]);
        let snapshot = engine.snapshots(&[address(1)]).await.expect("the engine runs")[0];
        assert_eq!(snapshot.verdict, Verdict::Up);
        assert_eq!(snapshot.uptime_30d, Some(100.0), "the pause of the older definition takes nothing out");
        drop(engine);
        world.end().await;
    });
}

/// Regression: the end of the first actor counted as the end of the second.
#[test]
fn a_service_added_again_under_its_id_stays_known() {
    in_paused_time(async || {
        let world =
            World::start(Scripted::cast("a: 0 up", Instant::now()), &clock(), EngineLimits::default());
        let engine = world.engine.clone();
        let watched = Arc::new(definition(1, 1, Some(&Watching::default())));
        engine.apply(watched).await.expect("the engine runs");
        engine.retire(id(1), 1, 1).await.expect("the engine runs");
        let second = Arc::new(definition(1, 2, Some(&Watching::default())));
        engine.apply(second).await.expect("the engine runs");
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(engine.watched().await.expect("the engine runs").len(), 1);
        drop(engine);
        world.end().await;
    });
}

/// Regression: a change that was committed before the delete, and announced after it, started the
/// service again.
#[test]
fn a_definition_from_before_the_delete_does_not_restore_the_service() {
    in_paused_time(async || {
        let world =
            World::start(Scripted::cast("a: 0 up", Instant::now()), &clock(), EngineLimits::default());
        let engine = world.engine.clone();
        engine.apply(Arc::new(definition(1, 1, Some(&Watching::default())))).await.expect("the engine runs");
        engine.retire(id(1), 1, 2).await.expect("the engine runs");
        engine.apply(Arc::new(definition(1, 2, Some(&Watching::default())))).await.expect("the engine runs");
        tokio::time::sleep(Duration::from_secs(200)).await;
        assert_eq!(engine.watched().await.expect("the engine runs").len(), 0);
        assert!(world.facts.checks().len() <= 1, "only the first definition may have been looked at");
        let snapshot = engine.snapshots(&[address(1)]).await.expect("the engine runs")[0];
        assert_eq!(snapshot, Default::default());
        drop(engine);
        world.end().await;
    });
}

#[test]
fn a_retired_service_is_forgotten_at_once() {
    in_paused_time(async || {
        let world =
            World::start(Scripted::cast("a: 0 up/3", Instant::now()), &clock(), EngineLimits::default());
        let engine = world.engine.clone();
        engine.apply(Arc::new(definition(1, 1, Some(&Watching::default())))).await.expect("the engine runs");
        tokio::time::sleep(Duration::from_secs(61)).await;
        engine.retire(id(1), 1, 1).await.expect("the engine runs");
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert_eq!(world.facts.lines(), ["0 a up", "0 unknown>up votes"], "the second check was under way");
        assert_eq!(engine.watched().await.expect("the engine runs").len(), 0);
        let snapshot = engine.snapshots(&[address(1)]).await.expect("the engine runs")[0];
        assert_eq!(snapshot, Default::default());
        drop(engine);
        world.end().await;
    });
}
