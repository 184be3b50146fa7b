//! The pipeline under measurement: the real engine and the real recorder on a real database, built as `app` builds them.
//!
//! Only the API and the store of services are left out: services are generated here and handed to the engine directly.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use actix::Arbiter;
use anyhow::Context as _;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::time::Instant;

use crate::app;
use crate::app::recording::{RecorderParts, start_recorder};
use crate::bench::figures::{LatenessFigures, ON_TIME_MS, PipelineCounts};
use crate::bench::folder::TemporaryFolder;
use crate::bench::kind::BenchKind;
use crate::bench::plan::ProbeBenchPlan;
use crate::bench::usage;
use crate::clock::{Clock, Timestamp};
use crate::config::Config;
use crate::engine::definition::DefinitionCompiler;
use crate::engine::shard::ShardThreads;
use crate::engine::{Engine, EngineParts};
use crate::id::Id;
use crate::model::check::{CheckStatus, LocalFault};
use crate::model::secret::{KEY_LENGTH, SecretSealer};
use crate::model::service::{Service, ServiceKey, ServiceSettings};
use crate::model::status_rules::StatusRules;
use crate::record::recorder::{DrainRequest, RecordCounters, Recorder};
use crate::service_router::ownership::Ownership;
use crate::store::Databases;
use crate::store::database::sqlite_url;
use crate::supervise::{ActorHandle, Supervisor};

/// Number of services that are handed to the engine concurrently.
const AT_ONCE: usize = 32;
const HISTORY_FILE: &str = "history.db";

pub(super) struct CheckPipeline {
    engine: Engine,
    compiler: DefinitionCompiler,
    recorder: ActorHandle<Recorder>,
    recorder_thread: Arbiter,
    recorded: Arc<RecordCounters>,
    databases: Databases,
    /// True if the history is in the run's own folder.
    owns_history: bool,
    folder: TemporaryFolder,
    kind: BenchKind,
}

impl CheckPipeline {
    /// Starts the pipeline without services.
    pub(super) async fn start(config: &Config, kind: BenchKind) -> anyhow::Result<Self> {
        let folder = TemporaryFolder::new()?;
        let main_url = sqlite_url(&folder.path().join("main.db"));
        let history_url = config.history_url.clone();
        let owns_history = history_url.is_none();
        let history_url = history_url.unwrap_or_else(|| sqlite_url(&folder.path().join(HISTORY_FILE)));
        let databases = Databases::open(&main_url, &history_url, &config.database).await?;
        let clock = Clock::System;
        let roster = Arc::new(app::locations::roster(config)?);
        let recorded = Arc::new(RecordCounters::default());
        let recorder_thread = Arbiter::new();
        let supervisor = Supervisor::default();
        let recorder = start_recorder(RecorderParts {
            supervisor: &supervisor,
            thread: &recorder_thread,
            config,
            databases: &databases,
            roster: &roster,
            counters: Arc::clone(&recorded),
            ownership: &Ownership::alone(),
            fenced: &Arc::default(),
            change_signal: Arc::default(),
            spool: None,
        });
        let limits = config.limits.engine.clone();
        let engine = Engine::start(&EngineParts {
            roster: Arc::clone(&roster),
            probers: app::locations::probers(&app::locations::local_locations(config, &clock)?),
            clock,
            threads: ShardThreads::Own(limits.shards),
            limits: limits.clone(),
            sink: recorder.address().recipient(),
            supervisor,
        });
        let compiler = DefinitionCompiler { sealer: SecretSealer::new(&[0; KEY_LENGTH]), roster, limits };
        Ok(Self {
            engine,
            compiler,
            recorder,
            recorder_thread,
            recorded,
            databases,
            owns_history,
            folder,
            kind,
        })
    }

    /// Starts to watch the planned services, spread over the targets.
    pub(super) async fn watch(&self, plan: &ProbeBenchPlan, targets: &[String]) -> anyhow::Result<()> {
        let organisation = Id::random();
        stream::iter(1..=plan.services)
            .map(|number| async move {
                let index = usize::try_from(number)? % targets.len();
                let service = service(ServiceKey::from(number), self.kind, &targets[index], plan);
                let definition = self.compiler.define(&service, organisation)?;
                anyhow::Ok(self.engine.apply(Arc::new(definition)).await?)
            })
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await
    }

