//! One organisation at its worst leaves another's writes alone: their slowest hundredth takes at most ten times as long as in the
//! quiet time before, and none is refused.
//!
//! The neighbour has one token of the default rate and everything that its plan lets it build up: large definitions, long
//! timelines, incidents of many services, a page with many components. It asks for the dearest things at once, again and again.
//! The quick form takes seconds; with `WATCHKEEPER_ENDURE=1` a minute each.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::endures;
use crate::support::client::Client;
use crate::support::postgres::Postgres;
use crate::support::server::Server;

/// Maximum ratio by which the slowest hundredth may grow.
const SLOWER: u32 = 10;
/// A quiet server answers faster than a busy machine lets a client notice.
const LEAST: Duration = Duration::from_millis(25);
/// The wait between two writes of the one who is measured.
const BETWEEN_WRITES: Duration = Duration::from_millis(25);
/// Requests of a token before the next one is taken: the default rate of a minute.
const REQUESTS_PER_TOKEN: usize = 100;
/// Longest wait until this number of the neighbour's requests are answered.
const LOUD_WITHIN: Duration = Duration::from_secs(120);
/// Requests of the neighbour at a time.
const AT_A_TIME: usize = 16;
/// The neighbour's services, each of nearly the largest size; its incidents; the entries of one of them: in the long form, and
/// in the quick one, where an unoptimised server takes as long for less.
const BUILT_UP: [[usize; 3]; 2] = [[40, 60, 100], [8, 8, 10]];

fn length() -> Duration {
    Duration::from_secs(if endures() { 60 } else { 10 })
}

/// A member of an organisation who changes the token before its rate is used up.
struct Patient<'a> {
    server: &'a Server,
    organisation: String,
    client: Client,
    left: usize,
}

impl<'a> Patient<'a> {
    fn of(server: &'a Server, organisation: String) -> Self {
        let client = server.member(&organisation, "all");
        Self { server, organisation, client, left: REQUESTS_PER_TOKEN }
    }

    fn client(&mut self) -> &Client {
        if self.left == 0 {
            *self = Self::of(self.server, self.organisation.clone());
        }
        self.left -= 1;
        &self.client
    }

    fn make(&mut self, path: &str, body: &Value) -> String {
        self.client().post(path, body).expect(201).data()["id"].as_str().unwrap().to_owned()
    }

    /// Writes for as long as `goes_on`; gives the time from which on the slowest hundredth begins.
    fn write_while(&mut self, goes_on: impl Fn() -> bool) -> (Duration, usize) {
        let mut writes = Vec::new();
        while goes_on() {
            let begun = Instant::now();
            let tag = self.make("/v1/tags", &json!({"key": "own"}));
            writes.push(begun.elapsed());
            std::thread::park_timeout(BETWEEN_WRITES);
            let begun = Instant::now();
            self.client().delete(&format!("/v1/tags/{tag}")).expect(200);
            writes.push(begun.elapsed());
            std::thread::park_timeout(BETWEEN_WRITES);
        }
        writes.sort_unstable();
        (writes[writes.len() * 99 / 100], writes.len())
    }
}

fn large(name: &str) -> Value {
    let headers: serde_json::Map<_, _> =
        (0..20).map(|n| (format!("X-{n}"), json!("y".repeat(4_000)))).collect();
    json!({"name": name, "check_type": "http", "target": "http://127.0.0.1:9/",
        "settings": {"interval_seconds": 3600, "config": {"method": "POST", "body": "x".repeat(65_000), "headers": headers}}})
}

