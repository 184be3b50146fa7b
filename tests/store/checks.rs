//! The check history: filters, order, and a cursor that repeats and skips nothing.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use rstest::rstest;
use sea_orm::ConnectionTrait as _;
use watchkeeper::clock::guard::JudgedTime;
use watchkeeper::clock::{DAY_MS, Timestamp};
use watchkeeper::config::limits::CompactionLimits;
use watchkeeper::model::check::{CheckFailure, CheckStatus, ErrorCode};
use watchkeeper::model::history::{CheckRecord, StoredCheck};
use watchkeeper::record::compaction::{Compaction, RetentionPolicy};
use watchkeeper::store::history::checks::{CheckFilter, CheckPosition, page};
use watchkeeper::store::history::segments::{self, RetentionClass};

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::chance::Chance;
use crate::support::rows::{append_checks, at, check};

const LOCATIONS: [&str; 3] = ["ams", "fra", "nyc"];
const SERVICE: i64 = 7;

/// Results of three locations, many of them at equal times, and those of a neighbour.
fn history() -> Vec<CheckRecord> {
    let mut chance = Chance(48);
    let mut rows: Vec<CheckRecord> = (0..120)
        .map(|turn| {
            let status = chance.pick(&CheckStatus::ALL);
            check(SERVICE, LOCATIONS[turn % 3], i64::try_from(turn / 5).unwrap() * 10, status)
        })
        .collect();
    let mut seen = BTreeSet::new();
    rows.retain(|row| seen.insert((row.checked_at, row.location.clone())));
    rows.extend((0..20).map(|turn| check(SERVICE + 1, "fra", turn * 10, CheckStatus::Down)));
    rows
}

/// Results that match the filter, newest first, decided row by row.
fn expected(rows: &[CheckRecord], filter: &CheckFilter) -> Vec<(Timestamp, String)> {
    let wanted = |row: &&CheckRecord| {
        row.service == SERVICE
            && (filter.probes.is_empty() || filter.probes.iter().any(|code| *code == row.location.as_str()))
            && (filter.statuses.is_empty() || filter.statuses.contains(&row.measurement.status))
            && filter.from.is_none_or(|from| row.checked_at >= from)
            && filter.to.is_none_or(|to| row.checked_at < to)
    };
    let mut found: Vec<_> =
        rows.iter().filter(wanted).map(|row| (row.checked_at, row.location.to_string())).collect();
    found.sort_by(|left, right| right.cmp(left));
    found
}

fn keys(found: &[StoredCheck]) -> Vec<(Timestamp, String)> {
    found.iter().map(|row| (row.checked_at, row.probe.clone())).collect()
}

/// The filters and the order of the list of checks (contract 4.8).
#[rstest]
#[case::everything(&[], &[], None, None)]
#[case::one_location(&["fra"], &[], None, None)]
#[case::two_locations_and_an_unknown_one(&["nyc", "ams", "mars"], &[], None, None)]
#[case::an_unknown_location(&["mars"], &[], None, None)]
#[case::only_bad_ones(&[], &[CheckStatus::Down, CheckStatus::Degraded], None, None)]
#[case::from_is_inclusive(&[], &[], Some(at(100)), None)]
#[case::to_is_exclusive(&[], &[], None, Some(at(100)))]
#[case::all_at_once(&["fra", "ams"], &[CheckStatus::Up], Some(at(30)), Some(at(200)))]
#[case::an_empty_span(&[], &[], Some(at(100)), Some(at(100)))]
#[tokio::test]
async fn filters_and_cursor_select_exactly_the_matching_checks(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] probes: &[&str],
    #[case] statuses: &[CheckStatus],
    #[case] from: Option<Timestamp>,
    #[case] to: Option<Timestamp>,
) {
    let Some(store) = backend.open().await else { return };
    let rows = history();
    append_checks(&store.history, &rows).await;
    let probes = probes.iter().map(|code| (*code).to_owned()).collect();
    let filter = CheckFilter { probes, statuses: statuses.to_vec(), from, to, before: None };
    let expected = expected(&rows, &filter);
    for per_page in [1, 2, 7, 100] {
        let (mut walked, mut before) = (Vec::new(), None);
        loop {
            let filter = CheckFilter { before: before.clone(), ..filter.clone() };
            let found = page(&store.history, SERVICE, &filter, per_page).await.unwrap();
            assert!(found.len() as u64 <= per_page);
            let Some(last) = found.last() else { break };
            before = Some(CheckPosition { checked_at: last.checked_at, probe: last.probe.clone() });
            walked.extend(keys(&found));
        }
        assert_eq!(walked, expected, "{per_page} a page");
    }
}

