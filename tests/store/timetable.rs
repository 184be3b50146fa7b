//! Automatic transitions of maintenances: each once, whatever the wall clock does and however many processes run.

use std::sync::Arc;

use actix::{Actor, Context, Handler, System};
use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;
use rstest::rstest;
use watchkeeper::clock::{Clock, DAY_MS};
use watchkeeper::config::limits::EngineLimits;
use watchkeeper::engine::aggregator::RecordBatch;
use watchkeeper::engine::definition::DefinitionCompiler;
use watchkeeper::engine::fleet::WatchedService;
use watchkeeper::engine::location::Prober;
use watchkeeper::engine::registry::LocationRegistry;
use watchkeeper::engine::shard::ShardThreads;
use watchkeeper::engine::{Engine, EngineParts};
use watchkeeper::model::check::{CheckOutcome, CheckType};
use watchkeeper::model::heartbeat::HeartbeatPing;
use watchkeeper::model::location::Location;
use watchkeeper::model::maintenance::{Maintenance, MaintenanceStatus, MaintenanceWindow};
use watchkeeper::model::secret::SecretSealer;
use watchkeeper::model::service::Service;
use watchkeeper::model::verdict::Verdict;
use watchkeeper::model::visibility::Visibility;
use watchkeeper::probe::spec::CheckSpec;
use watchkeeper::service_router::ServiceRouter;
use watchkeeper::store::heartbeats::{self, SealedPingSecret};
use watchkeeper::store::maintenances::{self, due, timeline};
use watchkeeper::supervise::Supervisor;
use watchkeeper::timetable::maintenances::MaintenanceExecutor;

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::planned::{maintenance, stored};
use crate::support::rows::{at, code, service, stored_organisation, stored_service};

use MaintenanceStatus::{Completed, InProgress, Scheduled};

const HOUR_MS: i64 = 3_600_000;

/// Looks for ever.
struct Unseeing;

impl Prober for Unseeing {
    fn probe(&self, _: Arc<CheckSpec>) -> LocalBoxFuture<'static, CheckOutcome> {
        std::future::pending().boxed_local()
    }
}

struct Deaf;

impl Actor for Deaf {
    type Context = Context<Self>;
}

impl Handler<RecordBatch> for Deaf {
    type Result = ();

    fn handle(&mut self, _: RecordBatch, _: &mut Context<Self>) {}
}

/// A process with this store and this clock.
pub(crate) fn transitions(store: &Store, clock: &Clock) -> MaintenanceExecutor {
    let here =
        Location { code: code("here"), name: "here".into(), place: String::new(), country_code: "ZZ".into() };
    let roster = Arc::new(LocationRegistry::new(vec![here]));
    let engine = Engine::start(&EngineParts {
        roster: Arc::clone(&roster),
        probers: vec![Arc::new(Unseeing)],
        clock: clock.clone(),
        limits: EngineLimits::default(),
        threads: ShardThreads::Current,
        sink: Deaf.start().recipient(),
        supervisor: Supervisor::default(),
    });
    let compiler =
        DefinitionCompiler { sealer: SecretSealer::new(&[0; 32]), roster, limits: EngineLimits::default() };
    let router = ServiceRouter::alone((*store).clone(), engine, compiler);
    MaintenanceExecutor { router, clock: clock.clone() }
}

async fn now_stored(store: &Store, of: &Maintenance) -> Maintenance {
    maintenances::find(store.main.reader(), Visibility::whole(of.organisation), of.id).await.unwrap().unwrap()
}

async fn entries(store: &Store, of: &Maintenance) -> Vec<MaintenanceStatus> {
    let timeline = timeline::of(store.main.reader(), of.key).await.unwrap();
    timeline.into_iter().map(|entry| entry.status).collect()
}

/// From 10,000 to 20,000; the clock is moved an hour back and forth around both moments.
#[rstest]
fn each_transition_is_made_once_however_the_clock_is_set(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let covered = stored_service(&store, service(owner.key, "a")).await;
        let made = stored(&store, maintenance(owner.key, Scheduled), (&[covered.key], 0)).await;
        let clock = Clock::fixed(at(9_999));
        let transitions = transitions(&store, &clock);
        assert_eq!(transitions.run_due().await.unwrap(), 0);
        assert_eq!(due::next(store.main.reader()).await.unwrap(), Some(at(10_000)));
        for (ahead, expected) in [(1, 1), (0, 0), (-HOUR_MS, 0), (HOUR_MS, 0)] {
            clock.set_ahead(ahead);
            assert_eq!(transitions.run_due().await.unwrap(), expected, "{ahead}");
        }
        let running = now_stored(&store, &made).await;
        assert_eq!((running.status, running.actual_start), (InProgress, Some(at(10_000))));
        assert_eq!(due::next(store.main.reader()).await.unwrap(), Some(at(20_000)));
        for (ahead, expected) in [(HOUR_MS, 1), (-HOUR_MS, 0), (HOUR_MS, 0)] {
            clock.set_ahead(ahead);
            assert_eq!(transitions.run_due().await.unwrap(), expected, "{ahead}");
        }
        let ended = now_stored(&store, &made).await;
        assert_eq!((ended.status, ended.actual_end), (Completed, Some(at(10_000 + HOUR_MS))));
        assert_eq!(entries(&store, &made).await, [InProgress, Completed]);
        assert_eq!(due::next(store.main.reader()).await.unwrap(), None);
        transitions.router.engine.stop().await;
    });
}

