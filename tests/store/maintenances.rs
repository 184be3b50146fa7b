//! Maintenances: what is stored is read back, lists are filtered and ordered, windows follow the state.

use rstest::rstest;
use watchkeeper::id::Id;
use watchkeeper::lifecycle;
use watchkeeper::lifecycle::service_deletion::{MaintenanceCleanup, settle_maintenances};
use watchkeeper::model::announcement::AnnouncementAuthor;
use watchkeeper::model::maintenance::transition::{MaintenanceTransition, OperationContext};
use watchkeeper::model::maintenance::{Maintenance, MaintenanceKind, MaintenanceStatus, MaintenanceWindow};
use watchkeeper::model::service::ServiceKey;
use watchkeeper::model::service_window::{ServiceWindow, WindowKind};
use watchkeeper::model::visibility::Visibility;
use watchkeeper::store::maintenances::filter::MaintenanceFilter;
use watchkeeper::store::maintenances::{self, effect, links, timeline};
use watchkeeper::store::{PageWindow, services, windows};

use crate::linked::stored_page;
use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::planned::{maintenance, stored};
use crate::support::rows::{at, service, stored_organisation, stored_service};

use MaintenanceStatus::{Cancelled, Completed, InProgress, Scheduled};

async fn list(store: &Store, organisation: i64, filter: &MaintenanceFilter) -> Vec<Maintenance> {
    let (rows, total) = maintenances::list(
        store.main.reader(),
        Visibility::whole(organisation),
        filter,
        PageWindow { offset: 0, limit: 100 },
    )
    .await
    .unwrap();
    assert_eq!(rows.len() as u64, total);
    rows
}

async fn open_windows(store: &Store, services: &[ServiceKey]) -> Vec<ServiceWindow> {
    windows::since(store.main.reader(), services, at(0)).await.unwrap()
}

fn window(service: ServiceKey, from: i64, to: Option<i64>) -> ServiceWindow {
    ServiceWindow { service, kind: WindowKind::Maintenance, from: at(from), to: to.map(at) }
}

/// Flag and revision, as the engine would get them.
async fn flag_and_revision(store: &Store, key: ServiceKey) -> (bool, i64) {
    let found = services::by_keys(store.main.reader(), &[key]).await.unwrap();
    (found[0].in_planned_maintenance, found[0].revision)
}

#[rstest]
#[tokio::test]
async fn a_stored_maintenance_is_read_back(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let other = stored_organisation(&store, "other").await;
    let created_by = Some(AnnouncementAuthor { id: Id::random(), name: "Bot".into() });
    let open = MaintenanceWindow { start: at(1), end: None };
    for new in [
        Maintenance { created_by, auto_complete: false, ..maintenance(owner.key, Completed) },
        Maintenance {
            schedule: open,
            kind: MaintenanceKind::Emergency,
            auto_start: false,
            ..maintenance(owner.key, Scheduled)
        },
    ] {
        let kept = stored(&store, new, (&[], 0)).await;
        let reader = store.main.reader();
        assert_eq!(
            maintenances::find(reader, Visibility::whole(owner.key), kept.id).await.unwrap(),
            Some(kept.clone())
        );
        assert_eq!(maintenances::find(reader, Visibility::whole(other.key), kept.id).await.unwrap(), None);
        let transaction = store.main.begin().await.unwrap();
        let found =
            maintenances::find_for_update(&transaction, Visibility::whole(owner.key), kept.id).await.unwrap();
        assert_eq!(found, Some(kept.clone()));
        assert_eq!(
            maintenances::find_for_update(&transaction, Visibility::whole(other.key), kept.id).await.unwrap(),
            None
        );
        lifecycle::maintenances::delete(&transaction, kept.key, at(900)).await.unwrap();
        assert_eq!(
            maintenances::find(&transaction, Visibility::whole(owner.key), kept.id).await.unwrap(),
            None
        );
    }
}

