//! One ICMP socket of one runtime, and the replies that are expected on it.
//!
//! A reply counts when token, sequence, identifier and source address match a request that still waits; the request is
//! then removed, so duplicates and late replies are ignored. A socket filter lets the kernel drop everything but echo
//! replies to this socket, so that raw sockets of several runtimes do not multiply the work.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use socket2::{Domain, Protocol, SockFilter, Socket, Type};
use surge_ping::{PingIdentifier, PingSequence};
use tokio::net::UdpSocket;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::echo::{AddressFamily, EchoIdentity};

/// Receive buffer for some 10,000 replies; the default holds about 260.
const RECEIVE_BUFFER_BYTES: usize = 8 << 20;

/// Maximum length of a reply that is read, with an IPv4 header and its options.
const REPLY_MAX_BYTES: usize = 256;

#[derive(Debug)]
pub(in crate::probe) struct IcmpSocket {
    socket: UdpSocket,
    family: AddressFamily,
    /// Raw or datagram, which determines the format of received packets.
    socket_type: Type,
    identifier: PingIdentifier,
    sequence: AtomicU16,
    waiting: Mutex<HashMap<u64, PendingEcho>>,
}

/// A request that waits for its reply.
#[derive(Debug)]
struct PendingEcho {
    address: IpAddr,
    sequence: PingSequence,
    sent: Instant,
    reply: oneshot::Sender<Duration>,
}

/// The expected reply to one request; dropping it ends the expectation.
#[derive(Debug)]
pub(in crate::probe) struct ExpectedReply<'a> {
    socket: &'a IcmpSocket,
    token: u64,
    round_trip: oneshot::Receiver<Duration>,
}

/// Returns true if this process may send pings, that is, open a raw socket or a ping socket.
#[must_use]
pub fn is_permitted() -> bool {
    let open = |kind| Socket::new(Domain::IPV4, kind, Some(Protocol::ICMPV4)).is_ok();
    open(Type::RAW) || open(Type::DGRAM)
}

impl IcmpSocket {
    /// Opens a raw socket, or a ping socket where raw ones are not permitted. Belongs to the current runtime.
    pub(super) fn open(family: AddressFamily, source: Option<IpAddr>) -> io::Result<Self> {
        let (domain, protocol) = match family {
            AddressFamily::V4 => (Domain::IPV4, Protocol::ICMPV4),
            AddressFamily::V6 => (Domain::IPV6, Protocol::ICMPV6),
        };
        let (socket, socket_type) = match Socket::new(domain, Type::RAW, Some(protocol)) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                (Socket::new(domain, Type::DGRAM, Some(protocol))?, Type::DGRAM)
            }
            raw => (raw?, Type::RAW),
        };
        socket.set_nonblocking(true)?;
        // The system may allow less, which is accepted.
        let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES);
        let any = match family {
            AddressFamily::V4 => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            AddressFamily::V6 => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        socket.bind(&SocketAddr::new(source.unwrap_or(any), 0).into())?;
        let identifier = if socket_type == Type::RAW {
            let identifier = u16::from_ne_bytes(random()?);
            socket.attach_filter(&only_replies(family, identifier))?;
            identifier
        } else {
            // The kernel has chosen the identifier, treats it as a port, and drops other replies by itself.
            let local = socket.local_addr()?.as_socket();
            local.map_or(0, |address| address.port())
        };
        Ok(Self {
            socket: UdpSocket::from_std(socket.into())?,
            family,
            socket_type,
            identifier: PingIdentifier(identifier),
            sequence: AtomicU16::new(0),
            waiting: Mutex::default(),
        })
    }

    /// Sends an echo request; the port of `to` is 0. Waits only while the socket's send buffer is full.
    pub(in crate::probe) async fn send(&self, to: SocketAddr) -> io::Result<ExpectedReply<'_>> {
        let echo = EchoIdentity {
            identifier: self.identifier,
            sequence: PingSequence(self.sequence.fetch_add(1, Ordering::Relaxed)),
            token: u64::from_ne_bytes(random()?),
        };
        let (reply, round_trip) = oneshot::channel();
        let expected = ExpectedReply { socket: self, token: echo.token, round_trip };
        let request = echo.request(self.family);
        let waiting = PendingEcho { address: to.ip(), sequence: echo.sequence, sent: Instant::now(), reply };
        self.waiting().insert(echo.token, waiting);
        self.socket.send_to(&request, to).await?;
        Ok(expected)
    }

    /// Delivers replies for as long as the runtime lives.
    pub(super) async fn listen(&self) {
        let mut buffer = [0; REPLY_MAX_BYTES];
        loop {
            // An error is an ICMP error from some other peer; receiving it has cleared it.
            if let Ok((length, from)) = self.socket.recv_from(&mut buffer).await {
                self.accept(&buffer[..length], from.ip(), Instant::now());
            }
        }
    }

    fn accept(&self, packet: &[u8], from: IpAddr, received: Instant) {
        let Some(echo) = EchoIdentity::reply(packet, self.socket_type, from) else { return };
        let mut waiting = self.waiting();
        let is_expected = waiting.get(&echo.token).is_some_and(|request| {
            request.address == from && request.sequence == echo.sequence && echo.identifier == self.identifier
        });
        if is_expected && let Some(request) = waiting.remove(&echo.token) {
            // The receiver is gone when the check has just ended; the reply is late then.
            let _ = request.reply.send(received.saturating_duration_since(request.sent));
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, PendingEcho>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ExpectedReply<'_> {
    /// Returns the round trip; waits for the reply without a timeout.
    pub(in crate::probe) async fn round_trip(&mut self) -> Duration {
        match (&mut self.round_trip).await {
            Ok(round_trip) => round_trip,
            // Only the socket holds the sender, and drops it after sending.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for ExpectedReply<'_> {
    fn drop(&mut self) {
        self.socket.waiting().remove(&self.token);
    }
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Kernel filter for echo replies with our identifier. Packets of raw IPv4 sockets start with the IP header.
fn only_replies(family: AddressFamily, identifier: u16) -> Vec<SockFilter> {
    const LOAD_HEADER_LENGTH: u16 = 0xb1;
    const LOAD_BYTE: u16 = 0x30;
    const LOAD_BYTE_AFTER_HEADER: u16 = 0x50;
    const LOAD_HALF: u16 = 0x28;
    const LOAD_HALF_AFTER_HEADER: u16 = 0x48;
    const IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let (load_byte, load_half) = match family {
        AddressFamily::V4 => (LOAD_BYTE_AFTER_HEADER, LOAD_HALF_AFTER_HEADER),
        AddressFamily::V6 => (LOAD_BYTE, LOAD_HALF),
    };
    let header_length = (family == AddressFamily::V4).then(|| SockFilter::new(LOAD_HEADER_LENGTH, 0, 0, 0));
    let questions = [
        SockFilter::new(load_byte, 0, 0, 0),
        SockFilter::new(IF_EQUAL, 0, 3, family.reply_type().into()),
        SockFilter::new(load_half, 0, 0, 4),
        SockFilter::new(IF_EQUAL, 0, 1, identifier.into()),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
        SockFilter::new(RETURN, 0, 0, 0),
    ];
    header_length.into_iter().chain(questions).collect()
}
