//! The promotion of an embedded installation, from inside: its lists against the schemas, and what verification finds.
//!
//! What users see of it (killed, refused, rehearsed, served afterwards) is tested in `tests/promote`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rstest::rstest;
use sea_orm::{ConnectionTrait, Statement, TransactionTrait as _};
use watchkeeper::clock::DAY_MS;
use watchkeeper::clock::guard::JudgedTime;
use watchkeeper::config::limits::StoreLimits;
use watchkeeper::model::check::CheckStatus;
use watchkeeper::model::history::MeasuredStatus::{Down, Unknown, Up};
use watchkeeper::model::secret::SecretSealer;
use watchkeeper::store::StoreConnection;
use watchkeeper::store::installation;
use watchkeeper::store::promotion::tables::{self, ColumnKind, TableLayout};
use watchkeeper::store::promotion::{
    EmbeddedInstallation, Promotion, PromotionError, PromotionTarget, PromotionUnit, TargetState,
};

use crate::compaction::compaction;
use crate::support::Backend;
use crate::support::backend::{Place, Store};
use crate::support::rows::{
    append_changes, append_checks, at, change, check, service, stored_organisation, stored_service,
};

const HOUR_MS: i64 = 3_600_000;
const START_MS: i64 = 20_000 * DAY_MS;

/// One column of an answer, as text.
async fn texts(connection: &dyn StoreConnection, question: &str) -> Vec<String> {
    let question = Statement::from_string(connection.get_database_backend(), question);
    let rows = connection.query_all_raw(question).await.unwrap();
    rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}

fn columns(table: &TableLayout) -> BTreeSet<&str> {
    table.columns.iter().map(|column| column.name).collect()
}

/// PostgreSQL's name of a type.
fn type_name(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::SmallInteger => "int2",
        ColumnKind::Integer => "int4",
        ColumnKind::BigInteger => "int8",
        ColumnKind::Boolean => "bool",
        ColumnKind::Text => "text",
        ColumnKind::Bytes => "bytea",
    }
}

/// A table or a column that a later step adds is in the lists, or a promotion would leave it behind.
#[tokio::test]
async fn every_table_and_column_of_both_databases_is_moved() {
    let store = Backend::Sqlite.open().await.unwrap();
    store.history.storage().make(1).await.unwrap();
    let segment = store.history.storage().connect(1).await.unwrap().connection;
    for (connection, lists, steps) in [
        (store.main.reader(), tables::main(), "main_migration"),
        (store.history.reader(), tables::history(), "history_migration"),
        (&segment, tables::segment(), "segment_migration"),
    ] {
        let found = texts(
            connection,
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        );
        let mut found: BTreeSet<String> = found.await.into_iter().collect();
        assert!(found.remove(steps));
        assert_eq!(
            found.iter().map(String::as_str).collect::<BTreeSet<_>>(),
            lists.iter().map(|table| table.name).collect()
        );
        for table in &lists {
            let found =
                texts(connection, &format!("SELECT name FROM pragma_table_info('{}')", table.name)).await;
            assert_eq!(
                found.iter().map(String::as_str).collect::<BTreeSet<_>>(),
                columns(table),
                "{}",
                table.name
            );
        }
    }
}