/// Services by name, pages in the order of the client, entries in the order of their creation.
#[rstest]
#[tokio::test]
async fn links_and_timeline_keep_their_order(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let b = stored_service(&store, service(owner.key, "b")).await;
    let a = stored_service(&store, service(owner.key, "a")).await;
    let (one, two) =
        (stored_page(&store, owner.key, "One").await, stored_page(&store, owner.key, "Two").await);
    let made = stored(&store, maintenance(owner.key, Scheduled), (&[b.key, a.key], 0)).await;
    let bare = stored(&store, maintenance(owner.key, Scheduled), (&[], 0)).await;
    let transaction = store.main.begin().await.unwrap();
    links::show_on(&transaction, made.key, &[two.key, one.key]).await.unwrap();
    let stamp = OperationContext { at: at(12_000), locale: "de" };
    let started = MaintenanceTransition::start(&made, stamp).unwrap();
    lifecycle::maintenances::carry_out(&transaction, &started, at(12_000)).await.unwrap();
    let ended = MaintenanceTransition::complete(&started.after, stamp).unwrap();
    lifecycle::maintenances::carry_out(&transaction, &ended, at(12_000)).await.unwrap();
    transaction.commit().await.unwrap();
    let reader = store.main.reader();
    let named =
        links::services_of(reader, Visibility::whole(owner.key), &[made.key, bare.key]).await.unwrap();
    let names: Vec<&str> = named[&made.key].iter().map(|service| service.name.as_str()).collect();
    assert_eq!((names, named.get(&bare.key)), (vec!["a", "b"], None));
    let pages = links::statuspages_of(reader, Visibility::whole(owner.key), made.key).await.unwrap();
    assert_eq!(pages.iter().map(|page| page.id).collect::<Vec<_>>(), [two.id, one.id]);
    let entries = timeline::of(reader, made.key).await.unwrap();
    let said: Vec<_> = entries.iter().map(|entry| (entry.status, entry.notify_subscribers)).collect();
    assert_eq!(said, [(InProgress, false), (Completed, true)]);
    assert_eq!(entries[0].message.get("de"), Some("The maintenance has started."));
    let transaction = store.main.begin().await.unwrap();
    links::show_on(&transaction, made.key, &[one.key]).await.unwrap();
    assert_eq!(
        links::statuspages_of(&transaction, Visibility::whole(owner.key), made.key).await.unwrap().len(),
        1
    );
}

/// Contract 1.4: the latest planned start first, then the id; pages cut that order.
#[rstest]
#[tokio::test]
async fn lists_are_ordered_and_paged(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let other = stored_organisation(&store, "other").await;
    for organisation in [owner.key, other.key] {
        for start in [5, 7, 6, 7] {
            let schedule = MaintenanceWindow { start: at(start), end: None };
            let new = Maintenance { schedule, ..maintenance(organisation, Scheduled) };
            stored(&store, new, (&[], 0)).await;
        }
    }
    let all = list(&store, owner.key, &MaintenanceFilter::default()).await;
    let starts: Vec<i64> = all.iter().map(|one| one.schedule.start.ms()).collect();
    assert_eq!(starts, [7, 7, 6, 5]);
    assert!(all.iter().all(|one| one.organisation == owner.key));
    // The collation of PostgreSQL depends on the creation of the database.
    if matches!(backend, Backend::Sqlite) {
        assert!(all[0].id.as_str() < all[1].id.as_str());
    }
    let (page, total) = maintenances::list(
        store.main.reader(),
        Visibility::whole(owner.key),
        &MaintenanceFilter::default(),
        PageWindow { offset: 1, limit: 2 },
    )
    .await
    .unwrap();
    assert_eq!((page.as_slice(), total), (&all[1..3], 4));
}

/// Contract 4.11.4: what counts as the end: (state, planned end, actual end) → the last `from` that matches; `None` = all do.
#[rstest]
#[case(Scheduled, Some(20_000), None, Some(20_000))]
#[case(Scheduled, None, None, None)]
#[case(InProgress, Some(20_000), None, None)]
#[case(Completed, Some(20_000), Some(15_000), Some(15_000))]
#[case(Completed, None, Some(25_000), Some(25_000))]
#[case(Cancelled, Some(20_000), Some(15_000), Some(15_000))]
#[case(Cancelled, Some(20_000), None, Some(20_000))]
#[case(Cancelled, None, None, Some(10_000))]
fn the_end_depends_on_the_state(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] status: MaintenanceStatus,
    #[case] end: Option<i64>,
    #[case] actual_end: Option<i64>,
    #[case] last: Option<i64>,
) {
    actix::System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let owner = stored_organisation(&store, "owner").await;
        let schedule = MaintenanceWindow { start: at(10_000), end: end.map(at) };
        let actual_end = actual_end.map(at);
        stored(&store, Maintenance { schedule, actual_end, ..maintenance(owner.key, status) }, (&[], 0))
            .await;
        let count = async |from: Option<i64>, to: Option<i64>| {
            let filter =
                MaintenanceFilter { from: from.map(at), to: to.map(at), ..MaintenanceFilter::default() };
            list(&store, owner.key, &filter).await.len()
        };
        assert_eq!(count(Some(last.unwrap_or(i64::MAX)), None).await, 1);
        if let Some(last) = last {
            assert_eq!(count(Some(last + 1), None).await, 0);
        }
        assert_eq!((count(None, Some(10_000)).await, count(None, Some(10_001)).await), (0, 1));
        assert_eq!(count(Some(0), Some(10_001)).await, 1);
    });
}

