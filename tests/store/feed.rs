//! Reading the status changes in their order: none is passed over, and positions of quiet partitions do not stay behind.

use std::time::Duration;

use rstest::rstest;
use tokio::time::timeout;
use watchkeeper::feed::ChangeFeed;
use watchkeeper::model::history::{ChangeCause, MeasuredStatus, StatusChange};
use watchkeeper::model::partition::{Partition, PartitionSet};
use watchkeeper::store::feed_positions;
use watchkeeper::store::history::{append, feed};

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::at;

const READER: &str = "test";

fn change(service: i64, ms: i64, cause: ChangeCause) -> StatusChange {
    StatusChange { service, at: at(ms), from: MeasuredStatus::Up, to: MeasuredStatus::Down, cause }
}

async fn write(store: &Store, changes: &[StatusChange]) {
    let transaction = store.history.begin().await.unwrap();
    append::changes(&transaction, changes).await.unwrap();
    transaction.commit().await.unwrap();
}

/// A reader that starts before the first change.
async fn reader(store: &Store) -> ChangeFeed {
    let mut reader = ChangeFeed::new(READER);
    let missing = reader.take(store.main.reader(), PartitionSet::ALL).await.unwrap();
    let transaction = store.main.begin().await.unwrap();
    reader.begin(&transaction, missing, 0).await.unwrap();
    transaction.commit().await.unwrap();
    assert!(reader.take(store.main.reader(), PartitionSet::ALL).await.unwrap().is_empty());
    reader
}

/// Reads everything that there is to read, and gives the services.
async fn read(store: &Store, reader: &mut ChangeFeed) -> Vec<i64> {
    let mut services = Vec::new();
    while let Some(next) = reader.next(store.history.reader()).await.unwrap() {
        let transaction = store.main.begin().await.unwrap();
        assert!(reader.advance(&transaction, &next).await.unwrap());
        transaction.commit().await.unwrap();
        reader.note_advanced(&next);
        services.extend(next.changes.iter().map(|change| change.change.service));
    }
    services
}

async fn positions(store: &Store) -> Vec<i64> {
    let found = feed_positions::find(store.main.reader(), READER, PartitionSet::ALL).await.unwrap();
    found.into_values().collect()
}

/// PostgreSQL gives numbers before it shows rows: what is written beside the recorder has a higher one and is seen first.
#[tokio::test]
async fn a_concurrent_write_does_not_skip_uncommitted_changes() {
    let Some(store) = Backend::Postgres.open().await else { return };
    let mut reader = reader(&store).await;
    let recorder = store.history.begin().await.unwrap();
    feed::announce(&recorder, [Partition::of(5)].into_iter().collect()).await.unwrap();
    append::changes(&recorder, &[change(5, 1_000, ChangeCause::Votes)]).await.unwrap();
    write(&store, &[change(5, 10, ChangeCause::Filled), change(6, 20, ChangeCause::Imported)]).await;
    assert_eq!(read(&store, &mut reader).await, [0_i64; 0], "nothing that is new is to be seen yet");
    let early = timeout(Duration::from_millis(500), reader.horizon(&store.history)).await;
    assert!(early.is_err(), "there is a change on its way");
    recorder.commit().await.unwrap();
    let horizon = reader.horizon(&store.history).await.unwrap().unwrap();
    assert_eq!(read(&store, &mut reader).await, [5]);
    reader.advance_to_horizon(&store.main, horizon).await.unwrap();
    assert!(positions(&store).await.iter().all(|position| *position >= 3));
}

/// Changes of one partition leave the others where they were; now and then these are moved along, in one statement.
#[rstest]
#[tokio::test]
async fn positions_of_quiet_partitions_advance(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let mut reader = reader(&store).await;
    let many: Vec<StatusChange> = (1..=40).map(|ms| change(64, ms, ChangeCause::Votes)).collect();
    write(&store, &many).await;
    let horizon = reader.horizon(&store.history).await.unwrap().unwrap();
    assert_eq!(read(&store, &mut reader).await.len(), 40);
    assert_eq!(positions(&store).await.iter().sum::<i64>(), 40, "one of 64 has moved");
    // Somebody else has taken one of them, and reads on from where it was.
    let transaction = store.main.begin().await.unwrap();
    assert!(feed_positions::advance(&transaction, READER, Partition::of(7), 0, 3).await.unwrap());
    transaction.commit().await.unwrap();
    reader.advance_to_horizon(&store.main, horizon).await.unwrap();
    let mut moved = positions(&store).await;
    moved.sort_unstable();
    assert_eq!((moved[0], &moved[1..]), (3, &[40; 63][..]));
    assert_eq!(reader.horizon(&store.history).await.unwrap(), None, "not again so soon");
    assert!(reader.take(store.main.reader(), PartitionSet::ALL).await.unwrap().is_empty());
    write(&store, &[change(7, 50, ChangeCause::Votes)]).await;
    assert_eq!(read(&store, &mut reader).await, [7]);
}
