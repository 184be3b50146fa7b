//! Intake of results: every batch is judged, accepted results go to the engine at once, and the batch is
//! acknowledged only after the history has stored them.
//!
//! Two halves run concurrently. The listener passes on judged batches; the writer stores all waiting ones in one transaction.
//! While the history database is unavailable the writer retries and holds its batches; when they reach the bus's limit of
//! unacknowledged ones, the rest waits on the bus. If the process dies in between, its batches are delivered again, and
//! results that are already stored are ignored.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::{mpsc, watch};
use tokio::time::{interval, sleep};

use crate::bus::connection::BusConnection;
use crate::bus::messages::results::ResultBatch;
use crate::bus::result_stream::{IncomingBatch, REDELIVERED_AFTER, ResultConsumer, UNACKNOWLEDGED};
use crate::bus::subjects::BusSubject;
use crate::clock::Clock;
use crate::engine::Engine;
use crate::engine::aggregator::RecordBatch;
use crate::engine::remote::ServiceResults;
use crate::model::history::CheckRecord;
use crate::model::location::LocationCode;
use crate::model::node::NodeName;
use crate::model::partition::{Partition, PartitionSet};
use crate::record::history_writer::HistoryWriter;
use crate::remote::admission::{ArrivedBatch, JudgedBatch, ResultAllowance, TakenResults, judge};
use crate::remote::assignments::AssignmentRegistry;
use crate::remote::clocks::LocationClocks;
use crate::remote::counters::{RemoteCounters, ResultRefusal};
use crate::remote::gap_filler::LateResultSpans;
use crate::service_router::ownership::Ownership;

/// The wait before the stream is opened again, or a batch is stored again.
const RETRY: Duration = Duration::from_secs(1);
/// Maximum number of batches whose results are passed to the engine at once.
const RECEIVED_AT_ONCE: usize = 64;
/// Maximum number of results in one transaction.
const ROWS_PER_COMMIT: usize = 8_192;

/// Receives results. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ResultIntake {
    /// Connection to the bus.
    pub connection: BusConnection,
    /// The services that each location checks.
    pub assignments: Arc<AssignmentRegistry>,
    /// The engine that receives accepted results.
    pub engine: Engine,
    /// Stores accepted results.
    pub writer: HistoryWriter,
    /// Differences of the locations' clocks.
    pub clocks: LocationClocks,
    /// Marks services that have late results.
    pub late: LateResultSpans,
    /// Source of the wall time.
    pub clock: Clock,
    /// The partitions of this node.
    pub ownership: Ownership,
    /// The name of this node, whose consumer is read.
    pub node: NodeName,
    /// The partitions whose assignments are known.
    pub compared: watch::Receiver<PartitionSet>,
    /// Counters of messages, for `/metrics`.
    pub counters: Arc<RemoteCounters>,
}

/// A batch to be stored.
struct PendingResults {
    batch: IncomingBatch,
    records: Vec<CheckRecord>,
}

impl ResultIntake {
    /// Receives results until the future is dropped.
    pub async fn run(self) {
        let (sender, receiver) = mpsc::channel(usize::try_from(UNACKNOWLEDGED).unwrap_or(1));
        // Both end with this future: neither outlives the other.
        tokio::join!(self.clone().listen(sender), self.write(receiver));
    }

    async fn listen(mut self, pending: mpsc::Sender<PendingResults>) {
        let mut allowances = HashMap::new();
        loop {
            let followed = self.follow(&pending, &mut allowances).await;
            if pending.is_closed() {
                return;
            }
            if let Err(error) = followed {
                tracing::warn!(error, "cannot read results of remote locations; retrying");
                sleep(RETRY).await;
            }
        }
    }

    /// Takes batches until the stream has to be opened again, or the partitions change.
    async fn follow(
        &mut self,
        pending: &mpsc::Sender<PendingResults>,
        allowances: &mut HashMap<LocationCode, ResultAllowance>,
    ) -> Result<(), String> {
        let mut ready = self.ownership.changes();
        let partitions = self.accepted_partitions();
        let mut incoming =
            ResultConsumer::open(&self.connection, &self.node, partitions, &self.sharing()).await?;
        loop {
            let batch = tokio::select! {
                batch = incoming.next() => batch?,
                Ok(()) = ready.changed() => if self.accepted_partitions() == partitions { continue } else { return Ok(()) },
                Ok(()) = self.compared.changed() => if self.accepted_partitions() == partitions { continue } else { return Ok(()) },
            };
            let mut batches = vec![batch];
            let mut ended = Ok(());
            while batches.len() < RECEIVED_AT_ONCE
                && let Some(next) = incoming.next().now_or_never()
            {
                match next {
                    Ok(batch) => batches.push(batch),
                    Err(error) => {
                        ended = Err(error);
                        break;
                    }
                }
            }
            if !self.take_in(batches, pending, allowances).await {
                return Ok(());
            }
            ended?;
        }
    }

