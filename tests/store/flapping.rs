//! Flapping rows: no reader of the status line sees them, and a start reads them with the transitions.

use rstest::rstest;
use watchkeeper::model::flapping::FlappingState;
use watchkeeper::model::history::ChangeCause::{self, Settled};
use watchkeeper::model::history::MeasuredStatus::{Degraded, Down, NoData, Unknown, Up};
use watchkeeper::model::history::StatusChange;
use watchkeeper::model::partition::{Partition, PartitionSet};
use watchkeeper::store::history::changes;

use crate::support::Backend;
use crate::support::rows::{append_changes, at, change};

fn flapping_change(service: i64, at_ms: i64, cause: ChangeCause) -> StatusChange {
    StatusChange { cause, ..change(service, at_ms, (Down, Down)) }
}

/// Service 1 flaps, 2 did and does not any more, 3 is up and down, 4 only has gaps.
fn story() -> Vec<StatusChange> {
    vec![
        change(1, 10, (Unknown, Up)),
        change(1, 20, (Up, Down)),
        flapping_change(1, 20, ChangeCause::Flapping),
        change(2, 10, (Up, Degraded)),
        flapping_change(2, 15, ChangeCause::Flapping),
        flapping_change(2, 90, Settled),
        change(3, 30, (Up, Down)),
        change(3, 40, (Down, Up)),
        change(4, 30, (Up, NoData)),
        change(4, 40, (NoData, Down)),
    ]
}

#[rstest]
#[tokio::test]
async fn a_start_reads_flapping_services_and_recent_transitions(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    append_changes(&store.history, &story()).await;
    let reader = store.history.reader();
    let found = changes::flapping(reader, PartitionSet::ALL, at(15)).await.unwrap();
    let mut known: Vec<_> = found.into_iter().collect();
    known.sort_by_key(|(service, _)| *service);
    let expected = [
        (1, FlappingState::resumed([at(20)], true)),
        (2, FlappingState::resumed([], false)),
        (3, FlappingState::resumed([at(30), at(40)], false)),
    ];
    assert_eq!(known, expected);
    let third: PartitionSet = Partition::new(3).into_iter().collect();
    let found = changes::flapping(reader, third, at(35)).await.unwrap();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [(3, FlappingState::resumed([at(40)], false))]);
}

#[rstest]
#[tokio::test]
async fn a_status_timeline_contains_no_flapping(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    append_changes(&store.history, &story()).await;
    let reader = store.history.reader();
    assert_eq!(changes::since(reader, 1, at(15)).await.unwrap(), [story()[0], story()[1]]);
    assert_eq!(changes::since(reader, 2, at(95)).await.unwrap(), [story()[3]]);
    assert_eq!(changes::latest(reader, 2).await.unwrap(), Some(story()[3]));
    let mut latest = changes::latest_of(reader, PartitionSet::ALL).await.unwrap();
    latest.sort_by_key(|change| change.service);
    assert_eq!(latest, [story()[1], story()[3], story()[7], story()[9]]);
    // A change of flapping supersedes no status.
    let old = changes::superseded_before(reader, at(1_000)).await.unwrap();
    let transaction = store.history.begin().await.unwrap();
    changes::delete(&transaction, &old).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(changes::latest(reader, 2).await.unwrap(), Some(story()[3]));
}
