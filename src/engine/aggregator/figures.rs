//! The reports of a shard's services: their live figures, and the batch on its way to the recorder.
//!
//! The figures belong to the shard and outlive every actor. Services write to them directly, on their own
//! thread, so no report waits in a mailbox or is lost with one. While the recorder refuses a batch, the batch
//! is kept and grows up to ten times its size; after that results are counted as unrecorded. Status changes are
//! never dropped: there are at most as many as services.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actix::Recipient;
use tokio::time::Instant;

use crate::clock::{Clock, STEP_MS, Timestamp};
use crate::config::limits::EngineLimits;
use crate::engine::aggregator::live::{LastKnownState, LiveServiceState, ManualDecision};
use crate::engine::aggregator::messages::{KnownStatus, LatenessReport, RecordBatch};
use crate::engine::counters::EngineCounters;
use crate::engine::definition::WatchDefinition;
use crate::engine::verdict_changes::VerdictChanges;
use crate::model::check::CheckStatus;
use crate::model::history::{CheckRecord, StatusChange};
use crate::model::partition::{Partition, PartitionSet};
use crate::model::service::ServiceKey;
use crate::model::verdict::Verdict;
use crate::stats::rolling_stats::RollingStats;

/// The maximum number of full batches that wait while the recorder refuses them.
const BATCHES_WAITING: usize = 10;

/// The live figures and the outgoing batch of one shard.
pub struct ShardFigures {
    state: Mutex<FiguresState>,
    sink: Recipient<RecordBatch>,
    clock: Clock,
    limits: EngineLimits,
    counters: Arc<EngineCounters>,
    verdicts: Arc<VerdictChanges>,
}

/// The state behind the lock. The shard's own thread takes the lock for every result, other threads briefly and rarely.
pub(super) struct FiguresState {
    pub(super) services: HashMap<ServiceKey, LiveServiceState>,
    pub(super) lateness: LatenessReport,
    batch: RecordBatch,
    batch_since: Instant,
    /// Wall time and monotonic time when the clock was last read.
    anchor: (Timestamp, Instant),
}

impl FiguresState {
    fn live(&mut self, service: ServiceKey, now: Timestamp) -> &mut LiveServiceState {
        self.services.entry(service).or_insert_with(|| LiveServiceState::new(now))
    }
}

impl std::fmt::Debug for ShardFigures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Figures").field("services", &self.lock().services.len()).finish()
    }
}

impl ShardFigures {
    /// Creates the figures of a shard without services; batches are sent to `sink`.
    #[must_use]
    pub(in crate::engine) fn new(
        clock: Clock,
        sink: Recipient<RecordBatch>,
        limits: EngineLimits,
        counters: Arc<EngineCounters>,
        verdicts: Arc<VerdictChanges>,
    ) -> Self {
        let state = FiguresState {
            services: HashMap::new(),
            lateness: LatenessReport::default(),
            batch: RecordBatch::default(),
            batch_since: Instant::now(),
            anchor: (clock.now(), Instant::now()),
        };
        Self { state: Mutex::new(state), sink, clock, limits, counters, verdicts }
    }

    /// The counters of the engine.
    pub(in crate::engine) const fn counters(&self) -> &Arc<EngineCounters> {
        &self.counters
    }

    /// Registers a watched service with its pause, maintenance and override. `known` is the status that the watch
    /// continues with, if it started before this process.
    pub fn track(&self, definition: &WatchDefinition, known: Option<KnownStatus>) {
        let mut state = self.lock();
        let now = self.now(&mut state);
        let live = state.live(definition.key, now);
        if let Some(KnownStatus { status, verdict, last_result_at, flapping }) = known {
            live.resume(status, verdict, last_result_at, flapping);
            live.extend_coverage(definition.heartbeat.and_then(|plan| plan.deadline()));
        }
        let is_left_out = definition.is_paused || definition.in_planned_maintenance;
        live.take_decision(
            definition.revision,
            ManualDecision { is_left_out, stated: definition.stated },
            now,
        );
    }

    /// Drops the figures of a service.
    pub fn untrack(&self, service: ServiceKey) {
        self.lock().services.remove(&service);
    }

    /// Drops the figures of all services of these partitions.
    pub(in crate::engine) fn untrack_all(&self, partitions: PartitionSet) {
        self.lock().services.retain(|service, _| !partitions.contains(Partition::of(*service)));
    }

    /// Adds figures of the time before this process started. A service that was deleted meanwhile does not come back.
    pub fn prime(&self, service: ServiceKey, before: &RollingStats) {
        if let Some(live) = self.lock().services.get_mut(&service) {
            live.prime(before);
        }
    }

    /// Returns the last known state of a service, for an actor that has lost its own memory.
    pub fn last_known(&self, service: ServiceKey) -> LastKnownState {
        self.lock().services.get(&service).map(LiveServiceState::last_known).unwrap_or_default()
    }

    /// Adds a finished check, which backs the current status until `measured_until`.
    pub fn take_result(&self, record: CheckRecord, measured_until: Option<Timestamp>) {
        let mut state = self.lock();
        let now = self.now(&mut state);
        state.live(record.service, now).take_result(&record, measured_until);
        let is_urgent = self.limits.failures_at_once && record.measurement.status != CheckStatus::Up;
        if state.batch.checks.len() < self.limits.batch_results * BATCHES_WAITING {
            state.batch.checks.push(record);
        } else {
            self.counters.unrecorded.add(1);
        }
        if is_urgent {
            self.hand_over(&mut state);
        } else {
            self.flush_if_due(&mut state);
        }
    }