    /// Judges batches, passes accepted results of all of them to the engine, and queues them to be stored; returns false if the
    /// engine or the writer has stopped.
    async fn take_in(
        &self,
        batches: Vec<IncomingBatch>,
        pending: &mpsc::Sender<PendingResults>,
        allowances: &mut HashMap<LocationCode, ResultAllowance>,
    ) -> bool {
        let (mut received, mut waiting) = (Vec::new(), Vec::new());
        for batch in batches {
            self.counters.pending.store(batch.pending, Ordering::Relaxed);
            if batch.is_redelivered {
                self.counters.redelivered.add(1);
            }
            let taken = self.judge(&batch, allowances);
            let records: Vec<CheckRecord> =
                taken.iter().flat_map(|results| results.records.iter()).cloned().collect();
            if records.is_empty() {
                batch.acknowledge().await;
                continue;
            }
            let present = taken.into_iter().filter(|results| results.is_present);
            received.extend(
                present
                    .map(|TakenResults { id, records, .. }| ServiceResults { id, records: records.into() }),
            );
            waiting.push(PendingResults { batch, records });
        }
        if self.engine.take_remote_results(received).await.is_err() {
            return false;
        }
        for batch in waiting {
            if pending.send(batch).await.is_err() {
                return false;
            }
        }
        true
    }

    /// The nodes that share the partitions.
    fn sharing(&self) -> BTreeSet<NodeName> {
        let owned = self.ownership.owned();
        let owners = owned.into_iter().flat_map(|owned| owned.ledger.owners.into_keys());
        owners.chain([self.node.clone()]).collect()
    }

    /// The partitions that are watched with known assignments: results of other partitions would be wrongly
    /// refused.
    fn accepted_partitions(&self) -> PartitionSet {
        self.ownership.ready().common(*self.compared.borrow())
    }

    fn judge(
        &self,
        batch: &IncomingBatch,
        allowances: &mut HashMap<LocationCode, ResultAllowance>,
    ) -> Vec<TakenResults> {
        let refuse = |reason, count: usize| self.counters.refused(reason).add(count as u64);
        let (Some(BusSubject::Results { location, partition }), Ok(read)) =
            (batch.subject.clone(), ResultBatch::read(&batch.payload))
        else {
            refuse(ResultRefusal::Malformed, 1);
            return Vec::new();
        };
        let Some(of_location) = self.assignments.of(&location) else {
            refuse(ResultRefusal::NotAssigned, read.records.len());
            return Vec::new();
        };
        let assigned = of_location.read().unwrap_or_else(PoisonError::into_inner);
        let (now, rate, count) = (self.clock.now(), assigned.checks_per_second(), read.records.len());
        let allowance =
            allowances.entry(location.clone()).or_insert_with(|| ResultAllowance::full(rate, now));
        if !allowance.take(count, rate, now) {
            refuse(ResultRefusal::TooMany, count);
            return Vec::new();
        }
        let clock_ahead_ms = self.clocks.correction_ms(&location);
        let arrival = ArrivedBatch { location, batch: read, received_at: batch.received_at, clock_ahead_ms };
        let JudgedBatch { taken, refused } = judge(arrival, &assigned, now);
        drop(assigned);
        refused.into_iter().for_each(|reason| refuse(reason, 1));
        let (taken, misplaced): (Vec<_>, Vec<_>) = taken.into_iter().partition(|results| {
            results.records.iter().all(|record| Partition::of(record.service) == partition)
        });
        misplaced.iter().for_each(|results| refuse(ResultRefusal::Malformed, results.records.len()));
        taken
    }

    /// Stores waiting batches, as many as fit in one transaction, and acknowledges them.
    async fn write(&self, mut pending: mpsc::Receiver<PendingResults>) {
        let mut held = VecDeque::new();
        loop {
            if held.is_empty() {
                let Some(first) = pending.recv().await else { return };
                held.push_back(first);
            }
            while let Ok(next) = pending.try_recv() {
                held.push_back(next);
            }
            let mut results = 0;
            let fits = |waiting: &&PendingResults| {
                let is_first = results == 0;
                results += waiting.records.len();
                is_first || results <= ROWS_PER_COMMIT
            };
            let batches = held.iter().take_while(fits).count();
            let checks = held.range(..batches).flat_map(|waiting| waiting.records.iter().cloned()).collect();
            self.store(&RecordBatch { checks, changes: Vec::new() }, &mut held, &mut pending).await;
            for stored in held.drain(..batches) {
                self.counters.taken.add(stored.records.len() as u64);
                self.counters.acknowledged.add(1);
                self.late.note(&stored.records, self.clock.now());
                let lag_ms = self.clock.now().ms_since(stored.batch.received_at);
                self.counters.lag_ms.store(u64::try_from(lag_ms).unwrap_or(0), Ordering::Relaxed);
                stored.batch.acknowledge().await;
            }
        }
    }

    /// Stores a batch, with retries until it succeeds. Meanwhile the redelivery of all held batches is delayed.
    async fn store(
        &self,
        batch: &RecordBatch,
        held: &mut VecDeque<PendingResults>,
        pending: &mut mpsc::Receiver<PendingResults>,
    ) {
        let mut holding = interval(REDELIVERED_AFTER / 3);
        holding.tick().await;
        let mut writing = std::pin::pin!(self.write_in_the_end(batch));
        loop {
            tokio::select! {
                () = &mut writing => return,
                _ = holding.tick() => {}
            }
            while let Ok(next) = pending.try_recv() {
                held.push_back(next);
            }
            for waiting in &*held {
                waiting.batch.delay().await;
            }
        }
    }

    async fn write_in_the_end(&self, batch: &RecordBatch) {
        let mut is_failing = false;
        while let Err(error) = self.writer.write(batch).await {
            if !is_failing {
                tracing::error!(%error, "cannot store results of remote locations; retrying");
            }
            is_failing = true;
            sleep(RETRY).await;
        }
        if is_failing {
            tracing::info!("results of remote locations can be stored again");
        }
    }
}
