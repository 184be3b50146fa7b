//! The actor that writes measurements.
//!
//! Facts that arrive during a transaction are collected for the next one: group commit without a timer. Acknowledged
//! facts are durable in the database. While it is unavailable, facts wait in memory; when memory is full, all of them
//! move to the spool on disk, so the spool always holds the older ones. When the database is back, the spool is written
//! first, then memory: everything in order. Results are shed, and counted, only when the spool is full or cannot be
//! written. Status changes are never shed.

mod counters;
mod queue;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use actix::{Actor, ActorFutureExt as _, AsyncContext, Context, Handler, Message, WrapFuture as _};
use futures_util::future::LocalBoxFuture;
use tokio::sync::oneshot;
use tokio::time::Instant;

pub use counters::RecordCounters;

use crate::config::limits::RecordLimits;
use crate::engine::aggregator::RecordBatch;
use crate::feed::ChangeSignal;
use crate::record::recorder::queue::FactQueue;
use crate::record::spool::Spool;
use crate::supervise::{ActorKind, LivenessQuery, StopActor, SupervisedActor};

/// Maximum number of batches in the mailbox; beyond it aggregators keep their batches.
pub const MAILBOX: usize = 256;

/// The destination of facts: the history, or the bus to the node that owns the history.
pub trait BatchDestination: Send + Sync {
    /// Stores a batch, all of it or nothing. Storing it again changes nothing.
    fn store(&self, batch: Arc<RecordBatch>) -> LocalBoxFuture<'static, Result<(), BatchStoreError>>;
}

/// A batch could not be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BatchStoreError(pub String);

/// The actor that stores facts. It runs on its own thread, so that a slow disk delays only batches.
pub struct Recorder {
    destination: Arc<dyn BatchDestination>,
    queue: FactQueue,
    spool: Option<Spool>,
    flight: Option<InFlightBatch>,
    /// True after a failed write: the next write waits for the timer.
    is_backing_off: bool,
    /// The time before which the spool is not tried again, because it could not be written.
    spool_rests_until: Option<Instant>,
    is_stopping: bool,
    waiters: Vec<oneshot::Sender<()>>,
    limits: RecordLimits,
    counters: Arc<RecordCounters>,
    change_signal: Arc<ChangeSignal>,
}

/// A batch that is being written.
struct InFlightBatch {
    batch: Arc<RecordBatch>,
    /// True if the batch is also in the spool, because it was read from there or memory was spilled during the write. Such
    /// a batch need not be spooled again.
    is_spooled: bool,
    is_from_spool: bool,
}

/// Request that is answered when all facts received so far are durable in the database.
#[derive(Message)]
#[rtype(result = "()")]
pub struct DrainRequest;

impl Recorder {
    /// Creates a recorder that stores its facts in `destination`.
    #[must_use]
    pub fn new(
        destination: Arc<dyn BatchDestination>,
        limits: RecordLimits,
        counters: Arc<RecordCounters>,
    ) -> Self {
        Self {
            destination,
            queue: FactQueue::default(),
            spool: None,
            flight: None,
            is_backing_off: false,
            spool_rests_until: None,
            is_stopping: false,
            waiters: Vec::new(),
            limits,
            counters,
            change_signal: Arc::default(),
        }
    }

    /// Returns the recorder with a signal for status changes that have become durable.
    #[must_use]
    pub fn with_change_signal(self, change_signal: Arc<ChangeSignal>) -> Self {
        Self { change_signal, ..self }
    }

    /// Returns the recorder with a spool for facts beyond the memory limit.
    #[must_use]
    pub fn with_spool(self, spool: Option<Spool>) -> Self {
        Self { spool, ..self }
    }

    /// Returns the number of results that are in memory only.
    fn waiting(&self) -> usize {
        let flying = self.flight.as_ref().filter(|flight| !flight.is_spooled);
        self.queue.results() + flying.map_or(0, |flight| flight.batch.checks.len())
    }

    fn take(&mut self, batch: RecordBatch) {
        if self.waiting() + batch.checks.len() > self.limits.waiting_results {
            self.spill(false);
        }
        let room = self.limits.waiting_results.saturating_sub(self.waiting());
        let shed = self.queue.take(batch, room);
        if shed > 0 {
            self.counters.shed.fetch_add(shed as u64, Ordering::Relaxed);
            tracing::error!(results = shed, "results lost: they cannot be stored fast enough");
        }
        self.spill_while_failing();
    }

