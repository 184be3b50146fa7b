//! More work than there is room for: every limit refuses with a meaning, and every attempt is counted.

use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, AsyncContext as _, Context, Handler, Message};
use tokio::time::Instant;
use watchkeeper::config::limits::EngineLimits;
use watchkeeper::engine::aggregator::RecordBatch;
use watchkeeper::model::check::LocalFault;

use crate::facts::Facts;
use crate::script::Scripted;
use crate::world::{Watching, World, clock, definition, in_paused_time};

const SERVICES: i64 = 40;
/// Far more than the queue has room for.
const CROWD: i64 = 400;

fn narrow() -> EngineLimits {
    EngineLimits { checks_in_flight: 4, checks_waiting: 8, checks_per_host: 2, ..EngineLimits::default() }
}

/// Watches many services that are all due at the same moments; each is a target of its own when `apart`.
async fn watch_many(world: &World, apart: bool) {
    for number in 1..=SERVICES {
        let target = if apart { number.unsigned_abs() } else { 1 };
        let watching = Watching { every_ms: 10_000, target, ..Watching::default() };
        let definition = Arc::new(definition(number, 1, Some(&watching)));
        world.engine.apply(definition).await.expect("the engine runs");
    }
}

/// Reliability 21: scheduled = measured + shed + dropped + under way, at every moment.
#[test]
fn a_full_queue_is_counted_and_does_not_report_down() {
    in_paused_time(async || {
        let world = World::start(Scripted::cast("a: 0 up/3", Instant::now()), &clock(), narrow());
        watch_many(&world, true).await;
        let counters = world.engine.counters();
        for _ in 0..200 {
            tokio::time::sleep(Duration::from_millis(517)).await;
            let under_way = world.under_way();
            assert!((0..=12).contains(&under_way), "{under_way} under way: 4 run and 8 wait at most");
        }
        let shed = counters.unmeasured(LocalFault::QueueFull).get();
        assert!(shed > 100, "{shed} were shed");
        assert!(counters.measured.get() > 50, "some are measured all the same");
        assert!(world.facts.lines().iter().all(|line| !line.contains("down")), "nothing of it is an outage");
        drop(counters);
        world.end().await;
    });
}

/// Reliability 10: 100,000 attempts, of which next to none find a place.
#[test]
fn a_full_queue_reports_no_target_down() {
    in_paused_time(async || {
        let world = World::start(Scripted::cast("a: 0 up/3", Instant::now()), &clock(), narrow());
        for number in 1..=CROWD {
            let watching = Watching { every_ms: 5_000, target: number.unsigned_abs(), ..Watching::default() };
            let definition = Arc::new(definition(number, 1, Some(&watching)));
            world.engine.apply(definition).await.expect("the engine runs");
        }
        let counters = world.engine.counters();
        while counters.scheduled.get() < 100_000 {
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
        let shed = counters.unmeasured(LocalFault::QueueFull).get();
        println!("{} measured, {shed} without room", counters.measured.get());
        assert!(shed > 90_000 && counters.measured.get() > 100, "{shed} of {}", counters.scheduled.get());
        let changes = world.facts.changes();
        assert!(changes.iter().all(|change| change.to.as_str() != "down"), "nothing of it is an outage");
        drop(counters);
        world.end().await;
    });
}

#[test]
fn one_slow_host_does_not_delay_the_others() {
    in_paused_time(async || {
        let limits = EngineLimits { checks_waiting: 1_000, ..narrow() };
        let world = World::start(Scripted::cast("a: 0 hang, 0.5 up", Instant::now()), &clock(), limits);
        watch_many(&world, false).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let other = Watching { target: 2, ..Watching::default() };
        world.engine.apply(Arc::new(definition(99, 1, Some(&other)))).await.expect("the engine runs");
        tokio::time::sleep(Duration::from_secs(1)).await;
        let seen = world.facts.checks();
        assert_eq!(seen.iter().map(|check| check.service).collect::<Vec<_>>(), [99]);
        world.end().await;
    });
}

/// A recorder that takes one batch and then stops until it is released.
struct Slow {
    facts: Facts,
    is_awake: bool,
}

/// Go on.
#[derive(Message)]
#[rtype(result = "()")]
struct Awake;

impl Actor for Slow {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.set_mailbox_capacity(1);
    }
}

impl Handler<RecordBatch> for Slow {
    type Result = ();

    fn handle(&mut self, batch: RecordBatch, ctx: &mut Context<Self>) {
        self.facts.take(batch);
        if !self.is_awake {
            // As long as the actor waits for this, it takes nothing from its mailbox.
            ctx.wait(actix::fut::wrap_future::<_, Self>(tokio::time::sleep(Duration::from_secs(300))));
        }
    }
}

impl Handler<Awake> for Slow {
    type Result = ();

    fn handle(&mut self, _: Awake, _: &mut Context<Self>) {
        self.is_awake = true;
    }
}

#[test]
fn a_slow_recorder_sheds_counted_results_and_no_status_change() {
    in_paused_time(async || {
        let facts = Facts::default();
        let slow = Slow { facts: facts.clone(), is_awake: false }.start();
        let limits = EngineLimits { batch_results: 2, ..EngineLimits::default() };
        let prober = Scripted::cast("a: 0 up, 150 down", Instant::now());
        let world = World::with_sink(prober, &clock(), limits, (facts, slow.clone().recipient()));
        watch_many(&world, true).await;
        tokio::time::sleep(Duration::from_secs(200)).await;
        let counters = world.engine.counters();
        assert!(counters.unrecorded.get() > 100, "{} were shed", counters.unrecorded.get());
        slow.try_send(Awake).expect("there is room for one");
        tokio::time::sleep(Duration::from_secs(405)).await;
        assert_eq!(world.under_way(), 0, "all services are due at other moments");
        let (finished, unrecorded) = (counters.measured.get(), counters.unrecorded.get());
        drop(counters);
        let facts = world.facts.clone();
        world.end().await;
        assert_eq!(facts.checks().len() as u64 + unrecorded, finished, "each is here or counted");
        let up = facts.changes().iter().filter(|change| change.to.as_str() == "up").count();
        let down = facts.changes().iter().filter(|change| change.to.as_str() == "down").count();
        assert_eq!((up, down), (40, 40), "status changes are never shed");
    });
}
