//! One actor per shard: live figures of its services, and the batches that leave for the recorder.
//!
//! It answers questions about "now" without touching the history. Facts wait here at most `batch_ms`; while the
//! recorder refuses a batch it is kept and grows up to ten batches, after which results are counted as
//! unrecorded. Status changes are never shed.

pub mod live;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, Message, Recipient, ResponseFuture};
use hdrhistogram::Histogram;
use tokio::time::Instant;

use crate::clock::{Clock, STEP_MS, Timestamp};
use crate::config::limits::EngineLimits;
use crate::engine::aggregator::live::Live;
pub use crate::engine::aggregator::live::{Recalled, Snapshot};
use crate::engine::counters::Counters;
use crate::engine::definition::Definition;
use crate::model::history::{CheckRecord, MeasuredStatus, StatusChange};
use crate::model::service::ServiceKey;
use crate::model::verdict::Verdict;
use crate::stats::window::Window;

/// How many full batches may wait while the recorder refuses.
const BATCHES_WAITING: usize = 10;

/// The aggregator of one shard.
pub struct Aggregator {
    services: HashMap<ServiceKey, Live>,
    batch: Batch,
    batch_since: Instant,
    lateness: LatenessReport,
    clock: Clock,
    /// Wall time and monotonic time of the last look at the clock.
    anchor: (Timestamp, Instant),
    sink: Recipient<Batch>,
    limits: EngineLimits,
    counters: Arc<Counters>,
}

/// Facts on their way to the recorder.
#[derive(Clone, Debug, Default, Message)]
#[rtype(result = "()")]
pub struct Batch {
    /// Finished checks.
    pub checks: Vec<CheckRecord>,
    /// Status changes, in order per service.
    pub changes: Vec<StatusChange>,
}

impl Batch {
    /// Whether there is nothing in it.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.checks.is_empty() && self.changes.is_empty()
    }
}

/// A check has been recorded.
#[derive(Message)]
#[rtype(result = "()")]
pub struct CheckRecorded {
    /// The fact.
    pub record: CheckRecord,
    /// Until when it backs the present status.
    pub measured_until: Option<Timestamp>,
}

/// How late a check started, in microseconds.
#[derive(Message)]
#[rtype(result = "()")]
pub struct StartedLate {
    /// Start minus due time.
    pub late_us: i64,
}

/// The measured status of a service has changed.
#[derive(Message)]
#[rtype(result = "()")]
pub struct StatusChanged {
    /// The fact.
    pub change: StatusChange,
    /// What the votes say now.
    pub verdict: Verdict,
}

/// A service appeared, or people decided something about it.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Present {
    /// The service.
    pub definition: Arc<Definition>,
    /// The status and verdict that a watch goes on with, when it was watched before this process started.
    pub known: Option<(MeasuredStatus, Verdict, Option<Timestamp>)>,
}

/// A service is gone.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Forget(pub ServiceKey);

/// Figures of the time before this process started.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Prime {
    /// The service.
    pub key: ServiceKey,
    /// Its figures.
    pub before: Window,
}

/// Services whose figures are to be computed anew, because the wall clock was set back, and up to when.
#[derive(Message)]
#[rtype(result = "Vec<(ServiceKey, Timestamp)>")]
pub struct Undone;

/// Figures of the time before `until`, computed anew.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ReplacePast {
    /// The service.
    pub key: ServiceKey,
    /// The moment up to which they count.
    pub until: Timestamp,
    /// The figures.
    pub before: Window,
}

/// What is known about these services now.
#[derive(Message)]
#[rtype(result = "Vec<Snapshot>")]
pub struct Snapshots {
    /// Keys of services of this shard.
    pub keys: Vec<ServiceKey>,
    /// Now.
    pub now: Timestamp,
}

/// What is remembered of a service, for an actor that has lost its own memory.
#[derive(Message)]
#[rtype(result = "Recalled")]
pub struct Recall(pub ServiceKey);

