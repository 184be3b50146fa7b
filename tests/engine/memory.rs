//! The memory of a service: actor, definition, check, mailbox, timer and live figures of an HTTP service that has been looked
//! at once. The promise is 4 KiB in the whole process; databases and their caches are measured by the benchmark.
//!
//! Memory belongs to a process, so the measuring test runs itself again, alone.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Map;
use tokio::time::Instant;
use watchkeeper::config::limits::EngineLimits;
use watchkeeper::engine::definition::{CompiledChecks, WatchDefinition};
use watchkeeper::model::check::CheckType;
use watchkeeper::probe::spec::CheckSpec;

use crate::script::Scripted;
use crate::world::{Watching, World, clock, definition, in_paused_time};

/// They fill hash tables as far as 100,000 do.
const SERVICES: i64 = 25_000;
const MOST_BYTES: u64 = 3_250;
const ALONE: &str = "WATCHKEEPER_TESTS_ALONE";

/// Resident memory of this process in bytes.
pub(crate) fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it is there");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib * 1_024
}

/// As the store would give it: name, target and check are the service's own.
fn web(number: i64) -> WatchDefinition {
    let watching = Watching { hash: number.unsigned_abs().wrapping_mul(0x9e37_79b9), ..Watching::default() };
    let plain = definition(number, 1, Some(&watching));
    let target = format!("https://shop-{number}.example.com/health?of={number}");
    let spec = CheckSpec::compile(CheckType::Http, &target, 10, &Map::new()).expect("it can be compiled");
    let task = plain.task.map(|task| CompiledChecks {
        spec: Arc::new(spec),
        host_key: number.unsigned_abs(),
        ..task
    });
    WatchDefinition {
        check_type: CheckType::Http,
        task,
        name: format!("Shop number {number}").into(),
        ..plain
    }
}

async fn measure() -> u64 {
    let world =
        World::start(Scripted::cast("a: 0 up/0.05", Instant::now()), &clock(), EngineLimits::default());
    let before = resident();
    for number in 1..=SERVICES {
        world.engine.apply(Arc::new(web(number))).await.expect("the engine runs");
    }
    tokio::time::sleep(Duration::from_secs(70)).await;
    let checks = world.facts.take_all();
    assert!(checks >= SERVICES, "{checks} checks");
    let bytes = (resident() - before) / SERVICES.unsigned_abs();
    world.end().await;
    bytes
}

#[test]
fn a_service_takes_at_most_3250_bytes_in_the_engine() {
    if std::env::var_os(ALONE).is_some() {
        let bytes = in_paused_time(measure);
        assert!(bytes <= MOST_BYTES, "{bytes} bytes a service");
        println!("{bytes} bytes a service");
        return;
    }
    let program = std::env::current_exe().expect("it runs");
    let mut alone = Command::new(program);
    alone.args(["--exact", "memory::a_service_takes_at_most_3250_bytes_in_the_engine", "--nocapture"]);
    let output = alone.env(ALONE, "1").output().expect("it can be started");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    println!("{said}");
}
