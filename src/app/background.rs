//! Background work: clocks, comparisons, incidents, upkeep. All of it is supervised; each task can be aborted and
//! restarted at any point.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix::Arbiter;
use tokio::task::JoinHandle;

use crate::app::cluster::StandaloneNode;
use crate::app::foundation::Foundation;
use crate::app::locations::LocalLocation;
use crate::app::notifiers::NotifierParts;
use crate::app::{history_restore, reconcile};
use crate::certificates::CertificateIssuer;
use crate::clock::guard::ClockGuard;
use crate::events::{EventHub, tail};
use crate::feed::ChangeSignal;
use crate::id::Id;
use crate::incidents::{self, IncidentAutomation};
use crate::notices;
use crate::record::listening_marks::ListeningMarks;
use crate::record::recorder::Recorder;
use crate::record::restore::RestoredService;
use crate::record::upkeep;
use crate::service_router::ServiceRouter;
use crate::store::listening_spans::ListeningSpan;
use crate::supervise::{ActorHandle, ActorKind, ActorPlacement, StopActor, Supervisor};
use crate::timetable::domains::{DomainClock, DomainWatch};
use crate::timetable::maintenance_reminders::ReminderPublisher;
use crate::timetable::maintenance_series::SeriesPlanner;
use crate::timetable::maintenances::{MaintenanceClock, MaintenanceExecutor};
use crate::timetable::wall_clock;

/// Mailbox capacity of a clock, which only sends messages to itself.
const CLOCK_MAILBOX: usize = 16;

/// The kinds of background tasks. All of them can be restarted, because none holds state that is not stored.
const FIGURES: ActorKind = ActorKind::restarting("figures_of_the_past");
const PREPARATION: ActorKind = ActorKind::restarting("history_preparation");
const BACKUPS: ActorKind = ActorKind::restarting("backups");
const CERTIFICATES: ActorKind = ActorKind::restarting("certificates");
const CERTIFICATE_CACHE: ActorKind = ActorKind::restarting("certificate_cache");
const COURIER: ActorKind = ActorKind::restarting("courier");
const SUBSCRIBERS: ActorKind = ActorKind::restarting("subscribers");
const EVENTS: ActorKind = ActorKind::restarting("events");
const LISTENING: ActorKind = ActorKind::restarting("listening");
const INCIDENTS: ActorKind = ActorKind::restarting("incidents");
const NOTICES: ActorKind = ActorKind::restarting("notices");
const RECONCILIATION: ActorKind = ActorKind::restarting("reconciliation");
const UPKEEP: ActorKind = ActorKind::restarting("upkeep");
const WATCHDOG: ActorKind = ActorKind::restarting("watchdog");
const WALL_CLOCK: ActorKind = ActorKind::restarting("wall_clock");

/// The parts that background work is started with.
pub(super) struct BackgroundParts<'a> {
    pub(super) supervisor: &'a Supervisor,
    pub(super) router: &'a ServiceRouter,
    pub(super) measured: MeasurementSinks<'a>,
    pub(super) domains: DomainWatch,
    pub(super) foundation: &'a Foundation,
    pub(super) guard: &'a Arc<ClockGuard>,
    pub(super) restored: Vec<RestoredService>,
    pub(super) locations: &'a [LocalLocation],
    pub(super) node: Id,
    pub(super) notifiers: NotifierParts,
}

/// The recorder, and the signals about durable measurements.
#[derive(Clone, Copy)]
pub(super) struct MeasurementSinks<'a> {
    pub(super) recorder: &'a ActorHandle<Recorder>,
    pub(super) change_signal: &'a Arc<ChangeSignal>,
    pub(super) events: &'a Arc<EventHub>,
}

/// The background work of an app.
pub(super) struct BackgroundTasks {
    tasks: Vec<JoinHandle<()>>,
    maintenances: ActorHandle<MaintenanceClock>,
    domains: ActorHandle<DomainClock>,
    marks: Arc<ListeningMarks>,
}

