//! The history database is unavailable at the start, for long, or at the end: checks continue, and every result is written in the
//! end.

use serde_json::json;

use crate::crowd::{Crowd, ROOM, now, number};
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::{eventually, until_checks, until_status};

/// A start does not need the history: services are checked, and results are stored when the database is available.
#[tokio::test]
async fn a_server_starts_without_its_history() {
    let Some(postgres) = Postgres::start() else { return };
    postgres.stop();
    let server = Server::with(ROOM, &[("WATCHKEEPER_HISTORY_URL", &postgres.url())]);
    let client = server.client();
    let ready = client.get("/readyz").expect(503).json();
    assert_eq!(ready["databases"], json!({"main": "ok", "history": "away"}));
    let crowd = Crowd::gather(&client, 10);
    let id = &crowd.ids[0];
    until_status(&client, id, "up").await;
    for path in ["checks", "metrics", "response-times", "uptime"] {
        let answer = client.get(&format!("/v1/services/{id}/{path}")).expect(503);
        assert_eq!(answer.header("retry-after"), Some("30"), "{path}");
    }
    let waiting =
        eventually("results wait", || Some(number(&client, "results_waiting")).filter(|n| *n >= 30)).await;
    let asked_at = now();

    postgres.start_again();
    let back_at = tokio::time::Instant::now();
    eventually("it is ready", || (client.get("/readyz").status == 200).then_some(())).await;
    eventually("everything is written", || (number(&client, "results_acked_total") >= waiting).then_some(()))
        .await;
    println!("all is written {:?} after the database is back", back_at.elapsed());
    let seen = crowd.seen_before(&client, asked_at);
    assert!(seen.checks as u64 >= waiting && seen.checks == seen.distinct, "{} of {waiting}", seen.checks);
    crowd.assert_nobody_down(&client);
}

/// A refusal is no absence: it is said at once.
#[test]
fn a_history_that_refuses_the_login_is_an_error_at_the_start() {
    let Some(postgres) = Postgres::start() else { return };
    let url = format!("{}_unknown", postgres.url());
    let (code, said) = crate::support::server::failing_start("", &[("WATCHKEEPER_HISTORY_URL", &url)]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("postgres_unknown"), "{said}");
}

/// SIGTERM while the history is unavailable: results in memory are spooled, and the next start writes them.
#[tokio::test]
async fn a_stop_while_the_history_is_unavailable_loses_nothing() {
    let Some(postgres) = Postgres::start() else { return };
    let mut server = Server::with(ROOM, &[("WATCHKEEPER_HISTORY_URL", &postgres.url())]);
    let crowd = Crowd::gather(&server.client(), 20);
    let client = server.client();
    until_checks(&client, &crowd.ids[0], 1).await;
    let before = number(&client, "results_acked_total");
    postgres.stop();
    let waiting =
        eventually("results wait", || Some(number(&client, "results_waiting")).filter(|n| *n >= 100)).await;
    let asked_at = now();
    let stopping = tokio::time::Instant::now();
    assert_eq!(server.terminate().await, Some(0), "{}", server.log());
    println!("stopped in {:?}", stopping.elapsed());
    assert!(stopping.elapsed().as_secs() < 10);
    assert!(server.data().join("spool").read_dir().unwrap().count() > 0);

    postgres.start_again();
    server.restart();
    let client = server.client();
    eventually("the spool is written", || (number(&client, "spool_bytes") == 0).then_some(())).await;
    let seen = crowd.seen_before(&client, asked_at);
    assert!(seen.checks as u64 >= before + waiting, "{} of {before} + {waiting}", seen.checks);
    assert_eq!(seen.checks, seen.distinct);
    assert!(server.data().join("spool").read_dir().unwrap().next().is_none());
}

/// Responses still contain all results while memory overflows into the spool; when the spool is full too, losses are counted.
#[tokio::test]
async fn a_full_spool_sheds_and_counts() {
    let Some(postgres) = Postgres::start() else { return };
    let url = postgres.url();
    let variables = [
        ("WATCHKEEPER_HISTORY_URL", &*url),
        ("WATCHKEEPER_RECORD__WAITING_RESULTS", "50"),
        ("WATCHKEEPER_RECORD__SPOOL_MAX_BYTES", "8000"),
    ];
    let server = Server::with(ROOM, &variables);
    let client = server.client();
    let crowd = Crowd::gather(&client, 50);
    until_checks(&client, &crowd.ids[0], 1).await;
    postgres.stop();
    eventually("results are shed", || (number(&client, "results_shed_total") > 0).then_some(())).await;
    let spooled = number(&client, "results_spooled_total");
    assert!(spooled > 0 && number(&client, "spool_bytes") < 100_000);
    postgres.start_again();
    eventually("the spool is written", || (number(&client, "spool_bytes") == 0).then_some(())).await;
    assert!(number(&client, "results_acked_total") >= spooled);
    crowd.assert_nobody_down(&client);
}

/// Reliability 10: what cannot be stored for a while is measured all the same, and nobody is down for it (2,000 checks; long:
/// 100,000).
#[tokio::test]
async fn an_unavailable_history_reports_no_target_down() {
    let Some(postgres) = Postgres::start() else { return };
    let (services, checks) = if crate::endures() { (2_000, 100_000) } else { (200, 2_000) };
    let server = Server::with(ROOM, &[("WATCHKEEPER_HISTORY_URL", &postgres.url())]);
    let client = server.client();
    let crowd = Crowd::gather(&client, services);
    until_checks(&client, &crowd.ids[0], 1).await;
    postgres.stop();
    let measured = || number(&client, "attempts_measured_total");
    let until = measured() + checks;
    while measured() < until {
        tokio::time::sleep(std::time::Duration::from_millis(250)).await;
    }
    let asked_at = now();
    postgres.start_again();
    eventually("everything is written", || {
        let waits = number(&client, "results_waiting") + number(&client, "spool_bytes");
        (waits < 10 * services as u64).then_some(())
    })
    .await;
    let seen = crowd.seen_before(&client, asked_at);
    assert!(seen.checks as u64 >= checks && seen.not_up.is_empty(), "{:?}", seen.not_up);
    crowd.assert_nobody_down(&client);
}
