//! Background work: clocks, comparisons, incidents, upkeep. All of it is supervised; each task can be aborted and
//! restarted at any point.

use std::sync::Arc;
use std::time::Duration;

use actix::Arbiter;
use tokio::task::JoinHandle;

use crate::announcer::Announcer;
use crate::app::cluster::Lone;
use crate::app::foundation::Foundation;
use crate::app::locations::Place;
use crate::app::telling::Telling;
use crate::app::{past, reconcile};
use crate::clock::guard::ClockGuard;
use crate::events::{Hub, tail};
use crate::feed::News;
use crate::id::Id;
use crate::incidents::{self, Incidents};
use crate::notices;
use crate::record::listening_marks::ListeningMarks;
use crate::record::recorder::Recorder;
use crate::record::restore::Restored;
use crate::record::upkeep;
use crate::store::listening_spans::ListeningSpan;
use crate::supervise::{Handle, Kind, Placement, Stop, Supervisor};
use crate::timetable::domains::{DomainClock, DomainWatch};
use crate::timetable::maintenance_reminders::Reminders;
use crate::timetable::maintenance_series::SeriesPlanner;
use crate::timetable::maintenances::{MaintenanceClock, Transitions};
use crate::timetable::wall_clock;

/// Mailbox capacity of a clock, which only sends messages to itself.
const CLOCK_MAILBOX: usize = 16;

/// The tasks, each with the effect of its death. None of them holds state that is not stored.
const FIGURES: Kind = Kind::restarting("figures_of_the_past");
const PREPARATION: Kind = Kind::restarting("history_preparation");
const BACKUPS: Kind = Kind::restarting("backups");
const COURIER: Kind = Kind::restarting("courier");
const EVENTS: Kind = Kind::restarting("events");
const LISTENING: Kind = Kind::restarting("listening");
const INCIDENTS: Kind = Kind::restarting("incidents");
const NOTICES: Kind = Kind::restarting("notices");
const RECONCILIATION: Kind = Kind::restarting("reconciliation");
const UPKEEP: Kind = Kind::restarting("upkeep");
const WATCHDOG: Kind = Kind::restarting("watchdog");
const WALL_CLOCK: Kind = Kind::restarting("wall_clock");

/// The parts that background work is started with.
pub(super) struct BackgroundParts<'a> {
    pub(super) supervisor: &'a Supervisor,
    pub(super) announcer: &'a Announcer,
    pub(super) measured: Measured<'a>,
    pub(super) domains: DomainWatch,
    pub(super) foundation: &'a Foundation,
    pub(super) guard: &'a Arc<ClockGuard>,
    pub(super) restored: Vec<Restored>,
    pub(super) lone: Option<Lone>,
    pub(super) places: &'a [Place],
    /// Id of this node.
    pub(super) node: Id,
    pub(super) telling: Telling,
}

/// The recorder, and the signals that measurements are durable.
#[derive(Clone, Copy)]
pub(super) struct Measured<'a> {
    pub(super) recorder: &'a Handle<Recorder>,
    pub(super) news: &'a Arc<News>,
    pub(super) events: &'a Arc<Hub>,
}

/// The background work of an app.
pub(super) struct Background {
    tasks: Vec<JoinHandle<()>>,
    maintenances: Handle<MaintenanceClock>,
    domains: Handle<DomainClock>,
    marks: Arc<ListeningMarks>,
}

