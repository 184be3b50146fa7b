//! Shared code of the API tests: the real binary as a server, a small HTTP client, targets that can be stopped.
//!
//! Nothing here knows the program's inside: what a test sees is what a client, an operator or a target sees.

#[allow(dead_code, reason = "the tests of the API ask")]
pub(crate) mod authenticator;
pub(crate) mod browser;
pub(crate) mod client;
#[allow(dead_code, reason = "the tests of reliability ask")]
pub(crate) mod clock_library;
pub(crate) mod conformance;
#[allow(dead_code, reason = "shared with other tests, which use all of it")]
pub(crate) mod console;
pub(crate) mod databases;
pub(crate) mod event_reader;
pub(crate) mod html_form;
pub(crate) mod listener;
#[allow(dead_code, reason = "the tests of the API ask")]
pub(crate) mod mail_server;
pub(crate) mod moments;
pub(crate) mod name_server;
pub(crate) mod outsider;
pub(crate) mod pages;
#[allow(dead_code, reason = "shared with other tests, which use all of it")]
pub(crate) mod pebble;
pub(crate) mod planned;
pub(crate) mod postgres;
pub(crate) mod scoped;
pub(crate) mod server;
#[allow(dead_code, reason = "shared with other tests, which use all of it")]
pub(crate) mod sink;
#[allow(dead_code, reason = "shared with other tests, which use all of it")]
pub(crate) mod smtp_sink;
pub(crate) mod target;
pub(crate) mod tenants;
pub(crate) mod tls_target;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::client::Client;

/// Time after which a test gives up waiting for an event, on a busy machine.
const EVENT_SECONDS: u64 = 300;

/// An unknown id of the right form.
pub(crate) const UNKNOWN_ID: &str = "AAAAAAAAAAAAAAAAAAAAA";

/// Stands for a stored secret (contract 4.3.5).
pub(crate) const KEEP: &str = "__SERVICE_KEEP_UNCHANGED__";

/// Looks until there is something to see.
pub(crate) async fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(EVENT_SECONDS);
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "did not happen in {EVENT_SECONDS} s: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Creates a service and gives its id.
pub(crate) fn create(client: &Client, body: &Value) -> String {
    let created = client.post("/v1/services", body).expect(201);
    created.data()["id"].as_str().unwrap().to_owned()
}

/// Creates an HTTP service that is not checked, and gives its id.
pub(crate) fn create_unconfigured(client: &Client) -> String {
    create(client, &json!({"name": "Shop", "check_type": "http", "target": "http://127.0.0.1:9/"}))
}

/// Creates an HTTP service with these settings and gives its id.
pub(crate) fn create_watched(client: &Client, target: &str, settings: &Value) -> String {
    create(client, &json!({"name": "Shop", "check_type": "http", "target": target, "settings": settings}))
}

/// The path of a service.
pub(crate) fn service(id: &str) -> String {
    format!("/v1/services/{id}")
}

/// Waits until the service has this status, and gives the service.
pub(crate) async fn until_status(client: &Client, id: &str, status: &str) -> Value {
    let what = format!("{id} becomes {status}");
    eventually(&what, || {
        let seen = client.get(&service(id)).expect(200).data();
        (seen["status"] == status).then_some(seen)
    })
    .await
}

/// Waits until the service has at least this many stored checks, and gives them, newest first.
pub(crate) async fn until_checks(client: &Client, id: &str, count: usize) -> Vec<Value> {
    let path = format!("{}/checks?per_page=100", service(id));
    eventually(&format!("{id} has {count} checks"), || {
        let checks = client.get(&path).expect(200).data().as_array().unwrap().clone();
        (checks.len() >= count).then_some(checks)
    })
    .await
}

/// A time of an answer in milliseconds; tests compare and subtract times.
pub(crate) fn ms_of_day(time: &Value) -> i64 {
    let clock = time.as_str().unwrap().split_once('T').unwrap().1.trim_end_matches('Z');
    let (whole, fraction) = clock.split_once('.').unwrap();
    let seconds = whole.split(':').fold(0, |sum, part| sum * 60 + part.parse::<i64>().unwrap());
    seconds * 1_000 + fraction.parse::<i64>().unwrap()
}
