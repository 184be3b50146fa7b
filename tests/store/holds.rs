//! Holds of partitions, and who stands in their way.

use std::time::Duration;

use sea_orm::sqlx::{Connection as _, Executor as _, PgConnection};
use tokio::time::{sleep, timeout};
use watchkeeper::id::Id;
use watchkeeper::model::ledger::Fence;
use watchkeeper::model::partition::Partitions;
use watchkeeper::store::HistoryError;
use watchkeeper::store::history::History;
use watchkeeper::store::history::holds::{self, Hold};

use crate::support::Backend;
use crate::support::rows::at;

async fn take(history: &History, revision: i64) -> Result<(), HistoryError> {
    let fence = Fence { epoch: 1, revision };
    let hold = Hold { holder: Some(Id::random()), fence, taken_at: at(revision) };
    let transaction = history.begin().await?;
    holds::take(&transaction, Partitions::ALL, hold).await?;
    transaction.commit().await
}

/// It holds the lock under which it writes, and none of PostgreSQL's time limits counts while it is read from.
#[tokio::test]
async fn a_node_that_stands_still_in_the_middle_of_its_rows_keeps_nobody_from_taking() {
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
    holds::end_stalled_copies(reader).await.unwrap();
    let taken = timeout(Duration::from_millis(500), take(&store.history, 2)).await;
    assert!(taken.is_err(), "one that has just begun is left alone");
    sleep(Duration::from_secs(1)).await;
    holds::end_stalled_copies(reader).await.unwrap();
    timeout(Duration::from_secs(5), take(&store.history, 3)).await.unwrap().unwrap();
    drop(copy);
}
