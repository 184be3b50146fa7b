//! The floor: the cost of the same exchange in this process without Watchkeeper, measured in the same run.
//!
//! Each exchange uses its own connection; nothing is scheduled, judged or stored. Absolute figures vary with the
//! machine, so the ratio to the floor is what can be compared. There are two floors: one at the pace of the checks,
//! where an idle processor wakes up for each exchange, and a saturated one (one thread, 64 exchanges at a time) for the
//! bare work.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use crate::bench::floor::ping::PingSocket;
use crate::bench::kind::BenchKind;
use crate::bench::usage;

mod http2;
mod ping;

/// Length of a floor measurement.
const LENGTH: Duration = Duration::from_secs(2);
/// Number of concurrent exchanges.
const AT_ONCE: usize = 64;
/// The process counts as idle after a step of this length in which it used less than a twentieth of a core.
const IDLE_STEP: Duration = Duration::from_millis(100);
const IDLE_STEPS_MAX: u32 = 50;
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: floor\r\nConnection: close\r\n\r\n";
/// DNS question: `h0.bench.test`, A, IN.
const QUESTION: &[u8] =
    b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x02h0\x05bench\x04test\x00\x00\x01\x00\x01";

/// The measured exchange, with its peers.
#[derive(Clone)]
pub(super) struct BareExchange {
    pub(super) kind: BenchKind,
    /// Peers, used in turn; for DNS the server.
    pub(super) peers: Vec<SocketAddr>,
    /// TLS configuration: full handshakes, verified as in checks.
    pub(super) tls: Arc<ClientConfig>,
}

/// Cost of bare exchanges.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExchangeCost {
    pub(super) exchanges: u64,
    pub(super) failed: u64,
    pub(super) cpu: Duration,
}

impl ExchangeCost {
    /// Returns the CPU time per exchange in microseconds; `None` if too few exchanges succeeded.
    pub(super) fn cpu_us(&self) -> Option<f64> {
        let is_sound = self.exchanges > 0 && self.failed * 100 <= self.exchanges;
        is_sound.then(|| self.cpu.as_secs_f64() * 1e6 / self.exchanges as f64)
    }
}

/// The floors at two paces, measured one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloorCosts {
    /// As many exchanges per second as checks were due, evenly spread, on as many threads as the engine has.
    pub(super) paced: ExchangeCost,
    /// As many exchanges as one thread can make.
    pub(super) saturated: ExchangeCost,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ExchangePace {
    pub(super) exchanges_per_second: f64,
    pub(super) threads: usize,
}

/// Measures each floor for two seconds. The rest of the process has to be idle, because its CPU time is counted, and
/// checks of an overloaded pipeline take a while to end. Returns `None` if the process does not become idle.
pub(super) async fn measure(
    exchange: BareExchange,
    pace: ExchangePace,
) -> anyhow::Result<Option<FloorCosts>> {
    if !becomes_idle().await? {
        return Ok(None);
    }
    let exchange = Arc::new(exchange);
    let paced = Arc::clone(&exchange);
    let paced =
        tokio::task::spawn_blocking(move || on_threads(pace.threads, || run_paced(Arc::clone(&paced), pace)));
    let paced = paced.await??;
    let saturated = tokio::task::spawn_blocking(move || on_threads(1, || run(Arc::clone(&exchange))));
    Ok(Some(FloorCosts { paced, saturated: saturated.await?? }))
}

