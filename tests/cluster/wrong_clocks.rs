//! A location whose clock is 90 s ahead: its results are of the time at which they were measured, also those that it sends
//! later, and none is of the future.

use std::time::Duration;

use serde_json::Value;

use crate::bus::node::Nodes;
use crate::bus::place::{checks, engine, from, invited, probe};
use crate::bus::wrong_place::WrongPlace;
use crate::bus::{Bus, now};
use crate::nodes::{JOINED, TAKEN_OVER};
use crate::support::client::Client;
use crate::support::target::Target;
use crate::support::{create_watched, eventually, until_checks, until_status};

const AHEAD_MS: i64 = 90_000;
/// They are in several partitions.
const SERVICES: usize = 6;
/// Tolerance of a correction: whole seconds, and the transfer time of a report.
const OFF_MS: i64 = 2_000;

fn at_ms(check: &Value) -> i64 {
    let text = check["checked_at"].as_str().unwrap();
    chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp_millis()
}

/// Waits until a node knows how wrong the clock of the location is.
async fn until_known_to_be_wrong(client: &Client) {
    let is_known = || {
        let ahead_ms = probe(client, "fra")?["agent"]["clock_ahead_ms"].as_i64()?;
        ((ahead_ms - AHEAD_MS).abs() < OFF_MS).then_some(())
    };
    eventually("its clock is known to be wrong", is_known).await;
}

/// Newest first, none twice, none of another time than that from `begin` till now, and no run missing.
fn assert_real_times(told: &[Value], begin: i64) {
    let mut times: Vec<i64> = told.iter().map(at_ms).collect();
    assert!(times.is_sorted_by(|newer, older| newer > older), "newest first, none twice: {times:?}");
    times.reverse();
    let (first, last) = (times[0], times[times.len() - 1]);
    assert!(first >= begin - OFF_MS && last <= now().ms() + OFF_MS, "{begin} {times:?}");
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] < 1_500), "{times:?}");
}

#[tokio::test]
async fn results_of_a_location_with_a_wrong_clock_have_corrected_times() {
    let Some(mut bus) = Bus::start().await else { return };
    let engine = engine(&bus);
    let remote = WrongPlace::joining(invited(&engine, "fra"), AHEAD_MS);
    let (client, target) = (engine.client(), Target::start());
    until_known_to_be_wrong(&client).await;
    let begin = now().ms();
    let id = create_watched(&client, &target.url(), &from("fra"));
    until_checks(&client, &id, 3).await;
    bus.server.kill();
    tokio::time::sleep(Duration::from_secs(8)).await;
    bus.server.resume().await;
    let requests = target.requests().len();
    let all = eventually("everything is told", || {
        let all = checks(&client, &id);
        (all.len() > requests).then_some(all)
    });
    assert_real_times(&all.await, begin);
    until_status(&client, &id, "up").await;
    drop(remote);
}

/// The node that corrected the clock dies; the one that takes over has to measure the difference again.
#[tokio::test]
async fn corrected_times_survive_a_takeover() {
    let Some(mut nodes) = Nodes::start(2).await else { return };
    nodes.until_even(&[0, 1], JOINED).await;
    let remote = WrongPlace::joining(invited(nodes.server(0), "fra"), AHEAD_MS);
    let (survivor, target) = (nodes.client(1), Target::start());
    for node in [0, 1] {
        until_known_to_be_wrong(&nodes.client(node)).await;
    }
    let begin = now().ms();
    let ids: Vec<String> =
        (0..SERVICES).map(|_| create_watched(&survivor, &target.url(), &from("fra"))).collect();
    for id in &ids {
        until_checks(&survivor, id, 3).await;
    }
    nodes.server_mut(0).kill();
    nodes.until_owned(&[1], TAKEN_OVER).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let requests = target.requests().len();
    let all = eventually("everything is told", || {
        let all: Vec<Vec<Value>> = ids.iter().map(|id| checks(&survivor, id)).collect();
        (all.iter().map(Vec::len).sum::<usize>() > requests).then_some(all)
    });
    for told in all.await {
        assert_real_times(&told, begin);
        assert!(told.iter().all(|check| check["status"] == "up"), "{told:?}");
    }
    for id in &ids {
        until_status(&survivor, id, "up").await;
    }
    drop(remote);
}
