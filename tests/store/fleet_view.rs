//! The view of all services of an organisation: it follows commits, status changes and owners, and reads only what has changed.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix::{Actor, Context, Handler, System};
use futures_util::future::{LocalBoxFuture, join};
use futures_util::{FutureExt as _, poll};
use rstest::rstest;
use sea_orm::ConnectionTrait as _;
use tokio::time::{Instant, sleep};
use watchkeeper::clock::{Clock, Timestamp};
use watchkeeper::config::limits::EngineLimits;
use watchkeeper::engine::aggregator::RecordBatch;
use watchkeeper::engine::definition::DefinitionCompiler;
use watchkeeper::engine::location::Prober;
use watchkeeper::engine::registry::LocationRegistry;
use watchkeeper::engine::shard::ShardThreads;
use watchkeeper::engine::{Engine, EngineParts};
use watchkeeper::fleet_view::FleetViews;
use watchkeeper::fleet_view::fleet_row::FleetRow;
use watchkeeper::fleet_view::listing::FleetPaging;
use watchkeeper::fleet_view::query_parser::parse;
use watchkeeper::fleet_view::revision_log::{FleetChanges, FleetRevision};
use watchkeeper::fleet_view::view::FleetPage;
use watchkeeper::id::Id;
use watchkeeper::lifecycle;
use watchkeeper::model::access::Organisation;
use watchkeeper::model::check::{
    CheckFailure, CheckOutcome, CheckStatus, ErrorCode, Measurement, PhaseTimings,
};
use watchkeeper::model::history::{MeasuredStatus, StatusChange};
use watchkeeper::model::incident::Acknowledgement;
use watchkeeper::model::ledger::{FencingToken, PartitionLedger};
use watchkeeper::model::location::Location;
use watchkeeper::model::maintenance::MaintenanceStatus;
use watchkeeper::model::partition::{Partition, PartitionSet};
use watchkeeper::model::secret::SecretSealer;
use watchkeeper::model::service::{PauseReason, Service, ServicePause, ServiceStatus};
use watchkeeper::model::tag::Tag;
use watchkeeper::model::verdict::LocationVote;
use watchkeeper::model::visibility::Visibility;
use watchkeeper::model::watch::WatchMemory;
use watchkeeper::probe::spec::CheckSpec;
use watchkeeper::service_router::ServiceRouter;
use watchkeeper::service_router::ownership::{NodeIdentity, Ownership};
use watchkeeper::store::changes::ChangeScope;
use watchkeeper::store::services::definitions::OwnedService;
use watchkeeper::store::{Transaction, services, tags};
use watchkeeper::supervise::Supervisor;

use crate::incidents::made;
use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::planned;
use crate::support::rows::{append_changes, at, code, service, stored_organisation, stored_service};

/// Time limit for what happens on its own.
const PATIENCE: Duration = Duration::from_secs(30);

/// Answers each check at once: up, or down while the switch is on.
struct Switched(Arc<AtomicBool>);

impl Prober for Switched {
    fn probe(&self, _: Arc<CheckSpec>) -> LocalBoxFuture<'static, CheckOutcome> {
        let is_down = self.0.load(Ordering::SeqCst);
        let failure = is_down.then(|| Box::new(CheckFailure::new(ErrorCode::ConnectRefused, "refused")));
        let measurement = Measurement {
            status: if is_down { CheckStatus::Down } else { CheckStatus::Up },
            response_time: NonZeroU32::new(1_000).filter(|_| !is_down),
            timings: PhaseTimings::default(),
            status_code: None,
            failure,
        };
        std::future::ready(CheckOutcome::Measured(measurement)).boxed_local()
    }
}

/// Collects status changes, for the test to store.
#[derive(Clone, Default)]
struct ChangeCollector(Arc<Mutex<Vec<StatusChange>>>);

impl Actor for ChangeCollector {
    type Context = Context<Self>;
}

impl Handler<RecordBatch> for ChangeCollector {
    type Result = ();

    fn handle(&mut self, batch: RecordBatch, _: &mut Context<Self>) {
        self.0.lock().unwrap().extend(batch.changes);
    }
}

/// A process with an engine, and its views.
struct Process {
    store: Store,
    router: ServiceRouter,
    views: FleetViews,
    changes: ChangeCollector,
    is_down: Arc<AtomicBool>,
    owner: Organisation,
}

