//! Importing: what is brought along is stored once, sealed like everything else, and has the status that follows from it.

use std::sync::Arc;

use rstest::rstest;
use watchkeeper::clock::guard::JudgedTime;
use watchkeeper::clock::{DAY_MS, Timestamp};
use watchkeeper::config::limits::CompactionLimits;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::MeasuredStatus::{Down, NoData, Unknown, Up};
use watchkeeper::model::history::{ChangeCause, CheckRecord, MeasuredStatus};
use watchkeeper::model::partition::PartitionSet;
use watchkeeper::model::service::Service;
use watchkeeper::record::compaction::{Compaction, RetentionPolicy};
use watchkeeper::record::import::{HistoryImport, ImportedService};
use watchkeeper::store::history::segments::RetentionClass;
use watchkeeper::store::history::{changes, progress};
use watchkeeper::store::services;

use crate::compaction::{expected, fresh_rows, in_blocks};
use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{append_changes, at, change, check, service, stored_organisation, stored_service};

/// A midnight.
const START_MS: i64 = 20_000 * DAY_MS;
const NOW: Timestamp = at(START_MS + 10 * DAY_MS);

fn import(store: &Store) -> HistoryImport {
    let retention = RetentionPolicy::Uniform(RetentionClass::of_days(90));
    let history = store.history.clone();
    let compaction = Compaction::new(history, retention, CompactionLimits::default(), Arc::default());
    HistoryImport::new((**store).clone(), Some(compaction), Some("import test".into()))
}

/// A result every minute, down in these minutes.
fn results(service: i64, minutes: std::ops::Range<i64>, down: std::ops::Range<i64>) -> Vec<CheckRecord> {
    let status = |minute| if down.contains(&minute) { CheckStatus::Down } else { CheckStatus::Up };
    minutes.map(|minute| check(service, "fra", START_MS + minute * 60_000, status(minute))).collect()
}

async fn a_service(store: &Store) -> Service {
    let organisation = stored_organisation(store, "Example Ltd").await;
    let service = service(organisation.key, "Shop");
    stored_service(store, Service { configured_at: Some(NOW), ..service }).await
}

/// Stores everything and ends, as one run of the command does.
async fn run(store: &Store, service: i64, records: &[CheckRecord]) -> u64 {
    let mut import = import(store);
    let mut stored = 0;
    for (place, part) in records.chunks(1_000).enumerate() {
        stored += import.store(part, place as u64 + 1, JudgedTime::trusted(NOW)).await.unwrap();
        assert_eq!(import.reached().await.unwrap(), place as u64 + 1);
    }
    let first_at = records[0].checked_at;
    import.conclude(&[ImportedService { service, interval_ms: 60_000, first_at }], NOW).await.unwrap();
    import.forget().await.unwrap();
    import.settle(JudgedTime::trusted(NOW)).await.unwrap();
    assert_eq!(progress::get(store.history.reader(), "import test").await.unwrap(), None);
    stored
}

/// Minute and status of every change.
async fn statuses(store: &Store, service: i64) -> Vec<(i64, MeasuredStatus)> {
    let changes = changes::since(store.history.reader(), service, at(i64::MIN)).await.unwrap();
    changes.iter().map(|change| (change.at.ms_since(at(START_MS)) / 60_000, change.to)).collect()
}

#[rstest]
#[tokio::test]
async fn results_imported_in_any_order_are_stored_once(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let service = a_service(&store).await.key;
    let all = results(service, 0..3_000, 100..200);
    assert_eq!(run(&store, service, &all[2_000..]).await, 1_000);
    assert_eq!(statuses(&store, service).await, [(2_000, Up), (3_000, NoData)]);
    assert_eq!(run(&store, service, &all[..1_000]).await, 1_000);
    let split = [(0, Up), (100, Down), (200, Up), (1_000, NoData), (2_000, Up), (3_000, NoData)];
    assert_eq!(statuses(&store, service).await, split);
    assert_eq!(run(&store, service, &all).await, 1_000);
    assert_eq!(run(&store, service, &all).await, 0);
    let whole = [(0, Up), (100, Down), (200, Up), (3_000, NoData)];
    assert_eq!(statuses(&store, service).await, whole);
    assert_eq!(fresh_rows(&store).await, 0);
    assert_eq!(in_blocks(&store).await, expected(&store, &all).await);
    let found = services::by_keys(store.main.reader(), &[service]).await.unwrap();
    assert_eq!((found[0].configured_at, found[0].revision), (Some(at(START_MS)), 1));
}

/// Time monitored by Watchkeeper stays as it was, and is the newest, although it was written first.
#[rstest]
#[tokio::test]
async fn monitored_time_is_not_changed(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let service = a_service(&store).await.key;
    let own_at = START_MS + 500 * 60_000;
    let own = [change(service, own_at, (Unknown, Down)), change(service, own_at + 60_000, (Down, Up))];
    append_changes(&store.history, &own).await;
    run(&store, service, &results(service, 0..1_000, 300..2_000)).await;
    let expected = [(0, Up), (300, Down), (500, Down), (501, Up)];
    assert_eq!(statuses(&store, service).await, expected);
    let latest = changes::latest_of(store.history.reader(), PartitionSet::ALL).await.unwrap();
    assert_eq!(latest, [own[1]]);
    let imported = changes::since(store.history.reader(), service, at(START_MS)).await.unwrap();
    assert_eq!(imported[0].cause, ChangeCause::Imported);
}

/// Rows are sealed on the way, and a service that is sealed in the middle of its import loses nothing.
#[tokio::test]
async fn rows_do_not_pile_up() {
    let Some(store) = Backend::Sqlite.open().await else { return };
    let mut import = import(&store);
    let all = results(7, 0..140_000, 0..0);
    let now = at(START_MS + 140_000 * 60_000 + DAY_MS);
    let mut most = 0;
    for (place, part) in all.chunks(20_000).enumerate() {
        import.store(part, place as u64, JudgedTime::trusted(now)).await.unwrap();
        most = most.max(fresh_rows(&store).await);
    }
    assert_eq!(most, 120_000);
    assert_eq!(fresh_rows(&store).await, 0);
    assert_eq!(in_blocks(&store).await.len(), all.len());
}
