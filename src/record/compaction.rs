//! Compaction: the actor that turns rows into blocks, merges small blocks into large ones, and drops blocks after their
//! retention.
//!
//! The work is done in passes, each of which can be killed at any point: the contents of a segment become visible only
//! with the commit in the history database that also removes the rows. One pass runs at a time, on a thread of its own;
//! checks, requests and the recorder do not wait for it.
//!
//! - `seal`: fresh rows become blocks and rollups of hours, in segments of a day.
//! - `merge`: days become large blocks and rollups of days, in segments of a longer period.
//! - `expire`: segments are retired and dropped; deleted services are erased.

pub(in crate::record) mod expire;
mod fillings;
mod merge;
mod retention_policy;
mod seal;
mod segment_writer;

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use actix::{
    Actor, ActorContext as _, ActorFutureExt as _, AsyncContext, Context, Handler, Message, WrapFuture as _,
};
use futures_util::FutureExt as _;
use tokio::sync::oneshot;
use tokio::time::Instant;

pub use retention_policy::RetentionPolicy;

use crate::clock::Timestamp;
use crate::clock::guard::{ClockGuard, JudgedTime};
use crate::config::limits::CompactionLimits;
use crate::record::compaction::fillings::BucketFillCounter;
use crate::record::compaction::segment_writer::SegmentWriter;
use crate::store::history::segments::SegmentId;
use crate::store::history::{CompactionLock, History};
use crate::store::{HistoryError, StoreError};
use crate::supervise::{ActorKind, LivenessQuery, StopActor, SupervisedActor};
use crate::telemetry::{Exposition, MetricCollector};

/// The counters of the compaction, for `/metrics`.
#[derive(Debug, Default)]
pub struct CompactionCounters {
    /// Results that were sealed into blocks.
    pub sealed: AtomicU64,
    /// Results that were merged into large blocks.
    pub merged: AtomicU64,
    /// Number of segments that were dropped.
    pub dropped: AtomicU64,
    /// Passes that failed and were postponed.
    pub failures: AtomicU64,
    /// Bytes of the whole history after the last pass.
    pub bytes: AtomicU64,
    /// Number of visible segments after the last pass.
    pub segments: AtomicU64,
}

impl MetricCollector for CompactionCounters {
    fn collect(&self, out: &mut Exposition) {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        out.counter("results_sealed_total", "Results sealed into blocks.").value(get(&self.sealed));
        out.counter("results_merged_total", "Results merged into large blocks.").value(get(&self.merged));
        out.counter("segments_dropped_total", "Segments of the history dropped.").value(get(&self.dropped));
        out.counter("compaction_failures_total", "Passes of the compaction that were put off.")
            .value(get(&self.failures));
        out.gauge("history_bytes", "Bytes of the whole history.").value(get(&self.bytes));
        out.gauge("history_segments", "Segments of the history.").value(get(&self.segments));
    }
}

/// The start of a pass.
#[derive(Clone, Copy, Debug)]
struct PassStart {
    time: JudgedTime,
    at: Instant,
}

/// Runs the passes; `Compactor` decides when.
#[derive(Debug)]
pub struct Compaction {
    history: History,
    retention: RetentionPolicy,
    limits: CompactionLimits,
    counters: Arc<CompactionCounters>,
    writer: SegmentWriter,
    fillings: BucketFillCounter,
    /// The fencing token of the lock that this pass holds; every commit that publishes checks it.
    fence: i64,
    began: PassStart,
    /// Days with an unreadable block, and when the block was found.
    unmergeable: HashMap<SegmentId, Timestamp>,
    /// Day of the last check for status changes that are no longer needed.
    pruned_on: Option<i64>,
    /// Rows deleted since their space was last reclaimed.
    deleted: u64,
}

impl Compaction {
    /// Creates the compaction of this history.
    #[must_use]
    pub fn new(
        history: History,
        retention: RetentionPolicy,
        limits: CompactionLimits,
        counters: Arc<CompactionCounters>,
    ) -> Self {
        let history = history.with_long_timeout();
        let writer = SegmentWriter::new(history.clone());
        let unmergeable = HashMap::new();
        Self {
            history,
            retention,
            limits,
            counters,
            writer,
            fillings: BucketFillCounter::default(),
            fence: 0,
            began: PassStart { time: JudgedTime::trusted(Timestamp::default()), at: Instant::now() },
            unmergeable,
            pruned_on: None,
            deleted: 0,
        }
    }

    /// Creates a compaction with the same settings and no state, for use after a panic.
    fn renewed(&self) -> Self {
        let (history, retention) = (self.history.clone(), self.retention.clone());
        Self::new(history, retention, self.limits.clone(), Arc::clone(&self.counters))
    }

