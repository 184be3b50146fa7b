//! The end of all services at once: whatever arrives meanwhile, it does not wait for what never ends.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join3;
use tokio::time::Instant;
use watchkeeper::config::limits::EngineLimits;

use crate::script::Scripted;
use crate::world::{Watching, World, clock, definition, id, in_paused_time};

/// A write that outlives its client notifies the engine of a service while it stops, or of the end of the last one.
#[test]
fn a_stop_is_not_delayed_by_concurrent_changes_of_services() {
    in_paused_time(async || {
        let probers = Scripted::cast("a: 0 up", Instant::now());
        let world = World::start(probers, &clock(), EngineLimits::default());
        let watched = |number| Arc::new(definition(number, 1, Some(&Watching::default())));
        world.engine.apply(watched(1)).await.expect("the engine runs");
        let began = Instant::now();
        let engine = world.engine.clone();
        let (comes, goes) = (engine.apply(watched(2)), engine.retire(id(1), 1, 1));
        // A late write finds the engine stopped.
        let ((), _, _) = join3(engine.stop(), comes, goes).await;
        let _ = engine.apply(watched(3)).await;
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        let states = world.supervisor.states();
        let services = states.iter().find(|state| state.name == "service").expect("there was one");
        assert_eq!(services.alive, 0, "none is left behind");
        drop(engine);
        world.end().await;
    });
}
