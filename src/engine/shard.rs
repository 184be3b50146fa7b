//! A shard: one thread with its own aggregator and its own lane to every location.

use std::sync::Arc;

use actix::{Actor, Addr, Arbiter, ArbiterHandle};
use futures_util::future::{join, join_all};

use crate::clock::Clock;
use crate::config::limits::EngineLimits;
use crate::engine::EngineParts;
use crate::engine::aggregator::{self, Aggregator};
use crate::engine::counters::Counters;
use crate::engine::definition::Roster;
use crate::engine::lane::LaneLimits;
use crate::engine::location::{self, LocationActor};
use crate::engine::suspicions::Suspicions;
use crate::id::Id;

/// Whether shards get threads of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// So many; 0 = one per core.
    Own(usize),
    /// One shard on the caller's thread: tests pause its time.
    Current,
}

/// What the actors of one shard share.
#[derive(Debug)]
pub struct Shard {
    /// Its place among the shards.
    pub index: usize,
    /// Where its actors run.
    pub arbiter: ArbiterHandle,
    /// One lane per location, in the roster's order.
    pub locations: Vec<Addr<LocationActor>>,
    /// Its aggregator.
    pub aggregator: Addr<Aggregator>,
    /// The locations.
    pub roster: Arc<Roster>,
    /// What the process thinks of each location, in the roster's order.
    pub suspicions: Arc<Suspicions>,
    /// Wall time.
    pub clock: Clock,
    /// Limits.
    pub limits: EngineLimits,
    /// What was done and what not.
    pub counters: Arc<Counters>,
}

impl Shard {
    /// Ends its actors. A timer would keep the aggregator alive without an address, and lanes may hold waiting checks.
    pub(super) async fn close(&self) {
        let lanes = self.locations.iter().map(|lane| lane.send(location::Close));
        // Whoever has ended already needs no ending.
        let _ = join(join_all(lanes), self.aggregator.send(aggregator::Close)).await;
    }
}

/// The shard that owns a service: a function of its id alone.
#[must_use]
pub fn place(id: Id, shards: usize) -> usize {
    let buckets = shards.max(1) as u64;
    usize::try_from((id.stable_hash() >> 32) % buckets).unwrap_or_default()
}

pub(super) fn start_all(
    parts: &EngineParts,
    (counters, suspicions): (&Arc<Counters>, &Arc<Suspicions>),
) -> (Arc<[Arc<Shard>]>, Vec<Arbiter>) {
    let arbiters: Vec<Arbiter> = match parts.threads {
        Threads::Current => Vec::new(),
        Threads::Own(0) => (0..cores()).map(|_| Arbiter::new()).collect(),
        Threads::Own(count) => (0..count).map(|_| Arbiter::new()).collect(),
    };
    let mut handles: Vec<ArbiterHandle> = arbiters.iter().map(Arbiter::handle).collect();
    if handles.is_empty() {
        handles.push(Arbiter::current());
    }
    let shards = handles
        .into_iter()
        .enumerate()
        .map(|(index, arbiter)| Arc::new(start(parts, (index, arbiter), (counters, suspicions))));
    (shards.collect(), arbiters)
}

fn start(
    parts: &EngineParts,
    (index, arbiter): (usize, ArbiterHandle),
    (counters, suspicions): (&Arc<Counters>, &Arc<Suspicions>),
) -> Shard {
    let limits = &parts.limits;
    let lane = LaneLimits {
        running: limits.checks_in_flight,
        per_host: limits.checks_per_host,
        waiting: limits.checks_waiting,
    };
    let lanes = parts.probers.iter().map(|prober| {
        let (prober, mailbox) = (Arc::clone(prober), limits.mailbox);
        LocationActor::start_in_arbiter(&arbiter, move |ctx| {
            ctx.set_mailbox_capacity(mailbox);
            LocationActor::new(prober, lane)
        })
    });
    let locations = lanes.collect();
    let aggregator = {
        let (clock, sink, limits) = (parts.clock.clone(), parts.sink.clone(), limits.clone());
        let counters = Arc::clone(counters);
        Aggregator::start_in_arbiter(&arbiter, move |ctx| {
            ctx.set_mailbox_capacity(limits.mailbox);
            Aggregator::new(clock, sink, limits, counters)
        })
    };
    Shard {
        index,
        locations,
        aggregator,
        arbiter,
        roster: Arc::clone(&parts.roster),
        suspicions: Arc::clone(suspicions),
        clock: parts.clock.clone(),
        limits: limits.clone(),
        counters: Arc::clone(counters),
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
