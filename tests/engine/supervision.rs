//! Reliability 20: every kind of actor panics, or freezes, under load: it is back within a second, the others are
//! untouched, it is counted, and no result or status change is lost.

use std::sync::Arc;
use std::time::Duration;

use rstest::rstest;
use tokio::time::Instant;
use watchkeeper::config::limits::EngineLimits;
use watchkeeper::model::check::{CheckStatus, CheckType};
use watchkeeper::supervise::{ActorKindState, FROZEN_AFTER, InjectedFault};

use crate::script::Scripted;
use crate::world::{Watching, World, clock, definition, in_paused_time};

const SERVICES: i64 = 120;
/// The plan of every service is read once a minute.
const ROUND_S: u32 = 60;

/// Many services that are checked every second from two locations, one of which is slow.
async fn busy() -> World {
    let probers = Scripted::cast("a: 0 up/0.3; b: 0 up", Instant::now());
    let world = World::start(probers, &clock(), EngineLimits::default());
    for number in 1..=SERVICES {
        let watching = Watching {
            every_ms: 1_000,
            at: "ab".into(),
            target: number.unsigned_abs(),
            hash: number.unsigned_abs() * 37,
            ..Watching::default()
        };
        let definition = Arc::new(definition(number, 1, Some(&watching)));
        world.engine.apply(definition).await.expect("the engine runs");
    }
    world
}

fn state(world: &World, kind: &str) -> ActorKindState {
    world.supervisor.states().into_iter().find(|state| state.name == kind).expect("there is such a kind")
}

/// Lets one second of our running time pass.
async fn second(world: &World) {
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.supervisor.tick();
}

/// Lets seconds pass until `is_so`, at most `most` of them.
async fn until(world: &World, most: u32, is_so: impl Fn() -> bool) {
    for _ in 0..most {
        second(world).await;
        // The messages were answered.
        tokio::time::sleep(Duration::from_millis(1)).await;
        if is_so() {
            return;
        }
    }
    panic!("it did not happen in {most} seconds: {:?}", world.supervisor);
}

/// Results that were counted where they were measured: each of them must be recorded.
fn counted(world: &World) -> u64 {
    let known = world.engine.roster().all();
    let of = |status| known.iter().map(move |known| known.finished(CheckType::Tcp, status).get());
    CheckStatus::ALL.into_iter().flat_map(of).sum()
}