/// A cursor stays where it is while new results arrive in front of it.
#[rstest]
#[tokio::test]
async fn new_results_do_not_move_a_cursor(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    append_checks(&store.history, &history()).await;
    let first = page(&store.history, SERVICE, &CheckFilter::default(), 5).await.unwrap();
    let before = Some(CheckPosition { checked_at: first[4].checked_at, probe: first[4].probe.clone() });
    let filter = CheckFilter { before, ..CheckFilter::default() };
    let second = page(&store.history, SERVICE, &filter, 5).await.unwrap();
    append_checks(&store.history, &[check(SERVICE, "fra", 99_999, CheckStatus::Up)]).await;
    assert_eq!(page(&store.history, SERVICE, &filter, 5).await.unwrap(), second);
}

const HOUR_MS: i64 = 3_600_000;
/// A midnight.
const START_MS: i64 = 20_000 * DAY_MS;

/// Results of some days in no order, with everything that can be measured; many at the same moment.
fn detailed(chance: &mut Chance, days: i64) -> Vec<CheckRecord> {
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for _ in 0..400 {
        let at_ms = START_MS + chance.below(days * 48) * HOUR_MS / 2 + chance.pick(&[0, 0, 1, 777]);
        let status =
            chance.pick(&[CheckStatus::Up, CheckStatus::Up, CheckStatus::Degraded, CheckStatus::Down]);
        let mut row =
            check(chance.pick(&[SERVICE, SERVICE, SERVICE + 1_024]), chance.pick(&LOCATIONS), at_ms, status);
        row.scheduled_at = at(at_ms - chance.below(2_000));
        row.attempt = chance.pick(&[1, 1, 2, 3]);
        let mut time = || NonZeroU32::new(u32::try_from(chance.below(90_000)).unwrap());
        let timings = &mut row.measurement.timings;
        (timings.dns, timings.connect, timings.tls) = (time(), time(), time());
        (timings.ttfb, timings.transfer, timings.total) = (time(), time(), time());
        row.measurement.response_time = time();
        row.measurement.status_code = chance.pick(&[None, Some(200), Some(503)]);
        if status == CheckStatus::Down {
            let text = format!("refused {}", chance.below(5));
            let code = chance.pick(&[ErrorCode::ConnectRefused, ErrorCode::ConnectTimeout]);
            row.measurement.failure = Some(Box::new(CheckFailure::new(code, &text)));
        }
        if seen.insert((row.service, row.checked_at, row.location.clone())) {
            rows.push(row);
        }
    }
    rows
}

/// All results that match the filter, newest first.
fn whole(rows: &[CheckRecord], filter: &CheckFilter) -> Vec<StoredCheck> {
    let keys = expected(rows, filter);
    let of_service: Vec<_> = rows.iter().filter(|row| row.service == SERVICE).collect();
    let stored = |(checked_at, probe): (Timestamp, String)| {
        let is_it = |row: &&&CheckRecord| (row.checked_at, row.location.as_str()) == (checked_at, &*probe);
        let row = (*of_service.iter().find(is_it).unwrap()).clone();
        StoredCheck {
            checked_at,
            probe,
            scheduled_at: row.scheduled_at,
            attempt: row.attempt,
            measurement: row.measurement,
        }
    };
    keys.into_iter().map(stored).collect()
}

fn some_filter(chance: &mut Chance, days: i64) -> CheckFilter {
    let mut bound = |ms| {
        let moment = at(START_MS + chance.below(days * 48) * HOUR_MS / 2);
        (chance.below(3) == 0).then_some(moment.plus_ms(ms))
    };
    let (from, to) = (bound(0), bound(HOUR_MS));
    let probes: &[&str] = chance.pick(&[&[], &[], &["fra"][..], &["nyc", "ams", "mars"][..]]);
    let statuses: &[CheckStatus] =
        chance.pick(&[&[], &[], &[CheckStatus::Down][..], &[CheckStatus::Up, CheckStatus::Degraded][..]]);
    let probes = probes.iter().map(|code| (*code).to_owned()).collect();
    CheckFilter { probes, statuses: statuses.to_vec(), from, to, before: None }
}

/// All pages, one after the other.
async fn walk(store: &Store, filter: &CheckFilter, per_page: u64) -> Vec<StoredCheck> {
    let (mut walked, mut before) = (Vec::new(), None);
    loop {
        let filter = CheckFilter { before: before.clone(), ..filter.clone() };
        let found = page(&store.history, SERVICE, &filter, per_page).await.unwrap();
        assert!(found.len() as u64 <= per_page);
        let is_last = (found.len() as u64) < per_page;
        before =
            found.last().map(|last| CheckPosition { checked_at: last.checked_at, probe: last.probe.clone() });
        walked.extend(found);
        if is_last {
            return walked;
        }
    }
}

