//! Compaction: what is sealed and merged is what was recorded, once, however often a pass is cut off or repeated.

use std::collections::BTreeSet;
use std::sync::Arc;

use rstest::rstest;
use sea_orm::ConnectionTrait as _;
use watchkeeper::clock::guard::JudgedTime;
use watchkeeper::clock::{DAY_MS, Timestamp};
use watchkeeper::config::limits::CompactionLimits;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::CheckRecord;
use watchkeeper::model::history::MeasuredStatus::{Down, Unknown, Up};
use watchkeeper::record::compaction::{Compaction, RetentionPolicy};
use watchkeeper::store::history::blocks::BlockBody;
use watchkeeper::store::history::sealed::{self, BatchKey, SegmentContents, ServiceRange};
use watchkeeper::store::history::segments::{self, RetentionClass, Segment, SegmentLevel, SegmentScope};
use watchkeeper::store::history::{changes, fresh_checks, progress};

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::chance::Chance;
use crate::support::rows::{append_changes, append_checks, at, change, check};

const SERVICES: [i64; 4] = [2, 5, 1_026, 9_000];
/// Every service.
const ALL_SERVICES: ServiceRange = ServiceRange { first: i64::MIN, last: i64::MAX };
const HOUR_MS: i64 = 3_600_000;
/// A midnight.
const START_MS: i64 = 20_000 * DAY_MS;

pub(crate) fn compaction(store: &Store) -> Compaction {
    let retention = RetentionPolicy::Uniform(RetentionClass::of_days(90));
    Compaction::new(store.history.clone(), retention, CompactionLimits::default(), Arc::default())
}

/// Distinct results over some hours.
fn results(seed: u64, hours: i64) -> Vec<CheckRecord> {
    let mut chance = Chance(seed);
    let mut taken = BTreeSet::new();
    let mut rows = Vec::new();
    for _ in 0..600 {
        let (service, location) = (chance.pick(&SERVICES), chance.pick(&["a", "b"]));
        let at_ms = START_MS + chance.below(hours * HOUR_MS);
        if taken.insert((service, location, at_ms)) {
            rows.push(check(service, location, at_ms, chance.pick(&CheckStatus::ALL)));
        }
    }
    rows
}

pub(crate) type Key = (i64, i32, Timestamp);

/// Everything that blocks hold, in order; fails if anything is held twice.
pub(crate) async fn in_blocks(store: &Store) -> Vec<(Key, CheckStatus)> {
    let mut found = Vec::new();
    for segment in segments::visible(store.history.reader()).await.unwrap() {
        let opened = store.history.storage().connect(segment.id).await.unwrap();
        for (summary, bytes) in sealed::blocks_of(&opened, &segment, ALL_SERVICES).await.unwrap() {
            let entries = BlockBody::open(&bytes).unwrap().entries().unwrap();
            assert_eq!(
                (entries[0].checked_at, entries[entries.len() - 1].checked_at),
                (summary.first_at, summary.last_at)
            );
            let key = |at| (summary.series.service, summary.series.location, at);
            found.extend(entries.iter().map(|entry| (key(entry.checked_at), entry.measurement.status)));
        }
    }
    found.sort_by_key(|(key, _)| *key);
    assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0), "a check is sealed twice");
    found
}

pub(crate) async fn expected(store: &Store, rows: &[CheckRecord]) -> Vec<(Key, CheckStatus)> {
    let numbers = append_checks(&store.history, &[]).await;
    let mut expected: Vec<_> = rows
        .iter()
        .map(|row| {
            let location = numbers.numbers(&[row.location.to_string()])[0];
            ((row.service, location, row.checked_at), row.measurement.status)
        })
        .collect();
    expected.sort_by_key(|(key, _)| *key);
    expected
}

pub(crate) async fn fresh_rows(store: &Store) -> u64 {
    fresh_checks::fillings(store.history.reader()).await.unwrap().iter().map(|filling| filling.rows).sum()
}

pub(crate) async fn levels(store: &Store) -> Vec<SegmentLevel> {
    let visible: Vec<Segment> = segments::visible(store.history.reader()).await.unwrap();
    visible.iter().map(|segment| segment.purpose.level).collect()
}

