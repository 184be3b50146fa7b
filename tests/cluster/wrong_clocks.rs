//! A location whose clock is 90 s ahead: its results are of the time at which they were measured, also those that it tells
//! later, and none is of the future.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bus::place::{engine, invited};
use crate::bus::wrong_place::WrongPlace;
use crate::bus::{Bus, now};
use crate::support::target::Target;
use crate::support::{create_watched, eventually, service, until_checks, until_status};

const AHEAD_MS: i64 = 90_000;
/// What a correction may be off: whole seconds, and the way of a report.
const OFF_MS: i64 = 2_000;

fn at_ms(check: &Value) -> i64 {
    let text = check["checked_at"].as_str().unwrap();
    chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp_millis()
}

#[tokio::test]
async fn a_location_whose_clock_is_wrong_tells_when_it_really_looked() {
    let Some(mut bus) = Bus::start().await else { return };
    let engine = engine(&bus);
    let place = WrongPlace::joining(invited(&engine, "fra"), AHEAD_MS);
    let (client, target) = (engine.client(), Target::start());
    let probe = || {
        let all = client.get("/v1/probes").expect(200).json();
        all["data"].as_array()?.iter().find(|probe| probe["code"] == "fra").cloned()
    };
    let is_known_to_be_wrong = || {
        let ahead_ms = probe()?["agent"]["clock_ahead_ms"].as_i64()?;
        ((ahead_ms - AHEAD_MS).abs() < OFF_MS).then_some(())
    };
    eventually("its clock is known to be wrong", is_known_to_be_wrong).await;
    let begin = now().ms();
    let settings = json!({"interval_seconds": 1, "retries": 0, "assigned_probes": ["fra"]});
    let id = create_watched(&client, &target.url(), &settings);
    until_checks(&client, &id, 3).await;
    bus.server.kill();
    tokio::time::sleep(Duration::from_secs(8)).await;
    bus.server.resume().await;
    let requests = target.requests().len();
    let path = format!("{}/checks?per_page=100", service(&id));
    let all = eventually("everything is told", || {
        let all = client.get(&path).expect(200).json()["data"].as_array().unwrap().clone();
        (all.len() > requests).then_some(all)
    });
    let mut times: Vec<i64> = all.await.iter().map(at_ms).collect();
    assert!(times.is_sorted_by(|newer, older| newer > older), "newest first, none twice: {times:?}");
    times.reverse();
    let (first, last) = (times[0], times[times.len() - 1]);
    assert!(first >= begin - OFF_MS && last <= now().ms() + OFF_MS, "{begin} {times:?}");
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] < 1_500), "{times:?}");
    until_status(&client, &id, "up").await;
    drop(place);
}
