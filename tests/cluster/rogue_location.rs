//! A compromised location: an attacker with its credentials sends arbitrary messages.
//!
//! Each kind of message is refused for its own reason, a flood neither fills the memory of the engine nor keeps results of
//! another location from being stored.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Map, Value};
use watchkeeper::bus::connection::BusConnection;
use watchkeeper::bus::messages::definition::LocationDefinition;
use watchkeeper::bus::messages::results::ResultBatch;
use watchkeeper::clock::Timestamp;
use watchkeeper::model::check::{CheckType, ErrorCode, Measurement, PhaseTimings};
use watchkeeper::model::history::CheckRecord;
use watchkeeper::model::partition::Partition;
use watchkeeper::model::service::{ProbeRole, ServiceKey};

use crate::bus::place::{Place, checks, engine, from, invited, until_online};
use crate::bus::processor::resident_mib;
use crate::bus::{self, Bus, metric};
use crate::nodes::endures;
use crate::support::client::Client;
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create_watched, eventually, ms_of_day, service, until_checks, until_status};

/// The first two services of an installation: one of the honest location, one of the rogue.
const HONEST: ServiceKey = 1;
const OWN: ServiceKey = 2;
/// Maximum growth of the engine's memory.
const GROWTH_MIB: u64 = 96;
/// Results of one message of the flood.
const AT_ONCE: u64 = 200;

/// Messages of the flood.
fn flood() -> u64 {
    if endures() { 20_000 } else { 1_000 }
}

/// An engine, an honest location with a service, and the credentials of another one with a service of its own.
struct Scene {
    engine: Server,
    rogue: BusConnection,
    target: Target,
    honest: String,
    /// The version in which the rogue is to check its own service.
    version: u64,
    _place: Place,
    _bus: Bus,
}

impl Scene {
    async fn start() -> Option<Self> {
        let bus = Bus::start().await?;
        let engine = engine(&bus);
        let client = engine.client();
        let joined = Place::joining(&invited(&engine, "fra"));
        let mut taken_over = Place::joining(&invited(&engine, "ams"));
        for code in ["fra", "ams"] {
            until_online(&client, code).await;
        }
        let target = Target::start();
        let honest = create_watched(&client, &target.url(), &from("fra"));
        let own = create_watched(&client, &target.url(), &from("ams"));
        for id in [&honest, &own] {
            until_checks(&client, id, 2).await;
        }
        taken_over.kill();
        let version = version_of(&client, &own);
        let rogue = bus.location("ams").await;
        Some(Self { engine, rogue, target, honest, version, _place: joined, _bus: bus })
    }

    /// Sends this as results of its partition; the server has taken it into the stream.
    async fn send(&self, bytes: impl Into<Bytes>) {
        let subject = format!("wk.results.ams.{}", Partition::of(OWN));
        self.rogue.jetstream().publish(subject, bytes.into()).await.unwrap().await.unwrap();
    }

    fn refused(&self, reason: &str) -> u64 {
        metric(&self.engine, &format!("watchkeeper_remote_refused_total{{reason=\"{reason}\"}}"))
    }

    fn batch(&self, records: Vec<CheckRecord>, version: u64) -> Vec<u8> {
        let versions = records.iter().map(|record| (record.service, version)).collect();
        ResultBatch { sent_at: bus::now(), versions, records }.to_bytes()
    }
}

/// The version of a service in a definition.
fn version_of(client: &Client, id: &str) -> u64 {
    let shown = client.get(&service(id)).expect(200).data();
    let config: Map<String, Value> = shown["settings"]["config"].as_object().unwrap().clone();
    let timeout = shown["settings"]["timeout_seconds"].as_u64().unwrap();
    let target = shown["target"].as_str().unwrap();
    LocationDefinition::version_of(CheckType::Http, target, u8::try_from(timeout).unwrap(), &config)
}

fn record(service: ServiceKey, at: Timestamp) -> CheckRecord {
    CheckRecord {
        service,
        location: bus::location("ams"),
        role: ProbeRole::Full,
        scheduled_at: at,
        checked_at: at,
        attempt: 1,
        measurement: Measurement::unanswered(ErrorCode::ALL[0], "forged", PhaseTimings::default()),
    }
}

