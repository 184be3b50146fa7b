//! A killed promotion continues where it was: the same end, and nothing doubled.

use std::process::Child;

use sea_orm::ConnectionTrait as _;

use crate::database::{Database, text};

use crate::filled::{Filled, filled};
use crate::support::eventually;
use crate::support::moments::in_ms;
use crate::support::postgres::Postgres;

/// Rows that an interrupted promotion has recorded as moved; `None` before its start, and after its end.
fn progress(target: Database<'_>) -> Option<i64> {
    let there = "SELECT count(*) FROM pg_class WHERE relname IN ('main_promotion_progress', 'history_promotion_progress')";
    let sum = "SELECT (SELECT coalesce(sum(rows), 0) FROM main_promotion_progress) + \
        (SELECT coalesce(sum(rows), 0) FROM history_promotion_progress)";
    (target.ask(there) == "2").then(|| target.ask(sum).parse().unwrap())
}

/// Adds this number of fresh results of a service to the stopped installation.
async fn add_results(installed: &Filled, results: i64) {
    let file = installed.server.data().join("history.db");
    let database = sea_orm::Database::connect(format!("sqlite://{}", file.display())).await.unwrap();
    let statement = format!(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {results}) \
        INSERT INTO fresh_check (bucket, checked_at, service_id, location_id, scheduled_at, status, attempt, role, total_us) \
        SELECT 77, {0} + i, 77, 1, {0} + i, 1, 1, 0, i % 1000 FROM n",
        in_ms(-3_600_000).ms()
    );
    database.execute_unprepared(&statement).await.unwrap();
    database.close().await.unwrap();
}

fn kill(mut child: Child) -> bool {
    let was_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    was_running
}

/// Rows that are there may be more than those of the last progress that was seen, never fewer, and never twice.
fn rows(target: Database<'_>, table: &str) -> i64 {
    target.ask(&format!("SELECT count(*) FROM {table}")).parse().unwrap()
}

/// Killed after this number of rows, again and again, also in the middle of a page and while it verifies.
#[tokio::test]
async fn a_killed_promotion_continues() {
    let Some(postgres) = Postgres::start() else { return };
    let whole = Database::empty(&postgres, "whole");
    let target = Database::empty(&postgres, "cut_off");
    let mut installed = filled(2_000).await;
    add_results(&installed, 400_000).await;
    let uncut = whole.promote(&installed.server, &["--json"]);
    assert!(uncut.status.success(), "{}", text(&uncut));
    let uncut: serde_json::Value = serde_json::from_slice(&uncut.stdout).unwrap();
    let all = uncut["rows"].as_i64().unwrap();

    let (mut kills, mut kept) = (0, vec![]);
    let url = target.url();
    for part in [0, 1, 20, 40, 60, 80, 99, 100] {
        let child = installed.server.spawn(&["promote", "--to", &url]);
        let threshold = all * part / 100;
        eventually("it has come so far", || progress(target).filter(|rows| *rows >= threshold)).await;
        kills += u32::from(kill(child));
        kept.push(progress(target).unwrap());
        assert!(kept.is_sorted(), "what was kept is never lost: {kept:?}");
    }
    assert!(kept.iter().any(|rows| (1..all).contains(rows)), "none was cut off on its way: {kept:?}");
    assert!(kills >= 6, "only {kills} runs were cut off: {kept:?}");

    installed.server.set("WATCHKEEPER_DATABASE_URL", &url);
    installed.server.set("WATCHKEEPER_HISTORY_URL", &url);
    let served = installed.server.command(&["org", "list"]);
    assert!(text(&served).contains("is not complete"), "no server starts on a part: {}", text(&served));
    installed.server.unset("WATCHKEEPER_DATABASE_URL");
    installed.server.unset("WATCHKEEPER_HISTORY_URL");

    let ended = target.promote(&installed.server, &["--json"]);
    assert!(ended.status.success(), "{}", text(&ended));
    let ended: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(ended["tables"], uncut["tables"], "the same rows with the same checksums");
    for table in ["status_change", "fresh_check", "check_block", "check_rollup", "service", "component"] {
        assert_eq!(rows(target, table), rows(whole, table), "{table}");
    }
    let left = target.ask("SELECT count(*) FROM pg_class WHERE relname LIKE '%\\_promotion%'");
    assert_eq!(left, "0", "no marker stays");
    installed.server.set("WATCHKEEPER_DATABASE_URL", &url);
    installed.server.set("WATCHKEEPER_HISTORY_URL", &url);
    assert!(installed.server.command(&["org", "list"]).status.success(), "from now on it serves");
}
