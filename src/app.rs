//! Builds the floors bottom-up, starts them, stops them in order.
//!
//! Nothing here is global: two whole apps can run in one process. What is started first is stopped last.

pub mod first_start;
mod past;
mod plan_limits;
mod public;
pub mod reconcile;

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, Addr, Arbiter, Recipient};
use anyhow::{Context as _, bail};
use futures_util::FutureExt as _;
use tokio::task::JoinHandle;

use crate::announcer::Announcer;
use crate::clock::Clock;
use crate::clock::guard::ClockGuard;
use crate::config::bytes::Bytes;
use crate::config::limits::{CompactionLimits, EngineLimits};
use crate::config::sources::BadConfig;
use crate::config::{Config, EgressChoice, LocationConfig};
use crate::engine::aggregator::Batch;
use crate::engine::definition::{Definer, Roster};
use crate::engine::shard::Threads;
use crate::engine::{Engine, EngineParts};
use crate::http::server::Server;
use crate::http::v1::creation_times::CreationTimes;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::location::{Location, LocationCode, PUSH};
use crate::model::plans::PlanTable;
use crate::model::secret::Sealer;
use crate::probe::prober::{Local, Prober};
use crate::probe::toolbox::{Toolbox, ToolboxConfig};
use crate::record::compaction::{Compaction, CompactionCounters, Compactor, RetentionPolicy};
use crate::record::recorder::{RecordCounters, Recorder, Stop};
use crate::record::recovery::{self, Returned};
use crate::record::spool::Spool;
use crate::record::upkeep;
use crate::store::database::sqlite_url;
use crate::store::{Databases, idempotency_keys, installation};
use crate::timetable::domains::{self, DomainClock};
use crate::timetable::maintenances::{self, MaintenanceClock, Works};
use crate::timetable::wall_clock::{self, ClockMetrics};

/// The embedded databases in the data folder.
const MAIN_FILE: &str = "main.db";
const HISTORY_FILE: &str = "history.db";
/// How long a stop may take in all.
const STOP_LIMIT: Duration = Duration::from_secs(9);

/// A running Watchkeeper.
pub struct App {
    /// Where the API listens.
    pub address: SocketAddr,
    /// What the first start made; `None` on later starts.
    pub first_start: Option<first_start::FirstStart>,
    server: Server,
    engine: Engine,
    recorder: Addr<Recorder>,
    recorder_thread: Arbiter,
    compaction_thread: Arbiter,
    maintenance_clock: Addr<MaintenanceClock>,
    background: Vec<JoinHandle<()>>,
    domain_clock: Addr<DomainClock>,
    databases: Databases,
    /// Held until everything has stopped.
    lock: File,
}

/// What commands need that work on the databases alone.
pub struct Foundation {
    /// The settings.
    pub config: Config,
    /// Wall time.
    pub clock: Clock,
    /// Both databases, up to date.
    pub databases: Databases,
    /// Seals and opens secrets.
    pub sealer: Sealer,
}

impl Foundation {
    /// Makes the data folder, opens the databases and checks the key.
    ///
    /// # Errors
    /// What is wrong with folder, key or database, in one line.
    pub async fn lay(config: Config, clock: Clock) -> anyhow::Result<Self> {
        first_start::make_data_dir(&config.data_dir)?;
        let (sealer, new_key) = first_start::sealer(&config)?;
        let (main_url, history_url) = database_urls(&config);
        let embedded = [(MAIN_FILE, &config.database_url), (HISTORY_FILE, &config.history_url)];
        let embedded: Vec<&str> =
            embedded.into_iter().filter(|(_, url)| url.is_none()).map(|(name, _)| name).collect();
        first_start::make_database_files(&config.data_dir, &embedded)?;
        let databases =
            Databases::open_without_waiting(&main_url, &history_url, &config.limits.store).await?;
        let transaction = databases.main.begin().await?;
        let check = installation::check_key(&transaction, &sealer).await?;
        match (check, &new_key) {
            (installation::KeyCheck::Right, Some(key)) => key.keep()?,
            (installation::KeyCheck::Right, None) => {}
            (installation::KeyCheck::Wrong, None) => {
                bail!("the secret key is not the one that this installation's secrets were sealed with");
            }
            (installation::KeyCheck::Wrong, Some(key)) => {
                bail!(
                    "{} is missing; put the key back that this installation's secrets were sealed with",
                    key.file().display()
                );
            }
        }
        transaction.commit().await?;
        Ok(Self { config, clock, databases, sealer })
    }
}

