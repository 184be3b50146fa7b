//! Merging while results come: nothing that is sealed meanwhile is left out, and nothing ends as something else than it is.

use rstest::rstest;
use sea_orm::ConnectionTrait as _;
use watchkeeper::clock::DAY_MS;
use watchkeeper::clock::guard::JudgedTime;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::CheckRecord;
use watchkeeper::model::time_range::TimeRange;
use watchkeeper::store::history::fresh_checks::{self, BucketFill};
use watchkeeper::store::history::sealed;
use watchkeeper::store::history::segments::{self, SegmentLevel};

use crate::compaction::{compaction, expected, fresh_rows, in_blocks, levels};
use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{append_checks, at, check};

const HOUR_MS: i64 = 3_600_000;
/// A midnight.
const START_MS: i64 = 20_000 * DAY_MS;

/// A history that gets another row of `late` as soon as the commit is made that retires a segment: what a server appends
/// between two merges of one pass.
async fn append_when_retired(store: &Store, backend: Backend, late: &CheckRecord) {
    let (service, at_ms) = (late.service, late.checked_at.ms());
    let bucket = fresh_checks::bucket_of(service);
    let insert = format!(
        "INSERT INTO fresh_check (bucket, checked_at, service_id, location_id, scheduled_at, status, attempt, role) \
        SELECT {bucket}, {at_ms}, {service}, 1, {at_ms}, 0, 1, 0 WHERE NOT EXISTS \
        (SELECT 1 FROM history_segment WHERE retired_at IS NOT NULL AND id <> NEW.id);"
    );
    let trigger = match backend {
        Backend::Sqlite => {
            format!("CREATE TRIGGER late AFTER UPDATE OF retired_at ON history_segment BEGIN {insert} END")
        }
        Backend::Postgres => format!(
            "CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN {insert} RETURN NEW; END'; \
            CREATE TRIGGER late AFTER UPDATE OF retired_at ON history_segment FOR EACH ROW EXECUTE FUNCTION late()"
        ),
    };
    store.history.reader().execute_unprepared(&trigger).await.unwrap();
}

/// Regression: a pass that merged several days read all of them as they were when it began. What was sealed
/// into a later one meanwhile was in no segment afterwards, and dropped with its day.
#[rstest]
#[tokio::test]
async fn results_that_are_sealed_between_two_merges_are_merged_too(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let up = CheckStatus::Up;
    let mut rows = vec![check(2, "a", START_MS, up), check(2, "a", START_MS + DAY_MS, up)];
    append_checks(&store.history, &rows).await;
    let late = check(5, "a", START_MS + DAY_MS + HOUR_MS, up);
    append_when_retired(&store, backend, &late).await;
    rows.push(late);
    compaction(&store).pass(JudgedTime::trusted(at(START_MS + 4 * DAY_MS))).await.unwrap();
    assert_eq!(levels(&store).await, [SegmentLevel::Period], "both days were merged");
    assert_eq!(fresh_rows(&store).await, 0);
    assert_eq!(in_blocks(&store).await, expected(&store, &rows).await);
}

/// A server appends results of a day, again and again, while that day and the one before it are sealed and merged.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_merge_loses_no_concurrently_appended_results(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let of_day = |day: i64, minute: i64| -> Vec<CheckRecord> {
        let at_ms = START_MS + day * DAY_MS + minute * 60_000;
        (1..=500).map(|service| check(service, "a", at_ms, CheckStatus::Up)).collect()
    };
    append_checks(&store.history, &of_day(0, 0)).await;
    append_checks(&store.history, &of_day(1, 0)).await;
    let mut compaction = compaction(&store);
    let now = at(START_MS + 4 * DAY_MS);
    let append = async {
        for minute in 1..40 {
            append_checks(&store.history, &of_day(1, minute)).await;
        }
    };
    let (passed, ()) = tokio::join!(compaction.pass(JudgedTime::trusted(now)), append);
    passed.unwrap();
    compaction.pass(JudgedTime::trusted(now.plus_ms(1_000))).await.unwrap();
    assert_eq!(in_blocks(&store).await.len() as u64 + fresh_rows(&store).await, 41 * 500);
}

