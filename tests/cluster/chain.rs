//! The whole chain: a target, two locations, NATS, two engine nodes, PostgreSQL; what a check costs each of them.
//!
//! The usual form is small, and says only that what is due is checked and stored. docs/capacity.md has the figures of the long one,
//! which needs an optimised program and an idle machine:
//! `WATCHKEEPER_ENDURE=1 WATCHKEEPER_TESTS_BINARY=target/dist/watchkeeper cargo test --test cluster chain:: -- --nocapture`.
//! `WATCHKEEPER_TESTS_CHECKS_PER_SECOND` sets another rate than 5,000.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};
use watchkeeper::bus::connection::BusConnection;
use watchkeeper::bus::reports;
use watchkeeper::bus::subjects::{DEFINITIONS, RESULTS, stream_of};

use crate::bus::node::Nodes;
use crate::bus::place::{Place, invited};
use crate::bus::{messages, now, processor};
use crate::nodes::{JOINED, checks_per_second, endures};
use crate::support::client::{Client, exchange};
use crate::support::eventually;
use crate::support::server::binary;

const LOCATIONS: [&str; 2] = ["fra", "ams"];
/// Addresses on which the target listens.
const HOSTS: usize = 16;
/// Threads that create services.
const CREATORS: usize = 4;
/// Until everything runs evenly once it runs, and until everything is stored.
const SETTLED: Duration = Duration::from_secs(10);
const STORED: Duration = Duration::from_secs(60);

/// Something to check, as fast as the program can be: its own target, in another process.
struct Target {
    process: Child,
    port: u16,
}

