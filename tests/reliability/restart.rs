//! Reliability 3: after a restart the first check is soon, and memory stays near its minimum.
//!
//! 2,000 services are restarted, with `WATCHKEEPER_ENDURE=1` 10,000 within 3 s and 100,000 within 10 s.

use std::time::Duration;

use tokio::time::Instant;
use watchkeeper::config::limits::StoreLimits;
use watchkeeper::id::Id;
use watchkeeper::model::partition::PartitionSet;
use watchkeeper::model::service::{Service, ServiceKey};
use watchkeeper::store::Databases;
use watchkeeper::store::database::sqlite_url;
use watchkeeper::store::services;
use watchkeeper::store::services::definitions::{self, OwnedService};

use crate::crowd::{Crowd, ROOM, number, try_number};
use crate::endures;
use crate::support::eventually;
use crate::support::server::Server;

/// Services, and how long the first check may take.
fn plans() -> Vec<(usize, Duration)> {
    let short = [(2_000, Duration::from_secs(3))];
    let long = [(10_000, Duration::from_secs(3)), (100_000, Duration::from_secs(10))];
    if endures() { long.into() } else { short.into() }
}

/// The time after which the memory of a process that has started counts as its steady size.
fn settled() -> Duration {
    Duration::from_secs(if endures() { 15 } else { 5 })
}

/// Stores copies of the one service that exists.
async fn multiply(server: &Server, copies: usize) {
    let url = |file: &str| sqlite_url(&server.data().join(file));
    let databases =
        Databases::open(&url("main.db"), &url("history.db"), &StoreLimits::default()).await.unwrap();
    let page =
        definitions::page(databases.main.reader(), PartitionSet::ALL, ServiceKey::MIN, 1).await.unwrap();
    let OwnedService { service, .. } = page.services.into_iter().next().unwrap();
    let write = databases.main.begin().await.unwrap();
    for _ in 0..copies {
        services::insert(&write, Service { id: Id::random(), ..service.clone() }).await.unwrap();
    }
    write.commit().await.unwrap();
    databases.main.close().await;
    databases.history.close().await;
}

/// A line of `/proc/PID/status`, in KiB.
fn memory_kib(server: &Server, key: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    line.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
}

#[tokio::test]
async fn a_restart_checks_soon_and_needs_little_more_memory_than_it_keeps() {
    for (services, limit) in plans() {
        restarts(services, limit).await;
    }
}

async fn restarts(services: usize, limit: Duration) {
    let mut server = Server::with(ROOM, &[]);
    Crowd::gather_every(&server.client(), 1, 60);
    assert_eq!(server.terminate().await, Some(0));
    multiply(&server, services).await;
    // Once, so that every service has a past.
    server.restart();
    let client = server.client();
    let deadline = Instant::now() + Duration::from_secs(180);
    while number(&client, "results_acked_total") < services as u64 {
        assert!(Instant::now() < deadline, "not all are looked at in three minutes");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let missed = number(&client, "runs_missed_total");
    assert_eq!(missed, 0, "a start of many services misses no run");
    assert_eq!(server.terminate().await, Some(0));
    let started = Instant::now();
    server.restart();
    let client = server.client();
    eventually("a check is done", || {
        try_number(&client, "attempts_measured_total").filter(|measured| *measured > 0)
    })
    .await;
    let took = started.elapsed();
    // An unoptimised build takes several times as long to start, and runs beside other tests.
    let limit = if cfg!(debug_assertions) { limit * 5 } else { limit };
    assert!(took <= limit, "{took:?}");
    tokio::time::sleep(settled()).await;
    let (peak, steady) = (memory_kib(&server, "VmHWM:"), memory_kib(&server, "VmRSS:"));
    assert!(peak * 2 <= steady * 3, "peak {peak} KiB, steady {steady} KiB");
    println!("{services} services: first check after {took:?}; peak {peak} KiB, steady {steady} KiB");
}
