//! This process as a remote location (`watchkeeper probe`): it receives definitions, and sends results.
//!
//! - [`identity`]: the location's identity from the enrolment, with its keys.
//! - `catalogue`: the location's services with their versions over time; `definition_follower` updates it,
//!   `archive` stores it on disk.
//! - `result_sender`: sends results to the engine; the recorder keeps them until they are delivered.
//! - `background_tasks`: receive requests for checks, report the location's state, and renew its token.
//!
//! A location runs an engine of its own: schedule, retries and lateness are those of every engine, and continue
//! without a connection. It judges nothing: the status of a service is decided by an engine node from all
//! locations.

mod archive;
mod background_tasks;
mod catalogue;
mod definition_follower;
pub mod identity;
mod result_sender;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actix::Arbiter;
use anyhow::Context as _;
use tokio::task::JoinHandle;

use crate::agent::archive::{DefinitionArchive, write_on_change};
use crate::agent::background_tasks::{CheckRequestListener, PresenceReporter, TokenRenewal};
use crate::agent::catalogue::ServiceCatalogue;
use crate::agent::definition_follower::DefinitionFollower;
use crate::agent::identity::LocationIdentity;
use crate::agent::result_sender::ResultSender;
use crate::bus::connection::BusConnection;
use crate::clock::Clock;
use crate::config::Config;
use crate::config::limits::{EngineLimits, RecordLimits};
use crate::engine::registry::LocationRegistry;
use crate::engine::shard::ShardThreads;
use crate::engine::{Engine, EngineParts};
use crate::model::location::Location;
use crate::probe::prober::Prober;
use crate::record::recorder::{self, RecordCounters, Recorder};
use crate::record::spool::Spool;
use crate::supervise::{ActorHandle, ActorKind, ActorPlacement, StopActor, Supervisor};

/// Total time limit of a stop.
const STOP_LIMIT: Duration = Duration::from_secs(9);
/// Maximum age of results before they are sent, in milliseconds.
const BATCH_MS: u64 = 250;
/// Maximum number of results in memory in normal operation, more than all shards send at once; beyond it all results go to
/// the disk.
const WAITING_RESULTS: usize = 32_768;

const KEEPING: ActorKind = ActorKind::restarting("definitions_on_disk");
const FOLLOWING: ActorKind = ActorKind::restarting("definitions");
const ATTENTION: ActorKind = ActorKind::restarting("attention");
const SELF_REPORT: ActorKind = ActorKind::restarting("presence");
const RENEWAL: ActorKind = ActorKind::restarting("renewal");

/// A running process that is a remote location.
#[derive(Debug)]
pub struct Agent {
    engine: Engine,
    recorder: ActorHandle<Recorder>,
    recorder_thread: Arbiter,
    tasks: Vec<JoinHandle<()>>,
    archive: DefinitionArchive,
    catalogue: Arc<ServiceCatalogue>,
}

/// The dependencies of a location at its start.
pub struct AgentParts<'a> {
    /// Settings of the process.
    pub config: &'a Config,
    /// Source of the wall time.
    pub clock: Clock,
    /// The supervisor of the location's actors.
    pub supervisor: &'a Supervisor,
    /// Keys and token of the location.
    pub identity: LocationIdentity,
    /// Carries out the checks.
    pub prober: Arc<dyn Prober>,
}