impl App {
    /// Starts everything. Returns when the API answers.
    ///
    /// # Errors
    /// What cannot be used, in one line.
    pub async fn start(config: Config, clock: Clock) -> anyhow::Result<Self> {
        let (listener, config) = listen(config)?;
        let address = config.listen;
        let toolboxes = toolboxes(&config, &clock)?;
        let looking = Arc::new(toolbox(&config, &clock, None)?);
        let first_start::FolderLock { file: lock, node } = take_folder(&config)?;
        let Foundation { config, clock, databases, sealer } = Foundation::lay(config, clock).await?;
        let guard = wall_clock::guard(&databases, &clock, config.trust_clock).await?;
        let first_start = prepare(&config, &clock, &databases, node).await?;
        let roster = Arc::new(roster(&config)?);
        let limits = config.limits.clone();
        let counters = Arc::new(RecordCounters::default());
        let recorder_thread = Arbiter::new();
        let returned = Arc::new(Returned::default());
        let spool = past::spool(&config)?;
        let recorder =
            start_recorder((&recorder_thread, spool), &databases, (&config, &roster), (&counters, &returned));
        let is_past_whole = past::replay(&databases, &recorder).await;
        let engine = start_engine((&roster, toolboxes), &clock, &limits.engine, recorder.clone().recipient());
        let definer = Definer { sealer, roster, limits: limits.engine };
        let announcer =
            Announcer { databases: databases.clone(), engine: engine.clone(), definer: definer.clone() };
        let restored = past::restore_services(&announcer, is_past_whole).await?;
        let retry = Duration::from_millis(config.record.retry_ms);
        let works = Works { announcer: announcer.clone(), clock: clock.clone() };
        let background = vec![
            past::restore_figures((&databases, &recorder), &engine, (restored, retry)).await,
            actix::spawn(past::prepare_history(databases.clone(), retry)),
            actix::spawn(recovery::run(databases.clone(), returned, retry)),
            actix::spawn(reconcile::run(announcer.clone())),
            spawn_upkeep(&databases, &guard, config.record.upkeep_ms),
        ];
        let compaction_thread = Arbiter::new();
        let compacted = start_compactor(&compaction_thread, &databases, (&config, &guard))?;
        let clock_metrics = Arc::new(ClockMetrics(Arc::clone(&guard)));
        let collectors: Vec<Arc<dyn crate::telemetry::Collect>> =
            vec![engine.counters(), engine.suspicions(), counters, compacted, clock_metrics];
        let parts = AppState {
            base_url: config.base_url(),
            plans: PlanTable::new(&config.plans)?,
            creations: CreationTimes::default(),
            domain_names: Arc::new(public::domain_names(&config)),
            toolbox: looking,
            config: Arc::new(config),
            clock,
            guard,
            databases: databases.clone(),
            node,
            engine: engine.clone(),
            definer,
            announcer,
            collectors,
        };
        let domain_clock = DomainClock::new(public::domain_watch(&parts)).start();
        let server = public::open(parts, listener)?;
        Ok(Self {
            address,
            first_start,
            server,
            engine,
            recorder,
            recorder_thread,
            compaction_thread,
            maintenance_clock: MaintenanceClock::new(works).start(),
            background,
            domain_clock,
            databases,
            lock,
        })
    }

