//! The parts from which an engine is built, and the threads it runs on.

use std::sync::Arc;

use actix::Recipient;

use crate::clock::Clock;
use crate::config::limits::EngineLimits;
use crate::engine::aggregator::RecordBatch;
use crate::engine::location::Prober;
use crate::engine::registry::LocationRegistry;
use crate::supervise::Supervisor;

/// The parts from which an engine is built.
pub struct EngineParts {
    /// The locations that check services.
    pub roster: Arc<LocationRegistry>,
    /// The probers of the locations in this process, in the order of the registry, which lists these locations first.
    pub probers: Vec<Arc<dyn Prober>>,
    /// Source of the wall time.
    pub clock: Clock,
    /// Limits of queues and rates.
    pub limits: EngineLimits,
    /// The threads of the shards: their own, or the caller's.
    pub threads: ShardThreads,
    /// The recipient of the facts.
    pub sink: Recipient<RecordBatch>,
    /// The supervisor that keeps the actors alive.
    pub supervisor: Supervisor,
}

/// The threads on which the shards run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardThreads {
    /// This number of own threads; 0 = one per core.
    Own(usize),
    /// One shard on the caller's thread, for tests with a paused clock.
    Current,
}