/// Start and end were both missed; a hundred and more at a time.
#[rstest]
fn missed_transitions_are_caught_up_in_order(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(1, 101)] count: usize,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let mut made = Vec::new();
        for _ in 0..count {
            made.push(stored(&store, maintenance(owner.key, Scheduled), (&[], 0)).await);
        }
        let transitions = transitions(&store, &Clock::fixed(at(99_000)));
        assert_eq!(transitions.run_due().await.unwrap() as usize, 2 * count);
        for one in &made {
            let ended = now_stored(&store, one).await;
            assert_eq!((ended.actual_start, ended.actual_end), (Some(at(99_000)), Some(at(99_000))));
            assert_eq!(entries(&store, one).await, [InProgress, Completed]);
        }
        transitions.router.engine.stop().await;
    });
}

/// Several processes run the same timetable at the same moment.
#[rstest]
fn several_processes_make_each_transition_once(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let covered = stored_service(&store, service(owner.key, "a")).await;
        let mut made = Vec::new();
        for _ in 0..10 {
            made.push(stored(&store, maintenance(owner.key, Scheduled), (&[covered.key], 0)).await);
        }
        let clock = Clock::fixed(at(99_000));
        let (one, two, three) =
            (transitions(&store, &clock), transitions(&store, &clock), transitions(&store, &clock));
        let (a, b, c) = futures_util::join!(one.run_due(), two.run_due(), three.run_due());
        assert_eq!(a.unwrap() + b.unwrap() + c.unwrap(), 20);
        for maintenance in &made {
            assert_eq!(entries(&store, maintenance).await, [InProgress, Completed]);
        }
        for transitions in [one, two, three] {
            transitions.router.engine.stop().await;
        }
    });
}

/// Automatic starts and ends happen only when enabled; an open end never occurs.
#[rstest]
fn only_enabled_automatic_transitions_happen(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let open = MaintenanceWindow { start: at(10_000), end: None };
        for quiet in [
            Maintenance { auto_start: false, ..maintenance(owner.key, Scheduled) },
            Maintenance { auto_complete: false, ..maintenance(owner.key, InProgress) },
            Maintenance { schedule: open, auto_complete: false, ..maintenance(owner.key, InProgress) },
            maintenance(owner.key, Completed),
            maintenance(owner.key, MaintenanceStatus::Cancelled),
        ] {
            stored(&store, quiet, (&[], 0)).await;
        }
        let transitions = transitions(&store, &Clock::fixed(at(HOUR_MS)));
        assert_eq!(transitions.run_due().await.unwrap(), 0);
        assert_eq!(due::next(store.main.reader()).await.unwrap(), None);
        transitions.router.engine.stop().await;
    });
}

/// The engine is notified of planned maintenance as soon as it starts, and as soon as it ends.
#[rstest]
fn the_engine_is_notified_of_transitions(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let watched = stored_service(&store, service(owner.key, "watched")).await;
        stored(&store, maintenance(owner.key, Scheduled), (&[watched.key], 0)).await;
        let clock = Clock::fixed(at(5_000));
        let transitions = transitions(&store, &clock);
        transitions.router.announce(std::slice::from_ref(&watched), owner.id).await;
        for revision in [2, 3] {
            clock.set_ahead(10_000);
            assert_eq!(transitions.run_due().await.unwrap(), 1);
            assert_eq!(
                transitions.router.engine.watched().await.unwrap()[&watched.id],
                WatchedService { key: watched.key, revision }
            );
        }
        transitions.router.engine.stop().await;
    });
}