    /// Moves all waiting results to the disk at once while they cannot be stored.
    fn spill_while_failing(&mut self) {
        if self.limits.spools_while_failing && self.is_backing_off {
            self.spill(false);
            self.update_gauges();
        }
    }

    /// Moves facts from memory to the spool, oldest first. Results are moved only as far as there is room, unless the
    /// process is about to end (`is_last_chance`).
    fn spill(&mut self, is_last_chance: bool) {
        let is_backing_off = self.spool_rests_until.is_some_and(|until| Instant::now() < until);
        let Some(spool) = self.spool.as_mut().filter(|_| is_last_chance || !is_backing_off) else { return };
        self.spool_rests_until = None;
        loop {
            let may_take_results = is_last_chance || spool.has_room();
            let flight = self.flight.as_mut().filter(|flight| !flight.is_spooled && may_take_results);
            let batch = match &flight {
                Some(flight) => Arc::clone(&flight.batch),
                None if may_take_results => Arc::new(self.queue.next(self.limits.rows_per_commit)),
                None => Arc::new(self.queue.next_changes(self.limits.rows_per_commit)),
            };
            if batch.is_empty() {
                break;
            }
            if let Err(error) = spool.append(&batch) {
                if flight.is_none() {
                    self.queue.put_back(Arc::unwrap_or_clone(batch));
                }
                tracing::error!(%error, "cannot write to the spool; retrying");
                self.spool_rests_until = Some(Instant::now() + Duration::from_millis(self.limits.retry_ms));
                break;
            }
            self.counters.spooled.fetch_add(batch.checks.len() as u64, Ordering::Relaxed);
            if let Some(flight) = flight {
                flight.is_spooled = true;
            }
        }
        if !spool.has_room() {
            self.spool_rests_until = Some(Instant::now() + Duration::from_millis(self.limits.retry_ms));
        }
    }

    fn write(&mut self, ctx: &mut Context<Self>) {
        self.update_gauges();
        if self.flight.is_some() || self.is_backing_off {
            return;
        }
        let spooled = match self.spool.as_mut().map_or(Ok(None), Spool::oldest) {
            Ok(spooled) => spooled.cloned(),
            Err(error) => {
                // The spool is older than memory, so nothing is written before it.
                tracing::error!(%error, "cannot read the spool; retrying");
                self.back_off(ctx);
                return;
            }
        };
        let is_from_spool = spooled.is_some();
        let batch = spooled.unwrap_or_else(|| self.queue.next(self.limits.rows_per_commit));
        if batch.is_empty() {
            self.answer_waiters();
            return;
        }
        let batch = Arc::new(batch);
        self.flight =
            Some(InFlightBatch { batch: Arc::clone(&batch), is_spooled: is_from_spool, is_from_spool });
        ctx.spawn(self.destination.store(batch).into_actor(self).map(|result, recorder, ctx| {
            recorder.written(result, ctx);
        }));
    }

    fn written(&mut self, result: Result<(), BatchStoreError>, ctx: &mut Context<Self>) {
        let Some(flight) = self.flight.take() else { return };
        let was_failing = self.counters.is_failing.swap(result.is_err(), Ordering::Relaxed);
        match result {
            Ok(()) => {
                if was_failing {
                    tracing::info!("results can be stored again");
                }
                self.counters.commits.fetch_add(1, Ordering::Relaxed);
                self.acknowledge(&flight);
                self.write(ctx);
            }
            Err(error) => {
                self.counters.failures.fetch_add(1, Ordering::Relaxed);
                if !was_failing {
                    tracing::error!(%error, "cannot store results; keeping them until it is possible again");
                }
                if !flight.is_spooled {
                    self.queue.put_back(Arc::unwrap_or_clone(flight.batch));
                }
                self.back_off(ctx);
                self.spill_while_failing();
            }
        }
    }

