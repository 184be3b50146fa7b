//! Reliability 1: a result that is counted in `results_acked_total` survives kill -9; none is there twice.
//!
//! The process is killed five times, with `WATCHKEEPER_ENDURE=1` fifty times; while results are sealed and merged then 5,000
//! services are checked every second.

use std::time::Duration;

use watchkeeper::clock::{DAY_MS, Timestamp};
use watchkeeper::model::check::{CheckStatus, Measurement, PhaseTimings};
use watchkeeper::model::history::CheckRecord;
use watchkeeper::model::service::ProbeRole;

use crate::crowd::{Crowd, ROOM, now, number};
use crate::endures;
use crate::stored::Stored;
use crate::support::postgres::Postgres;
use crate::support::server::Server;
use crate::support::{eventually, until_status};

const SERVICES: usize = 300;

/// Results become blocks after a second, and the history is compacted five times a second.
const COMPACTING: [(&str, &str); 3] = [
    ("WATCHKEEPER_COMPACTION__PASS_MS", "200"),
    ("WATCHKEEPER_COMPACTION__ROWS_PER_BUCKET", "1"),
    ("WATCHKEEPER_COMPACTION__RESULT_SETTLE_MS", "1000"),
];
/// A process that is killed may not have written what it measured in its last second.
const UNACKNOWLEDGED_MS: i64 = 1_000;

fn rounds() -> u64 {
    if endures() { 50 } else { 5 }
}

/// Services that are checked every second while the history is compacted.
fn compacted_services() -> usize {
    if endures() { 5_000 } else { SERVICES }
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

/// The same while the history is intermittent: spooled results are acknowledged later, and all of them are stored.
#[tokio::test]
async fn kills_lose_no_spooled_result_while_the_history_is_intermittent() {
    let Some(postgres) = Postgres::start() else { return };
    let url = postgres.url();
    // Memory for two seconds only, so that nearly everything goes through the spool; a machine that was busy for so long still
    // hands over no more at once.
    let variables = [("WATCHKEEPER_HISTORY_URL", &*url), ("WATCHKEEPER_RECORD__WAITING_RESULTS", "200")];
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

/// Results of two days that are over, as a spool of days brings them: another second of each hour in every round.
fn old_results(round: u64) -> Vec<CheckRecord> {
    let midnight_ms = (now().day() - 4) * DAY_MS;
    let offset_ms = i64::try_from(round).unwrap() * 1_000;
    let result = |service: i64, hour: i64| {
        let at = Timestamp::from_ms(midnight_ms + hour * 3_600_000 + offset_ms);
        CheckRecord {
            service,
            location: "import".parse().unwrap(),
            role: ProbeRole::Full,
            scheduled_at: at,
            checked_at: at,
            attempt: 1,
            measurement: Measurement {
                status: CheckStatus::Up,
                response_time: None,
                timings: PhaseTimings::default(),
                status_code: None,
                failure: None,
            },
        }
    };
    (1..=20).flat_map(|service| (0..48).map(move |hour| result(service, hour))).collect()
}

/// Killed while rows become blocks, days become periods, and results of old days arrive again.
async fn nothing_is_lost_while_the_history_is_compacted(history_url: Option<&str>) {
    let mut variables = COMPACTING.to_vec();
    variables.extend(history_url.map(|url| ("WATCHKEEPER_HISTORY_URL", url)));
    let mut server = Server::with(ROOM, &variables);
    let crowd = Crowd::gather(&server.client(), compacted_services());
    let is_crowded = crowd.ids.len() > SERVICES;
    let (mut accepted, mut sealed) = (0, 0);
    for round in 0..rounds() {
        let client = server.client();
        eventually("results are acknowledged", || (number(&client, "results_acked_total") > 0).then_some(()))
            .await;
        tokio::time::sleep(moment(round)).await;
        let acknowledged = number(&client, "results_acked_total");
        sealed += number(&client, "results_sealed_total") + number(&client, "results_merged_total");
        accepted += acknowledged;
        let killed_at = now();
        server.kill();
        let stored = Stored::open(&server, history_url).await;
        let found = stored.holdings().await;
        let unacknowledged_ms = killed_at.ms_since(found.newest);
        println!(
            "round {round}: {acknowledged} acknowledged, {} there of {accepted}, {} in blocks, {} periods; the newest is {unacknowledged_ms} ms old",
            found.checks, found.sealed, found.periods,
        );
        assert!(found.checks >= accepted, "round {round}: {} of {accepted}", found.checks);
        assert_eq!(found.doubled, 0, "round {round}: a check is there twice");
        // With few checks a second the newest one may be a second old by itself.
        assert!(
            !is_crowded || unacknowledged_ms <= UNACKNOWLEDGED_MS,
            "round {round}: {unacknowledged_ms} ms"
        );
        let old = old_results(round);
        stored.append(&old).await;
        accepted = found.checks + old.len() as u64;
        stored.close().await;
        server.restart();
    }
    assert!(sealed > 0, "nothing was sealed or merged");
    let few = Crowd { ids: crowd.ids.into_iter().take(SERVICES).collect() };
    few.assert_nobody_down(&server.client());
    until_status(&server.client(), &few.ids[0], "up").await;
}

#[tokio::test]
async fn nothing_is_lost_while_the_history_is_compacted_on_sqlite() {
    nothing_is_lost_while_the_history_is_compacted(None).await;
}

#[tokio::test]
async fn nothing_is_lost_while_the_history_is_compacted_on_postgres() {
    let Some(postgres) = Postgres::start() else { return };
    nothing_is_lost_while_the_history_is_compacted(Some(&postgres.url())).await;
}
