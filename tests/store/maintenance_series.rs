//! Series of maintenances: every window is created once, whatever the clock does and however many processes plan it.

use std::sync::Arc;

use actix::System;
use rstest::rstest;
use sea_orm::ConnectionTrait as _;
use watchkeeper::clock::guard::ClockGuard;
use watchkeeper::clock::{Clock, DAY_MS, Timestamp};
use watchkeeper::id::Id;
use watchkeeper::lifecycle::maintenance_series;
use watchkeeper::model::maintenance::series::{MaintenanceSeries, SeriesStatus};
use watchkeeper::model::maintenance::transition::OperationContext;
use watchkeeper::model::maintenance::{Maintenance, MaintenanceKind, MaintenanceNotices, MaintenanceStatus};
use watchkeeper::model::recurrence::{Occurrence, Recurrence, WallWindow};
use watchkeeper::model::service::ServiceKey;
use watchkeeper::model::translated_text::TranslatedText;
use watchkeeper::model::visibility::Visibility;
use watchkeeper::store::PageWindow;
use watchkeeper::store::maintenances::filter::MaintenanceFilter;
use watchkeeper::store::maintenances::series::{self, links, occurrences};
use watchkeeper::store::maintenances::{self, effect};
use watchkeeper::timetable::maintenance_series::SeriesPlanner;
use watchkeeper::timetable::maintenances::MaintenanceExecutor;

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{at, service, stored_organisation, stored_service};
use crate::timetable::transitions;

const HOUR_MS: i64 = 3_600_000;
/// 2026-11-20T00:00:00Z.
const BEGIN: i64 = 1_795_132_800_000;

/// A series in UTC, whose first window begins an hour after [`BEGIN`] and lasts two.
fn recurring(organisation: i64, rule: &str) -> MaintenanceSeries {
    let window = Occurrence { start: at(BEGIN + HOUR_MS), end: at(BEGIN + 3 * HOUR_MS) };
    MaintenanceSeries {
        key: 0,
        id: Id::random(),
        organisation,
        title: TranslatedText::single("en", "Restart"),
        message: Some(TranslatedText::single("de", "Neustart")),
        kind: MaintenanceKind::Planned,
        status: SeriesStatus::Active,
        recurrence: Recurrence::new(rule.parse().unwrap(), "UTC".parse().unwrap(), window).unwrap(),
        auto_start: true,
        auto_complete: true,
        notices: MaintenanceNotices {
            announcement: true,
            day_before: false,
            hour_before: true,
            start: false,
            complete: true,
        },
        next_planning_at: at(BEGIN),
        created_by: None,
        created_at: at(BEGIN),
        updated_at: at(BEGIN),
    }
}

async fn stored(store: &Store, new: MaintenanceSeries, services: &[ServiceKey]) -> MaintenanceSeries {
    let transaction = store.main.begin().await.unwrap();
    let stored = series::insert(&transaction, new).await.unwrap();
    links::cover(&transaction, stored.key, services).await.unwrap();
    transaction.commit().await.unwrap();
    stored
}

/// A process that plans by this clock, which it trusts.
fn planner(of: &MaintenanceExecutor, clock: &Clock) -> SeriesPlanner {
    let guard = Arc::new(ClockGuard::new(clock.clone(), None));
    SeriesPlanner { router: of.router.clone(), guard }
}

/// Every maintenance of the organisation, the first one first.
async fn standing(store: &Store, organisation: i64) -> Vec<Maintenance> {
    let all = PageWindow { offset: 0, limit: 10_000 };
    let found = maintenances::list(
        store.main.reader(),
        Visibility::whole(organisation),
        &MaintenanceFilter::default(),
        all,
    )
    .await
    .unwrap();
    found.0.into_iter().rev().collect()
}

fn days(of: &[Maintenance]) -> Vec<i64> {
    of.iter().map(|one| one.schedule.start.ms_since(at(BEGIN)) / DAY_MS).collect()
}