fn compaction(store: &Store) -> Compaction {
    let retention = RetentionPolicy::Uniform(RetentionClass::of_days(90));
    Compaction::new(store.history.clone(), retention, CompactionLimits::default(), Arc::default())
}

/// Contract 4.8, whatever is a row, in a small block or in a large one.
#[rstest]
#[tokio::test]
async fn rows_and_blocks_are_read_together(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[values(1, 2, 3)] seed: u64,
) {
    let Some(store) = backend.open().await else { return };
    let mut chance = Chance(seed);
    let days = 6;
    let rows = detailed(&mut chance, days);
    let mut compaction = compaction(&store);
    let mut now = START_MS + HOUR_MS;
    let mut recorded = 0;
    while recorded < rows.len() {
        // Results older than the last sealed ones are late.
        let next = (recorded + 80).min(rows.len());
        append_checks(&store.history, &rows[recorded.saturating_sub(20)..next]).await;
        recorded = next;
        if chance.below(4) > 0 {
            now += chance.below(2 * DAY_MS);
            compaction.pass(JudgedTime::trusted(at(now))).await.unwrap();
        }
        for _ in 0..6 {
            let filter = some_filter(&mut chance, days);
            let found = walk(&store, &filter, chance.pick(&[1, 3, 17, 100, 1_000])).await;
            assert_eq!(found, whole(&rows[..recorded], &filter), "{filter:?}");
        }
    }
    assert!(!segments::visible(store.history.reader()).await.unwrap().is_empty(), "something is sealed");
}

#[rstest]
#[tokio::test]
async fn a_page_is_complete_while_compaction_runs(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let rows = detailed(&mut Chance(9), 4);
    append_checks(&store.history, &rows).await;
    let filter = CheckFilter::default();
    let all = whole(&rows, &filter);
    let mut compaction = compaction(&store);
    // Every hour a little is sealed; days are merged and dropped in between.
    let passes = async {
        for hour in (2..24 * 7).step_by(3) {
            compaction.pass(JudgedTime::trusted(at(START_MS + hour * HOUR_MS))).await.unwrap();
        }
    };
    tokio::pin!(passes);
    let mut pages = 0;
    loop {
        tokio::select! {
            () = &mut passes => break,
            found = page(&store.history, SERVICE, &filter, 1_000) => {
                assert_eq!(found.unwrap(), all);
                pages += 1;
            }
        }
    }
    assert!(pages > 0);
    assert_eq!(walk(&store, &filter, 50).await, all);
}

#[rstest]
#[case::a_changed_body("UPDATE {blocks} SET body = {changed}")]
#[case::wrong_counts("UPDATE {blocks} SET up = up + 1")]
#[case::a_table_that_is_gone("DROP TABLE {blocks}")]
#[tokio::test]
async fn unreadable_checks_are_an_error_and_not_a_shorter_page(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] damage: &str,
) {
    let Some(store) = backend.open().await else { return };
    let rows: Vec<_> =
        (0..50).map(|n| check(SERVICE, "fra", START_MS + n * 60_000, CheckStatus::Up)).collect();
    append_checks(&store.history, &rows).await;
    compaction(&store).pass(JudgedTime::trusted(at(START_MS + 3 * HOUR_MS))).await.unwrap();
    let newer = check(SERVICE, "fra", START_MS + 4 * HOUR_MS, CheckStatus::Up);
    append_checks(&store.history, &[newer]).await;
    let read = async || page(&store.history, SERVICE, &CheckFilter::default(), 10).await;
    assert_eq!(read().await.unwrap().len(), 10);
    let segment = segments::visible(store.history.reader()).await.unwrap()[0];
    let opened = store.history.storage().connect(segment.id).await.unwrap();
    let changed = match backend {
        Backend::Sqlite => "CAST(substr(body, 1, length(body) - 6) || 'abcdef' AS BLOB)",
        Backend::Postgres => "overlay(body placing 'abcdef'::bytea from length(body) - 5)",
    };
    let text = damage.replace("{blocks}", &opened.blocks).replace("{changed}", changed);
    opened.connection.execute_unprepared(&text).await.unwrap();
    assert!(read().await.is_err());
    let newest = page(&store.history, SERVICE, &CheckFilter::default(), 1).await;
    assert_eq!(newest.map(|found| found.len()).ok(), (!damage.starts_with("DROP")).then_some(1));
}
