//! The write path: from a fleet through the real recorder into rows, through the real compactor into blocks.
//!
//! The clock shows the time of the results. The compactor runs whenever an hour of this time has passed, and after a fixed
//! number of results, and the fleet waits if the compactor falls behind by one run. So the measured rate can be sustained.

use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use actix::{Actor as _, Addr, Arbiter};
use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::app;
use crate::app::recording::{RecorderParts, start_recorder};
use crate::bench::history::fleet::SimulatedFleet;
use crate::bench::history::plan::{HistoryBenchPlan, location_code};
use crate::bench::history::storage::{self, BenchStorage, SealedTotals};
use crate::bench::usage;
use crate::clock::guard::ClockGuard;
use crate::clock::{Clock, DAY_MS, Timestamp};
use crate::config::{Config, LocationConfig};
use crate::engine::aggregator::RecordBatch;
use crate::record::compaction::{CompactNow, Compaction, Compactor, RetentionPolicy};
use crate::record::recorder::{DrainRequest, RecordCounters, Recorder};
use crate::service_router::ownership::Ownership;
use crate::store::Databases;
use crate::store::history::segments::RetentionClass;
use crate::supervise::{ActorHandle, Supervisor};

/// Results per batch, as in aggregators.
const BATCH_RESULTS: usize = 1_024;
/// Maximum number of results that wait in the recorder.
const WAITING_RESULTS: u64 = 32_768;
/// Batches prepared ahead of the recorder.
const BATCHES_READY: usize = 16;
/// Polling interval while the recorder is full.
const GLANCE: Duration = Duration::from_millis(1);
/// Interval at which the compactor runs in operation, in milliseconds.
pub(super) const HOUR_MS: i64 = 3_600_000;
const COMPACT_EVERY_RESULTS: u64 = 500_000;
/// Milliseconds from the end of an hour until it is sealed.
const HOUR_SETTLE_MS: i64 = 600_000;
/// Milliseconds until everything is sealed and merged; merged segments are dropped another two minutes later.
const ALL_SETTLED_MS: i64 = 3 * DAY_MS;
const ALL_DROPPED_MS: i64 = 120_000;
const RETENTION_DAYS: u32 = 90;

/// Recorder and compactor on their databases.
pub(super) struct IngestPipeline {
    databases: Databases,
    recorder: ActorHandle<Recorder>,
    compactor: Addr<Compactor>,
    threads: [Arbiter; 2],
    recorded: Arc<RecordCounters>,
    clock: Clock,
    empty_bytes: u64,
}

/// Time and CPU time spent on results.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IngestCost {
    pub(super) results: u64,
    /// From the first result until the last was durable, and settled if that was awaited.
    pub(super) elapsed: Duration,
    /// CPU time of this process without that of generating results.
    pub(super) cpu: Duration,
}

/// Figures of a whole history.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HistoryFigures {
    /// The cost until everything was sealed and merged.
    pub(super) spent: IngestCost,
    pub(super) sealed: SealedTotals,
    /// Bytes of the history on the disk.
    pub(super) bytes: u64,
}

impl IngestPipeline {
    /// Starts the pipeline on empty databases.
    pub(super) async fn start(
        plan: &HistoryBenchPlan,
        config: &Config,
        storage: &BenchStorage,
    ) -> anyhow::Result<Self> {
        let databases = storage.open(config).await?;
        let empty_bytes = storage.bytes(databases.history.reader()).await?;
        let clock = Clock::fixed(Timestamp::from_ms(0));
        Self::on(databases, plan, config, clock, empty_bytes)
    }

