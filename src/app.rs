//! Builds the layers bottom-up, starts them, and stops them in order.
//!
//! There is no global state: two apps can run in one process. What starts first stops last, and every task runs under
//! the app's supervisor.

mod background;
pub mod backups;
mod bus;
mod certificates;
mod cluster;
pub mod database_files;
pub mod embedded;
mod figures;
pub mod first_start;
pub mod first_user;
mod foundation;
mod history_restore;
pub(crate) mod locations;
mod notices;
mod notifiers;
mod notify;
mod plan_limits;
mod public;
pub mod reconcile;
pub(crate) mod recording;
mod remote;
pub mod stored_pages;
mod watchdog;

use std::cell::Cell;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use actix::Arbiter;
use anyhow::Context as _;

pub use crate::app::foundation::{Foundation, require_installation};
use crate::app::locations::LocalLocation;
pub use crate::app::locations::{outbound, toolbox};

use crate::app::background::{BackgroundParts, BackgroundTasks, MeasurementSinks};
use crate::app::bus::BusMembership;
use crate::app::cluster::ClusterMembership;
use crate::app::figures::FigureSources;
use crate::app::first_start::{FirstStart, FolderLock};
use crate::app::public::PublicSide;
use crate::app::recording::{
    CompactorParts, RecorderParts, StartedCompactor, start_compactor, start_recorder,
};
use crate::app::remote::RemoteLocations;
use crate::backup::BackupState;
use crate::bus::peers::BusPeers;
use crate::clock::Clock;
use crate::clock::guard::ClockGuard;
use crate::config::Config;
use crate::config::listen_address::ListenAddress;
use crate::engine::definition::DefinitionCompiler;
use crate::engine::shard::ShardThreads;
use crate::engine::{Engine, EngineParts};
use crate::events::EventHub;
use crate::feed::ChangeSignal;
use crate::fleet_view::FleetViews;
use crate::http::gate::rate_limit::RateLimiter;
use crate::http::v1::creation_times::CreationTimes;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::plans::PlanTable;
use crate::model::token::TokenText;
use crate::notify::counters::NotifyCounters;
use crate::notify::watchdog::WatchdogCounters;
use crate::record::compaction::{CompactionCounters, Compactor};
use crate::record::fence::FenceCounters;
use crate::record::recorder::{RecordCounters, Recorder};
use crate::service_router::ServiceRouter;
use crate::service_router::change_queue::ChangeQueue;
use crate::service_router::ownership::Ownership;
use crate::service_router::peers::{PeerNodes, RequestCounter};
use crate::store::Databases;
use crate::subscribers::counters::SubscriberCounters;
use crate::supervise::{ActorHandle, StopActor, Supervisor};
use crate::telemetry::MetricCollector;
use crate::timetable::wall_clock::{self, ClockMetrics};

/// Time limit of a stop.
const STOP_LIMIT: Duration = Duration::from_secs(9);

/// A running server with all its parts.
pub struct App {
    /// Where the API listens, with the actual port.
    pub listen: ListenAddress,
    /// The token that the first start created, and its file; `None` on later starts.
    pub first_start: Option<FirstStart>,
    server: PublicSide,
    background: BackgroundTasks,
    engine: Engine,
    recording: HistoryRecording,
    databases: Databases,
    /// The service for remote locations; `None` when everything runs in this process.
    remote: Option<RemoteLocations>,
    /// Keeps this node's share of the services; `None` on a node that is alone.
    cluster: Option<ClusterMembership>,
    /// Lock of the data folder, held until everything has stopped.
    lock: File,
}

/// The recorder and the compactor, which write the history, with their threads and shared state.
struct HistoryRecording {
    recorder: ActorHandle<Recorder>,
    recorder_thread: Arbiter,
    compactor: ActorHandle<Compactor>,
    compactor_thread: Arbiter,
    recorded: Arc<RecordCounters>,
    compacted: Arc<CompactionCounters>,
    change_signal: Arc<ChangeSignal>,
    /// Subscribers to events about durable changes.
    events: Arc<EventHub>,
    fenced: Arc<FenceCounters>,
    /// Counters of the watchdog's pings.
    pings: Arc<WatchdogCounters>,
    /// Counters of messages to people.
    notify_counters: Arc<NotifyCounters>,
    subscriber_counters: Arc<SubscriberCounters>,
    /// State of the backups that this server makes by itself.
    backups: Arc<BackupState>,
}

