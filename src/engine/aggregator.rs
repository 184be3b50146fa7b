//! One actor per shard: it answers questions about the present state without reading the history, and sends batches to the
//! recorder.
//!
//! The data are the [`ShardFigures`] of the shard. Services write to them directly, and they outlive the actor: a restarted
//! aggregator continues with them. Facts wait at most `batch_ms`.

mod figures;
pub mod live;

use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, Message, ResponseFuture};
use hdrhistogram::Histogram;

use crate::clock::Timestamp;
pub use crate::engine::aggregator::figures::ShardFigures;
pub use crate::engine::aggregator::live::{LastKnownState, ServiceSnapshot};
use crate::model::flapping::FlappingState;
use crate::model::history::{CheckRecord, MeasuredStatus, StatusChange};
use crate::model::service::ServiceKey;
use crate::model::verdict::Verdict;
use crate::supervise::{ActorKind, LivenessQuery, StopActor, SupervisedActor};

/// The aggregator of one shard.
pub struct Aggregator {
    figures: Arc<ShardFigures>,
    batch: Duration,
}

/// Facts on their way to the recorder.
#[derive(Clone, Debug, Default, Message)]
#[rtype(result = "()")]
pub struct RecordBatch {
    /// Finished checks to record.
    pub checks: Vec<CheckRecord>,
    /// Status changes, in order per service.
    pub changes: Vec<StatusChange>,
}

impl RecordBatch {
    /// Returns true if the batch is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.checks.is_empty() && self.changes.is_empty()
    }
}

/// The status with which a watch continues.
#[derive(Clone, Debug)]
pub struct KnownStatus {
    /// Measured status to continue with.
    pub status: MeasuredStatus,
    /// The verdict of the votes.
    pub verdict: Verdict,
    /// The time at which the newest result was measured.
    pub last_result_at: Option<Timestamp>,
    /// Recent status transitions, and whether the service flaps.
    pub flapping: FlappingState,
}

/// Asks for the present snapshots of these services.
#[derive(Message)]
#[rtype(result = "Vec<ServiceSnapshot>")]
pub struct SnapshotQuery {
    /// Keys of services of this shard.
    pub keys: Vec<ServiceKey>,
    /// Time for which figures are computed.
    pub now: Timestamp,
}

/// Asks for the lateness of check starts since the last such request.
#[derive(Message)]
#[rtype(result = "LatenessReport")]
pub struct LatenessQuery;

/// Sends everything to the recorder now; answered once the recorder has it.
#[derive(Message)]
#[rtype(result = "()")]
pub struct FlushBatch;

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
    /// Adds the counts of another report.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("both have the same bounds");
    }

    /// Returns the number of starts.
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

    /// Returns the number of starts that were at most `limit_us` microseconds late.
    #[must_use]
    pub fn count_within(&self, limit_us: u64) -> u64 {
        self.histogram.count_between(0, limit_us)
    }

    fn record(&mut self, late_us: i64) {
        self.histogram.saturating_record(u64::try_from(late_us).unwrap_or(0));
    }
}

impl Aggregator {
    pub(super) const fn new(figures: Arc<ShardFigures>, batch_ms: u64) -> Self {
        Self { figures, batch: Duration::from_millis(batch_ms) }
    }
}

impl SupervisedActor for Aggregator {
    const KIND: ActorKind = ActorKind::restarting("aggregator");
}

impl Actor for Aggregator {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.run_interval(self.batch, |aggregator, _| aggregator.figures.flush());
    }
}

impl Handler<LivenessQuery> for Aggregator {
    type Result = ();

    fn handle(&mut self, beat: LivenessQuery, ctx: &mut Context<Self>) {
        beat.answer(ctx);
    }
}

impl Handler<SnapshotQuery> for Aggregator {
    type Result = Vec<ServiceSnapshot>;

    fn handle(
        &mut self,
        SnapshotQuery { keys, now }: SnapshotQuery,
        _: &mut Context<Self>,
    ) -> Vec<ServiceSnapshot> {
        let state = self.figures.lock();
        let snapshot = |key| state.services.get(&key).map(|live| live.snapshot(now)).unwrap_or_default();
        keys.into_iter().map(snapshot).collect()
    }
}

impl Handler<LatenessQuery> for Aggregator {
    type Result = LatenessReport;

    fn handle(&mut self, _: LatenessQuery, _: &mut Context<Self>) -> LatenessReport {
        std::mem::take(&mut self.figures.lock().lateness)
    }
}

impl Handler<FlushBatch> for Aggregator {
    type Result = ResponseFuture<()>;

    /// Unlike the periodic flush this one waits for room in the recorder's mailbox: there is no later one.
    fn handle(&mut self, _: FlushBatch, _: &mut Context<Self>) -> ResponseFuture<()> {
        let batch = self.figures.take_batch();
        let results = batch.checks.len() as u64;
        let figures = Arc::clone(&self.figures);
        let sent = (!batch.is_empty()).then(|| self.figures.sink().send(batch));
        Box::pin(async move {
            if let Some(sent) = sent
                && sent.await.is_err()
            {
                figures.note_unrecorded(results);
                tracing::error!(results, "results lost: the recorder stopped before the engine");
            }
        })
    }
}

impl Handler<StopActor> for Aggregator {
    type Result = ();

    fn handle(&mut self, _: StopActor, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}
