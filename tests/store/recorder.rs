//! The recorder on real databases: acknowledged results are durable, and an unavailable database only delays them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use actix::{Actor as _, Addr, Arbiter, System};
use rstest::rstest;
use sea_orm::{ConnectOptions, ConnectionTrait as _, DatabaseConnection};
use watchkeeper::config::limits::{RecordLimits, StoreLimits};
use watchkeeper::engine::aggregator::RecordBatch;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::MeasuredStatus::{Down, Up};
use watchkeeper::model::time_range::TimeRange;
use watchkeeper::record::history_writer::HistoryWriter;
use watchkeeper::record::recorder::{DrainRequest, RecordCounters, Recorder};
use watchkeeper::record::spool::Spool;
use watchkeeper::store::Databases;
use watchkeeper::store::history::History;
use watchkeeper::store::history::checks::{CheckFilter, page};
use watchkeeper::store::history::{changes, samples};
use watchkeeper::supervise::StopActor;

use crate::support::Backend;
use crate::support::backend::{Place, Store};
use crate::support::postgres::Postgres;
use crate::support::rows::{at, change, check, code};

/// Batch number `number`: ten results and one change.
fn batch(number: i64) -> RecordBatch {
    let (first, is_even) = (number * 10, number % 2 == 0);
    RecordBatch {
        checks: (first..first + 10).map(|n| check(1, "a", n, CheckStatus::Up)).collect(),
        changes: vec![change(1, first, if is_even { (Down, Up) } else { (Up, Down) })],
    }
}

fn writer(history: &History) -> Arc<HistoryWriter> {
    Arc::new(HistoryWriter::new(history.clone(), vec![code("a")]))
}

fn start(history: &History, limits: RecordLimits) -> (Addr<Recorder>, Arc<RecordCounters>) {
    let counters = Arc::new(RecordCounters::default());
    let recorder = Recorder::new(writer(history), limits, Arc::clone(&counters));
    (recorder.start(), counters)
}

/// The same with a spool, on a thread that ends as a killed process does.
fn start_spooling(
    history: &History,
    (limits, folder): (RecordLimits, &Path),
) -> (Arbiter, Addr<Recorder>, Arc<RecordCounters>) {
    let counters = Arc::new(RecordCounters::default());
    let spool = Spool::open(folder, limits.spool_max_bytes).unwrap();
    let recorder = Recorder::new(writer(history), limits, Arc::clone(&counters));
    let thread = Arbiter::new();
    let recorder = Recorder::start_in_arbiter(&thread.handle(), move |_| recorder.with_spool(Some(spool)));
    (thread, recorder, counters)
}

/// A SQLite locked by another process.
async fn lock(store: &Store) -> DatabaseConnection {
    let mut options = ConnectOptions::new(store.place.history_url.clone());
    options.max_connections(1).sqlx_logging(false);
    let other = sea_orm::Database::connect(options).await.unwrap();
    other.execute_unprepared("BEGIN EXCLUSIVE").await.unwrap();
    other
}

async fn impatient() -> Store {
    let place = Backend::Sqlite.place().await.unwrap();
    Store::open(place, &StoreLimits { acquire_timeout_seconds: 1, ..StoreLimits::default() }).await
}

fn quick() -> RecordLimits {
    RecordLimits { retry_ms: 20, ..RecordLimits::default() }
}

/// Waits until a write has failed.
async fn until_it_fails(counters: &RecordCounters) {
    let failed = async {
        while !counters.is_failing.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), failed).await.expect("a write fails");
}

/// All `batches` are stored, each row once and in the order of time.
async fn assert_stored(history: &History, batches: i64) {
    let reader = history.reader();
    let found = samples::fresh(reader, 1, TimeRange { from: at(0), to: at(i64::MAX) }, None).await.unwrap();
    let times: Vec<i64> = found.iter().map(|sample| sample.checked_at.ms()).collect();
    assert_eq!(times, (0..batches * 10).collect::<Vec<_>>());
    let statuses: Vec<_> =
        changes::since(reader, 1, at(0)).await.unwrap().into_iter().map(|change| change.at.ms()).collect();
    assert_eq!(statuses, (0..batches).map(|number| number * 10).collect::<Vec<_>>());
}

/// Reliability 1: what is counted as acknowledged is there.
#[rstest]
fn acknowledged_results_are_durable(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let limits = RecordLimits { rows_per_commit: 16, ..quick() };
        let (recorder, counters) = start(&store.history, limits);
        for number in 0..30 {
            recorder.send(batch(number)).await.unwrap();
            let acked = counters.acked.load(Ordering::Relaxed);
            let span = TimeRange { from: at(0), to: at(i64::MAX) };
            let stored = samples::fresh(store.history.reader(), 1, span, None).await.unwrap().len();
            assert!(stored as u64 >= acked, "{acked} acknowledged, {stored} stored");
        }
        recorder.send(DrainRequest).await.unwrap();
        assert_eq!(counters.acked.load(Ordering::Relaxed), 300);
        assert_eq!(counters.shed.load(Ordering::Relaxed), 0);
        assert!(
            counters.commits.load(Ordering::Relaxed) >= 300 / 16,
            "no transaction takes more than its limit"
        );
        assert_stored(&store.history, 30).await;
    });
}