impl HistoryRecording {
    /// Returns the parts that background work needs.
    const fn measured(&self) -> MeasurementSinks<'_> {
        MeasurementSinks {
            recorder: &self.recorder,
            change_signal: &self.change_signal,
            events: &self.events,
        }
    }

    /// Starts to share the services with other nodes; `None` on a node that is alone.
    fn join_cluster(
        &self,
        bus: Option<&BusMembership>,
        router: &ServiceRouter,
        supervisor: &Supervisor,
    ) -> Option<ClusterMembership> {
        ClusterMembership::start(bus, router, &self.recorder, &self.change_signal, supervisor)
    }

    /// Returns the source of the operational figures.
    fn figures(
        &self,
        engine: &Engine,
        remote: Option<&RemoteLocations>,
        cluster: Option<&ClusterMembership>,
    ) -> FigureSources {
        FigureSources::new(engine, &self.recorded, &self.fenced, remote, cluster)
    }

    /// Returns the collectors of `/metrics`.
    fn collectors(
        &self,
        router: &ServiceRouter,
        guard: &Arc<ClockGuard>,
        supervisor: &Supervisor,
        remote: Option<&RemoteLocations>,
        cluster: Option<&ClusterMembership>,
    ) -> Vec<Arc<dyn MetricCollector>> {
        let clock = Arc::new(ClockMetrics(Arc::clone(guard)));
        let (recorded, compacted) = (Arc::clone(&self.recorded), Arc::clone(&self.compacted));
        let (events, kinds) = (Arc::clone(&self.events), Arc::new(supervisor.clone()));
        let (pings, notify_counters) = (Arc::clone(&self.pings), Arc::clone(&self.notify_counters));
        let (backups, subscribers) = (Arc::clone(&self.backups), Arc::clone(&self.subscriber_counters));
        let always: [Arc<dyn MetricCollector>; 12] = [
            router.engine.counters(),
            router.engine.roster(),
            recorded,
            compacted,
            clock,
            kinds,
            events,
            pings,
            notify_counters,
            subscribers,
            backups,
            Arc::new(router.unreadable.clone()),
        ];
        let cluster_tasks = cluster.into_iter().flat_map(|cluster| {
            [
                Arc::clone(&cluster.counters) as Arc<dyn MetricCollector>,
                Arc::clone(&self.fenced) as Arc<dyn MetricCollector>,
            ]
        });
        let remote_tasks = remote.into_iter().flat_map(RemoteLocations::collectors);
        always.into_iter().chain(remote_tasks).chain(cluster_tasks).collect()
    }
}

