//! Serves remote locations if NATS servers are configured, on a thread of its own.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix::Arbiter;
use anyhow::Context as _;
use futures_util::StreamExt as _;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::app::bus::BusMembership;
use crate::app::foundation::Foundation;
use crate::app::reconcile;
use crate::bus::connection::BusConnection;
use crate::bus::definitions;
use crate::bus::users::TokenIssuer;
use crate::clock::Clock;
use crate::config::Config;
use crate::config::limits::BusLimits;
use crate::model::location::LocationCode;
use crate::model::node::NodeName;
use crate::model::partition::PartitionSet;
use crate::record::fence::FenceCounters;
use crate::record::history_writer::HistoryWriter;
use crate::remote::assignments::AssignmentRegistry;
use crate::remote::check_requests::{self, CheckRequestSender};
use crate::remote::clocks::LocationClocks;
use crate::remote::counters::RemoteCounters;
use crate::remote::distribution::DefinitionDistributor;
use crate::remote::enrolment_service::EnrolmentService;
use crate::remote::gap_filler::{GapFiller, LateResultSpans};
use crate::remote::intake::ResultIntake;
use crate::remote::location_sync::{LocationSync, RecipientKeys};
use crate::remote::presences::PresenceListener;
use crate::service_router::ServiceRouter;
use crate::supervise::running_tasks::RunningTasks;
use crate::supervise::{ActorHandle, ActorKind, ActorPlacement, Supervisor};
use crate::telemetry::MetricCollector;

const CENSUS: ActorKind = ActorKind::restarting("location_census");
const ENROLMENT: ActorKind = ActorKind::restarting("enrolment_desk");
const DELIVERIES: ActorKind = ActorKind::restarting("definition_deliveries");
const DISTRIBUTION: ActorKind = ActorKind::restarting("definition_distribution");
const GROWTH: ActorKind = ActorKind::restarting("location_growth");
const INTAKE: ActorKind = ActorKind::restarting("result_intake");
const LATE_RESULTS: ActorKind = ActorKind::restarting("late_results");
const PRESENCES: ActorKind = ActorKind::restarting("location_presences");

/// Shortest time between two deliveries to one location.
const BETWEEN_DELIVERIES: Duration = Duration::from_secs(1);
/// Wait after a failure.
const RETRY: Duration = Duration::from_secs(1);

/// The service for remote locations.
pub(super) struct RemoteLocations {
    pub(super) connection: BusConnection,
    pub(super) counters: Arc<RemoteCounters>,
    thread: Arbiter,
    tasks: RunningTasks,
    _looker: ActorHandle<CheckRequestSender>,
}

impl RemoteLocations {
    /// Returns the sources of the metrics of remote locations.
    pub(super) fn collectors(&self) -> [Arc<dyn MetricCollector>; 2] {
        [
            Arc::clone(self.connection.state()) as Arc<dyn MetricCollector>,
            Arc::clone(&self.counters) as Arc<dyn MetricCollector>,
        ]
    }

    /// Stops the service. Results that are not stored yet are delivered again.
    pub(super) async fn stop(&self) {
        self.tasks.end().await;
        self.thread.stop();
    }
}