    /// Stops in order: no new requests, no new checks, everything recorded, databases closed.
    ///
    /// # Errors
    /// When that does not end in time.
    pub async fn stop(self) -> anyhow::Result<()> {
        let stopping = async {
            self.server.stop().await;
            for task in &self.background {
                task.abort();
            }
            // It may have ended before.
            let _ = self.domain_clock.send(domains::Stop).await;
            if self.maintenance_clock.send(maintenances::Stop).await.is_err() {
                tracing::warn!("the clock of the maintenances had stopped before");
            }
            self.engine.stop().await;
            self.recorder.send(Stop).await.context("the recorder had stopped before")?;
            self.recorder_thread.stop();
            // A pass may be cut off anywhere.
            self.compaction_thread.stop();
            self.databases.main.close().await;
            self.databases.history.close().await;
            drop(self.lock);
            Ok(())
        };
        tokio::time::timeout(STOP_LIMIT, stopping).await.context("stopping took too long")?
    }
}

/// What goes by the wall clock in the main database, and the look at the clock itself.
fn spawn_upkeep(databases: &Databases, guard: &Arc<ClockGuard>, every_ms: u64) -> JoinHandle<()> {
    let upkeep = upkeep::run(databases.clone(), Arc::clone(guard), Duration::from_millis(every_ms));
    let looks = wall_clock::run(databases.clone(), Arc::clone(guard));
    actix::spawn(futures_util::future::join(upkeep, looks).map(drop))
}

/// What ran under a key on this node when an earlier process died runs no more; the embedded database is this node's alone.
async fn free_keys(config: &Config, databases: &Databases, node: Id) -> anyhow::Result<()> {
    let transaction = databases.main.begin().await?;
    if config.database_url.is_none() {
        idempotency_keys::free_all_running(&transaction).await?;
    } else {
        idempotency_keys::free_running_on(&transaction, node).await?;
    }
    Ok(transaction.commit().await?)
}

/// Brings the main database to where work can start: what the last process left, what the first start makes, what the plans
/// allow.
async fn prepare(
    config: &Config,
    clock: &Clock,
    databases: &Databases,
    node: Id,
) -> anyhow::Result<Option<first_start::FirstStart>> {
    demand_egress_choice(config, databases).await?;
    free_keys(config, databases, node).await?;
    let first_start = first_start::once(config, clock, databases).await?;
    plan_limits::enforce(&databases.main, &PlanTable::new(&config.plans)?, clock.now()).await?;
    Ok(first_start)
}

/// With a second organisation it must have been decided which addresses checks may reach.
async fn demand_egress_choice(config: &Config, databases: &Databases) -> anyhow::Result<()> {
    let organisations = crate::store::organisations::count(databases.main.reader()).await?;
    if organisations > 1 && config.egress.is_none() {
        let problem =
            "there are several organisations, so egress must be set: public-only or private-allowed";
        return Err(BadConfig(problem.into()).into());
    }
    Ok(())
}

pub(crate) fn start_recorder(
    (thread, spool): (&Arbiter, Option<Spool>),
    databases: &Databases,
    (config, roster): (&Config, &Roster),
    (counters, returned): (&Arc<RecordCounters>, &Arc<Returned>),
) -> Addr<Recorder> {
    let codes = roster.locations().iter().map(|location| location.code.clone());
    let codes = codes.chain([LocationCode::push()]).collect();
    let recorder =
        Recorder::new(databases.history.clone(), codes, config.record.clone(), Arc::clone(counters));
    let recorder = recorder.noting(Arc::clone(returned)).spooling(spool);
    Recorder::start_in_arbiter(&thread.handle(), move |_| recorder)
}

fn start_compactor(
    thread: &Arbiter,
    databases: &Databases,
    (config, guard): (&Config, &Arc<ClockGuard>),
) -> anyhow::Result<Arc<CompactionCounters>> {
    let plans = PlanTable::new(&config.plans)?;
    let days = Arc::new(move |organisation: &Organisation| plans.limits(organisation).retention_days);
    let retention = RetentionPolicy::ByPlan { main: databases.main.clone(), days };
    let counters = Arc::new(CompactionCounters::default());
    let max_history_bytes = config.max_history_bytes.map(Bytes::get);
    let limits = CompactionLimits { max_history_bytes, ..config.compaction.clone() };
    let compaction = Compaction::new(databases.history.clone(), retention, limits, Arc::clone(&counters));
    let compactor = Compactor::new(compaction, Arc::clone(guard));
    Compactor::start_in_arbiter(&thread.handle(), move |_| compactor);
    Ok(counters)
}