#[rstest]
#[tokio::test]
async fn rows_become_blocks_and_blocks_become_large(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let rows = results(1, 30);
    append_checks(&store.history, &rows).await;
    let mut compaction = compaction(&store);
    compaction.pass(JudgedTime::trusted(at(START_MS + 31 * HOUR_MS))).await.unwrap();
    assert_eq!(fresh_rows(&store).await, 0);
    assert_eq!(levels(&store).await, [SegmentLevel::Day, SegmentLevel::Day]);
    assert_eq!(in_blocks(&store).await, expected(&store, &rows).await);
    compaction.pass(JudgedTime::trusted(at(START_MS + 3 * DAY_MS))).await.unwrap();
    assert_eq!(levels(&store).await, [SegmentLevel::Period]);
    assert_eq!(in_blocks(&store).await, expected(&store, &rows).await);
    compaction.pass(JudgedTime::trusted(at(START_MS + 3 * DAY_MS + 120_000))).await.unwrap();
    assert_eq!(segments::retired(store.history.reader()).await.unwrap(), [], "days are dropped in the end");
    assert_eq!(in_blocks(&store).await, expected(&store, &rows).await);
}

/// A clock that is ahead: hours that are certainly over are sealed and merged, future ones are not.
#[rstest]
#[case::nothing_is_over(0, false, 0)]
#[case::two_days_are_sealed(31 * HOUR_MS, true, 2)]
#[case::they_are_merged(3 * DAY_MS, true, 1)]
#[tokio::test]
async fn a_doubted_clock_seals_and_merges_only_past_hours(
    #[case] earliest_ms: i64,
    #[case] is_sealed: bool,
    #[case] segments: usize,
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    append_checks(&store.history, &results(1, 30)).await;
    let earliest = at(START_MS + earliest_ms);
    let ahead = earliest.plus_ms(400 * DAY_MS);
    let now = JudgedTime { at: ahead, best: ahead, earliest, is_trusted: false };
    compaction(&store).pass(now).await.unwrap();
    let sealing = progress::lock_sealing_horizon(store.history.reader()).await.unwrap();
    assert!(sealing <= earliest, "results of now wait for nothing");
    assert_eq!(fresh_rows(&store).await == 0, is_sealed);
    assert_eq!(levels(&store).await.len(), segments);
}

#[rstest]
#[tokio::test]
async fn only_finished_hours_are_sealed(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let up = CheckStatus::Up;
    append_checks(&store.history, &[check(2, "a", START_MS, up), check(2, "a", START_MS + HOUR_MS, up)])
        .await;
    let mut compaction = compaction(&store);
    for (now_ms, left) in [(HOUR_MS + 599_000, 2), (HOUR_MS + 600_000, 1), (2 * HOUR_MS + 600_000, 0)] {
        compaction.pass(JudgedTime::trusted(at(START_MS + now_ms))).await.unwrap();
        assert_eq!(fresh_rows(&store).await, left, "after {now_ms} ms");
    }
}

#[rstest]
#[tokio::test]
async fn a_full_bucket_is_sealed_before_its_hour_is_over(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let rows: Vec<_> = (0..20).map(|n| check(2, "a", START_MS + n * 10_000, CheckStatus::Up)).collect();
    append_checks(&store.history, &rows).await;
    let limits = CompactionLimits { rows_per_bucket: 19, ..CompactionLimits::default() };
    let retention = RetentionPolicy::Uniform(RetentionClass::of_days(90));
    let mut compaction = Compaction::new(store.history.clone(), retention, limits, Arc::default());
    compaction.pass(JudgedTime::trusted(at(START_MS + 220_000))).await.unwrap();
    assert_eq!(fresh_rows(&store).await, 10, "what is younger than two minutes waits");
    assert_eq!(in_blocks(&store).await.len(), 10);
}

#[rstest]
#[tokio::test]
async fn late_and_repeated_results_are_stored_once(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let rows = results(3, 30);
    let (first, second) = rows.split_at(rows.len() / 2);
    let mut compaction = compaction(&store);
    let mut now = START_MS + 31 * HOUR_MS;
    for part in [first, &rows[..], second, &rows[..]] {
        append_checks(&store.history, part).await;
        compaction.pass(JudgedTime::trusted(at(now))).await.unwrap();
        now += DAY_MS;
    }
    compaction.pass(JudgedTime::trusted(at(now + DAY_MS))).await.unwrap();
    assert_eq!(in_blocks(&store).await, expected(&store, &rows).await);
    assert_eq!(fresh_rows(&store).await, 0);
}

