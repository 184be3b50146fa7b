//! A PostgreSQL that is there and does not go on (contract 5.1): a request that waits too long for a lock, takes too long, or
//! is never answered ends in 503 with `Retry-After`. Nothing of these has happened, for none had come to its commit, and the
//! server continues.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::client::Client;
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::{create_unconfigured, create_watched, eventually, service, until_checks};

const LOCK: &str = "WATCHKEEPER_DATABASE__LOCK_TIMEOUT_SECONDS";
const STATEMENT: &str = "WATCHKEEPER_DATABASE__STATEMENT_TIMEOUT_SECONDS";

fn manual() -> Value {
    json!({"name": "Shop", "check_type": "manual"})
}

#[track_caller]
fn assert_unavailable(client: &Client, method: &str, path: &str, body: &Value) {
    let sent = if body.is_null() { String::new() } else { body.to_string() };
    let asked_at = Instant::now();
    let answer = client.send(method, path, &[], sent.as_bytes()).expect(503);
    assert_eq!(
        (answer.message(), answer.header("retry-after")),
        ("The service is not available at the moment.".to_owned(), Some("5")),
        "{method} {path}"
    );
    assert!(asked_at.elapsed() < Duration::from_secs(30), "{:?}", asked_at.elapsed());
}

/// A write waits for a lock of another process, more often than there are connections; reads continue meanwhile, and
/// the failed writes have taken no place of the plan.
#[test]
fn a_write_that_waits_too_long_for_a_lock_is_503() {
    let Some(server) = Server::on_postgres(&[(LOCK, "1")]) else { return };
    let client = server.tenant("team");
    let usage = || client.get("/v1/me").expect(200).json()["limits"]["services"]["usage"].clone();
    let mut lock = server.databases.as_ref().unwrap().hold("main", "SELECT * FROM organisation FOR UPDATE");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                (0..3).for_each(|_| assert_unavailable(&client, "POST", "/v1/services", &manual()));
            });
        }
        assert_eq!(usage(), 0, "reading goes on");
    });
    lock.release();
    client.post("/v1/services", &manual()).expect(201);
    assert_eq!(usage(), 1);
}

/// A statement takes too long, on either database; here it waits for a table, and would wait for a minute.
#[tokio::test]
async fn a_statement_that_takes_too_long_is_503() {
    let Some(server) = Server::on_postgres(&[(LOCK, "60"), (STATEMENT, "1")]) else { return };
    let client = server.client();
    let settings = json!({"interval_seconds": 604_800, "retries": 0});
    let id = create_watched(&client, "http://127.0.0.1:9/", &settings);
    until_checks(&client, &id, 1).await;
    let databases = server.databases.as_ref().unwrap();
    let mut table = databases.hold("main", "LOCK TABLE service IN ACCESS EXCLUSIVE MODE");
    assert_unavailable(&client, "GET", "/v1/services", &Value::Null);
    assert_unavailable(&client, "DELETE", &service(&id), &Value::Null);
    table.release();
    client.get(&service(&id)).expect(200);
    let mut table = databases.hold("history", "LOCK TABLE fresh_check IN ACCESS EXCLUSIVE MODE");
    let answer = client.get(&format!("{}/checks", service(&id))).expect(503);
    assert_eq!(answer.header("retry-after"), Some("30"));
    table.release();
    client.get(&format!("{}/checks", service(&id))).expect(200);
}

/// PostgreSQL is stopped in the middle of a statement and says nothing any more: it counts as away, also for the statement
/// under way.
#[tokio::test]
async fn a_silent_database_counts_as_unavailable() {
    let Some(postgres) = Postgres::start() else { return };
    let url = postgres.url();
    let variables =
        [("WATCHKEEPER_DATABASE_URL", &*url), ("WATCHKEEPER_HISTORY_URL", &url), (STATEMENT, "2")];
    let server = Server::with("", &variables);
    let client = server.client();
    let id = create_unconfigured(&client);
    let mut lock = postgres.hold("SELECT * FROM organisation FOR UPDATE");
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    std::thread::scope(|scope| {
        let under_way = scope.spawn(|| assert_unavailable(&client, "POST", "/v1/services", &manual()));
        while postgres.ask(waits) == "0" {
            assert!(!under_way.is_finished(), "it did not wait");
        }
        postgres.freeze();
        assert_unavailable(&client, "GET", &service(&id), &Value::Null);
        client.get("/healthz").expect(200);
        let ready = client.get("/readyz").expect(503).json();
        assert_eq!(ready["databases"], json!({"main": "away", "history": "away"}));
        under_way.join().unwrap();
    });
    postgres.thaw();
    lock.release();
    eventually("the database is back", || (client.get("/readyz").status == 200).then_some(())).await;
    client.post("/v1/services", &manual()).expect(201);
    assert_eq!(
        client.get("/v1/services").expect(200).json()["meta"]["total"],
        2,
        "nothing else has happened"
    );
}
