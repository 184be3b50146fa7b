//! Reliability 19: thousands of clients that send their head or their body byte by byte, or never read their answer. Each is
//! closed within 15 s, and all others are answered as quickly as before.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, Type};
use tokio::time::Instant;

use crate::durable_answers::pause;
use crate::support::client::Client;
use crate::support::server::Server;

/// Slow clients of each kind; in the long form ten times as many.
const OF_EACH: usize = 100;
/// The longest time that any of them may stay, and what a busy machine may add.
const CLOSED_WITHIN: Duration = Duration::from_secs(15);
const SLACK: Duration = Duration::from_secs(3);
/// Ordinary requests that are timed before and meanwhile.
const ASKED: usize = 400;
/// Maximum time that a busy machine may add to the slowest of them; the quick form runs beside other tests.
const NOISE: Duration = Duration::from_millis(25);
const NOISE_BESIDE_TESTS: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    SlowHead,
    SlowBody,
    NeverReads,
}

/// A client that takes its time.
struct Slow {
    kind: Kind,
    stream: TcpStream,
    closed_after: Option<Duration>,
}

impl Slow {
    fn start(kind: Kind, client: &Client) -> Self {
        let socket = connected(kind, client.address);
        let token = client.token.as_deref().unwrap();
        let sent = match kind {
            Kind::SlowHead => "GET /v1/me HTTP/1.1\r\nHost: x\r\nX-Slow: ".to_owned(),
            Kind::SlowBody => format!(
                "POST /v1/tags HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: 1000\r\n\r\n{{"
            ),
            // Larger than what both sides keep for it.
            Kind::NeverReads => "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(20),
        };
        Self::sending(kind, socket, &sent)
    }

    /// The same at the separate address of the metrics.
    fn at_metrics(kind: Kind, address: SocketAddr) -> Self {
        let socket = connected(kind, address);
        let sent = match kind {
            Kind::SlowHead | Kind::SlowBody => "GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: ".to_owned(),
            Kind::NeverReads => "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_000),
        };
        Self::sending(kind, socket, &sent)
    }

    fn sending(kind: Kind, socket: Socket, sent: &str) -> Self {
        let mut stream = TcpStream::from(socket);
        stream.write_all(sent.as_bytes()).unwrap();
        stream.set_nonblocking(true).unwrap();
        Self { kind, stream, closed_after: None }
    }

    /// Sends another byte, and sees whether the server has closed.
    fn tick(&mut self, started: Instant) {
        if self.closed_after.is_some() {
            return;
        }
        // A connection that was cut silently is noticed by its sender.
        let is_cut = self.stream.write(b" ").is_err_and(|error| error.kind() != ErrorKind::WouldBlock);
        let is_closed = is_cut || (self.kind != Kind::NeverReads && self.has_ended());
        self.closed_after = is_closed.then(|| started.elapsed());
    }

    /// Reads what is there; the end of the stream, or its breaking, is an end.
    fn has_ended(&mut self) -> bool {
        let mut part = [0; 4_096];
        loop {
            match self.stream.read(&mut part) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return error.kind() != ErrorKind::WouldBlock,
            }
        }
    }
}

fn connected(kind: Kind, address: SocketAddr) -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    if kind == Kind::NeverReads {
        // So little room that the answer waits on the other side.
        socket.set_recv_buffer_size(2_048).unwrap();
    }
    socket.connect(&SockAddr::from(address)).unwrap();
    socket
}

/// The time that 99 of 100 ordinary requests stay below.
fn p99(client: &Client) -> Duration {
    let time = |_| {
        let started = Instant::now();
        client.get("/v1/me").expect(200);
        started.elapsed()
    };
    let mut times: Vec<Duration> = (0..ASKED).map(time).collect();
    times.sort_unstable();
    times[ASKED * 99 / 100]
}

/// Room for the sockets of the test; the server inherits it.
pub(crate) fn raise_limit_of_files() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, most, most).unwrap();
}

#[test]
fn slow_clients_are_disconnected_without_delaying_others() {
    raise_limit_of_files();
    let of_each = if crate::endures() { 10 * OF_EACH } else { OF_EACH };
    let server = Server::start();
    let client = server.client();
    let before = p99(&client);
    let started = Instant::now();
    let kinds = [Kind::SlowHead, Kind::SlowBody, Kind::NeverReads];
    let mut crowd: Vec<Slow> =
        kinds.iter().flat_map(|kind| (0..of_each).map(|_| Slow::start(*kind, &client))).collect();
    let meanwhile = std::thread::scope(|scope| {
        let asking = scope.spawn(|| p99(&client));
        let opened = started.elapsed();
        while crowd.iter().any(|slow| slow.closed_after.is_none())
            && started.elapsed() < opened + CLOSED_WITHIN + SLACK
        {
            crowd.iter_mut().for_each(|slow| slow.tick(started));
            pause(Duration::from_millis(500));
        }
        let latest = |kind: Kind| {
            let of_kind = crowd.iter().filter(|slow| slow.kind == kind);
            of_kind.map(|slow| slow.closed_after).max_by_key(|after| after.unwrap_or(Duration::MAX)).unwrap()
        };
        for kind in kinds {
            println!(
                "{kind:?}: the last of {of_each} was closed after {:?} (opened within {opened:?})",
                latest(kind)
            );
        }
        let open: Vec<Kind> =
            crowd.iter().filter(|slow| slow.closed_after.is_none()).map(|slow| slow.kind).collect();
        assert!(open.is_empty(), "{} are still open, such as {:?}", open.len(), open.first());
        asking.join().unwrap()
    });
    println!("p99 of ordinary requests: {before:?} alone, {meanwhile:?} among slow clients");
    let noise = if crate::endures() { NOISE } else { NOISE_BESIDE_TESTS };
    assert!(meanwhile <= before * 2 + noise, "{before:?} became {meanwhile:?}");
}

/// The separate address of the metrics has the limits of the main one.
#[test]
fn slow_clients_of_the_metrics_are_disconnected_by_the_same_limits() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let _server = Server::with("", &[("WATCHKEEPER_METRICS_LISTEN", &address.to_string())]);
    let kinds = [Kind::SlowHead, Kind::NeverReads];
    let mut crowd = kinds.map(|kind| Slow::at_metrics(kind, address));
    let started = Instant::now();
    while crowd.iter().any(|slow| slow.closed_after.is_none()) && started.elapsed() < CLOSED_WITHIN + SLACK {
        crowd.iter_mut().for_each(|slow| slow.tick(started));
        pause(Duration::from_millis(500));
    }
    for slow in crowd {
        assert!(slow.closed_after.is_some(), "{:?} is still open", slow.kind);
    }
}
