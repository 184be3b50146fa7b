//! Erasing what was measured of a deleted service, and nothing else.

use rstest::rstest;
use watchkeeper::clock::DAY_MS;
use watchkeeper::clock::guard::JudgedTime;
use watchkeeper::config::limits::CompactionLimits;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::MeasuredStatus::{Unknown, Up};
use watchkeeper::record::compaction::{Compaction, RetentionPolicy};
use watchkeeper::store::history::checks::{CheckFilter, page};
use watchkeeper::store::history::segments::RetentionClass;
use watchkeeper::store::history::{changes, erase};

use crate::support::Backend;
use crate::support::rows::{append_changes, append_checks, at, change, check};

#[rstest]
#[tokio::test]
async fn erasing_removes_rows_and_blocks_of_the_service_only(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let history = &store.history;
    for service in [1, 2] {
        let rows: Vec<_> = (0..2_500).map(|n| check(service, "a", n * 60_000, CheckStatus::Up)).collect();
        append_checks(history, &rows).await;
        append_changes(history, &[change(service, 1, (Unknown, Up))]).await;
    }
    let retention = RetentionPolicy::Uniform(RetentionClass::of_days(90));
    let mut compaction =
        Compaction::new(history.clone(), retention, CompactionLimits::default(), std::sync::Arc::default());
    compaction.pass(JudgedTime::trusted(at(DAY_MS))).await.unwrap();
    erase::service(history, 1).await.unwrap();
    erase::service(history, 1).await.unwrap();
    for (service, results, rest) in [(1, 0, 0), (2, 2_500, 1)] {
        let found = page(history, service, &CheckFilter::default(), 9_999).await.unwrap();
        assert_eq!(found.len(), results);
        assert_eq!(changes::since(history.reader(), service, at(0)).await.unwrap().len(), rest);
    }
}