impl Agent {
    /// Starts checking the stored services, and following changes of their definitions.
    ///
    /// # Errors
    ///
    /// When a setting or file cannot be used; the message is one line.
    pub async fn start(parts: AgentParts<'_>) -> anyhow::Result<Self> {
        let AgentParts { config, clock, supervisor, identity, prober } = parts;
        let folder = &config.data_dir;
        supervisor.watch_thread("the main thread", &Arbiter::current());
        let limits = &config.limits.bus;
        let connection =
            BusConnection::open_with_retries(&identity.servers, identity.credentials()?, limits).await?;
        let catalogue = Arc::new(ServiceCatalogue::default());
        let code = identity.code.clone();
        let uplink =
            ResultSender::new(connection.clone(), code.clone(), Arc::clone(&catalogue), clock.clone());
        let counters = Arc::new(RecordCounters::default());
        let (recorder, recorder_thread) = start_recorder(config, supervisor, uplink, &counters)?;
        let here = Location {
            code: identity.code.clone(),
            name: identity.name.clone(),
            place: String::new(),
            country_code: "ZZ".into(),
        };
        let roster = Arc::new(LocationRegistry::new(vec![here]));
        let engine_limits =
            EngineLimits { batch_ms: BATCH_MS, failures_at_once: true, ..config.limits.engine.clone() };
        let engine = Engine::start(&EngineParts {
            roster: Arc::clone(&roster),
            probers: vec![prober],
            clock: clock.clone(),
            threads: ShardThreads::Own(engine_limits.shards),
            limits: engine_limits,
            sink: recorder.address().recipient(),
            supervisor: supervisor.clone(),
        });
        let archive = DefinitionArchive::at(folder);
        let follower = DefinitionFollower {
            connection: connection.clone(),
            code: identity.code.clone(),
            key: identity.sealing.clone(),
            engine: engine.clone(),
            roster,
            catalogue: Arc::clone(&catalogue),
            archive: archive.clone(),
            clock: clock.clone(),
            applied: Arc::default(),
        };
        follower.resume().await;
        let report = PresenceReporter::new(connection.clone(), code, engine.clone(), counters, clock.clone());
        let attention = CheckRequestListener {
            connection: connection.clone(),
            code: identity.code.clone(),
            engine: engine.clone(),
        };
        let renewal = TokenRenewal { connection, identity, clock };
        let tasks = vec![
            supervisor.spawn(KEEPING, {
                let (archive, catalogue) = (archive.clone(), Arc::clone(&catalogue));
                move || write_on_change(archive.clone(), Arc::clone(&catalogue))
            }),
            supervisor.spawn(FOLLOWING, move || follower.clone().run()),
            supervisor.spawn(ATTENTION, move || attention.clone().run()),
            supervisor.spawn(SELF_REPORT, move || report.clone().run()),
            supervisor.spawn(RENEWAL, move || renewal.clone().run()),
        ];
        Ok(Self { engine, recorder, recorder_thread, tasks, archive, catalogue })
    }

    /// Stops in order: first the checks, then the recorder, once all results are with the engine or on the
    /// disk.
    ///
    /// # Errors
    ///
    /// When the stop takes longer than the limit.
    pub async fn stop(self) -> anyhow::Result<()> {
        let stopping = async {
            // The recorder still sends results by itself.
            self.tasks.iter().for_each(JoinHandle::abort);
            self.engine.stop().await;
            self.recorder.send(StopActor).await.context("the recorder had stopped before")?;
            self.recorder_thread.stop();
            self.archive.write(&self.catalogue)?;
            Ok(())
        };
        tokio::time::timeout(STOP_LIMIT, stopping).await.context("stopping took too long")?
    }
}

fn start_recorder(
    config: &Config,
    supervisor: &Supervisor,
    uplink: ResultSender,
    counters: &Arc<RecordCounters>,
) -> anyhow::Result<(ActorHandle<Recorder>, Arbiter)> {
    let thread = Arbiter::new();
    let limits = RecordLimits {
        waiting_results: WAITING_RESULTS,
        spools_while_failing: true,
        ..config.record.clone()
    };
    let spool = spool(&config.data_dir, limits.spool_max_bytes)?;
    supervisor.watch_thread("the recorder", &thread.handle());
    let recorder = Recorder::new(Arc::new(uplink), limits, Arc::clone(counters)).with_spool(Some(spool));
    let placement = ActorPlacement { thread: thread.handle(), mailbox: recorder::MAILBOX };
    Ok((supervisor.start_once(&placement, recorder), thread))
}

fn spool(data_dir: &Path, max_bytes: u64) -> anyhow::Result<Spool> {
    let folder = data_dir.join("spool");
    Spool::open(&folder, max_bytes).with_context(|| format!("cannot use the folder {}", folder.display()))
}