/// Types decide how values are written, drawn keys which sequences go on, foreign keys the order.
#[tokio::test]
async fn types_keys_and_order_are_those_of_postgres() {
    let Some(store) = Backend::Postgres.open().await else { return };
    let database = store.main.reader();
    let all: Vec<TableLayout> = [tables::main(), tables::history(), tables::segment()].concat();
    let mut there = texts(database, "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace").await;
    there.retain(|name| !name.ends_with("_migration"));
    let names: BTreeSet<&str> = all.iter().map(|table| table.name).collect();
    assert_eq!(there.iter().map(String::as_str).collect::<BTreeSet<_>>(), names);
    for table in &all {
        let question = format!(
            "SELECT column_name || ' ' || replace(udt_name, 'varchar', 'text') FROM information_schema.columns \
            WHERE table_schema = 'public' AND table_name = '{}'",
            table.name
        );
        let found: BTreeSet<String> = texts(database, &question).await.into_iter().collect();
        let listed = table.columns.iter().map(|column| format!("{} {}", column.name, type_name(column.kind)));
        assert_eq!(found, listed.collect(), "{}", table.name);
        let drawn = format!(
            "SELECT column_name::text FROM information_schema.columns WHERE table_schema = 'public' \
            AND table_name = '{}' AND pg_get_serial_sequence(table_name, column_name) IS NOT NULL",
            table.name
        );
        let drawn = texts(database, &drawn).await;
        assert_eq!(!drawn.is_empty(), table.has_drawn_key, "{}: {drawn:?}", table.name);
    }
    let places: BTreeMap<&str, usize> =
        all.iter().enumerate().map(|(place, table)| (table.name, place)).collect();
    let references =
        "SELECT conrelid::regclass || '>' || confrelid::regclass FROM pg_constraint WHERE contype = 'f'";
    let references = texts(database, references).await;
    assert!(references.len() > 20, "{references:?}");
    for reference in &references {
        let (from, to) = reference.split_once('>').unwrap();
        assert!(places[to] < places[from] || from == "component", "{reference}");
    }
}

/// An embedded installation with rows, blocks of two days, and status changes.
async fn filled() -> (Store, Place) {
    let store = Backend::Sqlite.open().await.unwrap();
    let transaction = store.main.begin().await.unwrap();
    installation::check_key(&transaction, &SecretSealer::new(&[7; 32])).await.unwrap();
    transaction.commit().await.unwrap();
    let organisation = stored_organisation(&store, "Shop").await;
    for name in ["a", "b", "c"] {
        stored_service(&store, service(organisation.key, name)).await;
    }
    let checks: Vec<_> = (0..2_000)
        .map(|n| {
            check(1 + n % 3, ["x", "y"][usize::from(n % 2 == 0)], START_MS + n * 60_000, CheckStatus::Up)
        })
        .collect();
    append_checks(&store.history, &checks).await;
    let changes = [(0, (Unknown, Up)), (HOUR_MS, (Up, Down)), (2 * HOUR_MS, (Down, Up))];
    let changes: Vec<_> = changes.map(|(ms, pair)| change(2, START_MS + ms, pair)).to_vec();
    append_changes(&store.history, &changes).await;
    compaction(&store).pass(JudgedTime::trusted(at(START_MS + 27 * HOUR_MS))).await.unwrap();
    let target = Backend::Postgres.place().await;
    (store, target.unwrap())
}

fn path(url: &str) -> PathBuf {
    url.trim_start_matches("sqlite://").split('?').next().unwrap().into()
}

async fn planned(store: &Store, place: &Place) -> (Promotion, PromotionTarget) {
    let (main, history) = (path(&store.place.main_url), path(&store.place.history_url));
    let source = EmbeddedInstallation::open(&main, &history, &StoreLimits::default()).await.unwrap();
    let target = PromotionTarget::connect(&place.main_url, &place.history_url).await.unwrap();
    (Promotion::plan(source).await.unwrap(), target)
}

async fn run(url: &str, statement: &str) {
    let database = sea_orm::Database::connect(url).await.unwrap();
    let done = database.execute_unprepared(statement).await.unwrap();
    assert!(done.rows_affected() > 0, "{statement}");
    database.close().await.unwrap();
}

/// One value, one byte, one row too few or too many: each is found, with its table and its keys.
#[rstest]
#[case::a_value("UPDATE status_change SET at = at + 1 WHERE id = 2", "status_change", "the whole table")]
#[case::a_byte_of_a_block(
    "UPDATE check_block_1 SET body = set_byte(body, 20, get_byte(body, 20) # 1) WHERE service_id = 3",
    "check_block_1",
    "the whole table"
)]
#[case::a_row_too_few("DELETE FROM service WHERE id = 2", "service", "the whole table")]
#[case::a_row_too_many(
    "INSERT INTO history_erasure (service_id) VALUES (77)",
    "history_erasure",
    "the whole table"
)]
#[case::a_null("UPDATE service SET target = NULL WHERE id = 1", "service", "the whole table")]
#[tokio::test]
async fn a_row_that_differs_is_found(#[case] tampering: &str, #[case] table: &str, #[case] rows: &str) {
    if Backend::Postgres.place().await.is_none() {
        return;
    }
    let (store, place) = filled().await;
    let (mut promotion, mut target) = planned(&store, &place).await;
    promotion.copy(&mut target, &mut |_, _| {}).await.unwrap();
    promotion.verify(&mut target, &mut |_, _| {}).await.unwrap();
    run(&place.main_url, tampering).await;
    let found = promotion.verify(&mut target, &mut |_, _| {}).await.unwrap_err();
    let PromotionError::Differs { table: found_in, rows: found_rows, .. } = &found else { panic!("{found}") };
    assert_eq!((found_in.as_str(), found_rows.as_str()), (table, rows));
}

