//! The actor that writes measurements.
//!
//! While a transaction is under way facts gather, and the next transaction takes all of them: group commit without a timer.
//! What is counted as acknowledged is durable. If the database is away, facts wait in memory up to a limit and are
//! written in order when it is back; results beyond the limit are shed and counted. Status changes are never shed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use actix::{Actor, ActorFutureExt as _, AsyncContext, Context, Handler, Message, WrapFuture as _};
use tokio::sync::oneshot;

use crate::config::limits::RecordLimits;
use crate::engine::aggregator::Batch;
use crate::model::history::{CheckRecord, StatusChange};
use crate::model::location::LocationCode;
use crate::record::recovery::Returned;
use crate::store::StoreError;
use crate::store::history::locations::LocationNumbers;
use crate::store::history::{History, append};
use crate::telemetry::{Collect, Exposition};

/// Batches in the mailbox before aggregators have to keep theirs.
const MAILBOX: usize = 256;

/// What the recorder did, for `/metrics` and for the API's honesty about the store.
#[derive(Debug, Default)]
pub struct RecordCounters {
    /// Results that are durable.
    pub acked: AtomicU64,
    /// Results that could not wait any longer.
    pub shed: AtomicU64,
    /// Transactions.
    pub commits: AtomicU64,
    /// Writes that failed and were tried again.
    pub failures: AtomicU64,
    /// Results that wait now.
    pub waiting: AtomicU64,
    /// Whether the last write failed.
    pub is_failing: AtomicBool,
}

impl Collect for RecordCounters {
    fn collect(&self, out: &mut Exposition) {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        out.counter("results_acked_total", "Results that are durable.").value(get(&self.acked));
        out.counter("results_shed_total", "Results lost because the history database was away too long.")
            .value(get(&self.shed));
        out.counter("history_commits_total", "Transactions of the recorder.").value(get(&self.commits));
        out.counter("history_failures_total", "Writes that failed and were tried again.")
            .value(get(&self.failures));
        out.gauge("results_waiting", "Results that wait for the history database.").value(get(&self.waiting));
    }
}

/// The actor.
pub struct Recorder {
    history: History,
    locations: LocationNumbers,
    codes: Vec<LocationCode>,
    checks: VecDeque<CheckRecord>,
    changes: VecDeque<StatusChange>,
    /// Results in the transaction that is under way; they come back if it fails.
    writing: Option<usize>,
    drained: Vec<oneshot::Sender<()>>,
    limits: RecordLimits,
    counters: Arc<RecordCounters>,
    returned: Arc<Returned>,
}

/// Answered when everything taken so far is durable.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Drain;

impl Recorder {
    /// A recorder for these locations.
    #[must_use]
    pub fn new(
        history: History,
        codes: Vec<LocationCode>,
        limits: RecordLimits,
        counters: Arc<RecordCounters>,
    ) -> Self {
        Self {
            history,
            locations: LocationNumbers::default(),
            codes,
            checks: VecDeque::new(),
            changes: VecDeque::new(),
            writing: None,
            drained: Vec::new(),
            limits,
            counters,
            returned: Arc::default(),
        }
    }

    /// The same, which notes here whose status has durably become up.
    #[must_use]
    pub fn noting(self, returned: Arc<Returned>) -> Self {
        Self { returned, ..self }
    }

    fn take(&mut self, batch: Batch) {
        let waiting = self.checks.len() + self.writing.unwrap_or(0);
        let room = self.limits.waiting_results.saturating_sub(waiting);
        let shed = batch.checks.len().saturating_sub(room);
        if shed > 0 {
            self.counters.shed.fetch_add(shed as u64, Ordering::Relaxed);
            tracing::error!(results = shed, "the history database is too slow or away: results are lost");
        }
        self.checks.extend(batch.checks.into_iter().take(room));
        self.changes.extend(batch.changes);
    }

