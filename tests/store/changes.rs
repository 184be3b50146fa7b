//! Status changes: the ones that say what the status was since some moment, and the last ones.

use rstest::rstest;
use watchkeeper::model::history::MeasuredStatus::{self, Degraded, Down, NoData, Unknown, Up};
use watchkeeper::model::history::{ChangeCause, StatusChange};
use watchkeeper::store::history::changes;

use crate::support::Backend;
use crate::support::rows::{append_changes, at, change};

fn story() -> Vec<StatusChange> {
    vec![
        change(1, 10, (Unknown, Up)),
        change(2, 10, (Unknown, Degraded)),
        change(1, 20, (Up, Down)),
        change(1, 30, (Down, NoData)),
        change(1, 40, (NoData, Unknown)),
        change(2, 50, (Degraded, Up)),
    ]
}

fn of(service: i64) -> Vec<StatusChange> {
    story().into_iter().filter(|change| change.service == service).collect()
}

#[rstest]
#[case::before_everything(0, 0)]
#[case::at_the_first(10, 0)]
#[case::after_the_first(11, 0)]
#[case::at_a_later_one_the_one_before_leads(30, 1)]
#[case::between(35, 2)]
#[case::after_everything_the_last_still_holds(1_000, 3)]
#[tokio::test]
async fn changes_since_a_moment_are_led_by_the_one_before(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] since_ms: i64,
    #[case] first: usize,
) {
    let Some(store) = backend.open().await else { return };
    append_changes(&store.history, &story()).await;
    let found = changes::since(store.history.reader(), 1, at(since_ms)).await.unwrap();
    assert_eq!(found, of(1)[first..]);
    assert_eq!(changes::since(store.history.reader(), 3, at(since_ms)).await.unwrap(), []);
}

#[rstest]
#[tokio::test]
async fn the_last_change_of_every_service_is_found(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    append_changes(&store.history, &story()).await;
    let reader = store.history.reader();
    let mut all = changes::latest_of_all(reader).await.unwrap();
    all.sort_by_key(|change| change.service);
    assert_eq!(all, [change(1, 40, (NoData, Unknown)), change(2, 50, (Degraded, Up))]);
    assert_eq!(changes::latest(reader, 1).await.unwrap(), Some(all[0]));
    assert_eq!(changes::latest(reader, 3).await.unwrap(), None);
}

#[rstest]
#[tokio::test]
async fn every_status_and_cause_survives(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let mut made = Vec::new();
    for (place, cause) in (0_i64..).zip(ChangeCause::ALL) {
        for (step, status) in (0_i64..).zip(MeasuredStatus::ALL) {
            made.push(StatusChange { cause, ..change(1, place * 10 + step, (status, Unknown)) });
        }
    }
    append_changes(&store.history, &made).await;
    assert_eq!(changes::since(store.history.reader(), 1, at(0)).await.unwrap(), made);
}