    /// Returns the number of threads that run checks: as configured, or one per core.
    pub(super) fn threads(&self) -> usize {
        match self.compiler.limits.shards {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            configured => configured,
        }
    }

    pub(super) fn counts(&self) -> anyhow::Result<PipelineCounts> {
        let counters = self.engine.counters();
        let of_status = |status| {
            let known = self.compiler.roster.all();
            known.iter().map(|known| known.finished(self.kind.check_type(), status).get()).sum::<u64>()
        };
        // Each counter is read once: a check that ends between two reads would be in one sum and not in the other.
        let by_status = CheckStatus::ALL.map(|status| (status, of_status(status)));
        let up =
            by_status.iter().find(|(status, _)| *status == CheckStatus::Up).map_or(0, |(_, number)| *number);
        let troubles = LocalFault::ALL.into_iter().map(|trouble| counters.unmeasured(trouble).get());
        Ok(PipelineCounts {
            at: Instant::now(),
            cpu: usage::cpu()?,
            finished: by_status.iter().map(|(_, number)| number).sum(),
            up,
            shed: troubles.sum::<u64>() + counters.missed.get() + counters.unrecorded.get(),
            durable: self.recorded.acked.load(Ordering::Relaxed),
        })
    }

    /// Returns the delays of checks since the last call.
    pub(super) async fn lateness(&self) -> anyhow::Result<LatenessFigures> {
        let report = self.engine.lateness().await?;
        Ok(LatenessFigures {
            p50_us: report.percentile_us(50.0),
            p99_us: report.percentile_us(99.0),
            max_us: report.max_us(),
            on_time: report.count_within(ON_TIME_MS * 1_000),
        })
    }

    /// Returns the number of attempts that could not be made and of skipped runs, by reason; without zeros.
    pub(super) fn shed_by_reason(&self) -> HashMap<&'static str, u64> {
        let counters = self.engine.counters();
        let troubles =
            LocalFault::ALL.into_iter().map(|trouble| (trouble.as_str(), counters.unmeasured(trouble).get()));
        let others = [("missed", counters.missed.get()), ("unrecorded", counters.unrecorded.get())];
        troubles.chain(others).filter(|(_, count)| *count > 0).collect()
    }

    /// Stops the pipeline; returns the bytes of the history per stored result, if the run owns the history.
    pub(super) async fn stop(self) -> anyhow::Result<Option<f64>> {
        self.engine.stop().await;
        self.recorder.send(DrainRequest).await.context("the recorder had stopped before")?;
        self.recorder_thread.stop();
        self.databases.main.close().await;
        // Closing the last connection moves the write-ahead log into the file.
        self.databases.history.close().await;
        let rows = self.recorded.acked.load(Ordering::Relaxed);
        if !self.owns_history || rows == 0 {
            return Ok(None);
        }
        Ok(Some(self.folder.bytes_of(HISTORY_FILE)? as f64 / rows as f64))
    }
}

fn service(key: ServiceKey, kind: BenchKind, target: &str, plan: &ProbeBenchPlan) -> Service {
    let now = Timestamp::from_ms(0);
    Service {
        key,
        id: Id::random(),
        organisation: 1,
        name: format!("service {key}"),
        check_type: kind.check_type(),
        target: Some(target.to_owned()),
        settings: Some(ServiceSettings {
            interval_seconds: plan.interval_seconds,
            timeout_seconds: 10,
            retries: 1,
            assigned_probes: None,
            probe_roles: None,
            config: kind.config(plan.targets.is_empty()),
            rules: StatusRules::default(),
        }),
        configured_at: Some(now),
        pause: None,
        status_override: None,
        created_at: now,
        updated_at: now,
        revision: 1,
        in_planned_maintenance: false,
    }
}
