//! Erasing what was measured of a deleted service, and nothing else.

use rstest::rstest;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::MeasuredStatus::{Unknown, Up};
use watchkeeper::store::history::hours::{self, Hour};
use watchkeeper::store::history::{changes, erase, samples};

use crate::support::Backend;
use crate::support::rows::{append_changes, append_checks, at, change, check};

fn hour(service: i64) -> Hour {
    Hour {
        service,
        start: at(0),
        location: 1,
        checks: 1,
        failed: 0,
        answered: 0,
        sum_us: 0,
        min_us: 0,
        max_us: 0,
        histogram: None,
    }
}

#[rstest]
#[tokio::test]
async fn erasing_takes_steps_and_leaves_others_alone(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let history = &store.history;
    for service in [1, 2] {
        let rows: Vec<_> = (0..2_500).map(|n| check(service, "a", n, CheckStatus::Up)).collect();
        append_checks(history, &rows).await;
        append_changes(history, &[change(service, 1, (Unknown, Up))]).await;
        hours::put(history.reader(), vec![hour(service)]).await.unwrap();
    }
    let mut steps = 1;
    loop {
        let transaction = history.begin().await.unwrap();
        let is_done = erase::step(&transaction, 1).await.unwrap();
        transaction.commit().await.unwrap();
        if is_done {
            break;
        }
        steps += 1;
    }
    assert_eq!(steps, 3, "two for the results and one for the rest");
    let reader = history.reader();
    for (service, results, rest) in [(1, 0, 0), (2, 2_500, 1)] {
        let span = (at(0), at(9_999));
        assert_eq!(samples::between(reader, service, span, None).await.unwrap().len(), results);
        assert_eq!(changes::since(reader, service, at(0)).await.unwrap().len(), rest);
        assert_eq!(hours::between(reader, service, span, None).await.unwrap().len(), rest);
    }
}