/// Starts the service for remote locations; `None` without a bus.
///
/// # Errors
///
/// When the key that signs locations cannot be read; the message is one line.
pub(super) fn start(
    foundation: &Foundation,
    bus: Option<&BusMembership>,
    router: &ServiceRouter,
    fenced: &Arc<FenceCounters>,
    supervisor: &Supervisor,
) -> anyhow::Result<Option<RemoteLocations>> {
    let Some(BusMembership { connection, node, .. }) = bus.cloned() else { return Ok(None) };
    let issuer = issuer(&foundation.config)?;
    let (thread, counters) = (Arbiter::new(), Arc::new(RemoteCounters::default()));
    supervisor.watch_thread("the bus", &thread.handle());
    let placement = ActorPlacement { thread: thread.handle(), mailbox: check_requests::MAILBOX };
    let spoken = connection.clone();
    let looker = supervisor.start(&placement, move || CheckRequestSender(spoken.clone()));
    let parts = RemoteParts {
        connection: connection.clone(),
        node,
        fenced: Arc::clone(fenced),
        counters: Arc::clone(&counters),
        assignments: Arc::default(),
        late: LateResultSpans::default(),
        recipients: Arc::default(),
        enrolled: Arc::default(),
        grown: Arc::default(),
        compared: watch::Sender::new(PartitionSet::NONE),
        are_locations_known: watch::Sender::new(false),
        clocks: LocationClocks::default(),
        looker: looker.clone(),
        router: router.clone(),
    };
    let clock = foundation.clock.clone();
    let tasks = RemoteTasks {
        enrolment: issuer.map(|issuer| parts.enrolment(issuer, &clock)),
        census: parts.census(),
        distribution: parts.distribution(&clock, &foundation.config.limits.bus),
        intake: parts.intake(&clock),
        filler: parts.filler(&clock),
        presences: PresenceListener {
            connection: connection.clone(),
            roster: Arc::clone(&router.compiler.roster),
            clocks: parts.clocks.clone(),
            clock,
        },
        parts,
    };
    let tasks_supervisor = supervisor.clone();
    let running = RunningTasks::default();
    let started = running.clone();
    let is_sent = thread.spawn_fn(move || started.add(tasks.spawn(&tasks_supervisor)));
    debug_assert!(is_sent, "the thread has just been made");
    Ok(Some(RemoteLocations { connection, counters, thread, tasks: running, _looker: looker }))
}

/// Returns the issuer with the key that signs locations; without this key no machine can join as a location through this
/// node.
fn issuer(config: &Config) -> anyhow::Result<Option<Arc<TokenIssuer>>> {
    let Some(file) = &config.nats_locations_key else {
        tracing::warn!("nats_locations_key is not set: no new location can join through this node");
        return Ok(None);
    };
    let issuer = TokenIssuer::read(file).map_err(anyhow::Error::msg).context("nats_locations_key")?;
    Ok(Some(Arc::new(issuer)))
}

/// Shared state of the tasks.
struct RemoteParts {
    connection: BusConnection,
    node: NodeName,
    fenced: Arc<FenceCounters>,
    counters: Arc<RemoteCounters>,
    assignments: Arc<AssignmentRegistry>,
    late: LateResultSpans,
    recipients: Arc<RecipientKeys>,
    enrolled: Arc<Notify>,
    grown: Arc<Notify>,
    compared: watch::Sender<PartitionSet>,
    are_locations_known: watch::Sender<bool>,
    clocks: LocationClocks,
    looker: ActorHandle<CheckRequestSender>,
    router: ServiceRouter,
}

impl RemoteParts {
    fn enrolment(&self, issuer: Arc<TokenIssuer>, clock: &Clock) -> EnrolmentService {
        EnrolmentService {
            connection: self.connection.clone(),
            databases: self.router.databases.clone(),
            issuer,
            clock: clock.clone(),
            enrolled: Arc::clone(&self.enrolled),
            counters: Arc::clone(&self.counters),
        }
    }

    fn census(&self) -> LocationSync {
        LocationSync {
            databases: self.router.databases.clone(),
            roster: Arc::clone(&self.router.compiler.roster),
            recipients: Arc::clone(&self.recipients),
            looker: self.looker.clone(),
            changes: self.router.changes.clone(),
            grown: Arc::clone(&self.grown),
            enrolled: Arc::clone(&self.enrolled),
            is_known: self.are_locations_known.clone(),
        }
    }

    fn distribution(&self, clock: &Clock, limits: &BusLimits) -> DefinitionDistributor {
        DefinitionDistributor {
            connection: self.connection.clone(),
            databases: self.router.databases.clone(),
            compiler: self.router.compiler.clone(),
            changes: self.router.changes.clone(),
            assignments: Arc::clone(&self.assignments),
            recipients: Arc::clone(&self.recipients),
            clock: clock.clone(),
            are_locations_known: self.are_locations_known.subscribe(),
            limits: limits.clone(),
            compared: self.compared.clone(),
            ownership: self.router.ownership.clone(),
            counters: Arc::clone(&self.counters),
        }
    }

