//! Concurrent writing transactions: each commits or loses its own rows, and acknowledged rows are visible to all.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rstest::rstest;
use sea_orm::{ConnectionTrait as _, DbBackend, Statement};
use tokio::task::JoinSet;
use watchkeeper::config::limits::StoreLimits;
use watchkeeper::model::access::Organisation;
use watchkeeper::store::changes::ChangeScope;
use watchkeeper::store::{Database, MainError, organisations};

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{organisation, stored_organisation};

async fn names(database: &Database) -> BTreeSet<String> {
    let all = organisations::list(database.reader()).await.unwrap();
    all.into_iter().map(|organisation| organisation.name).collect()
}

async fn store_named(database: Database, name: String, keeps: bool) -> bool {
    let transaction = database.begin().await.unwrap();
    let made = organisations::insert(&transaction, organisation(&name)).await.unwrap();
    if !keeps {
        return false;
    }
    transaction.commit().await.unwrap();
    // Acknowledged rows can be read at once, from another connection.
    let found = organisations::get(database.reader(), made.key).await.unwrap();
    assert_eq!(found.map(|found| found.name), Some(name));
    true
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_concurrent_transaction_commits_or_rolls_back_its_own_rows(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let mut tasks = JoinSet::new();
    let mut committed = BTreeSet::new();
    for number in 0..200 {
        let (name, keeps) = (format!("organisation {number}"), number % 7 != 3);
        if keeps {
            committed.insert(name.clone());
        }
        tasks.spawn(store_named(store.main.clone(), name, keeps));
    }
    while let Some(result) = tasks.join_next().await {
        result.unwrap();
    }
    assert_eq!(names(&store.main).await, committed);
}

/// SQLite at its size limit: the transaction that exceeds it fails, and later ones start as usual.
#[tokio::test]
async fn a_full_database_fails_the_write_and_no_later_one() {
    let Some(store) = Backend::Sqlite.open().await else { return };
    stored_organisation(&store, "before").await;
    let transaction = store.main.begin().await.unwrap();
    transaction.execute_unprepared("PRAGMA max_page_count = 1").await.unwrap();
    let name = "x".repeat(10_000_000);
    let refused = organisations::insert(&transaction, organisation(&name)).await.unwrap_err();
    assert!(refused.is_unreachable(), "it is the disk that is missing: {refused}");
    drop(transaction);
    let transaction = store.main.begin().await.unwrap();
    transaction.execute_unprepared("PRAGMA max_page_count = 4294967294").await.unwrap();
    drop(transaction);
    for number in 0..3 {
        stored_organisation(&store, &format!("after {number}")).await;
    }
    assert_eq!(names(&store.main).await.len(), 4);
}

/// A statement that fails undoes its own transaction; the one that shares its commit is not touched.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_does_not_spread(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let taken: Organisation = stored_organisation(&store, "taken").await;
    let mut tasks = JoinSet::new();
    for number in 0..50 {
        let (database, taken) = (store.main.clone(), taken.clone());
        tasks.spawn(async move {
            let transaction = database.begin().await.unwrap();
            organisations::insert(&transaction, organisation(&format!("first {number}"))).await.unwrap();
            let second = Organisation { name: format!("second {number}"), ..taken };
            let second = if number % 2 == 0 { organisation(&second.name) } else { second };
            organisations::insert(&transaction, second).await?;
            transaction.commit().await.unwrap();
            Ok::<(), MainError>(())
        });
    }
    let mut failed = 0;
    while let Some(result) = tasks.join_next().await {
        failed += usize::from(result.unwrap().is_err());
    }
    assert_eq!((failed, names(&store.main).await.len()), (25, 51));
}

/// Regression: a writer that gave up while it committed for others left no outcome, and they reported that
/// all had gone well.
#[tokio::test]
async fn an_abandoned_shared_commit_is_not_reported_as_success() {
    let Some(store) = Backend::Sqlite.open().await else { return };
    let tables = "CREATE TABLE parent (id INTEGER PRIMARY KEY); \
        CREATE TABLE child (parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)";
    store.main.reader().execute_unprepared(tables).await.unwrap();
    let first = store.main.begin().await.unwrap();
    // Found out by the commit alone.
    first.execute_unprepared("INSERT INTO child VALUES (1)").await.unwrap();
    let mut second = Box::pin(store.main.begin());
    assert!(is_pending(second.as_mut()), "it waits for its turn");
    let mut third = Box::pin(store.main.begin());
    assert!(is_pending(third.as_mut()), "and this one behind it");
    let first = tokio::spawn(first.commit());
    // Undone: nobody joins any more, so the third one has to commit what the first one did before it can begin.
    drop(second.await.unwrap());
    assert!(is_pending(third.as_mut()), "the commit is under way");
    drop(third);
    assert!(first.await.unwrap().is_err());
    stored_organisation(&store, "after").await;
}

fn is_pending<F: Future>(future: Pin<&mut F>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_pending()
}

/// The ways in which a writer leaves without a commit.
#[derive(Clone, Copy)]
enum Leaving {
    Drops,
    /// Its caller stops waiting while it commits.
    GivesUp,
    /// Its savepoint cannot be released.
    Fails,
}

