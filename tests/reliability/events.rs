//! Reliability 66: a thousand clients listen to a hundred events a second. Each event is with each of them within a second, and
//! checks are as punctual as without them.

use std::io::Read as _;
use std::net::TcpStream;
use std::time::Duration;

use chrono::DateTime;
use serde_json::Value;
use watchkeeper::clock::Timestamp;

use crate::crowd::{Crowd, ROOM, now, number};
use crate::durable_answers::pause;
use crate::endures;
use crate::support::client::Client;
use crate::support::listener::Listener;
use crate::support::server::Server;

/// Clients, checks a second, and for how long they listen; in the long form and in the quick one.
const LONG: (usize, usize, Duration) = (1_000, 100, Duration::from_secs(60));
const QUICK: (usize, usize, Duration) = (100, 20, Duration::from_secs(8));
/// Clients that measure the delay of every event; the others count.
const TIMED: usize = 20;
/// The time from the end of a check until a client has its result.
const DELIVERED_MS: i64 = 1_000;
/// Maximum lateness that listeners may add to checks at p99; the quick form runs beside other tests.
const LATER_MS: i64 = 100;
const LATER_BESIDE_TESTS_MS: i64 = 1_000;

/// The number of events, and of those that are timed how long they took and how late their checks were, in milliseconds.
#[derive(Default)]
struct Heard {
    events: usize,
    delivery_ms: Vec<i64>,
    lateness_ms: Vec<i64>,
}

#[test]
fn a_thousand_clients_get_every_result_within_a_second() {
    let (clients, services, listening) = if endures() { LONG } else { QUICK };
    let server = Server::with(ROOM, &[]);
    let client = server.client();
    Crowd::gather(&client, services);
    // Until every service has been checked, and checks are in phase.
    pause(Duration::from_secs(5));
    let alone = listen(&client, 1, listening / 4);
    let alone = alone.into_iter().next().unwrap();
    let began = number(&client, "results_acked_total");
    let received = listen(&client, clients, listening);
    let acked = number(&client, "results_acked_total") - began;

    let total: usize = received.iter().map(|one| one.events).sum();
    let fewest = received.iter().map(|one| one.events).min().unwrap();
    let timed = received.into_iter().filter(|one| !one.delivery_ms.is_empty());
    let (mut delivery, mut lateness) = (Vec::new(), Vec::new());
    for one in timed {
        delivery.extend(one.delivery_ms);
        lateness.extend(one.lateness_ms);
    }
    let before_ms = percentile(alone.lateness_ms, 99);
    let (p99_ms, max_ms) = (percentile(delivery.clone(), 99), percentile(delivery, 100));
    let later_ms = percentile(lateness, 99);
    println!(
        "{clients} clients, {acked} results while they came, listened and went, {total} events told, at least {fewest} to \
         each; delivered p99 {p99_ms} ms, at most {max_ms} ms; checks late p99 {before_ms} ms before, {later_ms} ms meanwhile"
    );
    let expected = services * usize::try_from(listening.as_secs()).unwrap();
    assert!(fewest * 10 >= expected * 9, "{fewest} of about {expected}");
    let beside_tests = if endures() { 0 } else { DELIVERED_MS };
    assert!(max_ms <= DELIVERED_MS + beside_tests, "{max_ms} ms");
    let allowed_ms = if endures() { LATER_MS } else { LATER_BESIDE_TESTS_MS };
    assert!(later_ms <= before_ms + allowed_ms, "{before_ms} ms, then {later_ms} ms");
}

/// So many clients that listen at the same time, for so long from the moment on at which all of them do.
fn listen(client: &Client, clients: usize, listening: Duration) -> Vec<Heard> {
    let opened: Vec<TcpStream> = (0..clients).map(|_| open(client)).collect();
    let until = now().plus_ms(i64::try_from(listening.as_millis()).unwrap());
    let threads = opened.into_iter().enumerate().map(|(place, stream)| {
        let builder = std::thread::Builder::new().stack_size(128 * 1_024);
        builder.spawn(move || receive(stream, place < TIMED, until)).unwrap()
    });
    let threads: Vec<_> = threads.collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

fn open(client: &Client) -> TcpStream {
    Listener::open(client, "?types=result", None).into_stream()
}

/// Reads until then. Results from before all clients listen are skipped by all.
fn receive(mut stream: TcpStream, is_timed: bool, until: Timestamp) -> Heard {
    let (mut heard, mut buffer) = (Heard::default(), vec![0; 64 * 1_024]);
    let mut rest = Vec::new();
    while now() < until {
        let Ok(read) = stream.read(&mut buffer) else { continue };
        assert!(read > 0, "it was cut off");
        let came = now();
        rest.extend_from_slice(&buffer[..read]);
        let Some(end) = rest.iter().rposition(|byte| *byte == b'\n') else { continue };
        let whole: Vec<u8> = rest.drain(..=end).collect();
        for line in whole.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"data: ")) {
            heard.events += 1;
            if is_timed && let Ok(data) = serde_json::from_slice::<Value>(&line[6..]) {
                note(&mut heard, &data["check"], came);
            }
        }
    }
    heard
}

fn note(heard: &mut Heard, check: &Value, came: Timestamp) {
    let at =
        |name: &str| DateTime::parse_from_rfc3339(check[name].as_str().unwrap()).unwrap().timestamp_millis();
    #[expect(clippy::cast_possible_truncation, reason = "a check takes seconds")]
    let took_ms = check["timings"]["total"].as_f64().unwrap_or_default() as i64;
    heard.delivery_ms.push(came.ms() - at("checked_at") - took_ms);
    heard.lateness_ms.push(at("checked_at") - at("scheduled_at"));
}

fn percentile(mut values: Vec<i64>, percent: usize) -> i64 {
    values.sort_unstable();
    let rank = (values.len() * percent).div_ceil(100);
    values.get(rank.saturating_sub(1)).copied().expect("something was heard")
}