#[rstest]
fn a_stored_series_is_read_back(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let other = stored_organisation(&store, "other").await;
        // 02:30 on a day on which clocks in Berlin leave it out: the wall time is kept, not the instant.
        let parts = WallWindow { first_ms: 1_774_751_400_000, length_ms: HOUR_MS };
        let rule = "FREQ=DAILY;COUNT=3".parse().unwrap();
        let recurrence = Recurrence::of(rule, "Europe/Berlin".parse().unwrap(), parts).unwrap();
        let made =
            stored(&store, MaintenanceSeries { recurrence, ..recurring(owner.key, "FREQ=DAILY") }, &[]).await;
        let reader = store.main.reader();
        assert_eq!(
            series::find(reader, Visibility::whole(owner.key), made.id).await.unwrap(),
            Some(made.clone())
        );
        assert_eq!(made.recurrence.parts(), parts);
        assert_eq!(series::find(reader, Visibility::whole(other.key), made.id).await.unwrap(), None);
        let page = PageWindow { offset: 0, limit: 10 };
        assert_eq!(series::list(reader, owner.key, page).await.unwrap(), (vec![made], 1));
        assert_eq!(series::list(reader, other.key, page).await.unwrap(), (vec![], 0));
    });
}

/// Forty days, three processes, planning several times a day: every window is created, started and ended once.
#[rstest]
fn windows_are_created_once_as_time_passes(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let covered = stored_service(&store, service(owner.key, "a")).await;
        stored(&store, recurring(owner.key, "FREQ=DAILY;INTERVAL=2"), &[covered.key]).await;
        let clock = Clock::fixed(at(BEGIN));
        let transitions = transitions(&store, &clock);
        let planners = [(); 3].map(|()| planner(&transitions, &clock));
        let mut created = 0;
        for _ in 0..40 * 4 {
            let [a, b, c] = planners.each_ref().map(SeriesPlanner::run_due);
            let (a, b, c) = futures_util::join!(a, b, c);
            created += a.unwrap() + b.unwrap() + c.unwrap();
            transitions.run_due().await.unwrap();
            clock.pass(DAY_MS / 4);
        }
        let stand = standing(&store, owner.key).await;
        assert_eq!(stand.len(), created);
        let expected: Vec<i64> = (0..).step_by(2).take(created).collect();
        assert_eq!(days(&stand), expected);
        // The last planning was at the start of day 39; the next window is that of day 70.
        assert_eq!(expected.last(), Some(&68));
        let done = stand.iter().filter(|one| one.status == MaintenanceStatus::Completed).count();
        assert_eq!(done, 20);
        let effect = effect::covered(store.main.reader(), &[covered.key]).await.unwrap();
        assert!(effect.is_empty());
        transitions.router.engine.stop().await;
    });
}

/// After a long stop nothing is made up for, except for the window that is running.
#[rstest]
#[case::between_windows(100 * DAY_MS + 12 * HOUR_MS, (31, 101), MaintenanceStatus::Scheduled)]
#[case::while_one_runs(100 * DAY_MS + 2 * HOUR_MS, (32, 100), MaintenanceStatus::InProgress)]
fn windows_that_are_over_are_not_created(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] stopped_ms: i64,
    #[case] (count, first_day): (usize, i64),
    #[case] status: MaintenanceStatus,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let covered = stored_service(&store, service(owner.key, "a")).await;
        stored(&store, recurring(owner.key, "FREQ=DAILY"), &[covered.key]).await;
        let clock = Clock::fixed(at(BEGIN + stopped_ms));
        let transitions = transitions(&store, &clock);
        assert_eq!(planner(&transitions, &clock).run_due().await.unwrap(), count);
        let stand = standing(&store, owner.key).await;
        assert_eq!((days(&stand)[0], stand[0].status), (first_day, status));
        let covered = effect::covered(store.main.reader(), &[covered.key]).await.unwrap();
        assert_eq!(covered.is_empty(), status == MaintenanceStatus::Scheduled);
        assert_eq!(planner(&transitions, &clock).run_due().await.unwrap(), 0);
        transitions.router.engine.stop().await;
    });
}