/// The checksum of a page that is not the first and not the last names where it begins and ends.
#[tokio::test]
async fn a_difference_is_named_with_its_keys() {
    if Backend::Postgres.place().await.is_none() {
        return;
    }
    let (store, place) = filled().await;
    let changes: Vec<_> = (0..25_000).map(|n| change(9, START_MS + n, (Up, Down))).collect();
    append_changes(&store.history, &changes).await;
    let (mut promotion, mut target) = planned(&store, &place).await;
    promotion.copy(&mut target, &mut |_, _| {}).await.unwrap();
    run(&place.main_url, "UPDATE status_change SET cause = cause + 1 WHERE id = 12000").await;
    let found = promotion.verify(&mut target, &mut |_, _| {}).await.unwrap_err().to_string();
    assert!(found.starts_with("status_change, keys after [10000] up to [20000]: 10000 rows"), "{found}");
}

/// Somebody who wrote meanwhile is noticed: what was read is not all there is any more.
#[tokio::test]
async fn a_concurrent_write_is_detected() {
    if Backend::Postgres.place().await.is_none() {
        return;
    }
    let (store, place) = filled().await;
    let (mut promotion, mut target) = planned(&store, &place).await;
    promotion.copy(&mut target, &mut |_, _| {}).await.unwrap();
    stored_organisation(&store, "late").await;
    promotion.verify(&mut target, &mut |_, _| {}).await.unwrap();
    let refused = promotion.finish(&mut target).await.unwrap_err().to_string();
    assert!(refused.contains("the embedded installation was changed during the promotion"), "{refused}");
}

/// A promotion that read the state before another one ended does not restart on a database in use.
#[tokio::test]
async fn a_promotion_with_outdated_state_deletes_nothing() {
    if Backend::Postgres.place().await.is_none() {
        return;
    }
    let (store, place) = filled().await;
    let (mut late, mut late_target) = planned(&store, &place).await;
    assert_eq!(late.state_of(&mut late_target).await.unwrap(), TargetState::Empty);
    let (mut promotion, mut target) = planned(&store, &place).await;
    promotion.copy(&mut target, &mut |_, _| {}).await.unwrap();
    promotion.finish(&mut target).await.unwrap();
    target.close().await;
    run(&place.main_url, "UPDATE service SET name = 'since' WHERE id = 1").await;
    let refused = late.copy(&mut late_target, &mut |_, _| {}).await.map_err(|error| error.to_string());
    let database = sea_orm::Database::connect(&place.main_url).await.unwrap();
    assert_eq!(texts(&database, "SELECT name FROM service WHERE id = 1").await, ["since"]);
    assert!(refused.unwrap_err().ends_with("has completed in the meantime"));
    database.close().await.unwrap();
}

/// The lock of a promotion that was killed is waited for: PostgreSQL needs a moment to notice.
#[tokio::test]
async fn a_promotion_waits_for_the_lock_of_a_killed_one() {
    if Backend::Postgres.place().await.is_none() {
        return;
    }
    let (store, place) = filled().await;
    let (mut killed, mut killed_target) = planned(&store, &place).await;
    killed.copy(&mut killed_target, &mut |_, _| {}).await.unwrap();
    let (mut next, mut next_target) = planned(&store, &place).await;
    let closed = async {
        until(&place.main_url, "query LIKE 'SELECT pg_try_advisory_lock%'").await;
        killed_target.close().await;
    };
    let watcher = &mut |_: &PromotionUnit, _| {};
    let (copied, ()) = tokio::join!(next.copy(&mut next_target, watcher), closed);
    copied.unwrap();
    next.verify(&mut next_target, &mut |_, _| {}).await.unwrap();
}