impl App {
    /// Makes the link that creates the first user of the console; `None` if there is a user.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn make_first_user_link(&self, clock: &Clock) -> anyhow::Result<Option<TokenText>> {
        first_user::make_link(&self.databases, clock).await
    }

    /// Starts everything and returns when the API answers. Dropping the future is as safe as killing the process.
    ///
    /// # Errors
    ///
    /// When a setting or resource cannot be used; the message is one line.
    pub async fn start(config: Config, clock: Clock, supervisor: Supervisor) -> anyhow::Result<Self> {
        let (sockets, config) = public::listen(config)?;
        let (locations, toolbox) = locations::tools(&config, &clock)?;
        let FolderLock { file: lock, node } = take_data_folder(&config)?;
        let bus = bus::join(&config).await?;
        let foundation = Foundation::open_or_create(config, clock).await?;
        // Ownership is checked before anything is written.
        let ownership = cluster::ownership(&foundation, bus.as_ref(), node).await?;
        let guard = clock_guard(&foundation).await?;
        let first_start = complete_first_start(&foundation, node).await?;
        let (compiler, limiter) = (compiler(&foundation)?, public::limiter(&foundation.config));
        let recording = start_recording(&foundation, &compiler, &guard, &ownership, &supervisor)?;
        let is_past_whole = history_restore::replay(&foundation.databases, &recording.recorder).await;
        let engine = start_engine(&foundation, &compiler, &locations, &recording, &supervisor);
        let router = ServiceRouter::alone(foundation.databases.clone(), engine.clone(), compiler);
        let router = with_cluster(router, ownership, bus.as_ref(), &limiter, &recording.change_signal);
        let restored = history_restore::restore_services(&router, &guard, is_past_whole).await?;
        let remote = remote::start(&foundation, bus.as_ref(), &router, &recording.fenced, &supervisor)?;
        let cluster = recording.join_cluster(bus.as_ref(), &router, &supervisor);
        let state = AppState {
            base_url: foundation.config.base_url(),
            plans: PlanTable::new(&foundation.config.plans)?,
            creations: CreationTimes::default(),
            domain_names: Arc::new(public::domain_names(&foundation.config)),
            toolbox,
            certificates: certificates::cache(&foundation),
            config: Arc::new(foundation.config.clone()),
            clock: foundation.clock.clone(),
            guard: Arc::clone(&guard),
            backups: Arc::clone(&recording.backups),
            databases: foundation.databases.clone(),
            node,
            engine: engine.clone(),
            compiler: router.compiler.clone(),
            router: router.clone(),
            fleets: Arc::new(FleetViews::new(router.clone())),
            carrier: notify::carrier(&foundation)?,
            limiter,
            cached_bytes: Arc::default(),
            events: Arc::clone(&recording.events),
            collectors: recording.collectors(&router, &guard, &supervisor, remote.as_ref(), cluster.as_ref()),
            figures: Box::new(recording.figures(&engine, remote.as_ref(), cluster.as_ref())),
            supervisor: supervisor.clone(),
        };
        let background = BackgroundTasks::start(BackgroundParts {
            supervisor: &supervisor,
            router: &router,
            measured: recording.measured(),
            domains: public::domain_watch(&state),
            foundation: &foundation,
            guard: &guard,
            restored,
            locations: &locations,
            node,
            notifiers: notifier_parts(&foundation, &state, &recording)?,
        })
        .await;
        cluster::wait_for_share(&router.ownership).await;
        Ok(Self {
            listen: foundation.config.listen,
            first_start,
            server: PublicSide::open(state, sockets)?,
            background,
            engine,
            recording,
            databases: foundation.databases,
            remote,
            cluster,
            lock,
        })
    }

    /// Returns a message if a database file has been removed or replaced while it was open.
    #[must_use]
    pub fn removed_file(&self) -> Option<String> {
        self.databases.check_not_replaced().err().map(|error| error.to_string())
    }

    /// Stops in order: no new requests, no new checks, everything recorded, databases closed.
    ///
    /// # Errors
    /// When the stop takes longer than the limit, or the recorder had stopped before.
    pub async fn stop(self) -> anyhow::Result<()> {
        let awaited = Cell::new("requests under way");
        let stopping = async {
            let listening_span = self.engine.listening().close();
            self.recording.events.close();
            self.server.stop().await;
            awaited.set("the timetable and background tasks");
            self.background.stop(listening_span).await;
            if let Some(cluster) = &self.cluster {
                awaited.set("the hand-over to other nodes");
                cluster.leave().await;
            }
            if let Some(remote) = &self.remote {
                remote.stop().await;
            }
            awaited.set("the engine");
            self.engine.stop().await;
            awaited.set("the recorder");
            self.recording.recorder.send(StopActor).await.context("the recorder had stopped before")?;
            self.recording.recorder_thread.stop();
            awaited.set("the compactor");
            // The compactor is stopped before its thread ends: connections dropped during a compaction need the
            // thread's runtime.
            let _ = self.recording.compactor.send(StopActor).await;
            self.recording.compactor_thread.stop();
            awaited.set("the main database");
            self.databases.main.close().await;
            awaited.set("the history database");
            self.databases.history.close().await;
            drop((self.remote, self.lock));
            Ok(())
        };
        let stopped = tokio::time::timeout(STOP_LIMIT, stopping).await;
        stopped.with_context(|| format!("stopping took too long: {} had not ended", awaited.get()))?
    }
}

/// Locks the data folder for this process as long as the returned file is open.
fn take_data_folder(config: &Config) -> anyhow::Result<FolderLock> {
    first_start::make_data_dir(&config.data_dir)?;
    first_start::lock(&config.data_dir)
}

/// Returns the guard of the wall clock.
async fn clock_guard(foundation: &Foundation) -> anyhow::Result<Arc<ClockGuard>> {
    let Foundation { config, databases, clock, .. } = foundation;
    Ok(wall_clock::guard(databases, clock, config.trust_clock).await?)
}