/// How late checks started since the last such question.
#[derive(Message)]
#[rtype(result = "LatenessReport")]
pub struct Lateness;

/// Hand over everything now; answered when the recorder has it.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Flush;

/// End.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Close;

/// Lateness of starts in microseconds.
#[derive(Clone, Debug, actix::MessageResponse)]
pub struct LatenessReport {
    histogram: Histogram<u64>,
}

impl Default for LatenessReport {
    fn default() -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, 3_600_000_000, 3)
                .expect("the bounds are constants in range"),
        }
    }
}

impl LatenessReport {
    /// Adds another report.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("both have the same bounds");
    }

    /// How many starts there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The lateness that `percent` of the starts did not exceed, in microseconds.
    #[must_use]
    pub fn percentile_us(&self, percent: f64) -> u64 {
        self.histogram.value_at_quantile(percent / 100.0)
    }

    /// The latest start, in microseconds.
    #[must_use]
    pub fn max_us(&self) -> u64 {
        self.histogram.max()
    }

    /// How many starts were at most `limit_us` late.
    #[must_use]
    pub fn count_within(&self, limit_us: u64) -> u64 {
        self.histogram.count_between(0, limit_us)
    }

    fn record(&mut self, late_us: i64) {
        self.histogram.saturating_record(u64::try_from(late_us).unwrap_or(0));
    }
}

impl Aggregator {
    pub(super) fn new(
        clock: Clock,
        sink: Recipient<Batch>,
        limits: EngineLimits,
        counters: Arc<Counters>,
    ) -> Self {
        Self {
            services: HashMap::new(),
            batch: Batch::default(),
            batch_since: Instant::now(),
            lateness: LatenessReport::default(),
            anchor: (clock.now(), Instant::now()),
            clock,
            sink,
            limits,
            counters,
        }
    }

    /// The wall time, after accounting for a clock that was set back meanwhile.
    fn now(&mut self) -> Timestamp {
        let (wall, instant) = (self.clock.now(), Instant::now());
        let (before, looked) = std::mem::replace(&mut self.anchor, (wall, instant));
        let passed_ms = i64::try_from(instant.duration_since(looked).as_millis()).unwrap_or(i64::MAX);
        let jump_ms = wall.ms_since(before).saturating_sub(passed_ms);
        if jump_ms < -STEP_MS {
            self.services.values_mut().for_each(|live| live.set_back(jump_ms, wall));
        }
        wall
    }

    /// Called by every handler that adds a fact, so that a flood of messages cannot starve the timer.
    fn flush_if_due(&mut self) {
        let is_full = self.batch.checks.len() >= self.limits.batch_results;
        if is_full || self.batch_since.elapsed() >= Duration::from_millis(self.limits.batch_ms) {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.batch_since = Instant::now();
        if self.batch.is_empty() {
            return;
        }
        if let Err(refused) = self.sink.try_send(std::mem::take(&mut self.batch)) {
            self.batch = refused.into_inner();
        }
    }
}

impl Actor for Aggregator {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.run_interval(Duration::from_millis(self.limits.batch_ms), |aggregator, _| {
            aggregator.now();
            aggregator.flush();
        });
    }
}

impl Handler<CheckRecorded> for Aggregator {
    type Result = ();

    fn handle(&mut self, CheckRecorded { record, measured_until }: CheckRecorded, _: &mut Context<Self>) {
        let now = self.now();
        let live = self.services.entry(record.service).or_insert_with(|| Live::new(now));
        live.take_result(&record, measured_until);
        if self.batch.checks.len() < self.limits.batch_results * BATCHES_WAITING {
            self.batch.checks.push(record);
        } else {
            self.counters.unrecorded.add(1);
        }
        self.flush_if_due();
    }
}

impl Handler<StartedLate> for Aggregator {
    type Result = ();

    fn handle(&mut self, StartedLate { late_us }: StartedLate, _: &mut Context<Self>) {
        self.lateness.record(late_us);
    }
}