/// A marker beside the note of a finished promotion does not cause a clearing.
#[tokio::test]
async fn a_finished_database_is_never_cleared() {
    if Backend::Postgres.place().await.is_none() {
        return;
    }
    let (store, place) = filled().await;
    let (mut promotion, mut target) = planned(&store, &place).await;
    promotion.copy(&mut target, &mut |_, _| {}).await.unwrap();
    run(&place.main_url, "INSERT INTO installation (name, value) VALUES ('promoted', 'a b')").await;
    run(&place.main_url, "DELETE FROM main_promotion_progress").await;
    let refused = promotion.copy(&mut target, &mut |_, _| {}).await.unwrap_err().to_string();
    assert!(refused.ends_with("holds an installation whose promotion has ended"), "{refused}");
}

/// A write between the last check and the end is detected as well.
#[tokio::test]
async fn a_write_at_the_end_is_detected() {
    if Backend::Postgres.place().await.is_none() {
        return;
    }
    let (store, place) = filled().await;
    let (mut promotion, mut target) = planned(&store, &place).await;
    promotion.copy(&mut target, &mut |_, _| {}).await.unwrap();
    let holder = sea_orm::Database::connect(&place.main_url).await.unwrap();
    let held = holder.begin().await.unwrap();
    held.execute_unprepared("LOCK TABLE installation IN SHARE MODE").await.unwrap();
    let written = async {
        until(&place.main_url, "wait_event_type = 'Lock' AND query LIKE 'INSERT INTO installation%'").await;
        stored_organisation(&store, "late").await;
        held.rollback().await.unwrap();
    };
    let (finished, ()) = tokio::join!(promotion.finish(&mut target), written);
    let refused = finished.unwrap_err().to_string();
    assert!(refused.contains("the embedded installation was changed during the promotion"), "{refused}");
    holder.close().await.unwrap();
}

/// Waits until another connection to this database is in such a state.
async fn until(url: &str, condition: &str) {
    let database = sea_orm::Database::connect(url).await.unwrap();
    let question = format!(
        "SELECT pid::text FROM pg_stat_activity \
        WHERE pid <> pg_backend_pid() AND datname = current_database() AND {condition}"
    );
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(8);
    while texts(&database, &question).await.is_empty() {
        assert!(tokio::time::Instant::now() < deadline, "{condition}");
        tokio::task::yield_now().await;
    }
    database.close().await.unwrap();
}

/// Rows that SQLite accepts and PostgreSQL does not: reported before anything is moved, with table and column.
#[rstest]
#[case::character_zero(
    "UPDATE service SET name = 'a' || char(0) || 'b' WHERE id = 2",
    "service, the whole table: the column name of a row contains the character 0, which PostgreSQL does not take"
)]
#[case::another_type(
    "UPDATE service SET revision = 'x' WHERE id = 2",
    "service, the whole table: the column revision of a row is TEXT"
)]
#[case::too_large(
    "UPDATE service SET retries = 70000 WHERE id = 2",
    "service, the whole table: the column retries of a row is 70000, which is out of range"
)]
#[case::dangling(
    "PRAGMA foreign_keys = OFF; UPDATE service SET organisation_id = 99 WHERE id = 2",
    "service: the row 2 refers to a row of organisation that does not exist"
)]
#[tokio::test]
async fn rows_that_postgresql_would_refuse_are_found_before_copying(
    #[case] statement: &str,
    #[case] expected: &str,
) {
    let Some(_) = Backend::Postgres.place().await else { return };
    let (store, place) = filled().await;
    let database = sea_orm::Database::connect(&store.place.main_url).await.unwrap();
    database.execute_unprepared(statement).await.unwrap();
    database.close().await.unwrap();
    let (mut promotion, mut target) = planned(&store, &place).await;
    assert_eq!(promotion.check(&mut |_, _| {}).await.unwrap(), [expected]);
    promotion.copy(&mut target, &mut |_, _| {}).await.unwrap_err();
}
