//! A shard: one thread with its own aggregator and its own check queue of every location in this process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use actix::{Arbiter, ArbiterHandle};
use futures_util::future::{join, join_all};
use tokio::time::Instant;

use crate::clock::Clock;
use crate::engine::aggregator::{Aggregator, ShardFigures};
use crate::engine::check_queue::CheckQueueLimits;
use crate::engine::counters::EngineCounters;
use crate::engine::first_check::FirstCheckPlan;
use crate::engine::listening::ListeningTracker;
use crate::engine::location::{LocationActor, LocationQueue, Prober};
use crate::engine::parts::EngineParts;
pub use crate::engine::parts::ShardThreads;
use crate::engine::recheck_budget::RecheckBudget;
use crate::engine::registry::LocationRegistry;
use crate::engine::verdict_changes::VerdictChanges;
use crate::id::Id;
use crate::model::location::LocationKey;
use crate::supervise::{ActorHandle, ActorPlacement, StopActor, SupervisedActor as _};

/// The parts that the actors of one shard share.
#[derive(Debug)]
pub struct Shard {
    /// Number of the shard, from 0.
    pub index: usize,
    /// Placement of the shard's actors: their thread, and the size of each mailbox.
    pub placement: ActorPlacement,
    /// One check queue per location of this process, by the number of its key.
    queues: Vec<ActorHandle<LocationActor>>,
    /// The live figures of the shard's services.
    pub figures: Arc<ShardFigures>,
    /// Answers questions about the figures.
    pub aggregator: ActorHandle<Aggregator>,
    /// The locations that check services.
    pub roster: Arc<LocationRegistry>,
    /// Source of the wall time.
    pub clock: Clock,
    /// The counters of the engine.
    pub counters: Arc<EngineCounters>,
    /// The times in which this process listens for pings.
    pub listening: Arc<ListeningTracker>,
    /// The planned first checks; used by the shard's own thread only.
    first_checks: Mutex<FirstCheckPlan>,
    /// The recheck budget of each check queue.
    recheck_budgets: Box<[Mutex<RecheckBudget>]>,
    started: Instant,
    /// True if other nodes watch services too, and take over those of a suspended node.
    is_clustered: AtomicBool,
}

impl Shard {
    /// Returns true once other nodes may take services of this one.
    pub(super) fn is_clustered(&self) -> bool {
        self.is_clustered.load(Ordering::Relaxed)
    }

    /// Records that other nodes may take services: this node has released some, as each node does when it
    /// starts.
    pub(super) fn note_others(&self) {
        self.is_clustered.store(true, Ordering::Relaxed);
    }

    /// Plans the first check of a service that is checked every `interval_ms`; returns its wait in milliseconds.
    pub(super) fn plan_first_check(&self, interval_ms: i64) -> i64 {
        let now_ms = self.running_ms();
        let mut plan = self.first_checks.lock().unwrap_or_else(PoisonError::into_inner);
        let wait_ms = plan.plan(now_ms, interval_ms.unsigned_abs());
        i64::try_from(wait_ms).unwrap_or_default()
    }

    /// Takes one early check of a location towards a host from the recheck budget; returns false if it is used up.
    pub(super) fn take_recheck(&self, key: LocationKey, host_key: u64) -> bool {
        let budget = self.recheck_budgets.get(key.index());
        let now_ms = self.running_ms();
        budget.is_some_and(|budget| {
            budget.lock().unwrap_or_else(PoisonError::into_inner).take(host_key, now_ms)
        })
    }

    /// Returns a moment in seconds since the start of the shard, rounded down.
    pub(super) fn second_of(&self, at: Instant) -> u32 {
        u32::try_from(at.duration_since(self.started).as_secs()).unwrap_or(u32::MAX)
    }

    fn running_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns the check queue of a location; `None` for a location in another process.
    pub(super) fn queue(&self, key: LocationKey) -> Option<&ActorHandle<LocationActor>> {
        self.queues.get(key.index())
    }

    /// Ends the shard's actors: a timer would keep the aggregator alive without an address, and check queues
    /// may hold waiting checks.
    pub(super) async fn close(&self) {
        let queues = self.queues.iter().map(|queue| queue.send(StopActor));
        // An actor that has already ended needs no message.
        let _ = join(join_all(queues), self.aggregator.send(StopActor)).await;
    }
}

