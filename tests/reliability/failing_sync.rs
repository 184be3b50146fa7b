//! Reliability 6: what could not be synced to the disk is never acknowledged: no result, no write, nothing in the spool.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::crowd::{Crowd, ROOM, now, number};
use crate::support::eventually;
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::tracer::{self, Tracer};

/// System calls by which databases and spool reach the disk.
const SYNCS: &str = "fdatasync,fsync";
/// Longer than it takes to try again several times.
const FAILING: Duration = Duration::from_secs(3);

#[tokio::test]
async fn unsynced_writes_are_not_acknowledged() {
    if !tracer::is_possible() {
        return;
    }
    let mut server = Server::with(ROOM, &[]);
    let client = server.client();
    let crowd = Crowd::gather(&client, 50);
    let path = format!("/v1/services/{}", crowd.ids[0]);
    eventually("results are acknowledged", || (number(&client, "results_acked_total") > 100).then_some(()))
        .await;
    let tracer = Tracer::attach(&server, SYNCS, "error=EIO:when=1+");
    eventually("a commit fails", || (number(&client, "history_failures_total") > 0).then_some(())).await;
    let acknowledged = number(&client, "results_acked_total");
    let failing_until = Instant::now() + FAILING;
    let mut attempt = 0;
    while Instant::now() < failing_until {
        attempt += 1;
        let name = format!("refused {attempt}");
        client.patch(&path, &json!({"name": name})).expect(503);
        assert_ne!(client.get(&path).expect(200).data()["name"], *name);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(number(&client, "results_acked_total"), acknowledged);
    let filled_at = now();
    tracer.detach();
    let well_at = Instant::now();
    eventually("results are acknowledged again", || {
        (number(&client, "results_acked_total") > acknowledged).then_some(())
    })
    .await;
    eventually("a write is done", || {
        (client.patch(&path, &json!({"name": "kept"})).status == 200).then_some(())
    })
    .await;
    println!("{attempt} writes refused; well again after {:?}", well_at.elapsed());
    assert!(well_at.elapsed() < Duration::from_secs(5), "{:?}", well_at.elapsed());
    // Waiting results were written, and all acknowledged ones survive the process.
    let acknowledged = number(&client, "results_acked_total");
    server.kill_and_restart();
    let client = server.client();
    let seen = crowd.seen_before(&client, now());
    assert!(seen.checks as u64 >= acknowledged, "{} of {acknowledged}", seen.checks);
    assert_eq!(seen.checks, seen.distinct);
    assert!(crowd.seen_before(&client, filled_at).checks > 0);
    assert_eq!(client.get(&path).expect(200).data()["name"], "kept");
    crowd.assert_nobody_down(&client);
}

/// The spool stores what exceeds memory while the history is unavailable; it syncs too.
#[tokio::test]
async fn unsynced_facts_are_not_in_the_spool() {
    let Some(postgres) = Postgres::start().filter(|_| tracer::is_possible()) else { return };
    let url = postgres.url();
    let variables = [("WATCHKEEPER_HISTORY_URL", &*url), ("WATCHKEEPER_RECORD__WAITING_RESULTS", "50")];
    let server = Server::with(ROOM, &variables);
    let client = server.client();
    let crowd = Crowd::gather(&client, 50);
    eventually("results are acknowledged", || (number(&client, "results_acked_total") > 100).then_some(()))
        .await;
    let tracer = Tracer::attach(&server, SYNCS, "error=EIO:when=1+");
    postgres.stop();
    eventually("results are shed", || (number(&client, "results_shed_total") > 50).then_some(())).await;
    assert_eq!(number(&client, "results_spooled_total"), 0, "nothing of it is durable");
    tracer.detach();
    eventually("results are spooled", || (number(&client, "results_spooled_total") > 50).then_some(())).await;
    let spooled = number(&client, "results_spooled_total");
    let acknowledged = number(&client, "results_acked_total");
    postgres.start_again();
    eventually("the spool is written", || {
        (number(&client, "results_acked_total") >= acknowledged + spooled).then_some(())
    })
    .await;
    assert_eq!(number(&client, "spool_damages_total"), 0);
    crowd.assert_nobody_down(&client);
}