/// Runs the same work on several threads, each with its own runtime, and measures the CPU time of the whole process.
fn on_threads<F: Future<Output = Arc<ExchangeTally>>>(
    threads: usize,
    work: impl Fn() -> F + Sync,
) -> anyhow::Result<ExchangeCost> {
    let before = usage::cpu()?;
    let tallies = std::thread::scope(|scope| {
        let start = || -> std::io::Result<Arc<ExchangeTally>> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            Ok(runtime.block_on(work()))
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(start)).collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let cpu = usage::cpu()?.saturating_sub(before);
    let tallies: std::io::Result<Vec<Arc<ExchangeTally>>> = tallies;
    let tallies = tallies?;
    let sum = |count: fn(&ExchangeTally) -> &AtomicU64| {
        tallies.iter().map(|tally| count(tally).load(Ordering::Relaxed)).sum::<u64>()
    };
    Ok(ExchangeCost { exchanges: sum(|tally| &tally.done), failed: sum(|tally| &tally.failed), cpu })
}

async fn becomes_idle() -> anyhow::Result<bool> {
    for _ in 0..IDLE_STEPS_MAX {
        let before = usage::cpu()?;
        tokio::time::sleep(IDLE_STEP).await;
        if usage::cpu()?.saturating_sub(before) * 20 < IDLE_STEP {
            return Ok(true);
        }
    }
    Ok(false)
}

#[derive(Default)]
struct ExchangeTally {
    started: AtomicU64,
    done: AtomicU64,
    failed: AtomicU64,
}

impl ExchangeTally {
    fn note(&self, result: &std::io::Result<()>) {
        let count = if result.is_ok() { &self.done } else { &self.failed };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

async fn run(exchange: Arc<BareExchange>) -> Arc<ExchangeTally> {
    let tally = Arc::new(ExchangeTally::default());
    let end = Instant::now() + LENGTH;
    let at_once = if exchange.kind == BenchKind::Icmp { 1 } else { AT_ONCE };
    let workers = (0..at_once).map(|_| tokio::spawn(work(Arc::clone(&exchange), Arc::clone(&tally), end)));
    futures_util::future::join_all(workers).await;
    tally
}

async fn work(exchange: Arc<BareExchange>, tally: Arc<ExchangeTally>, end: Instant) {
    let ping = exchange.ping();
    while Instant::now() < end {
        let number = tally.started.fetch_add(1, Ordering::Relaxed);
        tally.note(&exchange.make(number, ping.as_ref()).await);
    }
}

/// Starts each exchange at its own time, as checks are started. Pings share a socket and run one after the other.
async fn run_paced(exchange: Arc<BareExchange>, pace: ExchangePace) -> Arc<ExchangeTally> {
    let tally = Arc::new(ExchangeTally::default());
    let ping = exchange.ping();
    let start = Instant::now();
    let between = Duration::from_secs_f64(pace.threads as f64 / pace.exchanges_per_second);
    let mut running = Vec::new();
    let mut due = start;
    while due < start + LENGTH {
        tokio::time::sleep_until(due).await;
        due += between;
        let number = tally.started.fetch_add(1, Ordering::Relaxed);
        if exchange.kind == BenchKind::Icmp {
            tally.note(&exchange.make(number, ping.as_ref()).await);
            continue;
        }
        let (exchange, tally) = (Arc::clone(&exchange), Arc::clone(&tally));
        running.push(tokio::spawn(async move { tally.note(&exchange.make(number, None).await) }));
    }
    futures_util::future::join_all(running).await;
    tally
}

impl BareExchange {
    fn peer(&self, number: u64) -> SocketAddr {
        let index = usize::try_from(number).unwrap_or_default() % self.peers.len();
        self.peers[index]
    }

    /// Opens a socket for pings, if pings are measured and permitted.
    fn ping(&self) -> Option<PingSocket> {
        if self.kind == BenchKind::Icmp { PingSocket::open().ok() } else { None }
    }

    async fn make(&self, number: u64, ping: Option<&PingSocket>) -> std::io::Result<()> {
        match ping {
            Some(ping) => ping.once(number, self.peer(number).ip()).await,
            None => self.once(number).await,
        }
    }

    async fn once(&self, number: u64) -> std::io::Result<()> {
        let peer = self.peer(number);
        match self.kind {
            BenchKind::Http => get(TcpStream::connect(peer).await?).await,
            BenchKind::Https | BenchKind::Http2 => {
                let stream = self.handshake(peer).await?;
                let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                if is_http2 { http2::get(stream).await } else { get(stream).await }
            }
            BenchKind::Ssl => self.handshake(peer).await?.shutdown().await,
            BenchKind::Tcp => TcpStream::connect(peer).await.map(drop),
            BenchKind::Dns => ask(peer).await,
            BenchKind::Icmp => Err(std::io::ErrorKind::PermissionDenied.into()),
        }
    }

    async fn handshake(
        &self,
        peer: SocketAddr,
    ) -> std::io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
        let stream = TcpStream::connect(peer).await?;
        TlsConnector::from(Arc::clone(&self.tls)).connect(ServerName::from(peer.ip()), stream).await
    }
}

async fn get(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> std::io::Result<()> {
    stream.write_all(REQUEST).await?;
    let mut response = [0; 4_096];
    let mut length = 0;
    while length < response.len() {
        match stream.read(&mut response[length..]).await {
            Ok(0) => break,
            Ok(read) => length += read,
            // Some servers close without a TLS close notification.
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(error),
        }
    }
    if response.starts_with(b"HTTP/1.1 ") { Ok(()) } else { Err(std::io::ErrorKind::InvalidData.into()) }
}

async fn ask(server: SocketAddr) -> std::io::Result<()> {
    let any = SocketAddr::new(std::net::Ipv4Addr::UNSPECIFIED.into(), 0);
    let socket = UdpSocket::bind(any).await?;
    socket.connect(server).await?;
    socket.send(QUESTION).await?;
    let mut answer = [0; 512];
    let received = tokio::time::timeout(LENGTH, socket.recv(&mut answer)).await??;
    if answer[..received].starts_with(&QUESTION[..2]) {
        Ok(())
    } else {
        Err(std::io::ErrorKind::InvalidData.into())
    }
}