fn database_urls(config: &Config) -> (String, String) {
    let file = |name: &str| sqlite_url(&config.data_dir.join(name));
    (
        config.database_url.clone().unwrap_or_else(|| file(MAIN_FILE)),
        config.history_url.clone().unwrap_or_else(|| file(HISTORY_FILE)),
    )
}

/// Listens; the settings then say on which address really.
fn listen(config: Config) -> anyhow::Result<(TcpListener, Config)> {
    let listener = TcpListener::bind(config.listen)
        .with_context(|| format!("cannot listen on {}; is another Watchkeeper running?", config.listen))?;
    let listen = listener.local_addr()?;
    Ok((listener, Config { listen, ..config }))
}

/// Makes the data folder, and takes it for this process.
fn take_folder(config: &Config) -> anyhow::Result<first_start::FolderLock> {
    first_start::make_data_dir(&config.data_dir)?;
    first_start::lock(&config.data_dir)
}

fn start_engine(
    (roster, probers): (&Arc<Roster>, Vec<Arc<dyn Prober>>),
    clock: &Clock,
    limits: &EngineLimits,
    sink: Recipient<Batch>,
) -> Engine {
    Engine::start(&EngineParts {
        roster: Arc::clone(roster),
        probers,
        clock: clock.clone(),
        limits: limits.clone(),
        threads: Threads::Own(limits.shards),
        sink,
    })
}

/// The locations of this process: those listed, or the one named.
fn locations(config: &Config) -> Vec<LocationConfig> {
    if !config.probe.locations.is_empty() {
        return config.probe.locations.clone();
    }
    vec![LocationConfig { code: config.location.clone(), ..LocationConfig::default() }]
}

pub(crate) fn roster(config: &Config) -> anyhow::Result<Roster> {
    let location = |entry: LocationConfig| {
        let name = if entry.name.is_empty() { entry.code.clone() } else { entry.name };
        let country_code = if entry.country_code.is_empty() { "ZZ".into() } else { entry.country_code };
        if entry.code == PUSH {
            bail!("no location can have the code '{PUSH}': it stands for pings");
        }
        Ok(Location { code: entry.code.parse()?, name, place: entry.location, country_code })
    };
    Ok(Roster::new(locations(config).into_iter().map(location).collect::<anyhow::Result<_>>()?))
}

pub(crate) fn toolboxes(config: &Config, clock: &Clock) -> anyhow::Result<Vec<Arc<dyn Prober>>> {
    let prober = |location: LocationConfig| {
        let toolbox = toolbox(config, clock, location.source_address)?;
        Ok(Arc::new(Local::new(toolbox)) as Arc<dyn Prober>)
    };
    locations(config).into_iter().map(prober).collect()
}

/// What checks of this process are made with.
///
/// # Errors
/// When the name servers or certificate authorities cannot be used.
pub fn toolbox(
    config: &Config,
    clock: &Clock,
    source_address: Option<std::net::IpAddr>,
) -> anyhow::Result<Toolbox> {
    let egress = match config.egress.unwrap_or(EgressChoice::PrivateAllowed) {
        EgressChoice::PrivateAllowed => crate::egress::EgressPolicy::PrivateAllowed,
        EgressChoice::PublicOnly => crate::egress::EgressPolicy::PublicOnly,
    };
    Ok(Toolbox::new(ToolboxConfig {
        dns_servers: config.probe.dns_servers.clone(),
        ca_file: config.probe.ca_file.clone(),
        egress,
        source_address,
        clock: clock.clone(),
        ..ToolboxConfig::default()
    })?)
}