/// A pass that was killed after it had written to a segment leaves rows of a batch that never counts.
#[rstest]
#[tokio::test]
async fn rows_left_by_a_killed_pass_never_count(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let rows = results(4, 30);
    append_checks(&store.history, &rows).await;
    let now = START_MS + 31 * HOUR_MS;
    // The history refuses the commit that would make the blocks count.
    let refusal = match backend {
        Backend::Sqlite => {
            "CREATE TRIGGER refuse BEFORE DELETE ON fresh_check BEGIN SELECT RAISE(ABORT, 'killed'); END"
        }
        Backend::Postgres => {
            "CREATE FUNCTION killed() RETURNS trigger AS 'BEGIN RAISE ''killed''; END' LANGUAGE plpgsql; \
            CREATE TRIGGER refuse BEFORE DELETE ON fresh_check FOR EACH ROW EXECUTE FUNCTION killed()"
        }
    };
    store.history.reader().execute_unprepared(refusal).await.unwrap();
    assert!(compaction(&store).pass(JudgedTime::trusted(at(now))).await.is_err());
    assert_eq!(in_blocks(&store).await, [], "nothing counts yet");
    assert_eq!(fresh_rows(&store).await, rows.len() as u64);
    let allowed = match backend {
        Backend::Sqlite => "DROP TRIGGER refuse",
        Backend::Postgres => "DROP TRIGGER refuse ON fresh_check",
    };
    store.history.reader().execute_unprepared(allowed).await.unwrap();
    compaction(&store).pass(JudgedTime::trusted(at(now))).await.unwrap();
    assert_eq!(in_blocks(&store).await, expected(&store, &rows).await);
    assert_eq!(fresh_rows(&store).await, 0);
}

#[rstest]
#[tokio::test]
async fn a_killed_merge_starts_over(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let rows = results(5, 20);
    append_checks(&store.history, &rows).await;
    compaction(&store).pass(JudgedTime::trusted(at(START_MS + DAY_MS + HOUR_MS))).await.unwrap();
    // Half of the day has been written to the segment of the period, and then the process was killed.
    let retention = RetentionClass::of_days(90);
    let transaction = store.history.begin().await.unwrap();
    let purpose = SegmentScope::of(SegmentLevel::Period, retention, at(START_MS));
    let period = segments::enter(&transaction, purpose).await.unwrap();
    transaction.commit().await.unwrap();
    store.history.storage().make(period.id).await.unwrap();
    let opened = store.history.storage().connect(period.id).await.unwrap();
    let day = segments::visible(store.history.reader()).await.unwrap();
    let day = day.iter().find(|segment| segment.purpose.level == SegmentLevel::Day).unwrap();
    let old = store.history.storage().connect(day.id).await.unwrap();
    let blocks = sealed::blocks_of(&old, day, ServiceRange { first: 0, last: 5 }).await.unwrap();
    let mut half = SegmentContents::default();
    for (summary, bytes) in blocks {
        let entries = BlockBody::open(&bytes).unwrap().entries().unwrap();
        half.blocks.push((summary.series, watchkeeper::store::history::blocks::CheckBlock::seal(&entries)));
    }
    sealed::write(&opened, BatchKey { segment: period.id, number: 1 }, &half).await.unwrap();
    assert_eq!(in_blocks(&store).await, expected(&store, &rows).await, "the half does not count");
    compaction(&store).pass(JudgedTime::trusted(at(START_MS + 3 * DAY_MS))).await.unwrap();
    assert_eq!(levels(&store).await, [SegmentLevel::Period]);
    assert_eq!(in_blocks(&store).await, expected(&store, &rows).await);
}

