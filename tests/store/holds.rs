//! Holds of partitions, and the locks that delay them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rstest::rstest;
use sea_orm::sqlx::{Connection as _, Executor as _, PgConnection};
use tokio::time::{sleep, timeout};
use watchkeeper::engine::aggregator::RecordBatch;
use watchkeeper::id::Id;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::{ChangeCause, MeasuredStatus, StatusChange};
use watchkeeper::model::ledger::FencingToken;
use watchkeeper::model::partition::PartitionSet;
use watchkeeper::record::fence::FenceCounters;
use watchkeeper::record::history_writer::HistoryWriter;
use watchkeeper::service_router::ownership::{NodeIdentity, Ownership};
use watchkeeper::store::HistoryError;
use watchkeeper::store::history::checks::{CheckFilter, page};
use watchkeeper::store::history::holds::{self, PartitionHold};
use watchkeeper::store::history::{History, changes};

use crate::support::Backend;
use crate::support::rows::{at, check, code};

async fn take(history: &History, revision: i64) -> Result<(), HistoryError> {
    take_for(history, Id::random(), revision, revision).await
}

async fn take_for(history: &History, holder: Id, revision: i64, at_ms: i64) -> Result<(), HistoryError> {
    let fence = FencingToken { epoch: 1, revision };
    let hold = PartitionHold { holder: Some(holder), fence, taken_at: at(at_ms) };
    let transaction = history.begin().await?;
    holds::take(&transaction, PartitionSet::ALL, hold).await?;
    transaction.commit().await
}

/// It holds the lock under which it writes, and none of PostgreSQL's time limits counts while it is read from.
#[tokio::test]
async fn a_node_frozen_during_a_copy_does_not_prevent_a_takeover() {
    let Some(store) = Backend::Postgres.open().await else { return };
    take(&store.history, 1).await.unwrap();
    let mut frozen = PgConnection::connect(&store.place.history_url).await.unwrap();
    frozen.execute("BEGIN").await.unwrap();
    frozen.execute("SET LOCAL idle_in_transaction_session_timeout = 1000").await.unwrap();
    frozen.execute("SELECT partition FROM partition_hold FOR SHARE").await.unwrap();
    let text = "COPY fresh_check (bucket, checked_at) FROM STDIN (FORMAT binary)";
    let copy = frozen.copy_in_raw(text).await.unwrap();
    sleep(Duration::from_secs(2)).await;
    let reader = store.history.reader();
    holds::terminate_stalled_copy_statements(reader).await.unwrap();
    let taken = timeout(Duration::from_millis(500), take(&store.history, 2)).await;
    assert!(taken.is_err(), "one that has just begun is left alone");
    sleep(Duration::from_secs(1)).await;
    holds::terminate_stalled_copy_statements(reader).await.unwrap();
    timeout(Duration::from_secs(5), take(&store.history, 3)).await.unwrap().unwrap();
    drop(copy);
}

/// A batch of one check and one change of a service at this time.
fn batch(at_ms: i64) -> RecordBatch {
    let (from, to) = (MeasuredStatus::Up, MeasuredStatus::Down);
    let change = StatusChange { service: 7, at: at(at_ms), from, to, cause: ChangeCause::Votes };
    RecordBatch { checks: vec![check(7, "a", at_ms, CheckStatus::Down)], changes: vec![change] }
}

/// A node was frozen, another has taken its partitions since: of its writes only a check from before counts.
#[rstest]
#[tokio::test]
async fn a_stale_write_is_refused_and_counted(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let folder = Id::random();
    let ownership = Ownership::clustered(NodeIdentity { name: "a".parse().unwrap(), folder });
    let counters = Arc::new(FenceCounters::default());
    let writer = HistoryWriter::new(store.history.clone(), vec![code("a")]).fenced(&ownership, &counters);
    take_for(&store.history, folder, 1, 1_000).await.unwrap();
    ownership.hold(PartitionSet::ALL, FencingToken { epoch: 1, revision: 1 });
    writer.write(&batch(2_000)).await.unwrap();
    take_for(&store.history, Id::random(), 2, 4_000).await.unwrap();
    for at_ms in [3_000, 5_000] {
        writer.write(&batch(at_ms)).await.unwrap();
    }
    let reader = store.history.reader();
    let checks = page(&store.history, 7, &CheckFilter::default(), 10).await.unwrap();
    let times: Vec<i64> = checks.iter().map(|check| check.checked_at.ms()).collect();
    assert_eq!(times, [3_000, 2_000], "what was made after the take is not there");
    let changes = changes::since(reader, 7, at(0)).await.unwrap();
    assert_eq!(changes.iter().map(|change| change.at).collect::<Vec<_>>(), [at(2_000)]);
    let refused = (counters.results.load(Ordering::Relaxed), counters.changes.load(Ordering::Relaxed));
    assert_eq!(refused, (1, 2), "results and changes");
}