    fn intake(&self, clock: &Clock) -> ResultIntake {
        ResultIntake {
            connection: self.connection.clone(),
            assignments: Arc::clone(&self.assignments),
            engine: self.router.engine.clone(),
            writer: HistoryWriter::new(self.router.databases.history.clone(), Vec::<LocationCode>::new())
                .fenced(&self.router.ownership, &self.fenced),
            clocks: self.clocks.clone(),
            late: self.late.clone(),
            clock: clock.clone(),
            compared: self.compared.subscribe(),
            ownership: self.router.ownership.clone(),
            node: self.node.clone(),
            counters: Arc::clone(&self.counters),
        }
    }

    fn filler(&self, clock: &Clock) -> GapFiller {
        GapFiller {
            marks: self.late.clone(),
            assignments: Arc::clone(&self.assignments),
            history: self.router.databases.history.clone(),
            engine: self.router.engine.clone(),
            clock: clock.clone(),
        }
    }
}

/// The parts of the tasks, before the tasks are spawned.
struct RemoteTasks {
    enrolment: Option<EnrolmentService>,
    census: LocationSync,
    distribution: DefinitionDistributor,
    intake: ResultIntake,
    filler: GapFiller,
    presences: PresenceListener,
    parts: RemoteParts,
}

impl RemoteTasks {
    /// Spawns the tasks on the current thread.
    fn spawn(self, supervisor: &Supervisor) -> Vec<JoinHandle<()>> {
        let Self { enrolment, census, distribution, intake, filler, presences, parts } = self;
        let RemoteParts { connection, counters, grown, router, .. } = parts;
        let mut running = vec![
            supervisor.spawn(CENSUS, move || census.clone().run()),
            supervisor.spawn(DISTRIBUTION, move || distribution.clone().run()),
            supervisor.spawn(INTAKE, move || intake.clone().run()),
            supervisor.spawn(LATE_RESULTS, move || filler.clone().run()),
            supervisor.spawn(PRESENCES, move || presences.clone().run()),
            supervisor.spawn(DELIVERIES, move || deliver(connection.clone(), Arc::clone(&counters))),
            supervisor.spawn(GROWTH, move || grow(router.clone(), Arc::clone(&grown))),
        ];
        running
            .extend(enrolment.map(|enrolment| supervisor.spawn(ENROLMENT, move || enrolment.clone().run())));
        running
    }
}

/// Answers the requests of locations for definitions, until the connection is closed. Too frequent requests are ignored,
/// because each answer starts with all definitions.
async fn deliver(connection: BusConnection, counters: Arc<RemoteCounters>) {
    let Ok(mut requests) = definitions::requests(&connection).await else { return };
    let mut begun: HashMap<String, Instant> = HashMap::new();
    while let Some(request) = requests.next().await {
        begun.retain(|_, at| at.elapsed() < BETWEEN_DELIVERIES);
        let location = request.subject.to_string();
        if begun.contains_key(&location) {
            continue;
        }
        begun.insert(location, Instant::now());
        counters.deliveries.add(1);
        if let Err(error) = definitions::answer(&connection, &request).await {
            tracing::warn!(
                nats_subject = %request.subject,
                error,
                "cannot send service definitions to a location; it will ask again"
            );
        }
    }
}

/// Applies all services again whenever new locations are known.
async fn grow(router: ServiceRouter, grown: Arc<Notify>) {
    loop {
        grown.notified().await;
        while let Err(error) = reconcile::apply_all(&router).await {
            tracing::warn!(
                error = format!("{error:#}"),
                "cannot assign the services to new locations; retrying"
            );
            tokio::time::sleep(RETRY).await;
        }
    }
}