/// A clock that jumps is doubted, and nothing is created; one that was believed wrongly creates no more than fits, and the
/// right one plans at once.
#[rstest]
fn a_wrong_clock_plans_a_bounded_number_of_windows(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        stored(&store, recurring(owner.key, "FREQ=DAILY;BYHOUR=1,5,9,13,17,21"), &[]).await;
        let clock = Clock::fixed(at(BEGIN));
        let transitions = transitions(&store, &clock);
        let doubting = planner(&transitions, &clock);
        clock.set_ahead(5 * 365 * DAY_MS);
        assert_eq!(doubting.run_due().await.unwrap(), 0);
        assert_eq!(planner(&transitions, &clock).run_due().await.unwrap(), 110);
        clock.set_ahead(-5 * 365 * DAY_MS);
        assert_eq!(doubting.run_due().await.unwrap(), 110, "the look that lies years ahead is made now");
        assert_eq!(doubting.run_due().await.unwrap(), 0);
        transitions.router.engine.stop().await;
    });
}

/// Planning that was never committed leaves nothing, and the next one finds everything to do.
#[rstest]
fn interrupted_planning_is_repeated(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let made = stored(&store, recurring(owner.key, "FREQ=WEEKLY"), &[]).await;
        let (clock, stamp) = (Clock::fixed(at(BEGIN)), OperationContext { at: at(BEGIN), locale: "en" });
        let transaction = store.main.begin().await.unwrap();
        let planned = maintenance_series::extend_series(&transaction, made.clone(), stamp).await.unwrap();
        assert_eq!(planned.created.len(), 5);
        drop(transaction);
        assert_eq!(standing(&store, owner.key).await, []);
        let transitions = transitions(&store, &clock);
        assert_eq!(planner(&transitions, &clock).run_due().await.unwrap(), 5);
        let transaction = store.main.begin().await.unwrap();
        assert_eq!(maintenance_series::extend_series(&transaction, made, stamp).await.unwrap().created, []);
        transaction.commit().await.unwrap();
        transitions.router.engine.stop().await;
    });
}

/// Removed windows are remembered until they are over; a rule without upcoming windows ends its series.
#[rstest]
fn a_skipped_window_stays_out_and_a_series_ends(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let made = stored(&store, recurring(owner.key, "FREQ=DAILY;COUNT=5"), &[]).await;
        let second = at(BEGIN + HOUR_MS + DAY_MS);
        let transaction = store.main.begin().await.unwrap();
        for _ in 0..2 {
            occurrences::skip_all(&transaction, &[(made.key, second)]).await.unwrap();
        }
        transaction.commit().await.unwrap();
        let clock = Clock::fixed(at(BEGIN));
        let transitions = transitions(&store, &clock);
        let planner = planner(&transitions, &clock);
        assert_eq!(planner.run_due().await.unwrap(), 4);
        assert_eq!(days(&standing(&store, owner.key).await), [0, 2, 3, 4]);
        for _ in 0..10 {
            clock.pass(DAY_MS);
            assert_eq!(planner.run_due().await.unwrap(), 0);
        }
        let reader = store.main.reader();
        let ended = series::find(reader, Visibility::whole(owner.key), made.id).await.unwrap().unwrap();
        assert_eq!(ended.status, SeriesStatus::Ended);
        assert_eq!(occurrences::skips(reader, made.key).await.unwrap(), [second] as [Timestamp; 1]);
        transitions.router.engine.stop().await;
    });
}

/// A row that cannot be read is an error, but the others are processed.
#[rstest]
fn a_failing_series_does_not_stop_the_others(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let broken = stored(&store, recurring(owner.key, "FREQ=DAILY"), &[]).await;
        stored(&store, recurring(owner.key, "FREQ=WEEKLY"), &[]).await;
        let statement = format!("UPDATE maintenance_series SET rrule = 'odd' WHERE id = {}", broken.key);
        store.main.reader().execute_unprepared(&statement).await.unwrap();
        let clock = Clock::fixed(at(BEGIN));
        let transitions = transitions(&store, &clock);
        assert!(planner(&transitions, &clock).run_due().await.is_err());
        assert_eq!(standing(&store, owner.key).await.len(), 5);
        transitions.router.engine.stop().await;
    });
}