    /// Starts the pipeline on these databases.
    pub(super) fn on(
        databases: Databases,
        plan: &HistoryBenchPlan,
        config: &Config,
        clock: Clock,
        empty_bytes: u64,
    ) -> anyhow::Result<Self> {
        let mut config = config.clone();
        let location = |number| LocationConfig { code: location_code(number), ..LocationConfig::default() };
        config.probe.locations = (1..=plan.locations).map(location).collect();
        let roster = app::locations::roster(&config)?;
        let threads = [Arbiter::new(), Arbiter::new()];
        let recorded = Arc::new(RecordCounters::default());
        let supervisor = Supervisor::default();
        let recorder = start_recorder(RecorderParts {
            supervisor: &supervisor,
            thread: &threads[0],
            config: &config,
            databases: &databases,
            roster: &roster,
            counters: Arc::clone(&recorded),
            ownership: &Ownership::alone(),
            fenced: &Arc::default(),
            change_signal: Arc::default(),
            spool: None,
        });
        let retention = RetentionPolicy::Uniform(RetentionClass::of_days(RETENTION_DAYS));
        let limits = config.compaction.clone();
        let compaction = Compaction::new(databases.history.clone(), retention, limits, Arc::default());
        let compactor = Compactor::new(compaction, Arc::new(ClockGuard::new(clock.clone(), None)));
        let compactor = Compactor::start_in_arbiter(&threads[1].handle(), move |_| compactor);
        Ok(Self { databases, recorder, compactor, threads, recorded, clock, empty_bytes })
    }

    pub(super) const fn databases(&self) -> &Databases {
        &self.databases
    }

    /// Writes the next results of the fleet, while the compactor runs every `compact_every_ms` of simulated time; returns
    /// when the results are durable.
    pub(super) async fn feed(
        &self,
        mut fleet: SimulatedFleet,
        results: u64,
        compact_every_ms: i64,
        bar: &ProgressBar,
    ) -> anyhow::Result<(SimulatedFleet, IngestCost)> {
        let (started, cpu) = (Instant::now(), usage::cpu()?);
        let acked_before = self.recorded.acked.load(Ordering::Relaxed);
        let (sender, mut batches) = mpsc::channel(BATCHES_READY);
        let making = tokio::task::spawn_blocking(move || {
            let before = usage::thread_cpu()?;
            let mut left = results;
            while left > 0 {
                let size = BATCH_RESULTS.min(usize::try_from(left).unwrap_or(BATCH_RESULTS));
                let batch = fleet.batch(size);
                left -= size as u64;
                if sender.blocking_send((batch, fleet.now())).is_err() {
                    break;
                }
            }
            anyhow::Ok((fleet, usage::thread_cpu()?.saturating_sub(before)))
        });
        let mut compaction = CompactionSchedule::new(acked_before, compact_every_ms);
        while let Some((batch, now)) = batches.recv().await {
            self.hand_over(batch, &mut compaction).await?;
            bar.set_position(bar.position() + BATCH_RESULTS as u64);
            if compaction.is_due(now) {
                compaction.start(self, now).await?;
            }
        }
        compaction.end().await?;
        self.recorder.send(DrainRequest).await.context("the recorder has stopped")?;
        let (fleet, made) = making.await.context("the fleet panicked")??;
        if self.recorded.acked.load(Ordering::Relaxed) - acked_before < results {
            bail!("results were lost: the history database is too slow or unavailable");
        }
        let cpu = usage::cpu()?.saturating_sub(cpu).saturating_sub(made);
        Ok((fleet, IngestCost { results, elapsed: started.elapsed(), cpu }))
    }

    async fn hand_over(&self, batch: RecordBatch, compaction: &mut CompactionSchedule) -> anyhow::Result<()> {
        while compaction.sent - self.recorded.acked.load(Ordering::Relaxed) > WAITING_RESULTS {
            tokio::time::sleep(GLANCE).await;
        }
        compaction.sent += batch.checks.len() as u64;
        self.recorder.send(batch).await.context("the recorder has stopped")
    }

    /// Seals and merges everything that is due at `now`.
    pub(super) async fn compact(&self, now: Timestamp) -> anyhow::Result<()> {
        compact(&self.compactor, &self.clock, now).await
    }

    /// Advances time until everything is sealed, merged and dropped, and lets the fleet continue after that time. Returns
    /// the cost.
    pub(super) async fn settle(&self, fleet: &mut SimulatedFleet) -> anyhow::Result<IngestCost> {
        let (started, cpu) = (Instant::now(), usage::cpu()?);
        let settled = Timestamp::from_ms((fleet.now().day() + 1) * DAY_MS + ALL_SETTLED_MS);
        self.compact(settled).await?;
        self.compact(settled.plus_ms(ALL_DROPPED_MS)).await?;
        fleet.rest_until(Timestamp::from_ms((settled.day() + 1) * DAY_MS));
        Ok(IngestCost { results: 0, elapsed: started.elapsed(), cpu: usage::cpu()?.saturating_sub(cpu) })
    }

