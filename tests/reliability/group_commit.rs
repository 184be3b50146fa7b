//! Reliability 4 and 8: the process is killed at any system call of a commit that many writers share. What was
//! answered with 2xx is there, nothing is there in part, and a repeated request makes one row.
//!
//! 12 system calls are tried, with `WATCHKEEPER_ENDURE=1` a hundred.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::crowd::ROOM;
use crate::endures;
use crate::support::client::Client;
use crate::support::server::Server;
use crate::tracer::{self, Tracer};

/// Clients that write at once.
const WRITERS: usize = 16;
/// Time for which they continue when the process survives its crash point.
const PATIENCE: Duration = Duration::from_secs(20);

fn crash_points() -> u64 {
    if endures() { 100 } else { 12 }
}

/// The system call at which the process is killed, and how many of its kind come before it: in the first commits,
/// when nothing was answered yet, and in later ones. A service with its tags writes some dozens of pieces to the
/// write-ahead log.
fn crash_point(number: u64) -> (&'static str, u64) {
    match number % 4 {
        0 => ("fdatasync,fsync", 1 + number * 2),
        kind => ("pwrite64", number * 60 + kind),
    }
}

/// A request to create a service with three tags; one that was made may be repeated.
#[derive(Debug)]
struct Creation {
    name: String,
    /// The status of the response, if there was one.
    status: Option<u16>,
}

impl Creation {
    fn send(client: &Client, name: String) -> Self {
        let status = attempt(client, &name);
        Self { name, status }
    }
}

/// Sends one request over a connection that may be cut; the status, if there was a response.
fn attempt(client: &Client, name: &str) -> Option<u16> {
    let tags = [format!("{name}-a"), format!("{name}-b"), "shared".to_owned()];
    let body = json!({"name": name, "check_type": "tcp", "target": "127.0.0.1:9", "tags": tags}).to_string();
    let head = format!(
        "POST /v1/services HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
        Content-Type: application/json\r\nIdempotency-Key: {name}\r\nContent-Length: {}\r\n\r\n{body}",
        client.address,
        client.token.as_deref().unwrap(),
        body.len(),
    );
    let mut stream = TcpStream::connect(client.address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = Vec::new();
    // A connection that was cut may have brought the head all the same.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).split(' ').nth(1)?.parse().ok()
}

/// Writes from many clients at once until the process is gone.
fn write_until_killed(client: &Client, round: u64) -> Vec<Creation> {
    let number = AtomicU64::new(0);
    let deadline = Instant::now() + PATIENCE;
    let write = || {
        let mut made: Vec<Creation> = Vec::new();
        while made.last().is_none_or(|last| last.status.is_some()) {
            assert!(Instant::now() < deadline, "round {round}: it was never killed");
            let name = format!("s{round}-{}", number.fetch_add(1, Ordering::Relaxed));
            made.push(Creation::send(client, name));
        }
        made
    };
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(write)).collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    })
}

/// All services, page by page.
fn listed(client: &Client) -> Vec<Value> {
    let mut found = Vec::new();
    for page in 1.. {
        let answer = client.get(&format!("/v1/services?per_page=100&page={page}")).expect(200).json();
        let services = answer["data"].as_array().unwrap().clone();
        if services.is_empty() {
            break;
        }
        found.extend(services);
    }
    found
}

#[tokio::test]
async fn a_kill_at_any_system_call_of_a_shared_commit_leaves_whole_effects() {
    if !tracer::is_possible() {
        return;
    }
    let mut server = Server::with(ROOM, &[]);
    let (mut answered, mut repeated) = (0, 0);
    for round in 0..crash_points() {
        let client = server.client();
        let (calls, before) = crash_point(round);
        let tracer = Tracer::attach(&server, calls, &format!("signal=KILL:when={before}"));
        let made = write_until_killed(&client, round);
        drop(tracer);
        server.kill();
        server.restart();
        let client = server.client();
        let found = listed(&client);
        for creation in &made {
            let twins = found.iter().filter(|service| service["name"] == *creation.name).count();
            let is_answered = creation.status == Some(201);
            assert!(
                twins <= 1 && (twins == 1 || !is_answered),
                "round {round}: {creation:?} is there {twins} times"
            );
            answered += u64::from(is_answered);
            repeated += 1;
            assert_eq!(attempt(&client, &creation.name), Some(201), "round {round}: {creation:?} again");
        }
        let found = listed(&client);
        for service in &found {
            assert_eq!(service["tags"].as_array().unwrap().len(), 3, "round {round}: {service}");
        }
        for creation in &made {
            let twins = found.iter().filter(|service| service["name"] == *creation.name).count();
            assert_eq!(twins, 1, "round {round}: {creation:?} after it was repeated");
        }
        println!("round {round}: killed before {calls} {before}: {} requests", made.len());
    }
    println!("{answered} answered, {repeated} repeated");
}