impl Process {
    async fn start(backend: Backend, ownership: Ownership) -> Option<Self> {
        let store = backend.open().await?;
        let owner = stored_organisation(&store, "owner").await;
        let (changes, is_down) = (ChangeCollector::default(), Arc::<AtomicBool>::default());
        let here = Location {
            code: code("here"),
            name: "here".into(),
            place: String::new(),
            country_code: "ZZ".into(),
        };
        let roster = Arc::new(LocationRegistry::new(vec![here]));
        let engine = Engine::start(&EngineParts {
            roster: Arc::clone(&roster),
            probers: vec![Arc::new(Switched(Arc::clone(&is_down)))],
            clock: Clock::System,
            limits: EngineLimits::default(),
            threads: ShardThreads::Current,
            sink: changes.clone().start().recipient(),
            supervisor: Supervisor::default(),
        });
        let compiler = DefinitionCompiler {
            sealer: SecretSealer::new(&[0; 32]),
            roster,
            limits: EngineLimits::default(),
        };
        let router = ServiceRouter { ownership, ..ServiceRouter::alone((*store).clone(), engine, compiler) };
        let views = FleetViews::new(router.clone());
        Some(Self { store, router, views, changes, is_down, owner })
    }

    async fn service(&self, name: &str) -> Service {
        stored_service(&self.store, service(self.owner.key, name)).await
    }

    /// Rows and revision as they are now.
    async fn list(&self, query: &str) -> (Vec<FleetRow>, FleetRevision) {
        let (page, as_of) = self.page(query).await;
        assert_eq!(as_of, None);
        (page.rows, page.revision)
    }

    /// The first page of a list, and the time up to which statuses are known, if they are not followed.
    async fn page(&self, query: &str) -> (FleetPage, Option<Timestamp>) {
        let current = self.views.of(self.owner.key, at(50_000)).await.unwrap();
        let visible = self.views.visible_tags(Visibility::whole(self.owner.key)).await.unwrap();
        let paging = FleetPaging { after: None, limit: 100 };
        (current.view.search(&parse(query).query, &visible, &paging, at(50_000)), current.as_of)
    }

    async fn names(&self, query: &str) -> Vec<String> {
        self.list(query).await.0.into_iter().map(|row| row.name).collect()
    }

    async fn changes_since(&self, revision: FleetRevision) -> FleetChanges {
        self.views.of(self.owner.key, at(50_000)).await.unwrap().view.changes_since(revision)
    }