    /// Returns the number of bytes by which the history has grown.
    pub(super) async fn bytes(&self, storage: &BenchStorage) -> anyhow::Result<u64> {
        let bytes = storage.bytes(self.databases.history.reader()).await?;
        Ok(bytes.saturating_sub(self.empty_bytes))
    }

    /// Measures the history, and stops the pipeline.
    pub(super) async fn finish(
        self,
        spent: IngestCost,
        storage: &BenchStorage,
    ) -> anyhow::Result<HistoryFigures> {
        let sealed = storage::sealed(&self.databases).await?;
        let on_server = self.bytes(storage).await?;
        let is_sqlite = storage.is_sqlite();
        self.stop().await;
        let bytes = if is_sqlite { storage.file_bytes()? } else { on_server };
        Ok(HistoryFigures { spent, sealed, bytes })
    }

    /// Stops the pipeline and closes the databases, which moves write-ahead logs into the files.
    pub(super) async fn stop(self) {
        // If the recorder has stopped before, there is nothing to wait for.
        let _ = self.recorder.send(DrainRequest).await;
        for thread in self.threads {
            thread.stop();
        }
        self.databases.main.close().await;
        self.databases.history.close().await;
    }
}

/// Schedule of the compactor's runs.
struct CompactionSchedule {
    compact_every_ms: i64,
    sent: u64,
    next_sent: u64,
    next_at: Option<Timestamp>,
    running: Option<JoinHandle<anyhow::Result<()>>>,
}

impl CompactionSchedule {
    const fn new(sent: u64, compact_every_ms: i64) -> Self {
        Self { compact_every_ms, sent, next_sent: sent + COMPACT_EVERY_RESULTS, next_at: None, running: None }
    }

    fn is_due(&mut self, now: Timestamp) -> bool {
        let ended = now.plus_ms(-HOUR_SETTLE_MS).ms().div_euclid(self.compact_every_ms);
        let next = Timestamp::from_ms((ended + 1) * self.compact_every_ms + HOUR_SETTLE_MS);
        let next_at = *self.next_at.get_or_insert(next);
        now >= next_at || self.sent >= self.next_sent
    }

    /// Waits for the previous run, then starts one in the background once all results sent so far are durable.
    async fn start(&mut self, pipeline: &IngestPipeline, now: Timestamp) -> anyhow::Result<()> {
        self.end().await?;
        self.next_sent = self.sent + COMPACT_EVERY_RESULTS;
        self.next_at = None;
        let (sent, recorded) = (self.sent, Arc::clone(&pipeline.recorded));
        let (compactor, clock) = (pipeline.compactor.clone(), pipeline.clock.clone());
        self.running = Some(actix::spawn(async move {
            while recorded.acked.load(Ordering::Relaxed) < sent {
                tokio::time::sleep(GLANCE).await;
            }
            compact(&compactor, &clock, now).await
        }));
        Ok(())
    }

    async fn end(&mut self) -> anyhow::Result<()> {
        match self.running.take() {
            Some(running) => running.await.context("a look for work panicked")?,
            None => Ok(()),
        }
    }
}

async fn compact(compactor: &Addr<Compactor>, clock: &Clock, now: Timestamp) -> anyhow::Result<()> {
    clock.pass(now.ms_since(clock.now()));
    if !compactor.send(CompactNow).await.context("the compactor has stopped")? {
        bail!("the compactor failed; see its output above");
    }
    Ok(())
}

impl AddAssign for IngestCost {
    fn add_assign(&mut self, other: Self) {
        self.results += other.results;
        self.elapsed += other.elapsed;
        self.cpu += other.cpu;
    }
}

impl IngestCost {
    pub(super) fn per_second(&self) -> f64 {
        self.results as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns the CPU time per result, in microseconds.
    pub(super) fn cpu_us(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.results.max(1) as f64
    }
}
