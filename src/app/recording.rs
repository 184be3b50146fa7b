//! Starts the writers of the history: the recorder and the compactor, each on its own thread.

use std::sync::Arc;

use actix::Arbiter;

use crate::clock::guard::ClockGuard;
use crate::config::Config;
use crate::config::byte_size::ByteSize;
use crate::config::limits::CompactionLimits;
use crate::engine::registry::LocationRegistry;
use crate::feed::ChangeSignal;
use crate::model::location::LocationCode;
use crate::model::plans::PlanTable;
use crate::record::compaction::{Compaction, CompactionCounters, Compactor, RetentionPolicy};
use crate::record::fence::FenceCounters;
use crate::record::history_writer::HistoryWriter;
use crate::record::recorder::{self, RecordCounters, Recorder};
use crate::record::spool::Spool;
use crate::service_router::ownership::Ownership;
use crate::store::Databases;
use crate::supervise::{ActorHandle, ActorPlacement, SupervisedActor as _, Supervisor};

/// Mailbox capacity of the compactor; only an operator's command sends requests.
const COMPACTOR_MAILBOX: usize = 16;

pub(crate) struct RecorderParts<'a> {
    pub(crate) supervisor: &'a Supervisor,
    pub(crate) thread: &'a Arbiter,
    pub(crate) config: &'a Config,
    pub(crate) databases: &'a Databases,
    pub(crate) roster: &'a LocationRegistry,
    pub(crate) counters: Arc<RecordCounters>,
    /// The services that this node owns; `fenced` counts writes of partitions that it no longer owned.
    pub(crate) ownership: &'a Ownership,
    pub(crate) fenced: &'a Arc<FenceCounters>,
    /// Notified when changes of status are durable.
    pub(crate) change_signal: Arc<ChangeSignal>,
    /// Spool for results beyond the memory limit.
    pub(crate) spool: Option<Spool>,
}

pub(crate) fn start_recorder(parts: RecorderParts<'_>) -> ActorHandle<Recorder> {
    let RecorderParts {
        supervisor,
        thread,
        config,
        databases,
        roster,
        counters,
        ownership,
        fenced,
        change_signal,
        spool,
    } = parts;
    let codes = roster.codes().into_iter().chain([LocationCode::push()]).collect();
    let counted = Arc::clone(&counters);
    let waiting = move || counted.waiting.load(std::sync::atomic::Ordering::Relaxed);
    supervisor.kind(Recorder::KIND).watch_queue(waiting);
    supervisor.watch_thread("the recorder", &thread.handle());
    let writer = HistoryWriter::new(databases.history.clone(), codes).fenced(ownership, fenced);
    let recorder = Recorder::new(Arc::new(writer), config.record.clone(), counters);
    let recorder = recorder.with_change_signal(change_signal).with_spool(spool);
    let placement = ActorPlacement { thread: thread.handle(), mailbox: recorder::MAILBOX };
    supervisor.start_once(&placement, recorder)
}

pub(crate) struct CompactorParts<'a> {
    pub(crate) supervisor: &'a Supervisor,
    pub(crate) thread: &'a Arbiter,
    pub(crate) config: &'a Config,
    pub(crate) databases: &'a Databases,
    pub(crate) guard: &'a Arc<ClockGuard>,
}

/// A running compactor with its counters.
pub(crate) struct StartedCompactor {
    pub(crate) compactor: ActorHandle<Compactor>,
    pub(crate) counters: Arc<CompactionCounters>,
}

/// Starts the compactor.
///
/// # Errors
///
/// When the configured plans are invalid.
pub(crate) fn start_compactor(parts: &CompactorParts<'_>) -> anyhow::Result<StartedCompactor> {
    let CompactorParts { supervisor, thread, config, databases, guard } = *parts;
    let plans = PlanTable::new(&config.plans)?;
    let retention = RetentionPolicy::ByPlan { main: databases.main.clone(), plans };
    let max_history_bytes = config.max_history_bytes.map(ByteSize::get);
    let limits = CompactionLimits { max_history_bytes, ..config.compaction.clone() };
    let counters = Arc::new(CompactionCounters::default());
    let (history, guard, counted) = (databases.history.clone(), Arc::clone(guard), Arc::clone(&counters));
    supervisor.watch_thread("the compactor", &thread.handle());
    let placement = ActorPlacement { thread: thread.handle(), mailbox: COMPACTOR_MAILBOX };
    let compactor = supervisor.start(&placement, move || {
        let (history, retention, counters) = (history.clone(), retention.clone(), Arc::clone(&counted));
        Compactor::new(Compaction::new(history, retention, limits.clone(), counters), Arc::clone(&guard))
    });
    Ok(StartedCompactor { compactor, counters })
}