/// The index of the shard that owns a service: a function of its id alone.
#[must_use]
pub fn shard_index(id: Id, shards: usize) -> usize {
    let buckets = shards.max(1) as u64;
    usize::try_from((id.stable_hash() >> 32) % buckets).unwrap_or_default()
}

/// The threads of the shards; an empty list when they run on the current thread.
pub(super) fn threads(threads: ShardThreads) -> Vec<Arbiter> {
    match threads {
        ShardThreads::Current => Vec::new(),
        ShardThreads::Own(0) => (0..cores()).map(|_| Arbiter::new()).collect(),
        ShardThreads::Own(count) => (0..count).map(|_| Arbiter::new()).collect(),
    }
}

/// Starts a shard on each of these threads, or one on the current thread.
pub(super) fn start_all(
    parts: &EngineParts,
    arbiters: &[Arbiter],
    counters: &Arc<EngineCounters>,
    listening: &Arc<ListeningTracker>,
    verdicts: &Arc<VerdictChanges>,
) -> Arc<[Arc<Shard>]> {
    let mut handles: Vec<ArbiterHandle> = arbiters.iter().map(Arbiter::handle).collect();
    if handles.is_empty() {
        handles.push(Arbiter::current());
    }
    let shards = handles.into_iter().enumerate();
    let start = |(index, thread)| {
        let (clock, sink, limits) = (parts.clock.clone(), parts.sink.clone(), parts.limits.clone());
        let figures = ShardFigures::new(clock, sink, limits, Arc::clone(counters), Arc::clone(verdicts));
        let figures = Arc::new(figures);
        start(parts, index, thread, figures, Arc::clone(listening))
    };
    shards.map(|shard| Arc::new(start(shard))).collect()
}

fn start(
    parts: &EngineParts,
    index: usize,
    thread: ArbiterHandle,
    figures: Arc<ShardFigures>,
    listening: Arc<ListeningTracker>,
) -> Shard {
    let EngineParts { roster, clock, limits, supervisor, .. } = parts;
    supervisor.watch_thread(format!("shard {index}"), &thread);
    let placement = ActorPlacement { thread, mailbox: limits.mailbox };
    Shard {
        index,
        queues: parts.probers.iter().map(|prober| start_queue(parts, &placement, prober)).collect(),
        aggregator: start_aggregator(parts, &placement, &figures),
        counters: Arc::clone(figures.counters()),
        figures,
        placement,
        roster: Arc::clone(roster),
        clock: clock.clone(),
        listening,
        first_checks: Mutex::default(),
        recheck_budgets: parts.probers.iter().map(|_| Mutex::new(RecheckBudget::new(limits))).collect(),
        is_clustered: AtomicBool::new(false),
        started: Instant::now(),
    }
}

fn start_queue(
    parts: &EngineParts,
    placement: &ActorPlacement,
    prober: &Arc<dyn Prober>,
) -> ActorHandle<LocationActor> {
    let EngineParts { limits, supervisor, .. } = parts;
    let limits = CheckQueueLimits {
        running: limits.checks_in_flight,
        per_host: limits.checks_per_host,
        waiting: limits.checks_waiting,
    };
    let queue = Arc::new(LocationQueue::new(Arc::clone(prober), limits));
    let watched = Arc::downgrade(&queue);
    let waiting = move || watched.upgrade().map_or(0, |queue| queue.waiting() as u64);
    supervisor.kind(LocationActor::KIND).watch_queue(waiting);
    supervisor.start(placement, move || LocationActor::new(Arc::clone(&queue)))
}

fn start_aggregator(
    parts: &EngineParts,
    placement: &ActorPlacement,
    figures: &Arc<ShardFigures>,
) -> ActorHandle<Aggregator> {
    let EngineParts { limits, supervisor, .. } = parts;
    let watched = Arc::downgrade(figures);
    let waiting = move || watched.upgrade().map_or(0, |figures| figures.waiting() as u64);
    supervisor.kind(Aggregator::KIND).watch_queue(waiting);
    let (figures, batch_ms) = (Arc::clone(figures), limits.batch_ms);
    supervisor.start(placement, move || Aggregator::new(Arc::clone(&figures), batch_ms))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
