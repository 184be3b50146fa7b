//! One actor per shard: it answers questions about the current state without reading the history, and sends
//! batches to the recorder.
//!
//! The data are the [`ShardFigures`] of the shard. Services write to them directly, and they outlive the actor:
//! a restarted aggregator continues with them. Checks and status changes wait at most `batch_ms`.

mod figures;
pub mod live;
mod messages;

use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext, AsyncContext, Context, Handler, ResponseFuture};

pub use crate::engine::aggregator::figures::ShardFigures;
pub use crate::engine::aggregator::live::{LastKnownState, ServiceSnapshot};
pub use crate::engine::aggregator::messages::{
    FlushBatch, KnownStatus, LatenessQuery, LatenessReport, RecordBatch, SnapshotQuery,
};
use crate::supervise::{ActorKind, LivenessQuery, StopActor, SupervisedActor};

/// The aggregator of one shard.
pub struct Aggregator {
    figures: Arc<ShardFigures>,
    batch: Duration,
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

    /// Waits for room in the recorder's mailbox, unlike the periodic flush: no later flush would send a refused
    /// batch.
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
