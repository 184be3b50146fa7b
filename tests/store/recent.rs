//! The newest results, from which a restart takes its votes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rstest::rstest;
use watchkeeper::clock::DAY_MS;
use watchkeeper::clock::guard::JudgedTime;
use watchkeeper::config::limits::CompactionLimits;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::CheckRecord;
use watchkeeper::model::partition::{Partition, PartitionSet};
use watchkeeper::model::verdict::LocationVote;
use watchkeeper::record::compaction::{Compaction, RetentionPolicy};
use watchkeeper::store::history::recent::{self, ExpectedVotes, InclusiveSpan, LatestVotes, OlderRows};
use watchkeeper::store::history::segments::RetentionClass;

use crate::support::Backend;
use crate::support::backend::Store;
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
    #[values(PartitionSet::ALL, [3, 17].into_iter().filter_map(Partition::new).collect())]
    partitions: PartitionSet,
) {
    let Some(store) = backend.open().await else { return };
    let rows = history();
    let numbers = append_checks(&store.history, &rows).await;
    let mut expected: BTreeMap<(i64, String), LocationVote> = BTreeMap::new();
    let is_asked =
        |row: &CheckRecord| partitions.contains(Partition::of(row.service)) && row.checked_at >= at(since_ms);
    for row in rows.iter().filter(|row| is_asked(row)) {
        let vote = LocationVote { status: row.measurement.status, checked_at: row.checked_at };
        let newest = expected.entry((row.service, row.location.to_string())).or_insert(vote);
        if newest.checked_at < vote.checked_at {
            *newest = vote;
        }
    }
    let found = recent::within(store.history.reader(), partitions, since(since_ms)).await.unwrap();
    let found: BTreeMap<(i64, String), LocationVote> = found
        .iter()
        .flat_map(|(service, votes)| votes.iter().map(move |(number, vote)| (service, *number, *vote)))
        .map(|(service, number, vote)| ((service, numbers.code(number).unwrap().to_owned()), vote))
        .collect();
    assert_eq!(found, expected);
}

fn since(since_ms: i64) -> InclusiveSpan {
    InclusiveSpan { since: at(since_ms), until: at(i64::MAX) }
}

/// Everything that a restart reads of these services.
async fn known(store: &Store, since_ms: i64, expected: &[ExpectedVotes]) -> LatestVotes {
    let (reader, span) = (store.history.reader(), since(since_ms));
    let mut votes = recent::within(reader, PartitionSet::ALL, span).await.unwrap();
    let mut older = OlderRows::before(PartitionSet::ALL, span.since);
    recent::complete(&store.history, &mut votes, expected, span, &mut older).await.unwrap();
    votes
}

fn expect(service: i64, locations: &[i32]) -> ExpectedVotes {
    ExpectedVotes { service, locations: locations.to_vec(), since: at(i64::MIN) }
}

#[rstest]
#[tokio::test]
async fn the_last_result_is_found_at_any_age(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
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
    let votes = known(&store, 1_000, &[expect(1, &[]), expect(3, &[])]).await;
    let number = |code: &str| numbers.numbers(&[code.to_owned()])[0];
    let vote = |code: &str| {
        let found = votes.of(1).iter().find(|(location, _)| *location == number(code));
        found.map(|(_, vote)| *vote)
    };
    assert_eq!(vote("a"), Some(LocationVote { status: CheckStatus::Degraded, checked_at: at(30) }));
    assert_eq!(vote("b"), Some(LocationVote { status: CheckStatus::Up, checked_at: at(20) }));
    assert_eq!(votes.iter().count(), 1);
}

/// Failures are in blocks of their own after a day was merged. A clock that was set back may end the span within both blocks.
#[rstest]
#[case::a_failure(300, CheckStatus::Down)]
#[case::after_a_failure(301, CheckStatus::Up)]
#[case::before_all_failures(99, CheckStatus::Up)]
#[tokio::test]
async fn the_last_result_before_a_time_within_overlapping_blocks_is_found(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] until_minute: i64,
    #[case] status: CheckStatus,
) {
    let Some(store) = backend.open().await else { return };
    let start_ms = 20_000 * DAY_MS;
    let minute = |minute: i64| start_ms + minute * 60_000;
    let is_failure = |number: i64| [100, 300, 500].contains(&number);
    let row = |number| {
        let status = if is_failure(number) { CheckStatus::Down } else { CheckStatus::Up };
        check(1, "a", minute(number), status)
    };
    append_checks(&store.history, &(0..600).map(row).collect::<Vec<_>>()).await;
    let retention = RetentionPolicy::Uniform(RetentionClass::of_days(90));
    let mut compaction =
        Compaction::new(store.history.clone(), retention, CompactionLimits::default(), Arc::default());
    compaction.pass(JudgedTime::trusted(at(start_ms + 4 * DAY_MS))).await.unwrap();
    let span = InclusiveSpan { since: at(start_ms), until: at(minute(until_minute)) };
    let mut votes = LatestVotes::default();
    let mut older = OlderRows::before(PartitionSet::ALL, span.since);
    recent::complete(&store.history, &mut votes, &[expect(1, &[])], span, &mut older).await.unwrap();
    let vote = LocationVote { status, checked_at: span.until };
    assert_eq!(votes.of(1).iter().map(|(_, vote)| *vote).collect::<Vec<_>>(), [vote]);
}

