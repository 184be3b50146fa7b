//! Samples, hours and days: what figures are read from equals what counting by hand gives.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use rstest::rstest;
use watchkeeper::clock::DAY_MS;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::{CheckRecord, Sample};
use watchkeeper::model::service::ProbeRole;
use watchkeeper::record::upkeep::sum_up;
use watchkeeper::store::history::hours::{self, HOUR_MS, Hour};
use watchkeeper::store::history::locations::LocationNumbers;
use watchkeeper::store::history::{days, samples};

use crate::support::Backend;
use crate::support::chance::Chance;
use crate::support::rows::{append_checks, at, check};

const SERVICE: i64 = 3;
const FIRST_DAY: i64 = 20_000;
const START_MS: i64 = FIRST_DAY * DAY_MS;

/// Results of four days with both roles, answers and none, and a neighbour.
fn history() -> Vec<CheckRecord> {
    let mut chance = Chance(45);
    let mut rows = Vec::new();
    for turn in 0..800 {
        let at_ms = START_MS + turn * 431_999 + chance.below(400_000);
        let mut row = check(SERVICE, chance.pick(&["a", "b"]), at_ms, chance.pick(&CheckStatus::ALL));
        row.role = chance.pick(&[ProbeRole::Full, ProbeRole::Full, ProbeRole::Reachability]);
        let response_us = u32::try_from(1 + chance.below(30_000_000)).unwrap();
        row.measurement.response_time =
            NonZeroU32::new(response_us).filter(|_| row.measurement.status != CheckStatus::Down);
        rows.push(row);
        rows.push(check(SERVICE + 1, "a", at_ms, CheckStatus::Up));
    }
    rows
}

fn of_service(rows: &[CheckRecord]) -> impl Iterator<Item = &CheckRecord> {
    rows.iter().filter(|row| row.service == SERVICE)
}

fn number(numbers: &LocationNumbers, row: &CheckRecord) -> i32 {
    numbers.numbers(&[row.location.to_string()])[0]
}

#[rstest]
#[tokio::test]
async fn samples_are_the_rows_of_a_span_oldest_first(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let rows = history();
    let numbers = append_checks(&store.history, &rows).await;
    let reader = store.history.reader();
    let span = (at(START_MS + DAY_MS), at(START_MS + 2 * DAY_MS));
    let b = numbers.numbers(&["b".to_owned()]);
    for locations in [None, Some(b.as_slice()), Some(&[])] {
        let found = samples::between(reader, SERVICE, span, locations).await.unwrap();
        let mut expected: Vec<_> = of_service(&rows)
            .filter(|row| row.checked_at >= span.0 && row.checked_at < span.1)
            .filter(|row| locations.is_none_or(|wanted| wanted.contains(&number(&numbers, row))))
            .map(|row| Sample {
                checked_at: row.checked_at,
                location: number(&numbers, row),
                is_down: row.measurement.status == CheckStatus::Down,
                response_us: row
                    .measurement
                    .response_time
                    .filter(|_| row.role == ProbeRole::Full)
                    .map(NonZeroU32::get),
            })
            .collect();
        expected.sort_by_key(|sample| sample.checked_at);
        assert!(locations == Some(&[]) || !expected.is_empty());
        assert_eq!(found, expected);
    }
    assert_eq!(samples::next_service(reader, i64::MIN).await.unwrap(), Some(SERVICE));
    assert_eq!(samples::next_service(reader, SERVICE).await.unwrap(), Some(SERVICE + 1));
    assert_eq!(samples::next_service(reader, SERVICE + 1).await.unwrap(), None);
    assert_eq!(samples::oldest(reader).await.unwrap(), Some(rows[0].checked_at));
}

#[rstest]
#[tokio::test]
async fn an_hour_that_is_put_again_replaces_the_first(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let hour = |start: i64, location, checks| Hour {
        service: SERVICE,
        start: at(start * HOUR_MS),
        location,
        checks,
        failed: 1,
        answered: 2,
        sum_us: 5_000_000_000_000,
        min_us: 7,
        max_us: 2_147_483_647,
        histogram: Some(vec![0, 1, 255]),
    };
    let history = store.history.reader();
    hours::put(history, Vec::new()).await.unwrap();
    hours::put(history, vec![hour(5, 1, 10), hour(5, 2, 20)]).await.unwrap();
    hours::put(history, vec![hour(6, 1, 30), hour(5, 2, 21)]).await.unwrap();
    let between = |from: i64, to: i64, locations: Option<&'static [i32]>| async move {
        let span = (at(from * HOUR_MS), at(to * HOUR_MS));
        hours::between(history, SERVICE, span, locations).await.unwrap()
    };
    assert_eq!(between(0, 9, None).await, [hour(5, 1, 10), hour(5, 2, 21), hour(6, 1, 30)]);
    assert_eq!(between(5, 6, None).await, [hour(5, 1, 10), hour(5, 2, 21)], "the end is exclusive");
    assert_eq!(between(0, 9, Some(&[2])).await, [hour(5, 2, 21)]);
}

#[rstest]
#[tokio::test]
async fn the_watermark_is_where_it_was_set(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let history = store.history.reader();
    assert_eq!(hours::watermark(history).await.unwrap(), None);
    for moment in [at(HOUR_MS), at(2 * HOUR_MS)] {
        hours::set_watermark(history, moment).await.unwrap();
        assert_eq!(hours::watermark(history).await.unwrap(), Some(moment));
    }
}

/// Derived hours and rows behind them count each result once, wherever the watermark stands.
#[rstest]
#[tokio::test]
async fn sums_of_days_equal_counting_row_by_row(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(None, Some(0), Some(29), Some(48), Some(1_000))] derived_hours: Option<i64>,
) {
    let Some(store) = backend.open().await else { return };
    let rows = history();
    append_checks(&store.history, &rows).await;
    let reader = store.history.reader();
    let (from, to) = (at(START_MS), at(START_MS + 3 * DAY_MS + 5_000_000));
    if let Some(count) = derived_hours {
        for hour in 0..count.min(96) {
            let start = at(START_MS + hour * HOUR_MS);
            let found =
                samples::between(reader, SERVICE, (start, start.plus_ms(HOUR_MS)), None).await.unwrap();
            hours::put(reader, sum_up(SERVICE, start, &found)).await.unwrap();
        }
        hours::set_watermark(reader, at(START_MS + count * HOUR_MS)).await.unwrap();
    }
    let mut expected: BTreeMap<i64, (u32, u64)> = BTreeMap::new();
    let is_before = |row: &&CheckRecord| match derived_hours {
        // An hour is counted whole once it is derived.
        Some(1_000) => row.checked_at < at(START_MS + 74 * HOUR_MS),
        _ => row.checked_at < to,
    };
    for row in of_service(&rows).filter(is_before).filter(|row| row.role == ProbeRole::Full) {
        let Some(response_time) = row.measurement.response_time else { continue };
        let day = expected.entry(row.checked_at.day()).or_default();
        day.0 += 1;
        day.1 += u64::from(response_time.get());
    }
    assert_eq!(days::answered(reader, SERVICE, (from, to)).await.unwrap(), expected);
}
