//! The edges of real outages: a listener that is closed and opened again, seen from three locations every three seconds.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use watchkeeper::clock::Timestamp;

use crate::support::moments::in_ms;
use crate::support::server::Server;
use crate::support::{create, until_status};

const THREE: &str =
    "[[probe.locations]]\ncode = 'a'\n[[probe.locations]]\ncode = 'b'\n[[probe.locations]]\ncode = 'c'\n";
const OUTAGES: usize = 3;
/// Largest difference between a recorded and the real time.
const EXACT_MS: i64 = 2_000;

/// Accepts every connection, until it is aborted.
async fn open(address: SocketAddr) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind(address).await.unwrap();
    let address = listener.local_addr().unwrap();
    (address, tokio::spawn(async move { while listener.accept().await.is_ok() {} }))
}

/// The times of the changes to a status in the log, in milliseconds of their day.
fn changes(log: &str, to: &str) -> Vec<i64> {
    let is_change = |line: &&str| line.contains("status changed") && line.contains(&format!("to=\"{to}\""));
    let at = |line: &str| {
        let time = line.split("at=").last()?.split_whitespace().next()?.trim_matches('"').to_owned();
        Some(crate::support::ms_of_day(&Value::from(time)))
    };
    log.lines().filter(is_change).filter_map(at).collect()
}

#[tokio::test]
async fn real_outages_are_recorded_within_two_seconds() {
    let server = Server::with(THREE, &[]);
    let client = server.client();
    let (address, mut listener) = open("127.0.0.1:0".parse().unwrap()).await;
    let settings = json!({"interval_seconds": 3, "retries": 1, "timeout_seconds": 2});
    let body = json!({"name": "x", "check_type": "tcp", "target": address.to_string(), "settings": settings});
    let id = create(&client, &body);
    until_status(&client, &id, "up").await;
    let mut edges: Vec<(&str, Timestamp)> = Vec::new();
    for _ in 0..OUTAGES {
        listener.abort();
        assert!(listener.await.is_err(), "it is closed");
        edges.push(("down", in_ms(0)));
        until_status(&client, &id, "down").await;
        listener = open(address).await.1;
        edges.push(("up", in_ms(0)));
        until_status(&client, &id, "up").await;
    }
    let log = server.log();
    let [down, up] = ["down", "up"].map(|to| changes(&log, to));
    // The first `up` is the beginning of all.
    let recorded = down.iter().zip(&up[1..]).flat_map(|(down, up)| [*down, *up]);
    let off: Vec<i64> =
        edges.iter().zip(recorded).map(|((_, at), found)| found - at.ms() % 86_400_000).collect();
    println!("recorded edges are off by {off:?} ms");
    assert_eq!(off.len(), 2 * OUTAGES, "{log}");
    // An attempt may begin a moment before the listener is gone, and find it gone.
    assert!(off.iter().all(|off| (-500..=EXACT_MS).contains(off)), "{off:?}");
}