impl Target {
    fn start() -> Self {
        let mut command = Command::new(binary());
        command.env_clear().args(["bench", "target", "--type", "http"]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { process, port: line.trim().parse().unwrap() }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Everything, in the order in which it ends.
struct Chain {
    places: Vec<Place>,
    target: Target,
    observer: BusConnection,
    nodes: Nodes,
    services: usize,
}

/// Figures at one moment.
struct Reading {
    at_ms: i64,
    processors: Vec<Duration>,
    all: Duration,
    taken: u64,
    batches: u64,
    published: u64,
    /// Batches in NATS that are not stored yet.
    underway: u64,
    commits: i64,
    log_bytes: i64,
}

impl Chain {
    async fn start(checks_per_second: usize) -> Option<Self> {
        let nodes = Nodes::start(LOCATIONS.len()).await?;
        nodes.until_even(&[0, 1], JOINED).await;
        let places = LOCATIONS.map(|code| Place::joining(&invited(nodes.server(0), code)));
        let client = nodes.client(0);
        let are_online = || {
            let all = client.get("/v1/probes").expect(200).data();
            let online = all.as_array()?.iter().filter(|probe| probe["status"] == "online");
            let online: Vec<&str> = online.filter_map(|probe| probe["code"].as_str()).collect();
            LOCATIONS.iter().all(|code| online.contains(code)).then_some(())
        };
        eventually("the locations are online", are_online).await;
        let target = Target::start();
        let services = checks_per_second / LOCATIONS.len();
        let clients = [nodes.client(0), nodes.client(1)];
        create(&clients, target.port, services);
        let observer = nodes.bus.connect(nodes.bus.node_credentials("c")).await.unwrap();
        let chain = Self { places: places.into(), target, observer, nodes, services };
        chain.until_all_are_checked().await;
        Some(chain)
    }

    /// Waits until each location says that it checks every service, and a little longer.
    async fn until_all_are_checked(&self) {
        let begin = Instant::now();
        loop {
            let told = reports::newest(&self.observer).await.unwrap();
            let checked: Vec<u64> = told.values().map(|(presence, _)| presence.services).collect();
            if checked.len() == LOCATIONS.len() && checked.iter().all(|count| *count == self.services as u64)
            {
                break;
            }
            assert!(begin.elapsed() < STORED, "of {} services locations check {checked:?}", self.services);
            sleep(Duration::from_secs(1)).await;
        }
        sleep(SETTLED).await;
    }

    /// The parts by name, with their processes.
    fn parts(&self) -> Vec<(String, u32)> {
        let engines = (0..self.nodes.count())
            .map(|number| (format!("engine {}", number + 1), self.nodes.server(number).process()));
        let places = LOCATIONS
            .iter()
            .zip(&self.places)
            .map(|(code, place)| (format!("location {code}"), place.process()));
        let nats = self.nodes.bus.server.process().expect("it runs");
        let others = [
            ("NATS".to_owned(), nats),
            ("PostgreSQL".to_owned(), self.nodes.postgres.process()),
            ("target".to_owned(), self.target.process.id()),
        ];
        engines.chain(places).chain(others).collect()
    }

    async fn read(&self) -> Reading {
        let sum = |name| (0..self.nodes.count()).map(|node| self.nodes.number(node, name)).sum();
        let (taken, batches) = (sum("remote_results_total"), sum("remote_batches_total"));
        let (underway, published) = messages(&self.observer, RESULTS).await;
        let commits = self.ask("SELECT sum(xact_commit) FROM pg_stat_database");
        let log_bytes = self.ask("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn");
        let processors = self.parts().iter().map(|(_, process)| processor::used_by(*process)).collect();
        let (at_ms, all) = (now().ms(), processor::used_by_all());
        Reading { at_ms, processors, all, taken, batches, published, underway, commits, log_bytes }
    }

    /// A whole number from the history database.
    fn ask(&self, question: &str) -> i64 {
        self.nodes.postgres.answer("history", &[question]).parse().unwrap()
    }

    /// The checks that started in this time, once all of them are stored.
    async fn stored_in_the_end(&self, from_ms: i64, until_ms: i64) -> i64 {
        let question = format!(
            "SELECT count(*) FROM fresh_check WHERE checked_at >= {from_ms} AND checked_at < {until_ms}"
        );
        let begin = Instant::now();
        let mut before = -1;
        loop {
            let stored = self.ask(&question);
            if stored == before || begin.elapsed() > STORED {
                return stored;
            }
            before = stored;
            sleep(Duration::from_secs(3)).await;
        }
    }
}

/// Creates services that are checked every second from both locations.
fn create(clients: &[Client], port: u16, services: usize) {
    std::thread::scope(|scope| {
        for creator in 0..CREATORS {
            scope.spawn(move || {
                let client = &clients[creator % clients.len()];
                (creator..services).step_by(CREATORS).for_each(|number| create_one(client, port, number));
            });
        }
    });
}

/// Past the client of the other tests, which holds every answer against the description of the API.
fn create_one(client: &Client, port: u16, number: usize) {
    let host = number % HOSTS + 1;
    let settings =
        json!({"interval_seconds": 1, "timeout_seconds": 5, "retries": 0, "assigned_probes": LOCATIONS});
    let body = json!({"name": format!("Service {number}"), "check_type": "http",
        "target": format!("http://127.0.1.{host}:{port}/"), "settings": settings});
    let (body, token) = (body.to_string(), client.token.as_deref().unwrap());
    let head = format!(
        "POST /v1/services HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        client.address,
        body.len()
    );
    exchange(client.address, &[head.as_bytes(), body.as_bytes()].concat()).expect(201);
}

#[tokio::test]
async fn due_checks_are_run_and_stored_by_the_whole_chain() {
    let (rate, seconds) = if endures() { (checks_per_second().unwrap_or(5_000), 60) } else { (40, 5) };
    let Some(chain) = Chain::start(rate).await else { return };
    let load = processor::load();
    let before = chain.read().await;
    sleep(Duration::from_secs(seconds)).await;
    let after = chain.read().await;
    println!("load before {load}, after {}", processor::load());
    let stored = chain.stored_in_the_end(before.at_ms, after.at_ms).await;
    print(&chain, &before, &after, stored);
    print_database(&chain, &before, &after);
    print_locations(&chain).await;
    let doubled = chain.ask(
        "SELECT count(*) FROM (SELECT 1 FROM fresh_check GROUP BY service_id, location_id, scheduled_at \
         HAVING count(*) > 1) AS doubled",
    );
    assert_eq!(doubled, 0, "checks are stored more than once");
    let due = (after.at_ms - before.at_ms) as f64 / 1_000.0 * rate as f64;
    // The throughput of an optimised program is measured by the long form.
    assert!(endures() || (0.8 * due..1.1 * due).contains(&(stored as f64)), "{stored} of {due} are stored");
}

fn print(chain: &Chain, before: &Reading, after: &Reading, stored: i64) {
    let seconds = (after.at_ms - before.at_ms) as f64 / 1_000.0;
    let a_second = |count: u64| count as f64 / seconds;
    let checks = stored as f64;
    println!("{} services every second from {} locations, {seconds:.1} s", chain.services, LOCATIONS.len());
    println!(
        "due {}/s, started and stored in the end {:.0}/s",
        chain.services * LOCATIONS.len(),
        checks / seconds
    );
    println!("stored meanwhile {:.0}/s", a_second(after.taken - before.taken));
    println!("batches that waited on NATS: {} before, {} after", before.underway, after.underway);
    println!(
        "batches: published {:.0}/s, stored {:.0}/s, {:.1} results each",
        a_second(after.published - before.published),
        a_second(after.batches - before.batches),
        (after.taken - before.taken) as f64 / (after.batches - before.batches).max(1) as f64
    );
    let mut sum = Duration::ZERO;
    let used = after.processors.iter().zip(&before.processors);
    for ((name, process), (later, sooner)) in chain.parts().iter().zip(used) {
        let used = later.saturating_sub(*sooner);
        sum += used;
        let a_thousand = used.as_secs_f64() / checks * 1_000.0;
        let cores = used.as_secs_f64() / seconds;
        let mib = processor::resident_mib(*process);
        println!("{name:<14} {a_thousand:.4} CPU s per 1,000 checks, {cores:.3} cores, {mib} MiB");
    }
    let all = after.all.saturating_sub(before.all);
    println!(
        "all parts {:.4} CPU s per 1,000 checks, {:.3} cores; the machine {:.3} cores, others {:.3}",
        sum.as_secs_f64() / checks * 1_000.0,
        sum.as_secs_f64() / seconds,
        all.as_secs_f64() / seconds,
        all.saturating_sub(sum).as_secs_f64() / seconds
    );
}

fn print_database(chain: &Chain, before: &Reading, after: &Reading) {
    let seconds = (after.at_ms - before.at_ms) as f64 / 1_000.0;
    let taken = (after.taken - before.taken).max(1) as f64;
    let rows = chain.ask("SELECT count(*) FROM fresh_check").max(1) as f64;
    let table = chain.ask("SELECT pg_table_size('fresh_check')") as f64;
    let indexes = chain.ask("SELECT pg_indexes_size('fresh_check')") as f64;
    println!(
        "PostgreSQL: {:.0} commits/s, log {:.0} bytes a check; table {:.1} and indexes {:.1} bytes a row of {rows}",
        (after.commits - before.commits) as f64 / seconds,
        (after.log_bytes - before.log_bytes) as f64 / taken,
        table / rows,
        indexes / rows
    );
    let late = chain.nodes.postgres.answer(
        "history",
        &[&format!(
            "SELECT percentile_disc(ARRAY[0.5, 0.9, 0.99, 1]) WITHIN GROUP (ORDER BY checked_at - scheduled_at) \
             FROM fresh_check WHERE checked_at >= {} AND checked_at < {}",
            before.at_ms, after.at_ms
        )],
    );
    println!("lateness p50, p90, p99, most: {late} ms");
}

async fn print_locations(chain: &Chain) {
    for (code, (told, _)) in reports::newest(&chain.observer).await.unwrap() {
        println!(
            "location {code}: missed {}, given up {}, waiting {}, spool {} bytes, p99 of starts {} us late",
            told.missed, told.shed, told.waiting, told.spool_bytes, told.lateness_p99_us
        );
    }
    let mut bucket = chain.observer.jetstream().get_stream(stream_of(DEFINITIONS)).await.unwrap();
    let state = bucket.info().await.unwrap().state.clone();
    println!("definitions: {} of {} bytes each", state.messages, state.bytes / state.messages.max(1));
    for node in 0..chain.nodes.count() {
        let number = |name: &str| chain.nodes.number(node, name);
        println!("engine {}: redelivered {}", node + 1, number("remote_redeliveries_total"));
    }
}
