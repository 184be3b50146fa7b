//! The world of one scene: an actor system whose time is paused, a clock that can be set, an engine, and a sink.
//!
//! Time passes only while every actor waits, and then it jumps to the next timer: an hour takes milliseconds. A scene
//! ends with [`World::end`], which fails when anything of the engine is still alive.

use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;

use actix::{Actor as _, Recipient, System};
use watchkeeper::clock::Clock;
use watchkeeper::config::limits::EngineLimits;
use watchkeeper::engine::aggregator::RecordBatch;
use watchkeeper::engine::counters::EngineCounters;
use watchkeeper::engine::definition::{CompiledChecks, WatchDefinition};
use watchkeeper::engine::location::Prober;
use watchkeeper::engine::registry::LocationRegistry;
use watchkeeper::engine::shard::ShardThreads;
use watchkeeper::engine::{Engine, EngineParts};
use watchkeeper::id::Id;
use watchkeeper::model::check::{CheckType, LocalFault};
use watchkeeper::model::location::{Location, LocationKey};
use watchkeeper::model::service::{ProbeRole, ServiceAddress};
use watchkeeper::model::status_rules::StatusRules;
use watchkeeper::model::watch::{PlannedLocation, RoundKeeper, WatchPlan};
use watchkeeper::probe::spec::CheckSpec;
use watchkeeper::supervise::Supervisor;

use crate::facts::{Collector, Facts, START};
use crate::script::code_of;

/// A location of the engine under test.
const HERE: PlannedLocation = PlannedLocation { role: ProbeRole::Full, round: RoundKeeper::Watch };
/// Longer than any check of a scene may take, with its cut-off.
const LONGEST_CHECK: Duration = Duration::from_secs(120);

/// Runs a scene in an actor system of its own, on this thread, with paused time.
pub(crate) fn in_paused_time<F: Future>(scene: impl FnOnce() -> F) -> F::Output {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().start_paused(true).build().expect("a runtime can be built")
    };
    System::with_tokio_rt(runtime).block_on(async { scene().await })
}

/// An engine and what surrounds it.
pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) facts: Facts,
    pub(crate) supervisor: Supervisor,
    counters: Weak<EngineCounters>,
}

impl World {
    /// An engine with these probers as locations `a`, `b`, …, whose facts are collected.
    pub(crate) fn start(probers: Vec<Arc<dyn Prober>>, clock: &Clock, limits: EngineLimits) -> Self {
        let facts = Facts::default();
        let sink = Collector(facts.clone()).start().recipient();
        Self::with_sink(probers, clock, limits, (facts, sink))
    }

    /// The same with another sink.
    pub(crate) fn with_sink(
        probers: Vec<Arc<dyn Prober>>,
        clock: &Clock,
        limits: EngineLimits,
        (facts, sink): (Facts, Recipient<RecordBatch>),
    ) -> Self {
        let supervisor = Supervisor::default();
        let engine = Engine::start(&EngineParts {
            roster: Arc::new(LocationRegistry::new((0..probers.len()).map(location).collect())),
            probers,
            clock: clock.clone(),
            limits,
            threads: ShardThreads::Current,
            sink,
            supervisor: supervisor.clone(),
        });
        let counters = Arc::downgrade(&engine.counters());
        Self { engine, facts, supervisor, counters }
    }

    /// Attempts that were handed out and have not ended.
    pub(crate) fn under_way(&self) -> i64 {
        let counters = self.engine.counters();
        let shed: u64 = LocalFault::ALL.into_iter().map(|trouble| counters.unmeasured(trouble).get()).sum();
        let ended = counters.measured.get() + shed + counters.dropped.get();
        signed(counters.scheduled.get()) - signed(ended)
    }

    /// Stops the engine and waits until the last of its checks is cut off: missed runs and dropped attempts.
    pub(crate) async fn end(self) -> (u64, u64) {
        self.engine.stop().await;
        tokio::time::sleep(LONGEST_CHECK).await;
        assert_eq!(self.under_way(), 0, "every attempt is counted in the end");
        let totals = (self.engine.counters().missed.get(), self.engine.counters().dropped.get());
        drop((self.engine, self.supervisor));
        // The fleet ends when its address is gone; that takes a turn of the loop.
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(self.counters.upgrade().is_none(), "an actor of the engine has outlived it");
        totals
    }
}

/// Settings of the service of a scene.
#[derive(Clone, Debug)]
pub(crate) struct Watching {
    /// Seconds between two checks of one location.
    pub(crate) every_ms: i64,
    /// Further attempts before a bad result counts.
    pub(crate) retries: u8,
    /// Letters of the locations, in order.
    pub(crate) at: String,
    /// Stands for target and configuration.
    pub(crate) target: u64,
    /// Decides the phase.
    pub(crate) hash: u64,
    /// Rules of its status.
    pub(crate) rules: StatusRules,
}

impl Default for Watching {
    fn default() -> Self {
        Self {
            every_ms: 60_000,
            retries: 0,
            at: "a".into(),
            target: 1,
            hash: 0,
            rules: StatusRules::default(),
        }
    }
}

/// The definition of service `number` of a scene; without `watching` it is not checked.
pub(crate) fn definition(number: i64, revision: i64, watching: Option<&Watching>) -> WatchDefinition {
    WatchDefinition {
        key: number,
        id: id(number),
        organisation: 1,
        name: format!("service {number}").into(),
        check_type: CheckType::Tcp,
        revision,
        task: watching.map(task),
        heartbeat: None,
        is_paused: watching.is_none(),
        in_planned_maintenance: false,
        stated: None,
    }
}

pub(crate) fn task(watching: &Watching) -> CompiledChecks {
    let limits = EngineLimits::default();
    let ms = |ms: u64| i64::try_from(ms).expect("a back-off is short");
    let target = format!("target-{}.example:80", watching.target);
    let spec = CheckSpec::compile(CheckType::Tcp, &target, 10, &serde_json::Map::new());
    CompiledChecks {
        plan: WatchPlan {
            hash: watching.hash,
            interval_ms: watching.every_ms,
            timeout_ms: 10_000,
            attempts: watching.retries + 1,
            backoff_ms: ms(limits.retry_backoff_ms),
            backoff_max_ms: ms(limits.retry_backoff_max_ms),
            uncertain_interval_ms: limits.uncertain_interval_ms,
            rules: watching.rules,
            locations: watching.at.chars().map(|_| HERE).collect(),
        },
        spec: Arc::new(spec.expect("the target can be compiled")),
        locations: watching.at.bytes().map(|letter| LocationKey::new(u32::from(letter - b'a'))).collect(),
        host_key: watching.target,
        fingerprint: watching.target,
    }
}

/// The id of service `number`: the same in every run.
pub(crate) fn id(number: i64) -> Id {
    format!("scene-service-{number:07}").parse().expect("21 characters")
}

pub(crate) fn address(number: i64) -> ServiceAddress {
    ServiceAddress { id: id(number), key: number }
}

/// The clock of a scene, at its start.
pub(crate) fn clock() -> Clock {
    Clock::driven(START)
}

pub(crate) fn location(place: usize) -> Location {
    Location {
        code: code_of(place).parse().expect("a letter is a code"),
        name: code_of(place),
        place: String::new(),
        country_code: "ZZ".into(),
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).expect("a scene counts no further")
}