impl Background {
    /// Starts the work. In a small installation the figures of the past are ready when this returns.
    pub(super) async fn start(parts: BackgroundParts<'_>) -> Self {
        let BackgroundParts {
            supervisor,
            announcer,
            measured,
            domains,
            foundation,
            guard,
            restored,
            lone,
            places,
            node,
            telling: Telling { courier, notices, watchdog, backups },
        } = parts;
        let Announcer { databases, engine, .. } = announcer;
        let Measured { recorder, news, events } = measured;
        let (clock, limits) = (&foundation.clock, &foundation.config.record);
        let retry = Duration::from_millis(limits.retry_ms);
        let every = Duration::from_millis(limits.upkeep_ms);
        let figures = past::Figures {
            databases: databases.clone(),
            recorder: recorder.clone(),
            engine: engine.clone(),
            restored,
            retry,
        };
        let figures = figures.restore_in_background(supervisor, FIGURES).await;
        let (prepared, ended) = (databases.clone(), supervisor.clone());
        let preparation = supervisor
            .spawn(PREPARATION, move || past::prepare_history(prepared.clone(), retry, lone, ended.clone()));
        let following =
            Incidents { announcer: announcer.clone(), clock: clock.clone(), news: Arc::clone(news) };
        let incidents = supervisor.spawn(INCIDENTS, move || incidents::run(following.clone(), retry));
        let events = publish_events(supervisor, announcer, (news, events), guard);
        let compared = announcer.clone();
        let reconciliation = supervisor.spawn(RECONCILIATION, move || reconcile::run(compared.clone()));
        let (kept, upkeep_guard, owned) = (databases.clone(), Arc::clone(guard), announcer.ownership.clone());
        let upkeep = supervisor.spawn(UPKEEP, move || {
            upkeep::run(kept.clone(), Arc::clone(&upkeep_guard), owned.clone(), every)
        });
        let (marked, clock_guard) = (databases.clone(), Arc::clone(guard));
        let wall_clock =
            supervisor.spawn(WALL_CLOCK, move || wall_clock::run(marked.clone(), Arc::clone(&clock_guard)));
        let (marks, listening) = mark_listening(supervisor, announcer, node, guard);
        let placement = Placement { thread: Arbiter::current(), mailbox: CLOCK_MAILBOX };
        let planner = SeriesPlanner { announcer: announcer.clone(), guard: Arc::clone(guard) };
        let transitions = Transitions { announcer: announcer.clone(), clock: clock.clone() };
        let reminders = Reminders { databases: databases.clone(), guard: Arc::clone(guard) };
        let references = places.iter().map(|place| place.ask_references(supervisor));
        let watchdog = watchdog.map(|watchdog| supervisor.spawn(WATCHDOG, move || watchdog.clone().run()));
        let backups = backups.map(|backups| supervisor.spawn(BACKUPS, move || backups.clone().run()));
        let courier = supervisor.spawn(COURIER, move || courier.clone().run());
        let notices = supervisor.spawn(NOTICES, move || notices::run(notices.clone()));
        let lasting =
            [courier, notices, figures, preparation, incidents, events, reconciliation, upkeep, wall_clock];
        Self {
            tasks: lasting
                .into_iter()
                .chain([listening])
                .chain(references)
                .chain(watchdog)
                .chain(backups)
                .collect(),
            maintenances: supervisor.start(&placement, move || {
                MaintenanceClock::new(planner.clone(), transitions.clone(), reminders.clone())
            }),
            domains: supervisor.start(&placement, move || DomainClock::new(domains.clone())),
            marks,
        }
    }

    /// Stops the work. `heard`: the span in which pings were received, which ends now.
    pub(super) async fn stop(&self, heard: Option<ListeningSpan>) {
        for task in &self.tasks {
            task.abort();
        }
        // They may have ended before.
        let _ = self.domains.send(Stop).await;
        let _ = self.maintenances.send(Stop).await;
        self.marks.keep_last(heard).await;
    }
}

/// Starts to publish events to connected clients.
fn publish_events(
    supervisor: &Supervisor,
    announcer: &Announcer,
    (news, hub): (&Arc<News>, &Arc<Hub>),
    guard: &Arc<ClockGuard>,
) -> JoinHandle<()> {
    let sources = tail::Sources {
        announcer: announcer.clone(),
        databases: announcer.databases.clone(),
        news: Arc::clone(news),
        guard: Arc::clone(guard),
    };
    let hub = Arc::clone(hub);
    supervisor.spawn(EVENTS, move || tail::run(Arc::clone(&hub), sources.clone()))
}

/// Starts to store the spans in which this process listens for pings.
fn mark_listening(
    supervisor: &Supervisor,
    announcer: &Announcer,
    node: Id,
    guard: &Arc<ClockGuard>,
) -> (Arc<ListeningMarks>, JoinHandle<()>) {
    let marks = Arc::new(ListeningMarks::new(announcer.databases.clone(), node));
    let (kept, listening, guard) = (Arc::clone(&marks), announcer.engine.listening(), Arc::clone(guard));
    let run = move || Arc::clone(&kept).run(Arc::clone(&listening), Arc::clone(&guard));
    (marks, supervisor.spawn(LISTENING, run))
}