    /// Adds a finished check that was already recorded.
    pub fn note_result(&self, record: &CheckRecord, measured_until: Option<Timestamp>) {
        let mut state = self.lock();
        let now = self.now(&mut state);
        state.live(record.service, now).take_result(record, measured_until);
    }

    /// Adds a finished check that was already recorded and arrived late: it changes figures of the past only.
    pub fn note_late_result(&self, record: &CheckRecord) {
        let mut state = self.lock();
        let now = self.now(&mut state);
        state.live(record.service, now).add_response(record);
    }

    /// Records the number of good results in a row of a service that is down and needs several of them to be up again.
    pub(in crate::engine) fn note_good_results(&self, service: ServiceKey, good_results: u8) {
        if let Some(live) = self.lock().services.get_mut(&service) {
            live.note_good_results(good_results);
        }
    }

    /// Adds a change of the measured status; `verdict` is the verdict of the votes after it.
    pub fn take_change(&self, change: StatusChange, verdict: Verdict) {
        let mut state = self.lock();
        let now = self.now(&mut state);
        let live = state.live(change.service, now);
        let before = live.verdict();
        live.take_change(&change, verdict);
        if live.verdict() != before {
            self.verdicts.note(change);
        }
        state.batch.changes.push(change);
        self.flush_if_due(&mut state);
    }

    /// Records that a check started `late_us` microseconds after it was due.
    pub fn note_lateness(&self, late_us: i64) {
        self.lock().lateness.record(late_us);
    }

    /// Number of checks and status changes that wait for the recorder.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let state = self.lock();
        state.batch.checks.len() + state.batch.changes.len()
    }

    /// Returns the services whose figures have to be recomputed, each with the end of the period to recompute.
    pub(in crate::engine) fn outdated_figures(&self) -> Vec<(ServiceKey, Timestamp)> {
        let state = self.lock();
        state.services.iter().filter_map(|(key, live)| Some((*key, live.outdated_until()?))).collect()
    }

    /// Records that the past of a service has changed in the history: its figures have to be recomputed.
    pub(in crate::engine) fn mark_past_changed(&self, service: ServiceKey) {
        let mut state = self.lock();
        let now = self.now(&mut state);
        if let Some(live) = state.services.get_mut(&service) {
            live.past_changed(now);
        }
    }

    /// Records that a service has become unreachable because of another one, or reachable again.
    pub(in crate::engine) fn set_unreachable(&self, service: ServiceKey, is_unreachable: bool) {
        let mut state = self.lock();
        let now = self.now(&mut state);
        if let Some(live) = state.services.get_mut(&service) {
            live.set_unreachable(is_unreachable, now);
        }
    }

    /// Replaces the figures of the time before `until` by recomputed ones.
    pub(in crate::engine) fn replace_past(
        &self,
        service: ServiceKey,
        until: Timestamp,
        before: &RollingStats,
    ) {
        if let Some(live) = self.lock().services.get_mut(&service) {
            live.replace_past(until, before);
        }
    }

    /// Reads the clock and offers the batch to the recorder; a refused batch is kept.
    pub(super) fn flush(&self) {
        let mut state = self.lock();
        self.now(&mut state);
        self.hand_over(&mut state);
    }

    /// Takes the batch, for a caller that sends it itself.
    pub(super) fn take_batch(&self) -> RecordBatch {
        std::mem::take(&mut self.lock().batch)
    }

    pub(super) const fn sink(&self) -> &Recipient<RecordBatch> {
        &self.sink
    }

    pub(super) fn note_unrecorded(&self, results: u64) {
        self.counters.unrecorded.add(results);
    }

    /// Locks the state, even after a panic: a panic of a service leaves at most the figures of that service
    /// half changed.
    pub(super) fn lock(&self) -> MutexGuard<'_, FiguresState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the wall time, after accounting for a clock that was set back since the last call.
    fn now(&self, state: &mut FiguresState) -> Timestamp {
        let (wall, instant) = (self.clock.now(), Instant::now());
        let (before, anchored) = std::mem::replace(&mut state.anchor, (wall, instant));
        let passed_ms = i64::try_from(instant.duration_since(anchored).as_millis()).unwrap_or(i64::MAX);
        let jump_ms = wall.ms_since(before).saturating_sub(passed_ms);
        if jump_ms < -STEP_MS {
            state.services.values_mut().for_each(|live| live.set_back(jump_ms, wall));
        }
        wall
    }

    fn flush_if_due(&self, state: &mut FiguresState) {
        let is_full = state.batch.checks.len() >= self.limits.batch_results;
        if is_full || state.batch_since.elapsed() >= Duration::from_millis(self.limits.batch_ms) {
            self.hand_over(state);
        }
    }

    fn hand_over(&self, state: &mut FiguresState) {
        state.batch_since = Instant::now();
        if state.batch.is_empty() {
            return;
        }
        if let Err(refused) = self.sink.try_send(std::mem::take(&mut state.batch)) {
            state.batch = refused.into_inner();
        }
    }
}
