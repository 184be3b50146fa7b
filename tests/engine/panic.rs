//! Reliability 20: a service whose actor panics is back within a second, the others do not notice, and it is counted.
//!
//! The panic is a real one: the log writer panics while the actor logs a status change, as a standard output that
//! is gone makes `println!` do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use watchkeeper::config::limits::EngineLimits;

use crate::script::Scripted;
use crate::world::{Watching, World, clock, definition, in_paused_time};

/// A log that panics on the first `panics` status changes of a service with this name.
struct BrokenLog {
    name: &'static str,
    panics: AtomicU64,
}

impl<S: Subscriber> Layer<S> for BrokenLog {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut seen = StatusChangeOf(None);
        event.record(&mut seen);
        let concerned =
            seen.0.is_some_and(|name| name == self.name) && event.metadata().target().ends_with("service");
        if concerned && self.panics.load(Ordering::Relaxed) > 0 {
            self.panics.fetch_sub(1, Ordering::Relaxed);
            panic!("the log cannot be written");
        }
    }
}

/// The name of the service that an event is about.
struct StatusChangeOf(Option<String>);

impl Visit for StatusChangeOf {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "name" {
            self.0 = Some(format!("{value:?}"));
        }
    }
}

#[test]
fn a_panicking_service_restarts_within_a_second_without_affecting_others() {
    let log = tracing_subscriber::registry().with(BrokenLog { name: "service 2", panics: AtomicU64::new(1) });
    let _guard = tracing::subscriber::set_default(log);
    in_paused_time(async || {
        let world =
            World::start(Scripted::cast("a: 0 up", Instant::now()), &clock(), EngineLimits::default());
        for number in 1..=3 {
            let definition = Arc::new(definition(number, 1, Some(&Watching::default())));
            world.engine.apply(definition).await.expect("the engine runs");
        }
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        assert_eq!(world.engine.counters().restarts.get(), 1);
        let of = |service| world.facts.checks().into_iter().filter(move |check| check.service == service);
        assert_eq!([of(1).count(), of(2).count(), of(3).count()], [1, 1, 1], "it remembers what it saw");
        let changed: Vec<_> = world.facts.changes().into_iter().map(|change| change.service).collect();
        assert_eq!(changed, [1, 3, 2], "each is known to be up; service 2 last");
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert_eq!([of(1).count(), of(2).count(), of(3).count()], [3, 3, 3], "all keep their rhythm");
        assert_eq!(world.engine.counters().restarts.get(), 1);
        world.end().await;
    });
}

#[test]
fn a_repeatedly_panicking_service_waits_longer_each_time() {
    let log = tracing_subscriber::registry().with(BrokenLog { name: "service 1", panics: AtomicU64::new(5) });
    let _guard = tracing::subscriber::set_default(log);
    in_paused_time(async || {
        let world =
            World::start(Scripted::cast("a: 0 up", Instant::now()), &clock(), EngineLimits::default());
        world
            .engine
            .apply(Arc::new(definition(1, 1, Some(&Watching::default()))))
            .await
            .expect("the engine runs");
        let mut panics_at = Vec::new();
        for turn in 0..1_000 {
            tokio::time::sleep(Duration::from_millis(10)).await;
            let known = u64::try_from(panics_at.len()).expect("few");
            panics_at.extend((world.engine.counters().restarts.get() > known).then_some(turn * 10));
        }
        let waits: Vec<i64> = panics_at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(waits.len(), 4, "five panics: {waits:?}");
        assert!(waits.is_sorted_by(|before, after| before * 3 / 2 < *after), "{waits:?}");
        world.end().await;
    });
}

/// A message between the panic and the restart is not lost.
#[test]
fn a_definition_received_during_the_wait_is_used_at_the_restart() {
    let log = tracing_subscriber::registry().with(BrokenLog { name: "service 1", panics: AtomicU64::new(1) });
    let _guard = tracing::subscriber::set_default(log);
    in_paused_time(async || {
        let probers = Scripted::cast("a: 0 up; b: 0 up", Instant::now());
        let world = World::start(probers, &clock(), EngineLimits::default());
        let watching = Watching::default();
        world.engine.apply(Arc::new(definition(1, 1, Some(&watching)))).await.expect("the engine runs");
        tokio::time::sleep(Duration::from_millis(50)).await;
        let moved = Watching { at: "b".into(), ..watching };
        world.engine.apply(Arc::new(definition(1, 2, Some(&moved)))).await.expect("the engine runs");
        tokio::time::sleep(Duration::from_secs(1)).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        let places: Vec<String> =
            world.facts.checks().iter().map(|check| check.location.to_string()).collect();
        assert_eq!(places.first().map(String::as_str), Some("a"));
        assert!(places.len() > 1 && places[1..].iter().all(|place| place == "b"), "{places:?}");
        world.end().await;
    });
}

/// Regression: the status went to unknown and back, as if the target had changed.
#[test]
fn a_panic_does_not_change_the_status_of_the_target() {
    let log = tracing_subscriber::registry().with(BrokenLog { name: "service 1", panics: AtomicU64::new(0) });
    let broken = Arc::new(log);
    let _guard = tracing::subscriber::set_default(Arc::clone(&broken));
    in_paused_time(async || {
        let prober = Scripted::cast("a: 0 up, 30 down", Instant::now());
        let world = World::start(prober, &clock(), EngineLimits::default());
        world
            .engine
            .apply(Arc::new(definition(1, 1, Some(&Watching::default()))))
            .await
            .expect("the engine runs");
        tokio::time::sleep(Duration::from_secs(30)).await;
        broken.downcast_ref::<BrokenLog>().expect("the layer is there").panics.store(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(40)).await;
        assert_eq!(world.engine.counters().restarts.get(), 1);
        let changes: Vec<&str> = world.facts.changes().iter().map(|change| change.to.as_str()).collect();
        assert_eq!(changes, ["up", "down"]);
        world.end().await;
    });
}