/// A segment may only be retired with the content that was read: a later batch is unknown to the reader.
#[rstest]
#[tokio::test]
async fn a_concurrently_written_segment_is_not_retired(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    append_checks(&store.history, &[check(2, "a", START_MS, CheckStatus::Up)]).await;
    compaction(&store).pass(JudgedTime::trusted(at(START_MS + 2 * HOUR_MS))).await.unwrap();
    let known = segments::visible(store.history.reader()).await.unwrap()[0];
    append_checks(&store.history, &[check(5, "a", START_MS, CheckStatus::Up)]).await;
    compaction(&store).pass(JudgedTime::trusted(at(START_MS + 2 * HOUR_MS))).await.unwrap();
    let transaction = store.history.begin().await.unwrap();
    let refused = segments::retire(&transaction, &known, at(START_MS)).await.unwrap_err();
    assert!(refused.to_string().contains("written to meanwhile"), "{refused}");
    drop(transaction);
    let newest = segments::visible(store.history.reader()).await.unwrap()[0];
    let transaction = store.history.begin().await.unwrap();
    segments::retire(&transaction, &newest, at(START_MS)).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(levels(&store).await, []);
}

/// Counting what is new alone gives what counting everything gives.
#[rstest]
#[tokio::test]
async fn rows_are_counted_in_two_parts(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let rows: Vec<CheckRecord> = (0..300)
        .map(|number| check(number % 7 * 5, "a", START_MS + number * 1_000, CheckStatus::Up))
        .collect();
    append_checks(&store.history, &rows).await;
    let reader = store.history.reader();
    let mut all = fresh_checks::fillings(reader).await.unwrap();
    all.sort_unstable_by_key(|filling| filling.bucket);
    let counted = async |since: i64, until: i64| {
        let found = fresh_checks::recent_rows(reader, at(since), at(until)).await.unwrap();
        found.into_iter().map(|row| {
            let filling =
                BucketFill { bucket: row.bucket, rows: row.settled + row.unsettled, oldest: row.oldest };
            (filling, row.settled)
        })
    };
    let from_the_start: Vec<BucketFill> =
        counted(i64::MIN, START_MS + 100_000).await.map(|(filling, _)| filling).collect();
    assert_eq!(from_the_start, all);
    let settled: u64 = counted(START_MS + 50_000, START_MS + 100_000).await.map(|(_, settled)| settled).sum();
    let rest: u64 =
        counted(START_MS + 50_000, START_MS + 100_000).await.map(|(filling, _)| filling.rows).sum();
    assert_eq!((settled, rest), (50, 250));
}

/// A day of a service with failures: on most of its checks, on few of them, or on none.
#[rstest]
#[case::few(20, 2)]
#[case::most(1, 2)]
#[case::none(i64::MAX, 1)]
#[tokio::test]
async fn failures_are_merged_into_blocks_of_their_own(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
    #[case] every: i64,
    #[case] blocks: usize,
) {
    let Some(store) = backend.open().await else { return };
    let status = |number: i64| match number % every {
        0 if number > 0 => [CheckStatus::Down, CheckStatus::Degraded][usize::from(number % 3 == 0)],
        _ => CheckStatus::Up,
    };
    let rows: Vec<CheckRecord> =
        (0..240).map(|number| check(2, "a", START_MS + number * 60_000, status(number))).collect();
    append_checks(&store.history, &rows).await;
    compaction(&store).pass(JudgedTime::trusted(at(START_MS + 4 * DAY_MS))).await.unwrap();
    assert_eq!(levels(&store).await, [SegmentLevel::Period]);
    assert_eq!(in_blocks(&store).await, expected(&store, &rows).await);
    let segment = segments::visible(store.history.reader()).await.unwrap()[0];
    let opened = store.history.storage().connect(segment.id).await.unwrap();
    let day = TimeRange { from: at(START_MS), to: at(START_MS + DAY_MS) };
    let found = sealed::summaries_of(&opened, &segment, &[2], day).await.unwrap();
    assert_eq!(found.len(), blocks);
    assert!(found.iter().all(|block| block.up == 0 || block.down + block.degraded == 0), "{found:?}");
}
