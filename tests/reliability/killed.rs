//! Reliability 1: a result that is counted in `results_acked_total` survives kill -9; none is there twice.
//!
//! The process is killed five times, with `WATCHKEEPER_ENDURE=1` fifty times.

use std::time::Duration;

use crate::crowd::{Crowd, ROOM, now, number};
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::{eventually, until_status};

const SERVICES: usize = 300;

fn rounds() -> u64 {
    if std::env::var("WATCHKEEPER_ENDURE").is_ok_and(|value| value == "1") { 50 } else { 5 }
}

/// Any moment: milliseconds that differ from round to round (Knuth's multiplicative hash).
fn moment(round: u64) -> Duration {
    Duration::from_millis(300 + round.wrapping_mul(2_654_435_761) % 1_700)
}

async fn nothing_acknowledged_is_lost(variables: &[(&str, &str)]) {
    let mut server = Server::with(ROOM, variables);
    let crowd = Crowd::gather(&server.client(), SERVICES);
    let mut acknowledged = 0;
    for round in 0..rounds() {
        let client = server.client();
        eventually("results are acknowledged", || (number(&client, "results_acked_total") > 0).then_some(()))
            .await;
        tokio::time::sleep(moment(round)).await;
        acknowledged += number(&client, "results_acked_total");
        let killed_at = now();
        server.kill();
        server.restart();
        let client = server.client();
        let seen = crowd.seen_before(&client, killed_at);
        assert!(seen.checks as u64 >= acknowledged, "round {round}: {} of {acknowledged}", seen.checks);
        assert_eq!(seen.checks, seen.distinct, "round {round}: a check is there twice");
        assert_eq!(seen.not_up, Vec::<serde_json::Value>::new());
        println!("round {round}: {acknowledged} acknowledged, {} there", seen.checks);
    }
    crowd.assert_nobody_down(&server.client());
    until_status(&server.client(), &crowd.ids[0], "up").await;
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_on_sqlite() {
    nothing_acknowledged_is_lost(&[]).await;
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_on_postgres() {
    let Some(postgres) = Postgres::start() else { return };
    nothing_acknowledged_is_lost(&[("WATCHKEEPER_HISTORY_URL", &postgres.url())]).await;
}

/// The same while the history is away and comes back: what was spooled is acknowledged later, and all of it is there.
#[tokio::test]
async fn nothing_spooled_is_lost_by_kills_while_the_history_comes_and_goes() {
    let Some(postgres) = Postgres::start() else { return };
    let url = postgres.url();
    // Memory for a moment only, so that nearly everything goes through the spool.
    let variables = [("WATCHKEEPER_HISTORY_URL", &*url), ("WATCHKEEPER_RECORD__WAITING_RESULTS", "50")];
    let mut server = Server::with(ROOM, &variables);
    let crowd = Crowd::gather(&server.client(), 100);
    let mut durable = 0;
    for round in 0..rounds() {
        let client = server.client();
        eventually("results are acknowledged", || (number(&client, "results_acked_total") > 0).then_some(()))
            .await;
        postgres.stop();
        // Killed while the spool is written …
        eventually("results are spooled", || (number(&client, "results_spooled_total") >= 100).then_some(()))
            .await;
        tokio::time::sleep(moment(round)).await;
        durable += number(&client, "results_spooled_total");
        let killed_at = now();
        server.kill();
        server.restart();
        // … and while it is replayed.
        postgres.start_again();
        tokio::time::sleep(moment(round) / 4).await;
        server.kill();
        server.restart();
        let client = server.client();
        eventually("the spool is written", || (number(&client, "spool_bytes") == 0).then_some(())).await;
        let seen = crowd.seen_before(&client, killed_at);
        assert!(seen.checks as u64 >= durable, "round {round}: {} of {durable}", seen.checks);
        assert_eq!(seen.checks, seen.distinct, "round {round}: a check is there twice");
        assert_eq!(number(&client, "results_shed_total"), 0);
        println!("round {round}: {durable} spooled, {} there", seen.checks);
    }
    crowd.assert_nobody_down(&server.client());
}