/// Adapts the stored data to the settings before anything reads it; a first start also creates an organisation and a
/// token.
async fn complete_first_start(foundation: &Foundation, node: Id) -> anyhow::Result<Option<FirstStart>> {
    let Foundation { config, clock, databases, .. } = foundation;
    foundation.require_egress_choice().await?;
    foundation.free_keys(node).await?;
    let first_start = first_start::once(config, clock, databases).await?;
    plan_limits::enforce(&databases.main, &PlanTable::new(&config.plans)?, clock.now()).await?;
    Ok(first_start)
}

fn compiler(foundation: &Foundation) -> anyhow::Result<DefinitionCompiler> {
    let Foundation { config, sealer, .. } = foundation;
    let roster = Arc::new(locations::roster(config)?);
    Ok(DefinitionCompiler { sealer: sealer.clone(), roster, limits: config.limits.engine.clone() })
}

fn notifier_parts(
    foundation: &Foundation,
    state: &AppState,
    recording: &HistoryRecording,
) -> anyhow::Result<notifiers::NotifierParts> {
    Ok(notifiers::NotifierParts {
        courier: notify::courier(state, &recording.notify_counters),
        subscribers: notify::subscriber_courier(foundation, state, &recording.subscriber_counters)?,
        notices: notices::notices(foundation, state, recording),
        watchdog: watchdog::watchdog(foundation, state.readiness(), recording)?,
        backups: backups::schedule(foundation, state)?,
        certificates: certificates::issuer(foundation, state)?,
    })
}

fn start_engine(
    foundation: &Foundation,
    compiler: &DefinitionCompiler,
    locations: &[LocalLocation],
    recording: &HistoryRecording,
    supervisor: &Supervisor,
) -> Engine {
    // The fleet runs on this thread.
    supervisor.watch_thread("the main thread", &Arbiter::current());
    Engine::start(&EngineParts {
        roster: Arc::clone(&compiler.roster),
        probers: locations::probers(locations),
        clock: foundation.clock.clone(),
        limits: compiler.limits.clone(),
        threads: ShardThreads::Own(compiler.limits.shards),
        sink: recording.recorder.address().recipient(),
        supervisor: supervisor.clone(),
    })
}

/// Returns the service router with the ownership of this node, and with a connection to other nodes if there is a bus.
fn with_cluster(
    alone: ServiceRouter,
    ownership: Ownership,
    bus: Option<&BusMembership>,
    limiter: &Arc<RateLimiter>,
    change_signal: &ChangeSignal,
) -> ServiceRouter {
    let peers = bus.map(|bus| Arc::new(BusPeers(bus.connection.clone())) as Arc<dyn PeerNodes>);
    ServiceRouter {
        changes: if bus.is_some() { ChangeQueue::with_consumer() } else { ChangeQueue::default() },
        peers: peers.filter(|_| ownership.member().is_some()),
        counts: Some(Arc::clone(limiter) as Arc<dyn RequestCounter>),
        stored: change_signal.stored(),
        ownership,
        ..alone
    }
}

fn start_recording(
    foundation: &Foundation,
    compiler: &DefinitionCompiler,
    guard: &Arc<ClockGuard>,
    ownership: &Ownership,
    supervisor: &Supervisor,
) -> anyhow::Result<HistoryRecording> {
    let Foundation { config, databases, .. } = foundation;
    let (recorder_thread, compactor_thread) = (Arbiter::new(), Arbiter::new());
    let (recorded, change_signal) = (Arc::new(RecordCounters::default()), Arc::new(ChangeSignal::default()));
    let fenced = Arc::new(FenceCounters::default());
    let recorder = start_recorder(RecorderParts {
        supervisor,
        thread: &recorder_thread,
        config,
        databases,
        roster: &compiler.roster,
        counters: Arc::clone(&recorded),
        ownership,
        fenced: &fenced,
        change_signal: Arc::clone(&change_signal),
        spool: history_restore::spool(config)?,
    });
    let compactor = CompactorParts { supervisor, thread: &compactor_thread, config, databases, guard };
    let StartedCompactor { compactor, counters: compacted } = start_compactor(&compactor)?;
    Ok(HistoryRecording {
        recorder,
        recorder_thread,
        compactor,
        compactor_thread,
        recorded,
        compacted,
        change_signal,
        events: Arc::new(EventHub::new(config.events.clone())),
        fenced,
        pings: Arc::default(),
        notify_counters: Arc::default(),
        subscriber_counters: Arc::default(),
        backups: Arc::new(BackupState::new(foundation.config.backup.folder.clone())),
    })
}