/// The most expensive requests of a prepared attacker.
struct Worst {
    client: Client,
    requests: Vec<(&'static str, String, Value)>,
}

impl Worst {
    /// Builds up what its plan allows.
    fn prepare(server: &Server) -> Self {
        let organisation = server.organisation("business");
        let mut builder = Patient::of(server, organisation.clone());
        let [services, incidents, entries] = BUILT_UP[usize::from(!endures())];
        let services: Vec<String> =
            (0..services).map(|n| builder.make("/v1/services", &large(&format!("s{n}")))).collect();
        let long = "\u{1f600}".repeat(9_000);
        let incident = json!({"title": "Slow", "message": long, "service_ids": services});
        let mut incidents: Vec<String> =
            (0..incidents).map(|_| builder.make("/v1/incidents", &incident)).collect();
        let incident = incidents.remove(0);
        let timeline = format!("/v1/incidents/{incident}/updates");
        for _ in 0..entries {
            builder.client().post(&timeline, &json!({"message": long, "status": "identified"})).expect(201);
        }
        let page = builder.make("/v1/statuspages", &json!({"name": "Page"}));
        for service in &services {
            let component = json!({"name": "Own", "service_id": service});
            builder.make(&format!("/v1/statuspages/{page}/components"), &component);
        }
        let contact = builder.make("/v1/contacts", &json!({"name": "Anna", "email": "anna@example.org"}));
        let layer = json!({"name": "Hours", "contact_ids": [contact], "starts_at": "2020-01-06T08:00:00Z",
            "rotation": {"kind": "daily", "length": 1, "at": "09:00"}});
        let preview =
            json!({"name": "Duty", "layers": vec![layer; 10], "from": "2026-01-01", "to": "2026-12-31"});
        let window = json!({"title": "Work", "scheduled_start": "2196-01-01", "service_ids": services});
        let first = format!("/v1/services/{}", services[0]);
        let simulated = json!({"settings": {"retries": 2}});
        let password =
            json!({"name": "Closed", "access_type": "password", "password": "correct horse battery"});
        let requests = vec![
            ("POST", timeline, json!({"message": long, "status": "monitoring"})),
            ("GET", "/v1/incidents?per_page=100".into(), Value::Null),
            ("PATCH", first.clone(), large("again")),
            ("GET", "/v1/services?per_page=100".into(), Value::Null),
            ("POST", "/v1/statuspages".into(), password),
            ("POST", format!("{first}/simulate"), simulated),
            ("GET", format!("/v1/incidents/{incident}"), Value::Null),
            ("POST", "/v1/maintenances".into(), window),
            ("POST", "/v1/oncall/schedules/preview".into(), preview),
            ("PATCH", format!("/v1/incidents/{incident}"), json!({"service_ids": services[1..]})),
            ("GET", format!("/v1/statuspages/{page}/components"), Value::Null),
            ("DELETE", format!("{first}?delete_orphaned_incidents=true"), Value::Null),
        ];
        Self { client: server.member(&organisation, "all"), requests }
    }

    /// Asks for everything at once, until it is over; counts what was answered otherwise than by the limit of the rate.
    fn ask_until(&self, is_over: &AtomicBool, answered: &AtomicUsize) {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..AT_A_TIME {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        let turn = next.fetch_add(1, Ordering::Relaxed);
                        let (method, path, body) = &self.requests[turn % self.requests.len()];
                        let key = format!("Idempotency-Key: worst-{turn}");
                        let lines = ["Content-Type: application/json", &key];
                        let answer = self.client.send(method, path, &lines, body.to_string().as_bytes());
                        if answer.status == 429 {
                            std::thread::park_timeout(Duration::from_millis(500));
                        } else {
                            answered.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
    }
}

#[rstest]
#[case::on_sqlite(false)]
#[case::on_postgres(true)]
fn one_organisation_does_not_slow_another(#[case] is_postgres: bool) {
    let postgres = if is_postgres { Postgres::start() } else { None };
    let mut variables = vec![("WATCHKEEPER_RATE_LIMIT_PER_MINUTE".to_owned(), "120".to_owned())];
    match &postgres {
        Some(postgres) => variables.extend(
            ["WATCHKEEPER_DATABASE_URL", "WATCHKEEPER_HISTORY_URL"]
                .map(|name| (name.to_owned(), postgres.url())),
        ),
        None if is_postgres => return,
        None => {}
    }
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let server = if is_postgres { Server::with("", &variables) } else { Server::embedded("", &variables) };
    let worst = Worst::prepare(&server);
    let mut measured = Patient::of(&server, server.organisation("business"));
    let begun = Instant::now();
    let (quiet, _) = measured.write_while(|| begun.elapsed() < length());
    let (is_over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (busy, writes) = std::thread::scope(|scope| {
        scope.spawn(|| worst.ask_until(&is_over, &answered));
        let begun = Instant::now();
        // A slow machine takes longer for what the limit of the rate lets through.
        let is_loud =
            || answered.load(Ordering::Relaxed) >= REQUESTS_PER_TOKEN || begun.elapsed() > LOUD_WITHIN;
        let busy = measured.write_while(|| begun.elapsed() < length() || !is_loud());
        is_over.store(true, Ordering::Relaxed);
        busy
    });
    let answered = answered.into_inner();
    println!("quiet p99 {quiet:?}; beside {answered} of the dearest requests {busy:?} of {writes} writes");
    assert!(answered >= REQUESTS_PER_TOKEN, "the neighbour was answered only {answered} times");
    let most = quiet.max(LEAST) * SLOWER;
    assert!(busy <= most, "the slowest hundredth takes {busy:?}, {most:?} is allowed");
}