#[rstest]
#[tokio::test]
async fn states_and_services_are_filtered(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let a = stored_service(&store, service(owner.key, "a")).await.key;
    let b = stored_service(&store, service(owner.key, "b")).await.key;
    let of_a = stored(&store, maintenance(owner.key, Scheduled), (&[a], 0)).await;
    let of_both = stored(&store, maintenance(owner.key, Cancelled), (&[a, b], 0)).await;
    let of_none = stored(&store, maintenance(owner.key, Completed), (&[], 0)).await;
    let any = |services: &[ServiceKey]| MaintenanceFilter {
        covering_any: Some(services.to_vec()),
        ..MaintenanceFilter::default()
    };
    let of = |statuses: &[MaintenanceStatus]| MaintenanceFilter {
        statuses: statuses.to_vec(),
        ..MaintenanceFilter::default()
    };
    for (filter, expected) in [
        (MaintenanceFilter::default(), vec![&of_a, &of_both, &of_none]),
        (of(&[Scheduled, Completed]), vec![&of_a, &of_none]),
        (of(&[InProgress]), vec![]),
        (any(&[]), vec![]),
        (any(&[b]), vec![&of_both]),
        (any(&[a, b]), vec![&of_a, &of_both]),
        (MaintenanceFilter { covering: Some(a), ..MaintenanceFilter::default() }, vec![&of_a, &of_both]),
        (MaintenanceFilter { covering: Some(a), ..any(&[b]) }, vec![&of_both]),
        (MaintenanceFilter { covering: Some(a), ..of(&[Scheduled]) }, vec![&of_a]),
    ] {
        let mut found: Vec<i64> = list(&store, owner.key, &filter).await.iter().map(|one| one.key).collect();
        found.sort_unstable();
        assert_eq!(found, expected.iter().map(|one| one.key).collect::<Vec<_>>(), "{filter:?}");
    }
}

/// Contract 4.12: services covered by a maintenance in progress, planned or not.
#[rstest]
#[tokio::test]
async fn only_maintenance_in_progress_covers(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let mut keys = Vec::new();
    for name in ["planned", "emergency", "scheduled", "completed", "cancelled", "free"] {
        keys.push(stored_service(&store, service(owner.key, name)).await.key);
    }
    for (key, status) in keys.iter().zip([InProgress, InProgress, Scheduled, Completed, Cancelled]) {
        let kind = if *key == keys[1] { MaintenanceKind::Emergency } else { MaintenanceKind::Planned };
        stored(&store, Maintenance { kind, ..maintenance(owner.key, status) }, (&[*key], 0)).await;
    }
    let covered = effect::covered(store.main.reader(), &keys).await.unwrap();
    assert_eq!(covered, keys[..2].iter().copied().collect());
    assert_eq!(effect::covered(store.main.reader(), &[keys[5]]).await.unwrap().len(), 0);
    assert_eq!(effect::covered(store.main.reader(), &[]).await.unwrap().len(), 0);
    assert_eq!(
        open_windows(&store, &keys).await,
        [window(keys[0], 0, None)],
        "planned work alone is left out"
    );
}