#[rstest]
#[tokio::test]
async fn segments_are_dropped_after_their_retention(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    append_checks(&store.history, &[check(2, "a", START_MS, CheckStatus::Up)]).await;
    let mut compaction = compaction(&store);
    compaction.pass(JudgedTime::trusted(at(START_MS + 3 * DAY_MS))).await.unwrap();
    compaction.pass(JudgedTime::trusted(at(START_MS + 5 * DAY_MS))).await.unwrap();
    let end = SegmentScope::of(SegmentLevel::Period, RetentionClass::of_days(90), at(START_MS)).ends_at();
    compaction.pass(JudgedTime::trusted(end.plus_ms(-1))).await.unwrap();
    assert_eq!(in_blocks(&store).await.len(), 1);
    let segment = segments::visible(store.history.reader()).await.unwrap()[0];
    assert!(store.history.storage().bytes(segment.id).await.unwrap() > 0);
    compaction.pass(JudgedTime::trusted(end)).await.unwrap();
    assert_eq!(in_blocks(&store).await, []);
    assert!(store.history.storage().bytes(segment.id).await.unwrap() > 0, "somebody may still be reading it");
    compaction.pass(JudgedTime::trusted(end.plus_ms(61_000))).await.unwrap();
    assert_eq!(store.history.storage().bytes(segment.id).await.unwrap(), 0);
    assert_eq!(segments::retired(store.history.reader()).await.unwrap(), []);
}

#[rstest]
#[tokio::test]
async fn an_oversized_history_loses_its_oldest_part(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let up = CheckStatus::Up;
    let days: Vec<_> =
        [0, 7, 14, 21].into_iter().map(|day| check(2, "a", START_MS + day * DAY_MS, up)).collect();
    append_checks(&store.history, &days).await;
    let now = at(START_MS + 21 * DAY_MS + 2 * HOUR_MS);
    compaction(&store).pass(JudgedTime::trusted(now)).await.unwrap();
    assert_eq!(in_blocks(&store).await.len(), 4);
    let rows = store.history.row_bytes().await.unwrap();
    let mut sizes = Vec::new();
    for segment in segments::visible(store.history.reader()).await.unwrap() {
        sizes.push(store.history.storage().bytes(segment.id).await.unwrap());
    }
    for (bound, left) in [(rows + sizes.iter().sum::<u64>(), 4), (rows + sizes[0] + sizes[1], 2), (1, 1)] {
        let limits = CompactionLimits { max_history_bytes: Some(bound), ..CompactionLimits::default() };
        let retention = RetentionPolicy::Uniform(RetentionClass::of_days(90));
        let mut bounded = Compaction::new(store.history.clone(), retention, limits, Arc::default());
        bounded.pass(JudgedTime::trusted(now)).await.unwrap();
        assert_eq!(
            in_blocks(&store).await.len(),
            left,
            "with {bound} bytes; today's segment is never dropped"
        );
    }
}

#[rstest]
#[tokio::test]
async fn outdated_status_changes_are_forgotten_except_the_last(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let moves = [(1, 0, (Unknown, Up)), (1, 10, (Up, Down)), (2, 5, (Unknown, Down)), (1, 900, (Down, Up))];
    let moves: Vec<_> =
        moves.into_iter().map(|(service, at_ms, states)| change(service, START_MS + at_ms, states)).collect();
    append_changes(&store.history, &moves).await;
    compaction(&store).pass(JudgedTime::trusted(at(START_MS + 400 * DAY_MS + 500))).await.unwrap();
    let left = changes::since(store.history.reader(), 1, at(0)).await.unwrap();
    assert_eq!(left, [moves[1], moves[3]]);
    assert_eq!(changes::since(store.history.reader(), 2, at(0)).await.unwrap(), [moves[2]]);
}

/// Several processes may share one PostgreSQL.
#[tokio::test]
async fn only_one_process_compacts_at_a_time() {
    let Some(store) = Backend::Postgres.open().await else { return };
    append_checks(&store.history, &[check(2, "a", START_MS, CheckStatus::Up)]).await;
    let other = store.history.lock_compaction().await.unwrap();
    assert!(other.is_some() && store.history.lock_compaction().await.unwrap().is_none());
    let now = at(START_MS + DAY_MS);
    compaction(&store).pass(JudgedTime::trusted(now)).await.unwrap();
    assert_eq!(fresh_rows(&store).await, 1, "the other one is at it");
    other.unwrap().release().await.unwrap();
    compaction(&store).pass(JudgedTime::trusted(now)).await.unwrap();
    assert_eq!(fresh_rows(&store).await, 0);
}

