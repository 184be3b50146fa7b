//! Upkeep: hours equal what counting by hand gives, however often and whenever it runs; deleted histories go.

use std::collections::BTreeMap;

use rstest::rstest;
use watchkeeper::clock::Timestamp;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::CheckRecord;
use watchkeeper::record::upkeep;
use watchkeeper::stats::histogram::serialise;
use watchkeeper::store::history::hours::{self, HOUR_MS, Hour};
use watchkeeper::store::history::locations::LocationNumbers;
use watchkeeper::store::history::samples;
use watchkeeper::store::services;

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::chance::Chance;
use crate::support::rows::{append_checks, at, check, service, stored_organisation, stored_service};

const SERVICES: [i64; 3] = [2, 5, 9];
const START_MS: i64 = 480_000 * HOUR_MS;
const MINUTE_MS: i64 = 60_000;

/// Four hours of results, the third of them silent.
fn history() -> Vec<CheckRecord> {
    let mut chance = Chance(47);
    let mut rows = Vec::new();
    for turn in 0..400 {
        let hour = chance.pick(&[0, 1, 3]);
        let at_ms = START_MS + hour * HOUR_MS + turn * 8_000 + chance.below(7_000);
        rows.push(check(
            chance.pick(&SERVICES),
            chance.pick(&["a", "b"]),
            at_ms,
            chance.pick(&CheckStatus::ALL),
        ));
    }
    rows
}

/// The sums of one hour, a row at a time.
fn expected(rows: &[CheckRecord], numbers: &LocationNumbers, before: Timestamp) -> Vec<Hour> {
    let mut sums: BTreeMap<(i64, Timestamp, i32), (Hour, Vec<u32>)> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.checked_at < before) {
        let start = at(row.checked_at.ms() / HOUR_MS * HOUR_MS);
        let location = numbers.numbers(&[row.location.to_string()])[0];
        let empty = Hour {
            service: row.service,
            start,
            location,
            checks: 0,
            failed: 0,
            answered: 0,
            sum_us: 0,
            min_us: 0,
            max_us: 0,
            histogram: None,
        };
        let (hour, times) = sums.entry((row.service, start, location)).or_insert((empty, Vec::new()));
        hour.checks += 1;
        hour.failed += u32::from(row.measurement.status == CheckStatus::Down);
        if let Some(response_time) = row.measurement.response_time.map(std::num::NonZeroU32::get) {
            times.push(response_time);
            hour.min_us = if hour.answered == 0 { response_time } else { hour.min_us.min(response_time) };
            hour.max_us = hour.max_us.max(response_time);
            hour.answered += 1;
            hour.sum_us += u64::from(response_time);
        }
    }
    let finish = |(mut hour, times): (Hour, Vec<u32>)| {
        hour.histogram = (hour.answered > 0).then(|| serialise(times));
        hour
    };
    sums.into_values().map(finish).collect()
}

async fn derived(store: &Store) -> Vec<Hour> {
    let mut all = Vec::new();
    for service in SERVICES {
        let span = (at(0), at(i64::MAX));
        all.extend(hours::between(store.history.reader(), service, span, None).await.unwrap());
    }
    all
}

#[rstest]
#[tokio::test]
async fn finished_hours_are_derived_once_settled_and_again_without_a_change(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    upkeep::once(&store, at(START_MS)).await.unwrap();
    let rows = history();
    let numbers = append_checks(&store.history, &rows).await;
    // Each row: when upkeep runs, and how many hours are over and settled by then.
    for (minutes, settled) in [(60, 0), (69, 0), (70, 1), (75, 1), (130, 2), (260, 4), (261, 4), (600, 9)] {
        for _ in 0..2 {
            upkeep::once(&store, at(START_MS + minutes * MINUTE_MS)).await.unwrap();
            let before = at(START_MS + settled * HOUR_MS);
            assert_eq!(derived(&store).await, expected(&rows, &numbers, before), "after {minutes} minutes");
        }
    }
}

/// Killed between two hours, or after an hour but before its watermark: the next run ends in the same rows.
#[rstest]
#[tokio::test]
async fn upkeep_that_was_cut_off_is_repeated(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let rows = history();
    let numbers = append_checks(&store.history, &rows).await;
    let now = at(START_MS + 10 * HOUR_MS);
    upkeep::once(&store, now).await.unwrap();
    let whole = derived(&store).await;
    assert_eq!(whole, expected(&rows, &numbers, now));
    for hour in 0..10 {
        hours::set_watermark(store.history.reader(), at(START_MS + hour * HOUR_MS)).await.unwrap();
        upkeep::once(&store, now).await.unwrap();
        assert_eq!(derived(&store).await, whole, "again from hour {hour}");
    }
}

/// Named after what it mends: results that had waited for the database were missing from the hours for ever.
#[rstest]
#[tokio::test]
async fn results_that_come_after_their_hour_was_derived_are_added_to_it(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let rows = history();
    let (early, late) = rows.split_at(rows.len() / 2);
    append_checks(&store.history, early).await;
    let now = at(START_MS + 10 * HOUR_MS);
    upkeep::once(&store, now).await.unwrap();
    let numbers = append_checks(&store.history, late).await;
    upkeep::once(&store, now).await.unwrap();
    assert_eq!(derived(&store).await, expected(&rows, &numbers, now));
}

#[rstest]
#[tokio::test]
async fn a_first_result_that_is_not_the_oldest_hides_no_hour(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let rows = [START_MS + 10, START_MS - 10].map(|at_ms| check(SERVICES[0], "a", at_ms, CheckStatus::Up));
    let numbers = append_checks(&store.history, &rows).await;
    let now = at(START_MS + 10 * HOUR_MS);
    upkeep::once(&store, now).await.unwrap();
    assert_eq!(derived(&store).await, expected(&rows, &numbers, now));
}

#[rstest]
#[tokio::test]
async fn the_history_of_a_deleted_service_is_erased(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let owner = stored_organisation(&store, "owner").await;
    let gone = stored_service(&store, service(owner.key, "gone")).await;
    let kept = stored_service(&store, service(owner.key, "kept")).await;
    let rows = [gone.key, kept.key].map(|key| check(key, "a", START_MS, CheckStatus::Up));
    append_checks(&store.history, &rows).await;
    let transaction = store.main.begin().await.unwrap();
    services::delete(&transaction, gone.key).await.unwrap();
    transaction.commit().await.unwrap();
    upkeep::once(&store, at(START_MS)).await.unwrap();
    let span = (at(0), at(i64::MAX));
    let reader = store.history.reader();
    assert_eq!(samples::between(reader, gone.key, span, None).await.unwrap(), []);
    assert_eq!(samples::between(reader, kept.key, span, None).await.unwrap().len(), 1);
    assert_eq!(services::erasures(store.main.reader()).await.unwrap(), Vec::<i64>::new());
}