    /// Waits until the rows are as wanted, and stores the status changes that the engine reports meanwhile.
    async fn wait_until(&self, what: &str, is_wanted: impl Fn(&[FleetRow]) -> bool) -> Vec<FleetRow> {
        let begin = Instant::now();
        loop {
            let changes = std::mem::take(&mut *self.changes.0.lock().unwrap());
            append_changes(&self.store.history, &changes).await;
            let (rows, _) = self.list("").await;
            if is_wanted(&rows) {
                return rows;
            }
            assert!(begin.elapsed() < PATIENCE, "{what}: {rows:?}");
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn commit(&self, transaction: Transaction, scopes: &[ChangeScope]) {
        scopes.iter().for_each(|scope| transaction.concerns(*scope));
        transaction.commit().await.unwrap();
    }

    async fn update(&self, changed: &Service) {
        let transaction = self.store.main.begin().await.unwrap();
        services::update(&transaction, changed.clone()).await.unwrap();
        self.commit(transaction, &[ChangeScope::Service(changed.key)]).await;
    }
}

fn only(service: &Service) -> FleetChanges {
    FleetChanges::Services(BTreeSet::from([service.key]))
}

#[rstest]
fn a_view_follows_commits_about_services(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    System::new().block_on(async {
        let Some(process) = Process::start(backend, Ownership::alone()).await else { return };
        let other = stored_organisation(&process.store, "other").await;
        stored_service(&process.store, service(other.key, "foreign")).await;
        let (a, b) = (process.service("a").await, process.service("b").await);
        let (rows, revision) = process.list("sort:name").await;
        assert_eq!(
            rows.iter().map(|row| (row.key, row.id)).collect::<Vec<_>>(),
            [(a.key, a.id), (b.key, b.id)]
        );

        process.update(&Service { name: "renamed".into(), ..a.clone() }).await;
        assert_eq!(process.names("sort:name").await, ["b", "renamed"]);
        assert_eq!(process.changes_since(revision).await, only(&a), "only this one is read again");

        let pause = Some(ServicePause { reason: PauseReason::Manual, at: at(40_000) });
        process.update(&Service { pause, ..b.clone() }).await;
        let (rows, revision) = process.list("is:paused").await;
        assert_eq!((rows[0].status, rows[0].since), (ServiceStatus::Paused, Some(at(40_000))));

        // Nobody says which service: it is found by its key.
        let c = process.service("c").await;
        assert_eq!(process.names("sort:name").await, ["b", "c", "renamed"]);
        assert_eq!(process.changes_since(revision).await, only(&c));

        let (_, revision) = process.list("").await;
        let transaction = process.store.main.begin().await.unwrap();
        services::delete(&transaction, b.key).await.unwrap();
        let scopes = [ChangeScope::Organisation(process.owner.key), ChangeScope::Service(b.key)];
        process.commit(transaction, &scopes).await;
        assert_eq!(process.names("sort:name").await, ["c", "renamed"]);
        assert_eq!(process.changes_since(revision).await, only(&b));
        process.router.engine.stop().await;
    });
}

#[rstest]
fn a_view_follows_tags(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    System::new().block_on(async {
        let Some(process) = Process::start(backend, Ownership::alone()).await else { return };
        let (a, _) = (process.service("a").await, process.service("b").await);
        let (_, revision) = process.list("").await;
        let new = Tag::new(process.owner.key, "env:prod".parse().unwrap(), None, at(1_000));
        let organisation = ChangeScope::Organisation(process.owner.key);
        let transaction = process.store.main.begin().await.unwrap();
        let tag = tags::insert(&transaction, new).await.unwrap();
        tags::set_of_service(&transaction, a.key, &[tag.row]).await.unwrap();
        process.commit(transaction, &[organisation, ChangeScope::Service(a.key)]).await;
        assert_eq!(process.names("tag:env:prod").await, ["a"]);
        assert_eq!(process.changes_since(revision).await, only(&a));

        let renamed = Tag { name: "env:live".parse().unwrap(), ..tag.clone() };
        let transaction = process.store.main.begin().await.unwrap();
        tags::update(&transaction, &renamed).await.unwrap();
        process.commit(transaction, &[organisation]).await;
        assert_eq!(process.names("tag:env:live").await, ["a"]);
        assert_eq!(process.changes_since(revision).await, FleetChanges::TooMany);

        let transaction = process.store.main.begin().await.unwrap();
        tags::delete(&transaction, tag.row).await.unwrap();
        process.commit(transaction, &[organisation]).await;
        assert_eq!(process.names("tag:env:live").await, [] as [&str; 0]);
        assert_eq!(process.list("").await.0[0].tags, []);
        process.router.engine.stop().await;
    });
}

#[rstest]
fn a_view_follows_maintenances_and_incidents(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    System::new().block_on(async {
        let Some(process) = Process::start(backend, Ownership::alone()).await else { return };
        let (a, b) = (process.service("a").await, process.service("b").await);
        assert_eq!(process.names("has:incident").await, [] as [&str; 0]);
        let running = planned::maintenance(process.owner.key, MaintenanceStatus::InProgress);
        planned::stored(&process.store, running, (&[a.key], 12_000)).await;
        let (rows, _) = process.list("status:maintenance").await;
        assert_eq!((rows.len(), rows[0].key, rows[0].since), (1, a.key, Some(at(11_000))));

        let mut incident = made(&process.owner, &[&a, &b]);
        let transaction = process.store.main.begin().await.unwrap();
        lifecycle::incidents::insert(&transaction, &mut incident).await.unwrap();
        process.commit(transaction, &[ChangeScope::Organisation(process.owner.key)]).await;
        assert_eq!(process.names("has:incident -is:acknowledged sort:name").await, ["a", "b"]);

        let mut after = incident.clone();
        after.incident.acknowledgement =
            incident.incident.created_by.clone().map(|by| Acknowledgement { at: at(150), by });
        let transaction = process.store.main.begin().await.unwrap();
        lifecycle::incidents::save(&transaction, &incident, &after, at(200)).await.unwrap();
        process.commit(transaction, &[ChangeScope::Organisation(process.owner.key)]).await;
        assert_eq!(process.names("is:acknowledged sort:name").await, ["a", "b"]);
        process.router.engine.stop().await;
    });
}

#[rstest]
fn a_view_follows_the_engine(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    System::new().block_on(async {
        let Some(process) = Process::start(backend, Ownership::alone()).await else { return };
        let (a, _) = (process.service("a").await, process.service("b").await);
        let (rows, revision) = process.list("status:unknown").await;
        assert_eq!(rows.len(), 2);
        process.router.announce(std::slice::from_ref(&a), process.owner.id).await;
        let is =
            |status| move |rows: &[FleetRow]| rows.iter().any(|row| row.name == "a" && row.status == status);
        let rows = process.wait_until("the first check", is(ServiceStatus::Up)).await;
        assert_eq!(process.changes_since(revision).await, only(&a));
        let since = |rows: &[FleetRow]| rows.iter().find(|row| row.name == "a").unwrap().since;
        let up_since = since(&rows);
        process.is_down.store(true, Ordering::SeqCst);
        process.router.engine.check_now(vec![a.id]).await.unwrap();
        let rows = process.wait_until("the failing check", is(ServiceStatus::Down)).await;
        assert!(since(&rows) > up_since && up_since.is_some(), "{rows:?}");
        process.router.engine.stop().await;
    });
}

#[rstest]
fn services_without_an_owner_are_marked(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    System::new().block_on(async {
        let me = NodeIdentity { name: "me".parse().unwrap(), folder: Id::random() };
        let ownership = Ownership::clustered(me.clone());
        let Some(process) = Process::start(backend, ownership.clone()).await else { return };
        let (a, b) = (process.service("a").await, process.service("b").await);
        let own = |partitions: PartitionSet| {
            ownership.note_ledger(&PartitionLedger::default().taken(&me.name, partitions));
            ownership.note_living(&BTreeSet::from([me.name.clone()]));
            ownership.hold(partitions, FencingToken { epoch: 1, revision: 1 });
            ownership.note_ready(partitions);
        };
        let (rows, revision) = process.list("is:unwatched sort:name").await;
        assert_eq!(rows.iter().map(|row| row.owner_away_since).collect::<Vec<_>>(), [Some(at(50_000)); 2]);
        assert!(rows.iter().all(|row| row.status == ServiceStatus::Unknown && !row.is_answered));

        own([Partition::of(a.key)].into_iter().collect());
        let (rows, _) = process.list("sort:name").await;
        assert_eq!((rows[0].owner_away_since, rows[0].is_answered), (None, true));
        assert_eq!((rows[1].owner_away_since, rows[1].is_answered), (Some(at(50_000)), false));
        assert_eq!(process.changes_since(revision).await, only(&a));

        own(PartitionSet::ALL);
        assert_eq!(process.names("is:unwatched").await, [] as [&str; 0]);
        let (_, revision) = process.list("").await;
        ownership.note_ledger(&PartitionLedger::default());
        let (rows, _) = process.list("is:unwatched").await;
        assert_eq!(rows.len(), 2);
        let both = FleetChanges::Services(BTreeSet::from([a.key, b.key]));
        assert_eq!(process.changes_since(revision).await, both);
        process.router.engine.stop().await;
    });
}

/// A client that gives up drops the first reading. The next caller gets everything that was committed before.
#[rstest]
fn a_first_reading_may_be_dropped_at_any_point(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    System::new().block_on(async {
        let Some(process) = Process::start(backend, Ownership::alone()).await else { return };
        process.service("first").await;
        for polls in 0..30 {
            let views = FleetViews::new(process.router.clone());
            let mut first = Box::pin(views.of(process.owner.key, at(50_000)));
            for _ in 0..polls {
                if poll!(first.as_mut()).is_ready() {
                    break;
                }
                sleep(Duration::from_millis(1)).await;
            }
            drop(first);
            process.service("next").await;
            let view = views.current(process.owner.key, at(50_000)).await.unwrap();
            assert_eq!(view.len(), 2 + polls, "after {polls} polls");
        }
        process.router.engine.stop().await;
    });
}

/// A first reading of several parts, of which several are read at once, is dropped after each few steps.
#[rstest]
fn a_first_reading_of_many_parts_reads_each_service_once(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    const SERVICES: usize = 3_500;
    System::new().block_on(async {
        let Some(process) = Process::start(backend, Ownership::alone()).await else { return };
        let transaction = process.store.main.begin().await.unwrap();
        for number in 0..SERVICES {
            let named = service(process.owner.key, &format!("{number:04}"));
            services::insert(&transaction, named).await.unwrap();
        }
        process.commit(transaction, &[ChangeScope::Organisation(process.owner.key)]).await;
        for polls in [3, 10, 30, 100] {
            let mut first = Box::pin(process.views.of(process.owner.key, at(50_000)));
            for _ in 0..polls {
                if poll!(first.as_mut()).is_ready() {
                    break;
                }
                sleep(Duration::from_millis(1)).await;
            }
        }
        let view = process.views.current(process.owner.key, at(50_000)).await.unwrap();
        assert_eq!(view.len(), SERVICES);
        let visible = process.views.visible_tags(Visibility::whole(process.owner.key)).await.unwrap();
        let paging = FleetPaging { after: None, limit: 2 * SERVICES };
        let rows = view.search(&parse("sort:name").query, &visible, &paging, at(50_000)).rows;
        let names: Vec<String> = rows.into_iter().map(|row| row.name).collect();
        assert_eq!(names, (0..SERVICES).map(|number| format!("{number:04}")).collect::<Vec<_>>());
        process.router.engine.stop().await;
    });
}

/// Another caller reads all services. What is committed meanwhile is in the view as well.
#[rstest]
fn a_caller_that_waits_for_the_first_reading_misses_nothing(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    System::new().block_on(async {
        let Some(process) = Process::start(backend, Ownership::alone()).await else { return };
        process.service("first").await;
        for polls in 1..30 {
            let views = FleetViews::new(process.router.clone());
            let mut first = Box::pin(views.of(process.owner.key, at(50_000)));
            let mut is_read = false;
            for _ in 0..polls {
                is_read = is_read || poll!(first.as_mut()).is_ready();
                sleep(Duration::from_millis(1)).await;
            }
            process.service("next").await;
            let second = views.current(process.owner.key, at(50_000));
            let view = if is_read { second.await } else { join(first, second).await.1 }.unwrap();
            assert_eq!(view.len(), 1 + polls, "after {polls} polls");
        }
        process.router.engine.stop().await;
    });
}

/// An engine that restores its memory reports no change.
#[rstest]
fn a_state_without_a_recorded_change_is_noticed(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    System::new().block_on(async {
        let Some(process) = Process::start(backend, Ownership::alone()).await else { return };
        let a = process.service("a").await;
        assert_eq!(process.names("status:unknown").await, ["a"]);
        let ServiceRouter { engine, .. } = &process.router;
        let owned = OwnedService { service: a, organisation: process.owner.id };
        let definition = process.router.definitions_of(&[owned]).await.unwrap().pop().unwrap();
        let vote = LocationVote { status: CheckStatus::Up, checked_at: engine.now() };
        let (status, votes) = (MeasuredStatus::Up, vec![(0, vote)]);
        let memory = WatchMemory { status, votes, ..WatchMemory::default() };
        engine.resume(Arc::new(definition), memory).await.unwrap();
        let begin = Instant::now();
        while process.names("status:up").await.is_empty() {
            assert!(begin.elapsed() < PATIENCE, "nobody asks the engine");
            sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(process.list("").await.0[0].since, None, "nothing is recorded");
        engine.stop().await;
    });
}

#[rstest]
fn without_the_history_a_view_follows_commits(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    System::new().block_on(async {
        let Some(process) = Process::start(backend, Ownership::alone()).await else { return };
        let a = process.service("a").await;
        let rename = async |table: &str, to: &str| {
            let statement = format!("ALTER TABLE {table} RENAME TO {to}");
            process.store.history.reader().execute_unprepared(&statement).await.unwrap();
        };
        rename("status_change", "gone").await;
        let begin = Instant::now();
        while process.page("").await.1.is_none() {
            assert!(begin.elapsed() < PATIENCE, "the history is not missed");
            sleep(Duration::from_millis(10)).await;
        }
        process.update(&Service { name: "renamed".into(), ..a }).await;
        let (page, as_of) = process.page("").await;
        assert_eq!((page.rows[0].name.as_str(), as_of), ("renamed", Some(at(50_000))));
        rename("gone", "status_change").await;
        let begin = Instant::now();
        while process.page("").await.1.is_some() {
            assert!(begin.elapsed() < PATIENCE, "the history is still missed");
            sleep(Duration::from_millis(10)).await;
        }
        process.router.engine.stop().await;
    });
}

/// On PostgreSQL other processes write, and nobody tells this one.
#[test]
fn a_view_follows_commits_of_other_processes() {
    System::new().block_on(async {
        let Some(process) = Process::start(Backend::Postgres, Ownership::alone()).await else { return };
        let a = process.service("a").await;
        assert_eq!(process.names("").await, ["a"]);
        // A statement without a transaction of the store passes by its tracker, as that of another process does.
        let written = "UPDATE service SET name = 'other', revision = revision + 1";
        process.store.main.reader().execute_unprepared(written).await.unwrap();
        let rows = process.wait_until("the new name", |rows| rows[0].name == "other").await;
        assert_eq!(rows[0].key, a.key);
        process.router.engine.stop().await;
    });
}