/// Named after what it guards: a day that cannot be merged must not keep others from being sealed, merged and dropped.
#[rstest]
#[tokio::test]
async fn a_damaged_block_does_not_stop_other_merges(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let up = CheckStatus::Up;
    append_checks(&store.history, &[check(2, "a", START_MS, up), check(2, "a", START_MS + DAY_MS, up)]).await;
    compaction(&store).pass(JudgedTime::trusted(at(START_MS + DAY_MS + 2 * HOUR_MS))).await.unwrap();
    let day = *segments::visible(store.history.reader()).await.unwrap().last().unwrap();
    let opened = store.history.storage().connect(day.id).await.unwrap();
    let damage = format!("UPDATE {} SET body = $1", opened.blocks);
    let statement = sea_orm::Statement::from_sql_and_values(
        opened.connection.get_database_backend(),
        damage,
        [vec![1_u8, 2, 3, 4, 5].into()],
    );
    opened.connection.execute_raw(statement).await.unwrap();
    append_checks(&store.history, &[check(2, "a", START_MS + 4 * DAY_MS, up)]).await;
    let now = at(START_MS + 5 * DAY_MS);
    assert!(
        compaction(&store).pass(JudgedTime::trusted(now)).await.unwrap_err().to_string().contains("checksum")
    );
    assert_eq!(fresh_rows(&store).await, 0);
    assert_eq!(
        levels(&store).await,
        [SegmentLevel::Period, SegmentLevel::Day, SegmentLevel::Day],
        "the second day was merged"
    );
    compaction(&store).pass(JudgedTime::trusted(day.purpose.ends_at().plus_ms(8 * DAY_MS))).await.unwrap();
    assert_eq!(levels(&store).await, [], "and all of them end");
}

/// Regression: the lock of a server may be lost unnoticed, and another one begins to compact meanwhile.
#[tokio::test]
async fn an_old_fencing_token_publishes_nothing() {
    let Some(store) = Backend::Postgres.open().await else { return };
    append_checks(&store.history, &[check(2, "a", START_MS, CheckStatus::Up)]).await;
    let transaction = store.history.begin().await.unwrap();
    let first = progress::next_fence(&transaction).await.unwrap();
    progress::check_fence(&transaction, first).await.unwrap();
    let second = progress::next_fence(&transaction).await.unwrap();
    assert_eq!(second, first + 1);
    assert!(progress::check_fence(&transaction, first).await.is_err());
    transaction.commit().await.unwrap();
    let purpose = SegmentScope::of(SegmentLevel::Day, RetentionClass::of_days(90), at(START_MS));
    let transaction = store.history.begin().await.unwrap();
    let segment = segments::enter(&transaction, purpose).await.unwrap();
    assert!(segments::publish(&transaction, segment.id, 2).await.is_err(), "the first one is missing");
    segments::publish(&transaction, segment.id, 1).await.unwrap();
    assert!(segments::publish(&transaction, segment.id, 1).await.is_err(), "somebody else has published it");
}

/// Regression: a file that was lost was made again, empty, and its checks were missing from every answer.
#[tokio::test]
async fn a_lost_segment_is_an_error_and_not_empty() {
    let Some(store) = Backend::Sqlite.open().await else { return };
    append_checks(&store.history, &[check(2, "a", START_MS, CheckStatus::Up)]).await;
    compaction(&store).pass(JudgedTime::trusted(at(START_MS + 2 * HOUR_MS))).await.unwrap();
    let segment = segments::visible(store.history.reader()).await.unwrap()[0];
    store.history.storage().drop(segment.id).await.unwrap();
    append_checks(&store.history, &[check(2, "a", START_MS + 2 * HOUR_MS, CheckStatus::Up)]).await;
    assert!(compaction(&store).pass(JudgedTime::trusted(at(START_MS + 4 * HOUR_MS))).await.is_err());
    assert!(store.history.storage().connect(segment.id).await.is_err());
    append_checks(&store.history, &[check(2, "a", START_MS + 1, CheckStatus::Up)]).await;
    assert_eq!(fresh_rows(&store).await, 2, "what comes is still written, also late");
}