/// A heartbeat that was resumed after its last ping expects the next one counted from then, also while a maintenance begins
/// and ends: its definition was once announced without its pings.
#[rstest]
fn a_resumed_heartbeat_is_not_down_after_a_maintenance(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let reporting =
            Service { check_type: CheckType::Heartbeat, target: None, ..service(owner.key, "job") };
        let job = stored_service(&store, reporting).await;
        let write = store.main.begin().await.unwrap();
        let secret = SealedPingSecret { hash: [1; 32], sealed: "sealed".into() };
        heartbeats::insert(&write, job.key, &secret).await.unwrap();
        let long_ago = HeartbeatPing { at: at(-HOUR_MS), has_failed: false };
        heartbeats::ping(&write, &[1; 32], long_ago).await.unwrap();
        heartbeats::count_from(&write, job.key, at(4_000)).await.unwrap();
        write.commit().await.unwrap();
        stored(&store, maintenance(owner.key, Scheduled), (&[job.key], 0)).await;
        let clock = Clock::fixed(at(5_000));
        let transitions = transitions(&store, &clock);
        transitions.router.announce(std::slice::from_ref(&job), owner.id).await;
        for revision in [2, 3] {
            clock.set_ahead(10_000);
            assert_eq!(transitions.run_due().await.unwrap(), 1);
            let engine = &transitions.router.engine;
            assert_eq!(engine.watched().await.unwrap()[&job.id], WatchedService { key: job.key, revision });
            let snapshots = engine.snapshots(&[job.address()]).await.unwrap();
            assert_eq!(snapshots[0].verdict, Verdict::Unknown, "no ping is missed yet");
        }
        transitions.router.engine.stop().await;
    });
}

/// A row that cannot be read is an error, but the others are processed.
#[rstest]
fn a_failing_maintenance_does_not_stop_the_others(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    use sea_orm::ConnectionTrait as _;
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let broken = stored(&store, maintenance(owner.key, Scheduled), (&[], 0)).await;
        let sound = stored(&store, maintenance(owner.key, Scheduled), (&[], 0)).await;
        let statement = format!("UPDATE maintenance SET kind = 'odd' WHERE id = {}", broken.key);
        store.main.reader().execute_unprepared(&statement).await.unwrap();
        let transitions = transitions(&store, &Clock::fixed(at(12_000)));
        assert!(transitions.run_due().await.is_err());
        assert_eq!(now_stored(&store, &sound).await.status, InProgress);
        transitions.router.engine.stop().await;
    });
}

/// An unavailable database is an error, no panic; nothing is lost when it is available again.
#[rstest]
fn an_unavailable_database_stops_transitions_only_temporarily() {
    use sea_orm::ConnectionTrait as _;
    System::new().block_on(async {
        let Some(store) = Backend::Sqlite.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let made = stored(&store, maintenance(owner.key, Scheduled), (&[], 0)).await;
        let transitions = transitions(&store, &Clock::fixed(at(12_000)));
        let rename = |from: &str, to: &str| format!("ALTER TABLE {from} RENAME TO {to}");
        let main = store.main.reader();
        main.execute_unprepared(&rename("maintenance", "elsewhere")).await.unwrap();
        assert!(transitions.run_due().await.is_err());
        main.execute_unprepared(&rename("elsewhere", "maintenance")).await.unwrap();
        assert_eq!(transitions.run_due().await.unwrap(), 1);
        assert_eq!(now_stored(&store, &made).await.status, InProgress);
        transitions.router.engine.stop().await;
    });
}

/// From 10,000 to 20,000: each start and each end once, whatever is done to the clock before, between and after them.
#[rstest]
#[case::an_hour_back(&[(-HOUR_MS, 0), (10_001, 0), (HOUR_MS, 2), (1, 0)])]
#[case::an_hour_ahead_and_back(&[(HOUR_MS, 2), (-HOUR_MS, 0), (1, 0), (10_000, 0)])]
#[case::a_year_ahead(&[(365 * DAY_MS, 2), (DAY_MS, 0)])]
#[case::a_year_ahead_and_back(&[(365 * DAY_MS, 2), (-365 * DAY_MS, 0), (10_001, 0)])]
#[case::a_start_four_hundred_days_ahead(&[(400 * DAY_MS, 2), (-400 * DAY_MS, 0), (10_001, 0)])]
fn a_maintenance_starts_and_ends_once_however_far_the_clock_is_set(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] moves: &[(i64, u32)],
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let covered = stored_service(&store, service(owner.key, "a")).await;
        let made = stored(&store, maintenance(owner.key, Scheduled), (&[covered.key], 0)).await;
        let clock = Clock::fixed(at(9_999));
        let transitions = transitions(&store, &clock);
        for (ahead, expected) in moves {
            clock.set_ahead(*ahead);
            assert_eq!(transitions.run_due().await.unwrap(), *expected, "{ahead}");
        }
        assert_eq!(entries(&store, &made).await, [InProgress, Completed]);
        transitions.router.engine.stop().await;
    });
}
