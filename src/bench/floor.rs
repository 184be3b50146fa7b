//! The floor: what the same exchange costs in this process without Watchkeeper, measured in the same run.
//!
//! One thread, 64 exchanges at a time, each on a connection of its own; nothing is scheduled, judged or stored. Machines
//! are noisy and differ, so the ratio to this is what can be compared.

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

use crate::bench::floor::ping::Ping;
use crate::bench::kind::Kind;
use crate::bench::usage;

mod ping;

/// How long a floor is measured.
const LENGTH: Duration = Duration::from_secs(2);
/// Exchanges at a time.
const AT_ONCE: usize = 64;
/// After a step in which the process used less than a twentieth of a core, it is idle.
const IDLE_STEP: Duration = Duration::from_millis(100);
const IDLE_STEPS_MAX: u32 = 50;
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: floor\r\nConnection: close\r\n\r\n";
/// `h0.bench.test`, A, IN.
const QUESTION: &[u8] =
    b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x02h0\x05bench\x04test\x00\x00\x01\x00\x01";

/// What is exchanged with whom.
#[derive(Clone)]
pub(super) struct Exchange {
    pub(super) kind: Kind,
    /// Taken in turn; for DNS the server.
    pub(super) peers: Vec<SocketAddr>,
    /// For `https` and `ssl`: full handshakes, any certificate.
    pub(super) tls: Arc<ClientConfig>,
}

/// What bare exchanges cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floor {
    pub(super) exchanges: u64,
    pub(super) failed: u64,
    pub(super) cpu: Duration,
}

impl Floor {
    /// Microseconds of CPU time per exchange; `None` when too few succeeded to say.
    pub(super) fn cpu_us(&self) -> Option<f64> {
        let is_sound = self.exchanges > 0 && self.failed * 100 <= self.exchanges;
        is_sound.then(|| self.cpu.as_secs_f64() * 1e6 / self.exchanges as f64)
    }
}

/// Measures for two seconds. The rest of the process has to be idle, because its CPU time is counted: checks of an
/// overloaded pipeline take a while to end. `None` when they do not.
pub(super) async fn measure(exchange: Exchange) -> anyhow::Result<Option<Floor>> {
    if !becomes_idle().await? {
        return Ok(None);
    }
    let measured = tokio::task::spawn_blocking(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let before = usage::cpu()?;
        let tally = runtime.block_on(run(exchange));
        let cpu = usage::cpu()?.saturating_sub(before);
        Ok(Floor {
            exchanges: tally.done.load(Ordering::Relaxed),
            failed: tally.failed.load(Ordering::Relaxed),
            cpu,
        })
    })
    .await?;
    measured.map(Some)
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
struct Tally {
    started: AtomicU64,
    done: AtomicU64,
    failed: AtomicU64,
}

async fn run(exchange: Exchange) -> Arc<Tally> {
    let tally = Arc::new(Tally::default());
    let end = Instant::now() + LENGTH;
    let exchange = Arc::new(exchange);
    let at_once = if exchange.kind == Kind::Icmp { 1 } else { AT_ONCE };
    let workers = (0..at_once).map(|_| tokio::spawn(work(Arc::clone(&exchange), Arc::clone(&tally), end)));
    futures_util::future::join_all(workers).await;
    tally
}

async fn work(exchange: Arc<Exchange>, tally: Arc<Tally>, end: Instant) {
    let ping = if exchange.kind == Kind::Icmp { Ping::open().ok() } else { None };
    while Instant::now() < end {
        let number = tally.started.fetch_add(1, Ordering::Relaxed);
        let result = match &ping {
            Some(ping) => ping.once(number, &exchange).await,
            None => exchange.once(number).await,
        };
        match result {
            Ok(()) => tally.done.fetch_add(1, Ordering::Relaxed),
            Err(_) => tally.failed.fetch_add(1, Ordering::Relaxed),
        };
    }
}

impl Exchange {
    fn peer(&self, number: u64) -> SocketAddr {
        let place = usize::try_from(number).unwrap_or_default() % self.peers.len();
        self.peers[place]
    }

    async fn once(&self, number: u64) -> std::io::Result<()> {
        let peer = self.peer(number);
        match self.kind {
            Kind::Http => get(TcpStream::connect(peer).await?).await,
            Kind::Https => get(self.handshake(peer).await?).await,
            Kind::Ssl => self.handshake(peer).await?.shutdown().await,
            Kind::Tcp => TcpStream::connect(peer).await.map(drop),
            Kind::Dns => ask(peer).await,
            Kind::Icmp => Err(std::io::ErrorKind::PermissionDenied.into()),
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
            // Servers that close without saying so under TLS.
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
