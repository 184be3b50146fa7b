//! The check history: filters, order, and a cursor that repeats and skips nothing.

use std::collections::BTreeSet;

use rstest::rstest;
use watchkeeper::clock::Timestamp;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::CheckRecord;
use watchkeeper::store::history::checks::{CheckFilter, Position, StoredCheck, page};

use crate::support::Backend;
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

/// What the filter lets through, newest first, decided row by row.
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

/// Contract 4.8.
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
async fn filters_and_the_cursor_walk_through_exactly_what_is_wanted(
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
            before = Some(Position { checked_at: last.checked_at, probe: last.probe.clone() });
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
    let before = Some(Position { checked_at: first[4].checked_at, probe: first[4].probe.clone() });
    let filter = CheckFilter { before, ..CheckFilter::default() };
    let second = page(&store.history, SERVICE, &filter, 5).await.unwrap();
    append_checks(&store.history, &[check(SERVICE, "fra", 99_999, CheckStatus::Up)]).await;
    assert_eq!(page(&store.history, SERVICE, &filter, 5).await.unwrap(), second);
}
