//! Many services that are checked every second, and what the API and `/metrics` say about all of their checks.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};
use watchkeeper::clock::{Clock, Timestamp};

use crate::support::client::Client;
use crate::support::create;

/// Settings of servers with a crowd.
pub(crate) const ROOM: &str = "[plans.business]\nservices = 10000\n";

/// Services with ids, on one target that answers.
pub(crate) struct Crowd {
    pub(crate) ids: Vec<String>,
}

/// Checks of all services: (service, location, time), each as often as the API shows it.
pub(crate) struct Seen {
    pub(crate) checks: usize,
    pub(crate) distinct: usize,
    pub(crate) not_up: Vec<Value>,
}

impl Crowd {
    /// So many services, each checked once a second.
    pub(crate) fn gather(client: &Client, services: usize) -> Self {
        Self::gather_every(client, services, 1)
    }

    /// The same with another interval, in seconds.
    pub(crate) fn gather_every(client: &Client, services: usize, interval_seconds: u32) -> Self {
        let target = target();
        let settings = json!({"interval_seconds": interval_seconds, "timeout_seconds": 1});
        let body =
            json!({"name": "One", "check_type": "tcp", "target": target.to_string(), "settings": settings});
        Self { ids: (0..services).map(|_| create(client, &body)).collect() }
    }

    /// Counts of the results before `end`.
    pub(crate) fn seen_before(&self, client: &Client, end: Timestamp) -> Seen {
        let mut seen = Seen { checks: 0, distinct: 0, not_up: Vec::new() };
        for id in &self.ids {
            let mut distinct = BTreeSet::new();
            let mut path = format!("/v1/services/{id}/checks?per_page=100&to={end}");
            loop {
                let page = client.get(&path).expect(200).json();
                for check in page["data"].as_array().unwrap() {
                    seen.checks += 1;
                    distinct.insert((check["checked_at"].to_string(), check["probe"].to_string()));
                    if check["status"] != "up" {
                        seen.not_up.push(check.clone());
                    }
                }
                let Some(cursor) = page["meta"]["next_cursor"].as_str() else { break };
                path = format!("/v1/services/{id}/checks?per_page=100&to={end}&cursor={cursor}");
            }
            seen.distinct += distinct.len();
        }
        seen
    }

    /// No service is, or was, down: a local fault is not the target's.
    pub(crate) fn assert_nobody_down(&self, client: &Client) {
        for id in &self.ids {
            let service = client.get(&format!("/v1/services/{id}")).expect(200).data();
            assert!(service["status"] != "down" && service["status"] != "degraded", "{service}");
            let checks = client.get(&format!("/v1/services/{id}/checks?status=down")).expect(200);
            assert_eq!(checks.data(), json!([]));
        }
    }
}

/// Accepts connections and closes them, as long as the test process lives.
fn target() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    address
}

/// One of the server's numbers.
pub(crate) fn number(client: &Client, name: &str) -> u64 {
    value(client, name)
}

/// One of the server's numbers with this label.
pub(crate) fn labelled(client: &Client, name: &str, label: &str) -> u64 {
    value(client, &format!("{name}{{{label}}}"))
}

fn value(client: &Client, name: &str) -> u64 {
    let page = client.get("/metrics").expect(200).body;
    let line = page.lines().find_map(|line| line.strip_prefix(&format!("watchkeeper_{name} ")));
    line.unwrap_or_else(|| panic!("no {name}: {page}")).parse().unwrap()
}

/// The same while the server may be ending.
pub(crate) fn try_number(client: &Client, name: &str) -> Option<u64> {
    let mut stream = TcpStream::connect(client.address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ok()?;
    let mut page = String::new();
    stream.read_to_string(&mut page).ok()?;
    let line = page.lines().find_map(|line| line.strip_prefix(&format!("watchkeeper_{name} ")))?;
    line.parse().ok()
}

pub(crate) fn now() -> Timestamp {
    Clock::System.now()
}