/// Another process, such as a command line beside the server, can write as soon as this one does not.
#[rstest]
#[case(Backend::Sqlite, Leaving::Drops)]
#[case(Backend::Sqlite, Leaving::GivesUp)]
#[case(Backend::Sqlite, Leaving::Fails)]
#[case(Backend::Postgres, Leaving::Drops)]
#[tokio::test]
async fn an_abandoned_transaction_leaves_no_lock(#[case] backend: Backend, #[case] leaving: Leaving) {
    let Some(store) = backend.open().await else { return };
    for number in 0..3 {
        let abandoned = store.main.begin().await.unwrap();
        organisations::insert(&abandoned, organisation("abandoned")).await.unwrap();
        match leaving {
            Leaving::Drops => drop(abandoned),
            Leaving::GivesUp => assert!(is_pending(Box::pin(abandoned.commit()).as_mut())),
            Leaving::Fails => {
                abandoned.execute_unprepared("RELEASE SAVEPOINT _sqlx_savepoint_1").await.unwrap();
                abandoned.commit().await.unwrap_err();
            }
        }
        let other = Database::connect(&store.place.main_url, &StoreLimits::default()).await.unwrap();
        let transaction = other.begin().await.unwrap();
        organisations::insert(&transaction, organisation(&format!("other {number}"))).await.unwrap();
        transaction.commit().await.unwrap();
        other.close().await;
    }
    stored_organisation(&store, "after").await;
    let mut found = names(&store.main).await;
    if matches!(leaving, Leaving::GivesUp) {
        // A client that gives up does not learn whether it was stored.
        found.remove("abandoned");
    }
    assert_eq!(found.len(), 4);
}

/// At any point of its progress: it leaves nothing that another process has to wait for, nor the end of this one.
#[rstest]
#[tokio::test]
async fn a_transaction_abandoned_at_its_start_leaves_no_lock(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(1, 2, 3, 4)] waits: usize,
) {
    let Some(store) = backend.open().await else { return };
    let (mut beginning, mut waited) = (Box::pin(store.main.begin()), 0);
    poll_fn(|context| {
        waited += 1;
        let is_over = beginning.as_mut().poll(context).is_ready() || waited == waits;
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    drop(beginning);
    let other = Database::connect(&store.place.main_url, &StoreLimits::default()).await.unwrap();
    let transaction = other.begin().await.unwrap();
    organisations::insert(&transaction, organisation("other")).await.unwrap();
    transaction.commit().await.unwrap();
    other.close().await;
    tokio::time::timeout(Duration::from_secs(5), store.main.clone().close()).await.unwrap();
}

/// Data read after a stamp was taken is current until a change that concerns it is committed.
#[rstest]
#[tokio::test]
async fn a_commit_invalidates_the_data_it_concerns() {
    let Some(store) = Backend::Sqlite.open().await else { return };
    let (ours, others) =
        ([ChangeScope::Organisation(1), ChangeScope::Service(7)], [ChangeScope::Organisation(2)]);
    let changes = store.main.changes().unwrap();
    let before = changes.stamp();
    names(&store.main).await;
    stored_organisation(&store, "one").await;
    assert!(changes.is_current(before, &ours), "services are not shown from organisations");
    for (scope, is_ours) in [(ChangeScope::Service(8), true), (ChangeScope::Service(7), false)] {
        let transaction = store.main.begin().await.unwrap();
        transaction.concerns(scope);
        transaction.execute_unprepared("UPDATE service SET name = 'x' WHERE id = 0").await.unwrap();
        transaction.commit().await.unwrap();
        assert_eq!(changes.is_current(before, &ours), is_ours);
        assert!(changes.is_current(before, &others));
    }
    let (undone, transaction) = (changes.stamp(), store.main.begin().await.unwrap());
    transaction.execute_unprepared("DELETE FROM tag").await.unwrap();
    drop(transaction);
    store.main.begin().await.unwrap().commit().await.unwrap();
    assert!(changes.is_current(undone, &ours), "what was undone has changed nothing");
    let transaction = store.main.begin().await.unwrap();
    transaction.execute_unprepared("DELETE FROM tag").await.unwrap();
    transaction.commit().await.unwrap();
    assert!(!changes.is_current(undone, &others), "nobody said whom it concerns");
}

#[tokio::test]
async fn a_database_with_other_writers_has_no_change_tracking() {
    let Some(store) = Backend::Postgres.open().await else { return };
    assert!(store.main.changes().is_none());
}

/// A `BEGIN` that was given up may have happened without the driver knowing it: its connection returns to the pool in a
/// transaction, here even a failed one.
#[rstest]
#[case::open("BEGIN")]
#[case::failed("BEGIN; SELECT 1 / 0")]
#[tokio::test]
async fn a_reused_connection_has_no_open_transaction(#[case] left_behind: &str) {
    let Some(place) = Backend::Postgres.place().await else { return };
    let limits = StoreLimits { postgres_connections: 1, ..StoreLimits::default() };
    let store = Store::open(place, &limits).await;
    let database = &store.main;
    // The second statement of a failed transaction is an error, as it should be.
    let _ = database.reader().execute_unprepared(left_behind).await;
    let made = stored_organisation(&store, "team").await;
    let state = "SELECT count(*) AS sessions FROM pg_stat_activity
        WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
    let row = database.reader().query_one_raw(Statement::from_string(DbBackend::Postgres, state)).await;
    let sessions: i64 = row.unwrap().unwrap().try_get("", "sessions").unwrap();
    assert_eq!(sessions, 0);
    let other_store = Store::open(store.place, &limits).await;
    let found = organisations::get(other_store.main.reader(), made.key).await.unwrap();
    assert_eq!(found.map(|found| found.name), Some("team".to_owned()), "its commit was one");
}