    /// Takes the compaction lock; `None` while another process holds it.
    async fn begin(&mut self, now: JudgedTime) -> Result<Option<CompactionLock>, HistoryError> {
        let Some(lock) = self.history.lock_compaction().await? else { return Ok(None) };
        if lock.fence != self.fence + 1 {
            self.writer.forget();
            self.fillings = BucketFillCounter::default();
        }
        self.fence = lock.fence;
        self.began = PassStart { time: now, at: Instant::now() };
        Ok(Some(lock))
    }

    /// Returns the current time, because a pass may take long.
    fn present(&self) -> JudgedTime {
        let PassStart { time, at } = self.began;
        time.plus_ms(i64::try_from(at.elapsed().as_millis()).unwrap_or(i64::MAX))
    }

    /// Seals everything that is due at `now`, and does no other work, unless another process is sealing. For callers that
    /// write more rows than may wait for a pass.
    ///
    /// # Errors
    ///
    /// When a database fails; work done before that is kept.
    pub async fn seal_all(&mut self, now: JudgedTime) -> Result<(), StoreError> {
        let Some(lock) = self.begin(now).await? else { return Ok(()) };
        let sealed = self.seal(now).await;
        lock.release().await?;
        sealed
    }

    /// Does all work that is due at `now`, or none if another process is compacting. While the clock is not trusted,
    /// only days that have certainly ended are sealed and merged, and nothing expires by age.
    ///
    /// # Errors
    ///
    /// When a database fails or a block cannot be read; all other work is done and kept.
    pub async fn pass(&mut self, now: JudgedTime) -> Result<(), StoreError> {
        let Some(lock) = self.begin(now).await? else { return Ok(()) };
        // A failing step must not prevent the others: a damaged block must not fill the disk.
        let sealed = self.seal(now).await;
        let erased = self.erase().await;
        let merged = self.merge(now).await;
        let expired = self.expire(now).await;
        lock.release().await?;
        sealed.and(erased).and(merged)?;
        Ok(expired?)
    }
}

/// The actor that runs compaction passes.
pub struct Compactor {
    /// `None` while a pass is running: the pass owns it.
    compaction: Option<Compaction>,
    counters: Arc<CompactionCounters>,
    guard: Arc<ClockGuard>,
    every: Duration,
    /// The callers that wait for the running pass; `asked` are those that wait for the next one.
    waiting: Vec<oneshot::Sender<bool>>,
    asked: Vec<oneshot::Sender<bool>>,
}

/// Requests a whole pass now. Answered when the pass is done, with true if all work that was due has been done.
#[derive(Message)]
#[rtype(result = "bool")]
pub struct CompactNow;

impl Compactor {
    /// Creates an actor that does passes at a fixed interval.
    #[must_use]
    pub fn new(compaction: Compaction, guard: Arc<ClockGuard>) -> Self {
        let every = Duration::from_millis(compaction.limits.pass_ms);
        let counters = Arc::clone(&compaction.counters);
        Self { compaction: Some(compaction), counters, guard, every, waiting: Vec::new(), asked: Vec::new() }
    }

    fn work(&mut self, ctx: &mut Context<Self>) {
        let Some(mut compaction) = self.compaction.take() else { return };
        self.waiting = std::mem::take(&mut self.asked);
        let now = self.guard.judged_now();
        let spare = compaction.renewed();
        let pass = async move {
            let pass = AssertUnwindSafe(async {
                let result = compaction.pass(now).await;
                (compaction, result)
            });
            let panicked = |_| (spare, Err(StoreError::Panicked("compaction")));
            pass.catch_unwind().await.unwrap_or_else(panicked)
        };
        ctx.spawn(pass.into_actor(self).map(|(compaction, result), compactor, ctx| {
            compactor.compaction = Some(compaction);
            if let Err(error) = &result {
                compactor.counters.failures.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(%error, "compaction of the history failed; retrying");
            }
            for waiter in compactor.waiting.drain(..) {
                // A caller that has stopped waiting needs no answer.
                let _ = waiter.send(result.is_ok());
            }
            if !compactor.asked.is_empty() {
                compactor.work(ctx);
            }
        }));
    }
}

impl SupervisedActor for Compactor {
    const KIND: ActorKind = ActorKind::restarting("compactor");
}

impl Handler<LivenessQuery> for Compactor {
    type Result = ();

    fn handle(&mut self, beat: LivenessQuery, ctx: &mut Context<Self>) {
        beat.answer(ctx);
    }
}

impl Actor for Compactor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.run_interval(self.every, |compactor, ctx| compactor.work(ctx));
    }
}

impl Handler<CompactNow> for Compactor {
    type Result = actix::ResponseFuture<bool>;

    fn handle(&mut self, _: CompactNow, ctx: &mut Context<Self>) -> Self::Result {
        let (sender, receiver) = oneshot::channel();
        self.asked.push(sender);
        self.work(ctx);
        Box::pin(async move { receiver.await.unwrap_or(false) })
    }
}

/// A running pass is interrupted, which is safe at any point.
impl Handler<StopActor> for Compactor {
    type Result = ();

    fn handle(&mut self, _: StopActor, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}
