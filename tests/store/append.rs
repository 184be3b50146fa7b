//! Appending: a batch that is written again changes nothing, whatever its size.

use std::num::NonZeroU32;
use std::time::Duration;

use rstest::rstest;
use watchkeeper::model::check::{CheckFailure, CheckStatus, ErrorCode, Measurement, PhaseTimings};
use watchkeeper::model::history::{CheckRecord, MeasuredStatus, StoredCheck};
use watchkeeper::model::service::ProbeRole;
use watchkeeper::model::time_range::TimeRange;
use watchkeeper::store::history::checks::{CheckFilter, page};
use watchkeeper::store::history::locations::LocationNumbers;
use watchkeeper::store::history::{append, changes, samples};

use crate::support::Backend;
use crate::support::rows::{append_changes, append_checks, at, change, check, code};

#[rstest]
#[tokio::test]
async fn every_field_of_a_result_survives(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(ErrorCode::ALL[0], ErrorCode::ALL[22])] error: ErrorCode,
) {
    let Some(store) = backend.open().await else { return };
    let us = NonZeroU32::new;
    let whole = CheckRecord {
        role: ProbeRole::Reachability,
        scheduled_at: at(1_700_000_000_000),
        checked_at: at(1_700_000_000_123),
        attempt: 6,
        measurement: Measurement {
            status: CheckStatus::Degraded,
            response_time: us(59_999_999),
            timings: PhaseTimings {
                dns: us(1),
                connect: us(2),
                tls: us(3),
                ttfb: us(4),
                transfer: us(5),
                total: us(2_147_483_647),
            },
            status_code: Some(599),
            failure: Some(Box::new(CheckFailure::new(error, "HTTP 'status' 599 – \"späť\" 🙁"))),
        },
        ..check(i64::MAX, "fra", 0, CheckStatus::Up)
    };
    append_checks(&store.history, std::slice::from_ref(&whole)).await;
    let found = page(&store.history, i64::MAX, &CheckFilter::default(), 10).await.unwrap();
    let expected = StoredCheck {
        checked_at: whole.checked_at,
        probe: "fra".into(),
        scheduled_at: whole.scheduled_at,
        attempt: 6,
        measurement: whole.measurement,
    };
    assert_eq!(found, [expected]);
}

#[rstest]
#[tokio::test]
async fn the_same_batch_twice_changes_nothing(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(1, 9, 1_300)] rows: i64,
) {
    let Some(store) = backend.open().await else { return };
    let statuses = |n: i64| match n % 2 {
        0 => (MeasuredStatus::Up, MeasuredStatus::Down),
        _ => (MeasuredStatus::Down, MeasuredStatus::Up),
    };
    let checks: Vec<CheckRecord> =
        (0..rows).map(|n| check(1, ["a", "b"][usize::from(n % 2 == 1)], n / 2, CheckStatus::Up)).collect();
    let moves: Vec<_> = (0..rows).map(|n| change(1, n, statuses(n))).collect();
    for _ in 0..2 {
        append_checks(&store.history, &checks).await;
        append_changes(&store.history, &moves).await;
    }
    // A batch that was cut otherwise overlaps both.
    append_checks(&store.history, &checks[checks.len() / 2..]).await;
    let reader = store.history.reader();
    let found = samples::fresh(reader, 1, TimeRange { from: at(0), to: at(rows) }, None).await.unwrap();
    assert_eq!(found.len(), checks.len());
    assert_eq!(changes::since(reader, 1, at(0)).await.unwrap(), moves);
}

#[rstest]
#[tokio::test]
async fn a_result_of_another_service_location_or_time_is_another_row(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let up = CheckStatus::Up;
    let rows = [check(1, "a", 5, up), check(1, "b", 5, up), check(1, "a", 6, up), check(2, "a", 5, up)];
    append_checks(&store.history, &rows).await;
    let count = |found: Vec<_>| found.len();
    assert_eq!(count(page(&store.history, 1, &CheckFilter::default(), 10).await.unwrap()), 3);
    assert_eq!(count(page(&store.history, 2, &CheckFilter::default(), 10).await.unwrap()), 1);
    append_checks(&store.history, &[check(1, "a", 5, CheckStatus::Down)]).await;
    let again = page(&store.history, 1, &CheckFilter::default(), 10).await.unwrap();
    assert!(again.iter().all(|row| row.measurement.status == up), "the row that exists is left as it is");
}

#[rstest]
#[tokio::test]
async fn each_location_gets_one_number(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let first = append_checks(&store.history, &[check(1, "a", 1, CheckStatus::Up)]).await;
    let second = append_checks(
        &store.history,
        &[check(1, "b", 1, CheckStatus::Up), check(1, "a", 2, CheckStatus::Up)],
    )
    .await;
    let read = LocationNumbers::read(store.history.reader()).await.unwrap();
    let codes = ["a".to_owned(), "b".to_owned(), "unknown".to_owned()];
    assert_eq!(first.numbers(&codes[..1]), second.numbers(&codes[..1]));
    assert_eq!(read.numbers(&codes), second.numbers(&codes));
    assert_eq!(read.numbers(&codes).len(), 2);
    assert!(read.knows(&code("b")) && !read.knows(&code("unknown")));
    let number = read.numbers(&codes[1..2])[0];
    assert_eq!((read.code(number), read.code(number + 1_000)), (Some("b"), None));
}

/// A connection whose `COPY` was given up would take the rest of the answer to it for that to the next statement.
#[tokio::test]
async fn an_aborted_copy_does_not_disturb_later_statements() {
    let Some(store) = Backend::Postgres.open().await else { return };
    let up = CheckStatus::Up;
    let numbers = append_checks(&store.history, &[check(1, "a", 1, up)]).await;
    let history = &store.history;
    let taken = history.begin().await.unwrap();
    append::checks(&taken, history.storage(), &[check(1, "a", 2, up)], &numbers).await.unwrap();
    // Waits for the end of the other transaction.
    let row = [check(1, "a", 2, up)];
    let waiting = tokio::time::timeout(Duration::from_millis(300), append_checks(history, &row));
    assert!(waiting.await.is_err());
    taken.undo().await.unwrap();
    let every = CheckFilter::default();
    for at_ms in 3..23 {
        let row = [check(1, "a", at_ms, up)];
        let (one, other, _) = tokio::join!(
            page(history, 1, &every, 100),
            LocationNumbers::read(history.reader()),
            append_checks(history, &row)
        );
        assert!(one.unwrap().len() >= usize::try_from(at_ms).unwrap() - 2);
        assert_eq!(other.unwrap().code(numbers.numbers(&["a".to_owned()])[0]), Some("a"));
    }
    assert_eq!(page(history, 1, &every, 100).await.unwrap().len(), 21);
}

/// Regression: PostgreSQL refuses a text with a zero byte, and the recorder could never get past it.
#[rstest]
#[tokio::test]
async fn a_zero_byte_in_a_reason_does_not_stop_the_batch(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let mut row = check(1, "a", 1, CheckStatus::Down);
    row.measurement.failure =
        Some(Box::new(CheckFailure::new(ErrorCode::HttpProtocol, "bad \0 line\r\nnext")));
    append_checks(&store.history, &[row]).await;
    let found = page(&store.history, 1, &CheckFilter::default(), 10).await.unwrap();
    let reason = found[0].measurement.failure.as_deref().map(|failure| &*failure.message);
    assert_eq!(reason, Some("bad   line  next"));
}