/// Few services are looked up one by one; for many, the older rows of all services are read at once.
#[rstest]
#[case::looked_up(40)]
#[case::read_at_once(1_500)]
#[tokio::test]
async fn the_last_result_of_many_slow_services_is_found(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] services: i64,
) {
    let Some(store) = backend.open().await else { return };
    let row = |at_ms, service, status| check(service, "a", at_ms, status);
    let rows: Vec<_> = (1..=services)
        .flat_map(|service| {
            [row(service, service, CheckStatus::Down), row(services + service, service, CheckStatus::Up)]
        })
        .collect();
    append_checks(&store.history, &rows).await;
    let span = since(1_000_000);
    let mut older = OlderRows::before(PartitionSet::ALL, span.since);
    let mut votes = LatestVotes::default();
    let expected: Vec<_> = (1..=services + 3).map(|service| expect(service, &[])).collect();
    for page in expected.chunks(400) {
        recent::complete(&store.history, &mut votes, page, span, &mut older).await.unwrap();
    }
    assert_eq!(votes.iter().count() as i64, services);
    for service in 1..=services {
        let vote = LocationVote { status: CheckStatus::Up, checked_at: at(services + service) };
        assert_eq!(votes.of(service).iter().map(|(_, vote)| *vote).collect::<Vec<_>>(), [vote]);
    }
}

/// Wherever they are by then: results arrive in any order, are sealed and merged in between, and some are late.
#[rstest]
#[tokio::test]
async fn the_newest_results_are_found_in_rows_and_blocks(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(1, 2, 3, 4)] seed: u64,
) {
    let Some(store) = backend.open().await else { return };
    let mut chance = Chance(seed);
    let start_ms = 20_000 * DAY_MS;
    let retention = RetentionPolicy::Uniform(RetentionClass::of_days(90));
    let mut compaction =
        Compaction::new(store.history.clone(), retention, CompactionLimits::default(), Arc::default());
    let mut newest: BTreeMap<(i64, i32), LocationVote> = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for round in 1..=8 {
        let now_ms = start_ms + round * DAY_MS / 2;
        let mut rows = Vec::new();
        for _ in 0..60 {
            let status = chance.pick(&[CheckStatus::Up, CheckStatus::Up, CheckStatus::Down]);
            let moment_ms = now_ms - chance.below(round * DAY_MS / 2);
            let row = check(1 + chance.below(12) * 512, chance.pick(&["a", "b", "c"]), moment_ms, status);
            if taken.insert((row.service, row.location.clone(), row.checked_at)) {
                rows.push(row);
            }
        }
        let numbers = append_checks(&store.history, &rows).await;
        for row in &rows {
            let key = (row.service, numbers.numbers(&[row.location.to_string()])[0]);
            let vote = LocationVote { status: row.measurement.status, checked_at: row.checked_at };
            let known = newest.entry(key).or_insert(vote);
            if known.checked_at < vote.checked_at {
                *known = vote;
            }
        }
        if chance.below(3) > 0 {
            compaction.pass(JudgedTime::trusted(at(now_ms))).await.unwrap();
        }
        let mut expected: BTreeMap<i64, Vec<i32>> = BTreeMap::new();
        for (service, number) in newest.keys() {
            expected.entry(*service).or_default().push(*number);
        }
        let expected: Vec<_> =
            expected.iter().map(|(service, locations)| expect(*service, locations)).collect();
        let found = known(&store, now_ms - DAY_MS / 8, &expected).await;
        let found = found
            .iter()
            .flat_map(|(service, votes)| votes.iter().map(move |(number, vote)| ((service, *number), *vote)));
        assert_eq!(found.collect::<BTreeMap<_, _>>(), newest, "round {round}");
    }
}

#[rstest]
#[tokio::test]
async fn the_last_result_of_all_services_is_found(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    assert_eq!(recent::last_fresh(store.history.reader()).await.unwrap(), None);
    append_checks(&store.history, &history()).await;
    let expected = history().iter().map(|row| row.checked_at).max();
    assert_eq!(recent::last_fresh(store.history.reader()).await.unwrap(), expected);
}
