//! Reliability 20 on the real process: without an actor that it cannot do without it ends with exit code 70 and one line that
//! says why, and nothing that was acknowledged is lost. Actors that start again are seen by operators.
//!
//! Faults come from `WATCHKEEPER_INJECT_FAULT`, which debug builds alone read: with a release build these tests say that they
//! cannot run.

use rstest::rstest;
use serde_json::Value;

use crate::crowd::{Crowd, ROOM, now, number};
use crate::support::eventually;
use crate::support::server::Server;

const FAULT: &str = "WATCHKEEPER_INJECT_FAULT";

/// True if the program accepts injected faults.
fn takes_faults() -> bool {
    let is_debug = cfg!(debug_assertions);
    if !is_debug {
        println!("NOT RUN: a release build takes no faults from outside");
    }
    is_debug
}

#[rstest]
#[case("panic fleet", "fleet died: it panicked: a fault was injected")]
#[case("panic recorder", "recorder died: it panicked: a fault was injected")]
#[case("block aggregator", "the thread of shard")]
#[tokio::test]
async fn a_process_that_cannot_continue_ends_with_code_70_without_loss(
    #[case] fault: &str,
    #[case] reason: &str,
) {
    if !takes_faults() {
        return;
    }
    let mut server = Server::with(ROOM, &[]);
    let crowd = Crowd::gather(&server.client(), 30);
    // The fault strikes some seconds after a start: a crowd that is still gathering would not survive it.
    server.set(FAULT, fault);
    server.kill_and_restart();
    let client = server.client();
    let mut acknowledged = (0, now());
    let code = eventually("the process ends", || {
        let seen = crate::crowd::try_number(&client, "results_acked_total");
        acknowledged = seen.map_or(acknowledged, |count| (count, now()));
        server.try_wait()
    })
    .await;
    assert_eq!(code, Some(70), "{}", server.log());
    let log = server.log();
    let said: Vec<&str> = log.lines().filter(|line| line.starts_with("watchkeeper: ")).collect();
    assert_eq!(said.len(), 1, "{log}");
    assert!(said[0].contains(reason) && said[0].contains("exit code 70"), "{}", said[0]);
    server.unset(FAULT);
    server.restart();
    let seen = crowd.seen_before(&server.client(), now());
    assert!(seen.checks as u64 >= acknowledged.0, "{} of {} are there", seen.checks, acknowledged.0);
    assert_eq!(seen.checks, seen.distinct, "a check is there twice");
    crowd.assert_nobody_down(&server.client());
}

#[tokio::test]
async fn a_restarted_actor_is_shown_to_operators() {
    if !takes_faults() {
        return;
    }
    let server = Server::with(ROOM, &[(FAULT, "panic aggregator")]);
    let client = server.client();
    let crowd = Crowd::gather(&client, 10);
    let organisation = server.organisation("business");
    let operator = server.member(&organisation, "engine.view");
    let aggregator = |answer: Value| {
        let actors = answer["actors"].as_array().unwrap().clone();
        actors.into_iter().find(|actor| actor["name"] == "aggregator").unwrap()
    };
    let seen = eventually("an aggregator starts again", || {
        let actor = aggregator(operator.get("/v1/engine").expect(200).data());
        (actor["restarts"] == 1).then_some(actor)
    })
    .await;
    assert_eq!((&seen["panics"], &seen["on_death"]), (&1.into(), &"restart".into()));
    assert_eq!(seen["last_error"], "it panicked: a fault was injected");
    let page = client.get("/metrics").expect(200).body;
    assert!(page.contains("watchkeeper_actor_restarts_total{kind=\"aggregator\"} 1"), "{page}");
    client.get("/readyz").expect(200);
    let before = number(&client, "results_acked_total");
    eventually("results are recorded", || {
        (number(&client, "results_acked_total") > before + 20).then_some(())
    })
    .await;
    crowd.assert_nobody_down(&client);
}
