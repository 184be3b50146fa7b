//! Reliability 16: a simulated day of many services is the same for the same seed, and honest in its sums.
//!
//! An unoptimised build lives through a share of the services that the statement names, because its checks are dear;
//! `WATCHKEEPER_ENDURE=1 cargo test --release --test engine -- a_simulated_day` runs 10,000 and asserts the minute.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;
use tokio::time::Instant;
use watchkeeper::config::limits::EngineLimits;
use watchkeeper::engine::location::Prober;
use watchkeeper::model::check::{CheckStatus, Outcome, Trouble};
use watchkeeper::probe::spec::{CheckKind, CheckSpec};

use crate::script::measurement;
use crate::world::{Watching, World, clock, definition, in_paused_time};

const DAY: Duration = Duration::from_secs(86_400);
/// Five minutes: the interval of the day.
const EVERY_MS: i64 = 300_000;

/// Targets with outages, slow answers and troubles of our own, all drawn from a seed.
struct Drawn {
    seed: u64,
    origin: Instant,
}

impl Drawn {
    /// A number that depends on the seed, the target and a span of time, and on nothing else.
    fn draw(&self, spec: &CheckSpec, span_seconds: u64) -> u64 {
        let CheckKind::Tcp(target) = &spec.kind else { panic!("scenes check TCP targets") };
        let mut hasher = DefaultHasher::new();
        let span = self.origin.elapsed().as_secs() / span_seconds;
        (self.seed, target.host.to_text(), span_seconds, span).hash(&mut hasher);
        hasher.finish()
    }
}

impl Prober for Drawn {
    fn probe(&self, spec: Arc<CheckSpec>) -> LocalBoxFuture<'static, Outcome> {
        let takes = Duration::from_millis(5 + self.draw(&spec, 7) % 900);
        let is_out = self.draw(&spec, 5_400).is_multiple_of(25);
        let outcome = match self.draw(&spec, 11) % 1_000 {
            0 => Outcome::Unmeasured(Trouble::NoPorts),
            1..=4 => Outcome::Measured(measurement(CheckStatus::Degraded)),
            _ if is_out => Outcome::Measured(measurement(CheckStatus::Down)),
            _ => Outcome::Measured(measurement(CheckStatus::Up)),
        };
        async move {
            tokio::time::sleep(takes).await;
            outcome
        }
        .boxed_local()
    }
}

/// A number that stands for all facts of the day, and how many checks there were.
fn live_through_a_day(services: i64, seed: u64) -> (u64, usize) {
    in_paused_time(async || {
        let prober: Arc<dyn Prober> = Arc::new(Drawn { seed, origin: Instant::now() });
        // A day has 864,000 flushes of the usual kind; a recorder that is asked less often changes no fact.
        let limits = EngineLimits { batch_ms: 5_000, ..EngineLimits::default() };
        let world = World::start(vec![prober], &clock(), limits);
        for number in 1..=services {
            let watching = Watching {
                every_ms: EVERY_MS,
                retries: 1,
                target: number.unsigned_abs(),
                hash: crate::world::id(number).stable_hash(),
                ..Watching::default()
            };
            let definition = Arc::new(definition(number, 1, Some(&watching)));
            world.engine.apply(definition).await.expect("the engine runs");
        }
        tokio::time::sleep(DAY).await;
        let facts = world.facts.clone();
        let unrecorded = world.engine.counters().unrecorded.get();
        let (missed, _) = world.end().await;
        assert_eq!(unrecorded, 0, "seed {seed}: nothing is lost");
        assert_eq!(missed, 0, "seed {seed}: every due time is looked at");
        let mut hasher = DefaultHasher::new();
        facts.lines().hash(&mut hasher);
        (hasher.finish(), facts.checks().len())
    })
}

/// The services that an unoptimised build lives through a day with.
const SHARE: i64 = 1_500;

fn is_full() -> bool {
    std::env::var("WATCHKEEPER_ENDURE").is_ok_and(|value| value == "1")
}

/// Every due time of the day is looked at, and what is uncertain is looked at more often, within bounds.
fn check_sum(services: i64, checks: usize) {
    let due = usize::try_from(services).expect("few") * 288;
    assert!((due * 99 / 100..=due * 11 / 10).contains(&checks), "seed 16: {checks} checks of {due}");
}

#[test]
fn a_simulated_day_of_many_services_takes_less_than_a_minute() {
    let services = if is_full() { 10_000 } else { SHARE };
    #[expect(clippy::disallowed_methods, reason = "the statement is about real time, and tokio's is paused")]
    let began = std::time::Instant::now();
    let (_, checks) = live_through_a_day(services, 16);
    let took = began.elapsed();
    println!("a day of {services} services, {checks} checks, took {took:?}");
    check_sum(services, checks);
    assert!(took < Duration::from_secs(60), "seed 16: the day took {took:?}");
}

#[test]
fn a_simulated_day_is_the_same_for_the_same_seed() {
    let services = 150;
    let first = live_through_a_day(services, 16);
    check_sum(services, first.1);
    assert_eq!(first, live_through_a_day(services, 16), "seed 16");
    assert_ne!(first, live_through_a_day(services, 17), "another seed is another day");
}