    /// Schedules the next write after a delay; if the process is stopping, also spools the remaining facts at once.
    fn back_off(&mut self, ctx: &mut Context<Self>) {
        self.is_backing_off = true;
        ctx.run_later(Duration::from_millis(self.limits.retry_ms), |recorder, ctx| {
            recorder.is_backing_off = false;
            recorder.write(ctx);
        });
        if self.is_stopping {
            self.spool_remaining();
        }
    }

    fn acknowledge(&mut self, flight: &InFlightBatch) {
        self.change_signal.publish_batch(&flight.batch);
        // Facts that were spooled meanwhile are counted when they are read from the spool.
        if flight.is_from_spool || !flight.is_spooled {
            self.counters.acked.fetch_add(flight.batch.checks.len() as u64, Ordering::Relaxed);
        }
        if flight.is_from_spool
            && let Some(spool) = &mut self.spool
        {
            spool.forget();
            if spool.is_empty() {
                tracing::info!("spool emptied: all results stored");
            }
        }
    }

    /// Spools the facts that cannot be written before the process ends; the next process writes them.
    fn spool_remaining(&mut self) {
        if self.spool.is_none() {
            return;
        }
        self.spill(true);
        let lost = self.waiting();
        if lost > 0 || !self.queue.is_empty() {
            tracing::error!(
                results = lost,
                "results lost: neither the database nor the spool could be written"
            );
        }
        self.update_gauges();
        self.answer_waiters();
    }

    fn answer_waiters(&mut self) {
        for waiter in self.waiters.drain(..) {
            // A caller that has stopped waiting needs no answer.
            let _ = waiter.send(());
        }
    }

    fn update_gauges(&self) {
        self.counters.waiting.store(self.waiting() as u64, Ordering::Relaxed);
        if let Some(spool) = &self.spool {
            self.counters.spool_bytes.store(spool.bytes(), Ordering::Relaxed);
            self.counters.spool_damages.store(spool.damages(), Ordering::Relaxed);
        }
    }

    fn wait(&mut self) -> actix::ResponseFuture<()> {
        let (sender, receiver) = oneshot::channel();
        self.waiters.push(sender);
        Box::pin(async move {
            let _ = receiver.await;
        })
    }
}

/// A crash would lose the facts in memory, and without the recorder all measurements. So the process ends, and the next
/// one continues from the durable facts.
impl SupervisedActor for Recorder {
    const KIND: ActorKind = ActorKind::vital("recorder");
}

impl Handler<LivenessQuery> for Recorder {
    type Result = ();

    fn handle(&mut self, beat: LivenessQuery, ctx: &mut Context<Self>) {
        beat.answer(ctx);
    }
}

impl Actor for Recorder {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.set_mailbox_capacity(MAILBOX);
        if let Some(spool) = self.spool.as_ref().filter(|spool| !spool.is_empty()) {
            tracing::info!(
                bytes = spool.bytes(),
                "storing the results left in the spool by an earlier process"
            );
        }
        self.write(ctx);
    }
}

impl Handler<RecordBatch> for Recorder {
    type Result = ();

    fn handle(&mut self, batch: RecordBatch, ctx: &mut Context<Self>) {
        self.take(batch);
        self.write(ctx);
    }
}

impl Handler<DrainRequest> for Recorder {
    type Result = actix::ResponseFuture<()>;

    fn handle(&mut self, _: DrainRequest, ctx: &mut Context<Self>) -> Self::Result {
        let waiting = self.wait();
        self.write(ctx);
        waiting
    }
}

/// Stops the recorder. Answered when all facts received so far are durable: in the database, or in the spool while the
/// database is unavailable.
impl Handler<StopActor> for Recorder {
    type Result = actix::ResponseFuture<()>;

    fn handle(&mut self, _: StopActor, ctx: &mut Context<Self>) -> Self::Result {
        let waiting = self.wait();
        self.is_stopping = true;
        let has_spooled = self.spool.as_ref().is_some_and(|spool| !spool.is_empty());
        if has_spooled || self.counters.is_failing.load(Ordering::Relaxed) {
            self.spool_remaining();
        } else {
            ctx.run_later(Duration::from_millis(self.limits.stop_ms), |recorder, _| {
                recorder.spool_remaining();
            });
        }
        self.write(ctx);
        waiting
    }
}
