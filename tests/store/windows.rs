//! Windows: pauses and overrides, at most one open of a kind, deleted with their service.

use rstest::rstest;
use watchkeeper::model::service::OverrideStatus;
use watchkeeper::model::service_window::{ServiceWindow, WindowKind};
use watchkeeper::store::{services, windows};

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{at, service, stored_organisation, stored_service};

async fn two_services(store: &Store) -> (i64, i64) {
    let owner = stored_organisation(store, "owner").await;
    let one = stored_service(store, service(owner.key, "one")).await;
    let two = stored_service(store, service(owner.key, "two")).await;
    (one.key, two.key)
}

fn window(service: i64, kind: WindowKind, from: i64, to: Option<i64>) -> ServiceWindow {
    ServiceWindow { service, kind, from: at(from), to: to.map(at) }
}

const DOWN: WindowKind = WindowKind::Override(OverrideStatus::Down);
const MAINTENANCE: WindowKind = WindowKind::Override(OverrideStatus::Maintenance);

#[rstest]
#[tokio::test]
async fn one_window_of_a_kind_is_open_at_a_time(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let (one, two) = two_services(&store).await;
    let transaction = store.main.begin().await.unwrap();
    windows::open(&transaction, one, DOWN, at(100)).await.unwrap();
    windows::open(&transaction, one, WindowKind::Pause, at(150)).await.unwrap();
    windows::open(&transaction, one, MAINTENANCE, at(200)).await.unwrap();
    windows::open(&transaction, two, WindowKind::Pause, at(120)).await.unwrap();
    windows::close_pause(&transaction, one, at(300)).await.unwrap();
    windows::close_pause(&transaction, one, at(310)).await.unwrap();
    transaction.commit().await.unwrap();
    let all = windows::since(store.main.reader(), &[one, two], at(0)).await.unwrap();
    let expected = [
        window(one, DOWN, 100, Some(200)),
        window(one, WindowKind::Pause, 150, Some(300)),
        window(one, MAINTENANCE, 200, None),
        window(two, WindowKind::Pause, 120, None),
    ];
    assert_eq!(all, expected);

    let transaction = store.main.begin().await.unwrap();
    windows::close_override(&transaction, one, at(400)).await.unwrap();
    transaction.commit().await.unwrap();
    let reader = store.main.reader();
    let later = windows::since(reader, &[one], at(300)).await.unwrap();
    assert_eq!(later, [window(one, MAINTENANCE, 200, Some(400))], "a window ends before its end");
    assert_eq!(windows::since(reader, &[two], at(9_999)).await.unwrap(), [expected[3]], "an open one lasts");
    assert_eq!(windows::since(reader, &[], at(0)).await.unwrap(), []);
}

/// A clock that was set back: what is over was never shorter than nothing.
#[rstest]
#[tokio::test]
async fn a_window_does_not_end_before_it_began(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let (one, _) = two_services(&store).await;
    let transaction = store.main.begin().await.unwrap();
    for kind in [WindowKind::Pause, DOWN, WindowKind::Unreachable] {
        windows::open(&transaction, one, kind, at(1_000)).await.unwrap();
    }
    windows::close_pause(&transaction, one, at(999)).await.unwrap();
    windows::close_unreachable(&transaction, one, at(1)).await.unwrap();
    windows::open(&transaction, one, MAINTENANCE, at(500)).await.unwrap();
    transaction.commit().await.unwrap();
    let mut all = windows::since(store.main.reader(), &[one], at(0)).await.unwrap();
    all.sort_by_key(|window| (window.from, window.kind.word()));
    let expected = [
        window(one, MAINTENANCE, 500, None),
        window(one, DOWN, 1_000, Some(1_000)),
        window(one, WindowKind::Pause, 1_000, Some(1_000)),
        window(one, WindowKind::Unreachable, 1_000, Some(1_000)),
    ];
    assert_eq!(all, expected);
}

#[rstest]
#[tokio::test]
async fn every_stated_status_survives(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let (one, _) = two_services(&store).await;
    let transaction = store.main.begin().await.unwrap();
    for (place, status) in (0..).zip(OverrideStatus::ALL) {
        windows::open(&transaction, one, WindowKind::Override(status), at(place)).await.unwrap();
    }
    transaction.commit().await.unwrap();
    let kinds: Vec<WindowKind> =
        windows::since(store.main.reader(), &[one], at(0)).await.unwrap().iter().map(|w| w.kind).collect();
    assert_eq!(kinds, OverrideStatus::ALL.map(WindowKind::Override));
}

#[rstest]
#[tokio::test]
async fn windows_are_deleted_with_their_service(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let (one, two) = two_services(&store).await;
    let transaction = store.main.begin().await.unwrap();
    windows::open(&transaction, one, WindowKind::Pause, at(1)).await.unwrap();
    windows::open(&transaction, two, WindowKind::Pause, at(1)).await.unwrap();
    services::delete(&transaction, one).await.unwrap();
    transaction.commit().await.unwrap();
    let left = windows::since(store.main.reader(), &[one, two], at(0)).await.unwrap();
    assert_eq!(left, [window(two, WindowKind::Pause, 1, None)]);
}