#[rstest]
fn a_panicking_actor_restarts_within_a_second_without_loss(
    #[values("service", "location", "aggregator")] kind: &'static str,
) {
    in_paused_time(async move || {
        let world = busy().await;
        for _ in 0..3 {
            second(&world).await;
        }
        for round in 1..=3 {
            assert!(world.supervisor.inject(kind, InjectedFault::Panic));
            until(&world, ROUND_S + 1, || state(&world, kind).panics == round).await;
            tokio::time::sleep(Duration::from_millis(998)).await;
            assert_eq!(state(&world, kind).restarts, round, "it is back within a second");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        let known = state(&world, kind);
        assert_eq!(known.last_error.as_deref(), Some("it panicked: a fault was injected"));
        let expected = [("service", 120), ("location", 2), ("aggregator", 1)];
        assert!(expected.contains(&(kind, known.alive)), "{known:?}");
        let others = world.supervisor.states().into_iter().filter(|other| other.name != kind);
        assert_eq!(
            others.map(|other| other.panics + other.frozen).sum::<u64>(),
            0,
            "the others notice nothing"
        );
        let before = world.facts.checks().len();
        tokio::time::sleep(Duration::from_secs(10)).await;
        let services: std::collections::BTreeSet<_> = world.facts.checks()[before..]
            .iter()
            .map(|check| (check.service, check.location.clone()))
            .collect();
        assert_eq!(services.len() as i64, 2 * SERVICES, "each is looked at from everywhere");
        let facts = world.facts.clone();
        assert!(facts.lines().iter().all(|line| !line.contains("down")), "a panic is nobody's outage");
        assert!(facts.changes().len() as i64 == SERVICES, "each went up once");
        let (engine, facts) = (world.engine.clone(), facts);
        world.engine.stop().await;
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert_eq!(engine.counters().unrecorded.get(), 0);
        assert_eq!(facts.checks().len() as u64, counted(&world), "every result is handed over");
        drop(engine);
        world.end().await;
    });
}

#[rstest]
fn a_frozen_actor_is_replaced(#[values("service", "location", "aggregator")] kind: &'static str) {
    in_paused_time(async move || {
        let world = busy().await;
        second(&world).await;
        let alive = state(&world, kind).alive;
        assert!(world.supervisor.inject(kind, InjectedFault::Freeze));
        until(&world, ROUND_S + FROZEN_AFTER + 5, || state(&world, kind).frozen == 1).await;
        tokio::time::sleep(Duration::from_millis(998)).await;
        let known = state(&world, kind);
        assert_eq!((known.restarts, known.panics, known.alive), (1, 0, alive));
        assert_eq!(known.last_error.as_deref(), Some("it had not answered for 30 seconds"));
        for _ in 0..2 * ROUND_S {
            second(&world).await;
        }
        assert_eq!(state(&world, kind).frozen, 1, "only one froze");
        let before = world.facts.checks().len();
        tokio::time::sleep(Duration::from_secs(10)).await;
        let services: std::collections::BTreeSet<_> = world.facts.checks()[before..]
            .iter()
            .map(|check| (check.service, check.location.clone()))
            .collect();
        assert_eq!(services.len() as i64, 2 * SERVICES, "each is looked at from everywhere");
        world.end().await;
    });
}

/// A service that freezes with no question open is behind its plan 15 s later, is asked in the next round, and replaced.
/// Several freeze: one alone could be asked in time because it is its turn.
#[test]
fn services_that_do_not_keep_to_their_plan_are_replaced() {
    const FREEZE: u32 = 5;
    in_paused_time(async || {
        let world = busy().await;
        second(&world).await;
        for _ in 0..FREEZE {
            assert!(world.supervisor.inject("service", InjectedFault::FreezeAfterwards));
            for _ in 0..10 {
                second(&world).await;
            }
        }
        let (overdue, frozen) = (15 + 1, u64::from(FREEZE));
        until(&world, 2 * ROUND_S + overdue + FROZEN_AFTER + 5, || state(&world, "service").frozen == frozen)
            .await;
        tokio::time::sleep(Duration::from_millis(998)).await;
        let known = state(&world, "service");
        assert_eq!((known.restarts, known.panics, known.alive), (frozen, 0, SERVICES.unsigned_abs()));
        world.end().await;
    });
}

/// A stop of the whole process passes no seconds of ours: nobody counts as frozen, however long it takes.
#[test]
fn a_stop_of_the_process_does_not_count_as_a_freeze() {
    in_paused_time(async || {
        let world = busy().await;
        for _ in 0..20 {
            second(&world).await;
            tokio::time::advance(Duration::from_secs(3_600)).await;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(world.supervisor.states().iter().map(|state| state.frozen).sum::<u64>(), 0);
        world.end().await;
    });
}

#[test]
fn the_process_ends_when_its_fleet_cannot_run() {
    in_paused_time(async || {
        let world = busy().await;
        assert!(world.engine.is_alive().await);
        assert!(world.supervisor.inject("fleet", InjectedFault::Panic));
        until(&world, 6, || world.supervisor.failure().is_some()).await;
        let reason = world.supervisor.failed().await;
        assert_eq!(&*reason, "fleet died: it panicked: a fault was injected");
        assert!(!world.engine.is_alive().await);
        let known = state(&world, "fleet");
        assert_eq!((known.alive, known.restarts, known.panics), (0, 0, 1));
    });
}

/// A task that panics is counted and begins again; one that ends is left alone.
#[test]
fn a_background_task_restarts_after_a_panic() {
    use std::sync::atomic::{AtomicU32, Ordering};
    use watchkeeper::supervise::{ActorKind, Supervisor};
    in_paused_time(async || {
        let (supervisor, begun) = (Supervisor::default(), Arc::new(AtomicU32::new(0)));
        let counted = Arc::clone(&begun);
        let task = supervisor.spawn(ActorKind::restarting("chore"), move || {
            let attempt = counted.fetch_add(1, Ordering::Relaxed);
            async move { assert!(attempt >= 2, "not yet") }
        });
        let started = Instant::now();
        task.await.expect("it ends by itself");
        assert!(started.elapsed() < Duration::from_secs(1));
        let known = &supervisor.states()[0];
        assert_eq!((known.name, known.alive, known.restarts, known.panics), ("chore", 0, 2, 2));
        assert_eq!(known.last_error.as_deref(), Some("it panicked: not yet"));
        let vital = supervisor.spawn(ActorKind::vital("heart"), || async { panic!("it stands still") });
        vital.await.expect("the task itself is over");
        assert_eq!(supervisor.failure().as_deref(), Some("heart died: it panicked: it stands still"));
    });
}

/// Whatever dies, at most ten start again at once and ten in each second after that; the process says that it is overloaded.
#[test]
fn restarts_are_limited() {
    use watchkeeper::supervise::{ActorKind, Supervisor};
    in_paused_time(async || {
        let supervisor = Supervisor::default();
        let kind = ActorKind::restarting("chore");
        for _ in 0..1_000 {
            drop(supervisor.spawn(kind, || async { panic!("always") }));
        }
        let restarts = || supervisor.states()[0].restarts;
        for second in 1..=5 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let restarts = restarts();
            assert!(restarts >= 9 * second && restarts <= 10 * (second + 1), "{restarts} after {second} s");
        }
        assert!(supervisor.restart_overload().is_some_and(|wait| wait > Duration::from_secs(60)));
    });
}