#[tokio::test]
async fn each_forgery_is_refused_for_its_reason() {
    let Some(scene) = Scene::start().await else { return };
    let (now, version) = (bus::now(), scene.version);
    let as_fra = CheckRecord { location: bus::location("fra"), ..record(OWN, now) };
    let seventh = CheckRecord { attempt: 7, ..record(OWN, now) };
    let due_later = CheckRecord { scheduled_at: now.plus_ms(90_000), ..record(OWN, now) };
    let forgeries = [
        ("not_assigned", scene.batch(vec![record(HONEST, now)], version)),
        ("not_assigned", scene.batch(vec![record(OWN + 1_000, now)], version)),
        ("old_version", scene.batch(vec![record(OWN, now)], version + 1)),
        ("implausible", scene.batch(vec![record(OWN, now.plus_ms(90_000))], version)),
        ("implausible", scene.batch(vec![record(OWN, now.plus_ms(-8 * 86_400_000))], version)),
        ("implausible", scene.batch(vec![due_later], version)),
        ("implausible", scene.batch(vec![seventh], version)),
        ("malformed", scene.batch(vec![as_fra], version)),
        ("malformed", b"WKR\x01".to_vec()),
        ("malformed", b"{}".to_vec()),
        ("malformed", vec![0xff; 200_000]),
    ];
    for (reason, bytes) in forgeries {
        let before = scene.refused(reason);
        let length = bytes.len();
        scene.send(bytes).await;
        let what = format!("{length} bytes are refused as {reason}");
        eventually(&what, || (scene.refused(reason) == before + 1).then_some(())).await;
    }
    let all: u64 = ["malformed", "not_assigned", "old_version", "implausible", "too_many"]
        .map(|reason| scene.refused(reason))
        .iter()
        .sum();
    assert_eq!(all, 11, "each counts once");
    // The server refuses a message beyond the maximum size.
    let subject = format!("wk.results.ams.{}", Partition::of(OWN));
    let large = Bytes::from(vec![0_u8; 300_000]);
    let sent = scene.rogue.jetstream().publish(subject, large).await;
    assert!(sent.is_err() || sent.unwrap().await.is_err(), "300,000 bytes are too many");
    until_status(&scene.engine.client(), &scene.honest, "up").await;
}

#[tokio::test]
async fn a_flood_fills_no_memory_and_blocks_no_other_location() {
    let Some(scene) = Scene::start().await else { return };
    let client = scene.engine.client();
    let before_mib = resident_mib(scene.engine.process());
    let (visits, begin) = (scene.target.requests().len(), bus::now());
    let mut most_mib = before_mib;
    for number in 0..flood() {
        let first = i64::try_from(number * AT_ONCE).unwrap();
        let times = (first..).take(usize::try_from(AT_ONCE).unwrap());
        let records = times.map(|ago| record(OWN, begin.plus_ms(-1_000 - ago))).collect();
        scene.send(scene.batch(records, scene.version)).await;
        if number % 100 == 0 {
            most_mib = most_mib.max(resident_mib(scene.engine.process()));
        }
    }
    let sent = flood() * AT_ONCE;
    let is_judged = || {
        most_mib = most_mib.max(resident_mib(scene.engine.process()));
        (scene.refused("too_many") >= sent).then_some(())
    };
    eventually("the flood is over", is_judged).await;
    let (refused, took) = (scene.refused("too_many"), bus::now().ms_since(begin));
    println!("{sent} results in {took} ms: {refused} refused; {before_mib} MiB before, {most_mib} at most");
    assert!(most_mib < before_mib + GROWTH_MIB, "{before_mib} MiB before, {most_mib} at most");
    assert_eq!(refused, sent, "nobody looks a thousand times a second");
    // Every visit of the honest location is stored, and none is missing.
    let visited = scene.target.requests().len();
    assert!(visited > visits, "it has looked meanwhile");
    let told = eventually("what it saw is stored", || {
        let told = checks(&client, &scene.honest);
        let newest = ms_of_day(&told[0]["checked_at"]);
        (newest > bus::now().ms() % 86_400_000 - 2_500).then_some(told)
    });
    let mut times: Vec<i64> = told.await.iter().map(|check| ms_of_day(&check["checked_at"])).collect();
    times.sort_unstable();
    let longest = times.windows(2).map(|pair| pair[1] - pair[0]).max();
    assert!(longest < Some(5_000), "a run of the honest location is missing: {longest:?}");
    until_status(&client, &scene.honest, "up").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(checks(&client, &scene.honest).iter().all(|check| check["status"] == "up"));
}