    fn write(&mut self, ctx: &mut Context<Self>) {
        let waiting = self.checks.len() + self.writing.unwrap_or(0);
        self.counters.waiting.store(waiting as u64, Ordering::Relaxed);
        if self.writing.is_some() {
            return;
        }
        if self.checks.is_empty() && self.changes.is_empty() {
            for waiter in self.drained.drain(..) {
                // Whoever has stopped waiting needs no answer.
                let _ = waiter.send(());
            }
            return;
        }
        let checks = take_front(&mut self.checks, self.limits.rows_per_commit);
        self.writing = Some(checks.len());
        let changes = take_front(&mut self.changes, self.limits.rows_per_commit);
        let work = Work {
            history: self.history.clone(),
            locations: self.locations.clone(),
            codes: self.codes.clone(),
            checks,
            changes,
        };
        ctx.spawn(work.commit().into_actor(self).map(|(work, result), recorder, ctx| {
            recorder.written(work, result, ctx);
        }));
    }

    fn written(&mut self, work: Work, result: Result<(), StoreError>, ctx: &mut Context<Self>) {
        self.writing = None;
        self.locations = work.locations;
        let was_failing = self.counters.is_failing.swap(result.is_err(), Ordering::Relaxed);
        match result {
            Ok(()) => {
                if was_failing {
                    tracing::info!("the history database takes results again");
                }
                self.counters.acked.fetch_add(work.checks.len() as u64, Ordering::Relaxed);
                self.counters.commits.fetch_add(1, Ordering::Relaxed);
                self.returned.note(&work.changes);
                self.write(ctx);
            }
            Err(error) => {
                self.counters.failures.fetch_add(1, Ordering::Relaxed);
                if !was_failing {
                    tracing::error!(%error, "results cannot be written; they wait in memory");
                }
                put_back(&mut self.checks, work.checks);
                put_back(&mut self.changes, work.changes);
                ctx.run_later(Duration::from_millis(self.limits.retry_ms), Self::write);
            }
        }
    }
}

/// One transaction. It comes back whatever happens, so that nothing is lost.
struct Work {
    history: History,
    locations: LocationNumbers,
    codes: Vec<LocationCode>,
    checks: Vec<CheckRecord>,
    changes: Vec<StatusChange>,
}

impl Work {
    async fn commit(mut self) -> (Self, Result<(), StoreError>) {
        let result = self.try_commit().await;
        (self, result)
    }

    async fn try_commit(&mut self) -> Result<(), StoreError> {
        let transaction = self.history.begin().await?;
        let mut locations = self.locations.clone();
        if !self.codes.iter().all(|code| locations.knows(code)) {
            locations = LocationNumbers::ensure(&transaction, &self.codes).await?;
        }
        append::checks(&transaction, self.history.place(), &self.checks, &locations).await?;
        append::changes(&transaction, &self.changes).await?;
        transaction.commit().await?;
        // Not before: a number that is rolled back may be given to another location.
        self.locations = locations;
        Ok(())
    }
}

fn take_front<T>(queue: &mut VecDeque<T>, most: usize) -> Vec<T> {
    queue.drain(..most.min(queue.len())).collect()
}

fn put_back<T>(queue: &mut VecDeque<T>, rows: Vec<T>) {
    for row in rows.into_iter().rev() {
        queue.push_front(row);
    }
}

impl Actor for Recorder {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.set_mailbox_capacity(MAILBOX);
    }
}

impl Handler<Batch> for Recorder {
    type Result = ();

    fn handle(&mut self, batch: Batch, ctx: &mut Context<Self>) {
        self.take(batch);
        self.write(ctx);
    }
}

impl Handler<Drain> for Recorder {
    type Result = actix::ResponseFuture<()>;

    fn handle(&mut self, _: Drain, ctx: &mut Context<Self>) -> Self::Result {
        let (sender, receiver) = oneshot::channel();
        self.drained.push(sender);
        self.write(ctx);
        Box::pin(async move {
            let _ = receiver.await;
        })
    }
}