impl Handler<StatusChanged> for Aggregator {
    type Result = ();

    fn handle(&mut self, StatusChanged { change, verdict }: StatusChanged, _: &mut Context<Self>) {
        let now = self.now();
        self.services.entry(change.service).or_insert_with(|| Live::new(now)).take_change(&change, verdict);
        self.batch.changes.push(change);
        self.flush_if_due();
    }
}

impl Handler<Present> for Aggregator {
    type Result = ();

    fn handle(&mut self, Present { definition, known }: Present, _: &mut Context<Self>) {
        let now = self.now();
        let live = self.services.entry(definition.key).or_insert_with(|| Live::new(now));
        if let Some((status, verdict, last_result_at)) = known {
            live.go_on(status, verdict, last_result_at);
            live.back_until(definition.heartbeat.and_then(|plan| plan.deadline()));
        }
        let is_left_out = definition.is_paused || definition.in_planned_maintenance;
        live.take_decision(definition.revision, (is_left_out, definition.stated), now);
    }
}

impl Handler<Forget> for Aggregator {
    type Result = ();

    fn handle(&mut self, Forget(key): Forget, _: &mut Context<Self>) {
        self.services.remove(&key);
    }
}

impl Handler<Prime> for Aggregator {
    type Result = ();

    fn handle(&mut self, Prime { key, before }: Prime, _: &mut Context<Self>) {
        // A service that was deleted meanwhile must not come back.
        if let Some(live) = self.services.get_mut(&key) {
            live.prime(&before);
        }
    }
}

impl Handler<Undone> for Aggregator {
    type Result = Vec<(ServiceKey, Timestamp)>;

    fn handle(&mut self, _: Undone, _: &mut Context<Self>) -> Vec<(ServiceKey, Timestamp)> {
        self.services.iter().filter_map(|(key, live)| Some((*key, live.undone_from()?))).collect()
    }
}

impl Handler<ReplacePast> for Aggregator {
    type Result = ();

    fn handle(&mut self, ReplacePast { key, until, before }: ReplacePast, _: &mut Context<Self>) {
        if let Some(live) = self.services.get_mut(&key) {
            live.replace_past(until, &before);
        }
    }
}

impl Handler<Snapshots> for Aggregator {
    type Result = Vec<Snapshot>;

    fn handle(&mut self, Snapshots { keys, now }: Snapshots, _: &mut Context<Self>) -> Vec<Snapshot> {
        let snapshot = |key| self.services.get(&key).map(|live| live.snapshot(now)).unwrap_or_default();
        keys.into_iter().map(snapshot).collect()
    }
}

impl Handler<Recall> for Aggregator {
    type Result = actix::MessageResult<Recall>;

    fn handle(&mut self, Recall(key): Recall, _: &mut Context<Self>) -> Self::Result {
        actix::MessageResult(self.services.get(&key).map(Live::recall).unwrap_or_default())
    }
}

impl Handler<Lateness> for Aggregator {
    type Result = LatenessReport;

    fn handle(&mut self, _: Lateness, _: &mut Context<Self>) -> LatenessReport {
        std::mem::take(&mut self.lateness)
    }
}

impl Handler<Flush> for Aggregator {
    type Result = ResponseFuture<()>;

    /// Unlike the flush of every day this one waits for room in the recorder's mailbox: there is no later one.
    fn handle(&mut self, _: Flush, _: &mut Context<Self>) -> ResponseFuture<()> {
        let batch = std::mem::take(&mut self.batch);
        let results = batch.checks.len() as u64;
        let counters = Arc::clone(&self.counters);
        let sent = (!batch.is_empty()).then(|| self.sink.send(batch));
        Box::pin(async move {
            if let Some(sent) = sent
                && sent.await.is_err()
            {
                counters.unrecorded.add(results);
                tracing::error!(results, "the recorder had ended before the engine");
            }
        })
    }
}

impl Handler<Close> for Aggregator {
    type Result = ();

    fn handle(&mut self, _: Close, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}
