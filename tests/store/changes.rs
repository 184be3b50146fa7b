//! Status changes: the ones that say what the status was since some moment, and the last ones.

use rstest::rstest;
use watchkeeper::model::history::MeasuredStatus::{self, Degraded, Down, NoData, Unknown, Up};
use watchkeeper::model::history::{ChangeCause, StatusChange};
use watchkeeper::model::partition::{Partition, PartitionSet};
use watchkeeper::store::history::{changes, many_changes};

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{append_changes, at, change};

fn story() -> Vec<StatusChange> {
    vec![
        change(1, 10, (Unknown, Up)),
        change(2, 10, (Unknown, Degraded)),
        change(1, 20, (Up, Down)),
        change(1, 30, (Down, NoData)),
        change(1, 40, (NoData, Unknown)),
        change(2, 50, (Degraded, Up)),
    ]
}

fn of(service: i64) -> Vec<StatusChange> {
    story().into_iter().filter(|change| change.service == service).collect()
}

/// The changes of many services, read together, are those of each.
async fn require_same_for_many(store: &Store, since_ms: i64) {
    let reader = store.history.reader();
    let mut together = many_changes::since_of(reader, &[1, 2, 3], at(since_ms)).await.unwrap();
    for service in 1..=3 {
        let alone = changes::since(reader, service, at(since_ms)).await.unwrap();
        assert_eq!(together.remove(&service).unwrap_or_default(), alone, "service {service}");
    }
}

#[rstest]
#[case::before_everything(0, 0)]
#[case::at_the_first(10, 0)]
#[case::after_the_first(11, 0)]
#[case::at_a_later_one_the_one_before_leads(30, 1)]
#[case::between(35, 2)]
#[case::after_everything_the_last_still_holds(1_000, 3)]
#[tokio::test]
async fn changes_since_a_moment_include_the_one_before(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] since_ms: i64,
    #[case] first: usize,
) {
    let Some(store) = backend.open().await else { return };
    append_changes(&store.history, &story()).await;
    let found = changes::since(store.history.reader(), 1, at(since_ms)).await.unwrap();
    assert_eq!(found, of(1)[first..]);
    assert_eq!(changes::since(store.history.reader(), 3, at(since_ms)).await.unwrap(), []);
    require_same_for_many(&store, since_ms).await;
}

#[rstest]
#[tokio::test]
async fn the_last_change_of_every_service_is_found(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    append_changes(&store.history, &story()).await;
    let reader = store.history.reader();
    let mut all = changes::latest_of(reader, PartitionSet::ALL).await.unwrap();
    all.sort_by_key(|change| change.service);
    assert_eq!(all, [change(1, 40, (NoData, Unknown)), change(2, 50, (Degraded, Up))]);
    let second: PartitionSet = Partition::new(2).into_iter().collect();
    assert_eq!(changes::latest_of(reader, second).await.unwrap(), all[1..]);
    assert_eq!(changes::latest(reader, 1).await.unwrap(), Some(all[0]));
    assert_eq!(changes::latest(reader, 3).await.unwrap(), None);
}

/// More services than one statement reads.
#[rstest]
#[tokio::test]
async fn the_last_changes_of_very_many_services_are_found(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let services = 1..=60_001;
    let first = services.clone().map(|service| change(service, service, (Unknown, Up)));
    let last: Vec<StatusChange> =
        services.map(|service| change(service, 200_000 - service, (Up, Down))).collect();
    append_changes(&store.history, &first.chain(last.iter().copied()).collect::<Vec<_>>()).await;
    let found = changes::latest_of(store.history.reader(), PartitionSet::ALL).await.unwrap();
    assert!(found == last, "{} changes", found.len());
}

#[rstest]
#[tokio::test]
async fn every_status_and_cause_survives(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let mut made = Vec::new();
    // Flapping rows are not changes of the status.
    let is_read = |cause: &ChangeCause| *cause != ChangeCause::Clock && !cause.is_about_flapping();
    let causes = ChangeCause::ALL.into_iter().filter(is_read);
    for (place, cause) in (0_i64..).zip(causes) {
        for (step, status) in (0_i64..).zip(MeasuredStatus::ALL) {
            made.push(StatusChange { cause, ..change(1, place * 10 + step, (status, Unknown)) });
        }
    }
    append_changes(&store.history, &made).await;
    assert_eq!(changes::since(store.history.reader(), 1, at(0)).await.unwrap(), made);
}

/// Ahead by an hour from second 60 to 300: recorded in this order, and what it means.
fn ahead_and_back() -> Vec<StatusChange> {
    let clock =
        |at_s: i64, states| StatusChange { cause: ChangeCause::Clock, ..change(1, at_s * 1_000, states) };
    let votes = |at_s: i64, states| change(1, at_s * 1_000, states);
    vec![
        votes(0, (Unknown, Up)),
        votes(120, (Up, NoData)),
        votes(3_660, (NoData, Up)),
        clock(3_900, (Up, NoData)),
        clock(300, (NoData, Up)),
        votes(400, (Up, Down)),
    ]
}

#[rstest]
#[case::all_of_it(0, &[(0, Up), (120, NoData), (300, Up), (400, Down)])]
#[case::since_the_clock_is_right_again(350, &[(300, Up), (400, Down)])]
#[case::in_the_time_undone(3_800, &[(400, Down)])]
#[tokio::test]
async fn changes_are_in_order_across_a_clock_setback(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] since_s: i64,
    #[case] expected: &[(i64, MeasuredStatus)],
) {
    let Some(store) = backend.open().await else { return };
    append_changes(&store.history, &of(2)).await;
    append_changes(&store.history, &ahead_and_back()).await;
    let reader = store.history.reader();
    let found = changes::since(reader, 1, at(since_s * 1_000)).await.unwrap();
    let found: Vec<_> = found.into_iter().map(|change| (change.at.ms() / 1_000, change.to)).collect();
    assert_eq!(found, expected);
    require_same_for_many(&store, since_s * 1_000).await;
    assert_eq!(changes::latest(reader, 1).await.unwrap(), ahead_and_back().pop());
    let mut latest = changes::latest_of(reader, PartitionSet::ALL).await.unwrap();
    latest.sort_by_key(|change| change.service);
    assert_eq!((latest.len(), latest[0]), (2, ahead_and_back()[5]));
}

/// Years later superseded changes are not needed, but the order must stay known.
#[rstest]
#[tokio::test]
async fn superseded_changes_are_removed_without_disturbing_the_order(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    append_changes(&store.history, &ahead_and_back()).await;
    let old = changes::superseded_before(store.history.reader(), at(9_000_000)).await.unwrap();
    assert_eq!(old.len(), 3, "what came before the clock was set back");
    let transaction = store.history.begin().await.unwrap();
    changes::delete(&transaction, &old).await.unwrap();
    transaction.commit().await.unwrap();
    let found = changes::since(store.history.reader(), 1, at(9_000_000)).await.unwrap();
    assert_eq!(found.last().map(|change| (change.at, change.to)), Some((at(400_000), Down)));
}
