//! Unreachable locations: their checks are in the history once, at their time, and raise no alarm.

use std::time::Duration;

use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use watchkeeper::bus::messages::enrolment::JoinToken;

use crate::bus::Bus;
use crate::bus::place::{Place, changes, checks, engine, from, invited, scene, until_online};
use crate::bus::relay::Relay;
use crate::nodes::endures;
use crate::support::target::Target;
use crate::support::{create_watched, eventually, ms_of_day, service, until_checks, until_status};

/// The time for which a location is cut off. Nothing expires by its age before that is over.
fn cut_off() -> Duration {
    Duration::from_secs(if endures() { 600 } else { 8 })
}

/// Each check is in the history once, at its time, also those made while the location was cut off.
#[tokio::test]
async fn a_cut_off_location_continues_and_reports_later() {
    let Some((mut bus, engine, mut remote)) = scene().await else { return };
    let (client, target) = (engine.client(), Target::start());
    let id = create_watched(&client, &target.url(), &from("fra"));
    until_checks(&client, &id, 2).await;
    bus.server.kill();
    tokio::time::sleep(cut_off()).await;
    remote.kill_and_restart();
    let before_restart = target.requests().len();
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(target.requests().len() > before_restart + 1, "it goes on with what it had to check");
    bus.server.resume().await;
    let requests = target.requests().len();
    let all =
        eventually("everything is told", || Some(checks(&client, &id)).filter(|all| all.len() > requests));
    let told = all.await;
    let mut times: Vec<i64> = told.iter().map(|check| ms_of_day(&check["checked_at"])).collect();
    times.sort_unstable();
    let longest = times.windows(2).map(|pair| pair[1] - pair[0]).max();
    // Results in memory at the kill are lost: less than a batch, and the time of a start.
    assert!(longest < Some(3_500), "{longest:?} {times:?}");
    times.dedup();
    assert_eq!(times.len(), told.len(), "nothing is there twice");
}

/// Cut off alone, while another location sees what it sees.
#[tokio::test]
async fn one_cut_off_location_of_two_misses_nothing() {
    let Some(bus) = Bus::start().await else { return };
    let (engine, relay) = (engine(&bus), Relay::to(bus.port()).await);
    let mut token = JoinToken::parse(&invited(&engine, "fra")).unwrap();
    token.url = format!("tls://127.0.0.1:{}", relay.port());
    let _far = Place::joining(token.to_text().expose_secret());
    let _near = Place::joining(&invited(&engine, "ams"));
    let (client, target) = (engine.client(), Target::start());
    for code in ["fra", "ams"] {
        until_online(&client, code).await;
    }
    let both =
        json!({"interval_seconds": 1, "timeout_seconds": 5, "retries": 0, "assigned_probes": ["fra", "ams"]});
    let seen_by_both = create_watched(&client, &target.url(), &both);
    let seen_by_one = create_watched(&client, &target.url(), &from("fra"));
    for id in [&seen_by_both, &seen_by_one] {
        until_status(&client, id, "up").await;
        until_checks(&client, id, 4).await;
    }
    relay.cut();
    let silent_since = checks(&client, &seen_by_one).len();
    tokio::time::sleep(cut_off()).await;
    let meanwhile = checks(&client, &seen_by_one).len();
    assert!(meanwhile < silent_since + 3, "it is cut off: {silent_since} before, {meanwhile} after");
    relay.mend();
    let wanted = silent_since + usize::try_from(cut_off().as_secs()).unwrap();
    for id in [&seen_by_both, &seen_by_one] {
        let is_told = || {
            let of_far: Vec<Value> =
                checks(&client, id).into_iter().filter(|check| check["probe"] == "fra").collect();
            (of_far.len() > wanted).then_some(of_far)
        };
        let mut due: Vec<i64> = eventually("everything is told", is_told)
            .await
            .iter()
            .map(|check| ms_of_day(&check["scheduled_at"]))
            .collect();
        due.sort_unstable();
        // The first check is at once, between two due times.
        let holes: Vec<&[i64]> = due[1..].windows(2).filter(|pair| pair[1] - pair[0] != 1_000).collect();
        assert!(holes.is_empty(), "each due time has its check, once: {holes:?}");
        until_status(&client, id, "up").await;
        let uptime = client.get(&format!("{}/uptime?days=1", service(id))).expect(200).data();
        assert_eq!(uptime[0]["uptime_percent"], 100.0, "{uptime}");
    }
    let told = changes(&engine).await;
    // No service was ever reported down; time without results is a gap until it is filled.
    assert!(told.lines().all(|change| !change.starts_with("3 ")), "{told}");
    let by_votes = told.lines().filter(|change| *change == "1 0").count();
    assert!(
        endures() || (told.lines().count(), by_votes) == (2, 2),
        "each was up once, and stayed so: {told}"
    );
}
