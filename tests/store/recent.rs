//! The newest results, from which a restart takes its votes.

use std::collections::BTreeMap;

use rstest::rstest;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::CheckRecord;
use watchkeeper::model::verdict::Vote;
use watchkeeper::store::history::recent;

use crate::support::Backend;
use crate::support::chance::Chance;
use crate::support::rows::{append_checks, at, check};

/// Results of 20 services and 3 locations in the order of arrival, which is not quite the order of time.
fn history() -> Vec<CheckRecord> {
    let mut chance = Chance(16);
    let mut rows: Vec<CheckRecord> = Vec::new();
    for turn in 0..600 {
        let location = chance.pick(&["a", "b", "c"]);
        let late_ms = chance.below(40);
        let status = chance.pick(&CheckStatus::ALL);
        let row = check(1 + chance.below(20), location, turn * 10 - late_ms, status);
        let key = |row: &CheckRecord| (row.service, row.location.clone(), row.checked_at);
        if rows.iter().all(|known| key(known) != key(&row)) {
            rows.push(row);
        }
    }
    rows
}

#[rstest]
#[tokio::test]
async fn the_newest_result_of_each_location_is_its_vote(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(-1_000, 3_000, 9_000)] since_ms: i64,
) {
    let Some(store) = backend.open().await else { return };
    let rows = history();
    let numbers = append_checks(&store.history, &rows).await;
    let mut expected: BTreeMap<(i64, String), Vote> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.checked_at >= at(since_ms)) {
        let vote = Vote { status: row.measurement.status, checked_at: row.checked_at };
        let newest = expected.entry((row.service, row.location.to_string())).or_insert(vote);
        if newest.checked_at < vote.checked_at {
            *newest = vote;
        }
    }
    let found = recent::all_since(store.history.reader(), at(since_ms)).await.unwrap();
    let found: BTreeMap<(i64, String), Vote> = found
        .into_iter()
        .flat_map(|(service, votes)| votes.into_iter().map(move |(number, vote)| (service, number, vote)))
        .map(|(service, number, vote)| ((service, numbers.code(number).unwrap().to_owned()), vote))
        .collect();
    assert_eq!(found, expected);
}

#[rstest]
#[tokio::test]
async fn a_service_is_remembered_however_long_ago(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let numbers = append_checks(
        &store.history,
        &[
            check(1, "a", 10, CheckStatus::Down),
            check(1, "b", 20, CheckStatus::Up),
            check(1, "a", 30, CheckStatus::Degraded),
            check(2, "a", 40, CheckStatus::Up),
        ],
    )
    .await;
    let votes = recent::of_service(store.history.reader(), 1).await.unwrap();
    let vote = |code: &str| votes.get(&numbers.numbers(&[code.to_owned()])[0]).copied();
    assert_eq!(vote("a"), Some(Vote { status: CheckStatus::Degraded, checked_at: at(30) }));
    assert_eq!(vote("b"), Some(Vote { status: CheckStatus::Up, checked_at: at(20) }));
    assert!(recent::of_service(store.history.reader(), 3).await.unwrap().is_empty());
}