impl BackgroundTasks {
    /// Starts the work. In a small installation the figures of the past are ready when this returns.
    pub(super) async fn start(parts: BackgroundParts<'_>) -> Self {
        let BackgroundParts {
            supervisor,
            router,
            measured,
            domains,
            foundation,
            guard,
            restored,
            locations,
            node,
            notifiers: NotifierParts { courier, subscribers, notices, watchdog, backups, certificates },
        } = parts;
        let ServiceRouter { databases, engine, .. } = router;
        let MeasurementSinks { recorder, change_signal, events } = measured;
        let (clock, limits) = (&foundation.clock, &foundation.config.record);
        let [retry, every] = [limits.retry_ms, limits.upkeep_ms].map(Duration::from_millis);
        let figures = history_restore::FigureRestorer {
            databases: databases.clone(),
            recorder: recorder.clone(),
            engine: engine.clone(),
            restored: Mutex::new(restored.into()),
            retry,
        };
        let figures = figures.restore_in_background(supervisor, FIGURES).await;
        let standalone = StandaloneNode::of(&router.ownership, &foundation.config);
        let (prepared, ended) = (databases.clone(), supervisor.clone());
        let preparation = supervisor.spawn(PREPARATION, move || {
            history_restore::prepare_history(prepared.clone(), retry, standalone, ended.clone())
        });
        let signal = Arc::clone(change_signal);
        let following =
            IncidentAutomation { router: router.clone(), clock: clock.clone(), change_signal: signal };
        let incidents = supervisor.spawn(INCIDENTS, move || incidents::run(following.clone(), retry));
        let events = publish_events(supervisor, router, change_signal, events, guard);
        let compared = router.clone();
        let reconciliation = supervisor.spawn(RECONCILIATION, move || reconcile::run(compared.clone()));
        let (shared, time, owned) = (databases.clone(), Arc::clone(guard), router.ownership.clone());
        let upkeep =
            supervisor.spawn(UPKEEP, move || upkeep::run(shared.clone(), time.clone(), owned.clone(), every));
        let (marked, trusted) = (databases.clone(), Arc::clone(guard));
        let wall_clock =
            supervisor.spawn(WALL_CLOCK, move || wall_clock::run(marked.clone(), trusted.clone()));
        let (marks, listening) = mark_listening(supervisor, router, node, guard);
        let placement = ActorPlacement { thread: Arbiter::current(), mailbox: CLOCK_MAILBOX };
        let planner = SeriesPlanner { router: router.clone(), guard: Arc::clone(guard) };
        let transitions = MaintenanceExecutor { router: router.clone(), clock: clock.clone() };
        let reminders = ReminderPublisher { databases: databases.clone(), guard: Arc::clone(guard) };
        let references = locations.iter().map(|location| location.ask_references(supervisor));
        let courier = supervisor.spawn(COURIER, move || courier.clone().run());
        let subscribers = supervisor.spawn(SUBSCRIBERS, move || subscribers.clone().run());
        let notices = supervisor.spawn(NOTICES, move || notices::run(notices.clone()));
        let lasting =
            [courier, notices, figures, preparation, incidents, events, reconciliation, upkeep, wall_clock];
        Self {
            tasks: lasting
                .into_iter()
                .chain([listening, subscribers])
                .chain(references)
                .chain(watchdog.map(|watchdog| supervisor.spawn(WATCHDOG, move || watchdog.clone().run())))
                .chain(backups.map(|backups| supervisor.spawn(BACKUPS, move || backups.clone().run())))
                .chain(certificates.into_iter().flat_map(|issuer| issue_certificates(supervisor, issuer)))
                .collect(),
            maintenances: supervisor.start(&placement, move || {
                MaintenanceClock::new(planner.clone(), transitions.clone(), reminders.clone())
            }),
            domains: supervisor.start(&placement, move || DomainClock::new(domains.clone())),
            marks,
        }
    }

    /// Stops the work. `listening_span`: the span in which pings were received, which ends now.
    pub(super) async fn stop(&self, listening_span: Option<ListeningSpan>) {
        for task in &self.tasks {
            task.abort();
        }
        // The clocks may have ended before.
        let _ = self.domains.send(StopActor).await;
        let _ = self.maintenances.send(StopActor).await;
        self.marks.keep_last(listening_span).await;
    }
}

/// Starts to publish events to connected clients.
fn publish_events(
    supervisor: &Supervisor,
    router: &ServiceRouter,
    change_signal: &Arc<ChangeSignal>,
    hub: &Arc<EventHub>,
    guard: &Arc<ClockGuard>,
) -> JoinHandle<()> {
    let sources = tail::EventSources {
        router: router.clone(),
        databases: router.databases.clone(),
        change_signal: Arc::clone(change_signal),
        guard: Arc::clone(guard),
    };
    let hub = Arc::clone(hub);
    supervisor.spawn(EVENTS, move || tail::run(Arc::clone(&hub), sources.clone()))
}

/// Starts to order certificates, and to read those that are served.
fn issue_certificates(supervisor: &Supervisor, issuer: CertificateIssuer) -> [JoinHandle<()>; 2] {
    let cache = issuer.cache.clone();
    [
        supervisor.spawn(CERTIFICATE_CACHE, move || cache.clone().run()),
        supervisor.spawn(CERTIFICATES, move || issuer.clone().run()),
    ]
}

/// Starts to store the spans in which this process listens for pings.
fn mark_listening(
    supervisor: &Supervisor,
    router: &ServiceRouter,
    node: Id,
    guard: &Arc<ClockGuard>,
) -> (Arc<ListeningMarks>, JoinHandle<()>) {
    let marks = Arc::new(ListeningMarks::new(router.databases.clone(), node));
    let (shared, listening, guard) = (Arc::clone(&marks), router.engine.listening(), Arc::clone(guard));
    let run = move || Arc::clone(&shared).run(Arc::clone(&listening), Arc::clone(&guard));
    (marks, supervisor.spawn(LISTENING, run))
}