#[test]
fn an_unavailable_postgresql_only_delays_results() {
    System::new().block_on(async {
        let Some(postgres) = Postgres::start() else { return };
        let limits = StoreLimits { acquire_timeout_seconds: 2, ..StoreLimits::default() };
        let store = Store::open(Place::on(&postgres).await, &limits).await;
        let (recorder, counters) = start(&store.history, quick());
        recorder.send(batch(0)).await.unwrap();
        recorder.send(DrainRequest).await.unwrap();
        postgres.stop();
        for number in 1..20 {
            recorder.send(batch(number)).await.unwrap();
        }
        until_it_fails(&counters).await;
        recorder.send(batch(20)).await.unwrap();
        assert_eq!(counters.acked.load(Ordering::Relaxed), 10, "nothing is acknowledged meanwhile");
        postgres.start_again();
        recorder.send(DrainRequest).await.unwrap();
        assert_eq!(counters.acked.load(Ordering::Relaxed), 210);
        assert!(!counters.is_failing.load(Ordering::Relaxed));
        assert_stored(&store.history, 21).await;
    });
}

#[test]
fn a_locked_sqlite_only_delays_results() {
    System::new().block_on(async {
        let store = impatient().await;
        let (recorder, counters) = start(&store.history, quick());
        recorder.send(batch(0)).await.unwrap();
        recorder.send(DrainRequest).await.unwrap();
        let other = lock(&store).await;
        for number in 1..20 {
            recorder.send(batch(number)).await.unwrap();
        }
        until_it_fails(&counters).await;
        assert_eq!(counters.acked.load(Ordering::Relaxed), 10, "nothing is acknowledged meanwhile");
        other.execute_unprepared("ROLLBACK").await.unwrap();
        recorder.send(DrainRequest).await.unwrap();
        assert_eq!(counters.acked.load(Ordering::Relaxed), 200);
        assert_stored(&store.history, 20).await;
    });
}

/// Results beyond memory wait on disk, and all of them are written in order and counted once.
#[test]
fn results_beyond_memory_wait_on_disk() {
    System::new().block_on(async {
        let (store, folder) = (impatient().await, tempfile::tempdir().unwrap());
        let limits = RecordLimits { waiting_results: 25, ..quick() };
        let (thread, recorder, counters) = start_spooling(&store.history, (limits, folder.path()));
        let other = lock(&store).await;
        for number in 0..30 {
            recorder.send(batch(number)).await.unwrap();
        }
        until_it_fails(&counters).await;
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        assert!(get(&counters.spooled) >= 270 && get(&counters.spool_bytes) > 0);
        assert_eq!((get(&counters.acked), get(&counters.shed)), (0, 0));
        other.execute_unprepared("ROLLBACK").await.unwrap();
        recorder.send(DrainRequest).await.unwrap();
        assert_eq!((get(&counters.acked), get(&counters.shed)), (300, 0));
        assert_eq!(get(&counters.spool_bytes), 0);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_stored(&store.history, 30).await;
        thread.stop();
    });
}