/// A window follows state, kind and services; two maintenances have a window each, and the engine is notified of the first and
/// the last.
#[rstest]
#[tokio::test]
async fn windows_follow_the_maintenance(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let a = stored_service(&store, service(owner.key, "a")).await.key;
    let b = stored_service(&store, service(owner.key, "b")).await.key;
    let one = stored(&store, maintenance(owner.key, InProgress), (&[a], 100)).await;
    assert_eq!(flag_and_revision(&store, a).await, (true, 2));
    let two = stored(&store, maintenance(owner.key, InProgress), (&[a], 150)).await;
    assert_eq!(flag_and_revision(&store, a).await, (true, 2), "it is no news");

    let transaction = store.main.begin().await.unwrap();
    assert!(
        lifecycle::maintenances::align(&transaction, &one, at(160)).await.unwrap().is_empty(),
        "nothing has changed"
    );
    links::cover(&transaction, one.key, &[b]).await.unwrap();
    let touched = lifecycle::maintenances::align(&transaction, &one, at(200)).await.unwrap();
    let notified: Vec<_> =
        touched.iter().map(|one| (one.key, one.in_planned_maintenance, one.revision)).collect();
    assert_eq!(notified, [(b, true, 2)], "the other maintenance still covers the first service");
    transaction.commit().await.unwrap();
    let expected = [window(a, 100, Some(200)), window(a, 150, None), window(b, 200, None)];
    assert_eq!(open_windows(&store, &[a, b]).await, expected);

    let transaction = store.main.begin().await.unwrap();
    let emergency = Maintenance { kind: MaintenanceKind::Emergency, ..one.clone() };
    lifecycle::maintenances::align(&transaction, &emergency, at(250)).await.unwrap();
    lifecycle::maintenances::align(&transaction, &one, at(260)).await.unwrap();
    lifecycle::maintenances::end_effect(&transaction, one.key, at(300)).await.unwrap();
    let touched = lifecycle::maintenances::end_effect(&transaction, two.key, at(310)).await.unwrap();
    assert_eq!(touched.iter().map(|one| one.key).collect::<Vec<_>>(), [a]);
    transaction.commit().await.unwrap();
    let expected = [
        window(a, 100, Some(200)),
        window(a, 150, Some(310)),
        window(b, 200, Some(250)),
        window(b, 260, Some(300)),
    ];
    assert_eq!(open_windows(&store, &[a, b]).await, expected);
    assert_eq!(
        (flag_and_revision(&store, a).await, flag_and_revision(&store, b).await),
        ((false, 3), (false, 5))
    );
}

/// A clock that is set back makes no window that ends before it begins.
#[rstest]
#[tokio::test]
async fn no_window_ends_before_it_begins(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let a = stored_service(&store, service(owner.key, "a")).await.key;
    let one = stored(&store, maintenance(owner.key, InProgress), (&[a], 5_000)).await;
    let transaction = store.main.begin().await.unwrap();
    lifecycle::maintenances::end_effect(&transaction, one.key, at(1_000)).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(open_windows(&store, &[a]).await, [window(a, 5_000, Some(5_000))]);
    assert_eq!(flag_and_revision(&store, a).await, (false, 3));
}

/// A write of a service leaves the flag unchanged, even from an old copy of it.
#[rstest]
#[tokio::test]
async fn a_write_of_the_service_leaves_the_flag_alone(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let before = stored_service(&store, service(owner.key, "a")).await;
    stored(&store, maintenance(owner.key, InProgress), (&[before.key], 100)).await;
    let transaction = store.main.begin().await.unwrap();
    services::update(&transaction, before.clone()).await.unwrap();
    transaction.commit().await.unwrap();
    assert!(flag_and_revision(&store, before.key).await.0);
}

/// Contract 4.3.9: the maintenance rows of the table.
#[rstest]
#[tokio::test]
async fn a_deleted_service_is_detached(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(false, true)] delete_orphaned: bool,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let a = stored_service(&store, service(owner.key, "a")).await.key;
    let b = stored_service(&store, service(owner.key, "b")).await.key;
    let mut made = Vec::new();
    for covered in [vec![a], vec![a, b], vec![b], vec![]] {
        for status in MaintenanceStatus::ALL {
            made.push(stored(&store, maintenance(owner.key, status), (&covered, 100)).await);
        }
    }
    let transaction = store.main.begin().await.unwrap();
    let left = settle_maintenances(&transaction, a, delete_orphaned, at(900)).await.unwrap();
    services::delete(&transaction, a).await.unwrap();
    transaction.commit().await.unwrap();
    let expected = if delete_orphaned {
        MaintenanceCleanup { cancelled: 0, deleted: 4, detached: 4 }
    } else {
        MaintenanceCleanup { cancelled: 2, deleted: 0, detached: 6 }
    };
    assert_eq!(left, expected);
    for (place, before) in made.iter().enumerate() {
        let after =
            maintenances::find(store.main.reader(), Visibility::whole(owner.key), before.id).await.unwrap();
        let expected = match (place < 4, delete_orphaned, before.status) {
            (true, true, _) => None,
            (true, false, Scheduled) => Some(Maintenance { status: Cancelled, ..before.clone() }),
            (true, false, InProgress) => {
                Some(Maintenance { status: Cancelled, actual_end: Some(at(900)), ..before.clone() })
            }
            _ => Some(before.clone()),
        };
        assert_eq!(after, expected, "{place}");
    }
    let transaction = store.main.begin().await.unwrap();
    let nothing = settle_maintenances(&transaction, i64::MAX, delete_orphaned, at(900)).await.unwrap();
    assert_eq!(nothing, MaintenanceCleanup::default());
}