/// Each process is killed in the middle of writing its spool; the last one finds everything, and nothing is doubled.
#[test]
fn a_spool_survives_the_processes_that_write_it() {
    System::new().block_on(async {
        let (store, folder) = (impatient().await, tempfile::tempdir().unwrap());
        let limits = RecordLimits { waiting_results: 10, rows_per_commit: 4, ..quick() };
        for process in 0..4 {
            // Connections of its own, which end with it together with their transactions.
            let impatience = StoreLimits { acquire_timeout_seconds: 1, ..StoreLimits::default() };
            let place = &store.place;
            let own = Databases::open(&place.main_url, &place.history_url, &impatience).await.unwrap();
            let history = own.history;
            let other = lock(&store).await;
            let (thread, recorder, counters) = start_spooling(&history, (limits.clone(), folder.path()));
            for number in process * 10..process * 10 + 10 {
                recorder.send(batch(number)).await.unwrap();
            }
            // Ends what has been taken as SIGTERM does, with the database still away.
            until_it_fails(&counters).await;
            recorder.send(StopActor).await.unwrap();
            assert_eq!(counters.waiting.load(Ordering::Relaxed), 0);
            other.execute_unprepared("ROLLBACK").await.unwrap();
            if process % 2 == 1 {
                while counters.acked.load(Ordering::Relaxed) == 0 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
            thread.stop();
            thread.join().unwrap();
            drop(history);
        }
        let (thread, recorder, _) = start_spooling(&store.history, (limits, folder.path()));
        recorder.send(DrainRequest).await.unwrap();
        assert_stored(&store.history, 40).await;
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        thread.stop();
    });
}

/// A full spool is no reason to lose a status change.
#[test]
fn a_full_spool_sheds_results_and_keeps_changes() {
    System::new().block_on(async {
        let (store, folder) = (impatient().await, tempfile::tempdir().unwrap());
        let limits = RecordLimits { waiting_results: 20, spool_max_bytes: 1, ..quick() };
        let (thread, recorder, counters) = start_spooling(&store.history, (limits, folder.path()));
        let other = lock(&store).await;
        for number in 0..30 {
            recorder.send(batch(number)).await.unwrap();
        }
        other.execute_unprepared("ROLLBACK").await.unwrap();
        recorder.send(DrainRequest).await.unwrap();
        let (acked, shed) = (counters.acked.load(Ordering::Relaxed), counters.shed.load(Ordering::Relaxed));
        assert!(shed > 0 && acked + shed == 300, "each is stored or counted: {acked} + {shed}");
        let reader = store.history.reader();
        let stored =
            samples::fresh(reader, 1, TimeRange { from: at(0), to: at(i64::MAX) }, None).await.unwrap();
        assert_eq!(stored.len() as u64, acked);
        assert_eq!(changes::since(reader, 1, at(0)).await.unwrap().len(), 30);
        thread.stop();
    });
}

/// The spool of an earlier configuration names locations that this process does not have.
#[test]
fn spooled_results_of_an_unknown_location_are_written() {
    System::new().block_on(async {
        let (store, folder) = (impatient().await, tempfile::tempdir().unwrap());
        let checks = vec![check(1, "elsewhere", 5, CheckStatus::Down)];
        let mut spool = Spool::open(folder.path(), 1).unwrap();
        spool.append(&RecordBatch { checks, changes: Vec::new() }).unwrap();
        drop(spool);
        let (thread, recorder, _) = start_spooling(&store.history, (quick(), folder.path()));
        recorder.send(DrainRequest).await.unwrap();
        let shown = page(&store.history, 1, &CheckFilter::default(), 100).await.unwrap();
        assert_eq!(shown.len(), 1);
        thread.stop();
    });
}

/// Speed of the spool, whatever the build profile of the tests.
#[test]
fn the_spool_stores_results_faster_than_they_arrive() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), u64::MAX).unwrap();
    let checks = (0..8_192).map(|n| check(n, "fra-1", 1_795_000_000_000 + n, CheckStatus::Up)).collect();
    let batch = RecordBatch { checks, changes: Vec::new() };
    let started = tokio::time::Instant::now();
    (0..25).for_each(|_| spool.append(&batch).unwrap());
    let written = started.elapsed();
    let bytes = spool.bytes();
    let mut results = 0;
    while let Some(batch) = spool.oldest().unwrap() {
        results += batch.checks.len();
        spool.forget();
    }
    let read = started.elapsed() - written;
    println!("{results} results, {bytes} bytes, written in {written:?}, read in {read:?}");
    assert_eq!(results, 25 * 8_192);
    assert!(written.as_secs() < 20, "fewer than 10,000 results/s: {written:?}");
}

/// Architecture 2, back-pressure: results beyond the limit are shed and counted, status changes never.
#[rstest]
fn results_beyond_the_limit_are_shed_and_counted(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        store.history.reader().execute_unprepared("ALTER TABLE fresh_check RENAME TO away").await.unwrap();
        let (recorder, counters) = start(&store.history, RecordLimits { waiting_results: 25, ..quick() });
        recorder.send(batch(0)).await.unwrap();
        until_it_fails(&counters).await;
        for number in 1..10 {
            recorder.send(batch(number)).await.unwrap();
        }
        store.history.reader().execute_unprepared("ALTER TABLE away RENAME TO fresh_check").await.unwrap();
        recorder.send(DrainRequest).await.unwrap();
        let (acked, shed) = (counters.acked.load(Ordering::Relaxed), counters.shed.load(Ordering::Relaxed));
        assert_eq!((acked, shed), (25, 75), "each is stored or counted");
        let reader = store.history.reader();
        let stored =
            samples::fresh(reader, 1, TimeRange { from: at(0), to: at(i64::MAX) }, None).await.unwrap();
        assert_eq!(stored.len() as u64, acked);
        assert_eq!(changes::since(reader, 1, at(0)).await.unwrap().len(), 10, "no status change is shed");
    });
}

/// Regression: results pointed to a location whose row had been rolled back, and no page showed them.
#[rstest]
fn a_first_write_that_fails_does_not_lose_the_locations(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    System::new().block_on(async {
        let Some(store) = backend.open().await else { return };
        let execute = async |statement: &str| {
            store.history.reader().execute_unprepared(statement).await.unwrap();
        };
        execute("ALTER TABLE status_change RENAME TO away").await;
        let (recorder, counters) = start(&store.history, quick());
        recorder.send(batch(0)).await.unwrap();
        until_it_fails(&counters).await;
        execute("ALTER TABLE away RENAME TO status_change").await;
        recorder.send(DrainRequest).await.unwrap();
        let shown = page(&store.history, 1, &CheckFilter::default(), 100).await.unwrap();
        assert_eq!(shown.len(), 10);
    });
}
