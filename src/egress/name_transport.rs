//! The network transport of the resolver: that of Tokio, except that datagrams are parsed as leniently as in glibc.
//!
//! hickory-resolver refuses a message with any record that it cannot parse, and reads no more than 512 bytes without EDNS. It
//! receives the readable part, with as many addresses as fit.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hickory_proto::op::Message;
use hickory_proto::serialize::binary::{BinEncodable as _, BinEncoder};
use hickory_resolver::net::runtime::{DnsUdpSocket, RuntimeProvider, TokioRuntimeProvider, TokioTime};
use tokio::io::ReadBuf;
use tokio::net::UdpSocket;

use super::dns_answer::{DATAGRAM_MAX_BYTES, read_answer};

/// The bit of a message's third byte that marks it as truncated.
const TRUNCATED: u8 = 0x02;

type Opening<T> = Pin<Box<dyn Send + Future<Output = io::Result<T>>>>;

/// Opens the resolver's sockets.
#[derive(Clone, Default)]
pub(crate) struct NameTransport(TokioRuntimeProvider);

impl RuntimeProvider for NameTransport {
    type Handle = <TokioRuntimeProvider as RuntimeProvider>::Handle;
    type Timer = <TokioRuntimeProvider as RuntimeProvider>::Timer;
    type Udp = AnswerSocket;
    type Tcp = <TokioRuntimeProvider as RuntimeProvider>::Tcp;

    fn create_handle(&self) -> Self::Handle {
        self.0.create_handle()
    }

    fn connect_tcp(
        &self,
        server: SocketAddr,
        source: Option<SocketAddr>,
        wait: Option<Duration>,
    ) -> Opening<Self::Tcp> {
        self.0.connect_tcp(server, source, wait)
    }

    fn bind_udp(&self, local: SocketAddr, server: SocketAddr) -> Opening<Self::Udp> {
        let bound = self.0.bind_udp(local, server);
        Box::pin(async move { bound.await.map(AnswerSocket) })
    }
}

/// A socket that returns the readable part of an answer.
pub(crate) struct AnswerSocket(UdpSocket);

impl DnsUdpSocket for AnswerSocket {
    type Time = TokioTime;

    fn poll_recv_from(&self, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<(usize, SocketAddr)>> {
        let mut datagram = vec![0; DATAGRAM_MAX_BYTES];
        let mut datagram = ReadBuf::new(&mut datagram);
        let from = ready!(self.0.poll_recv_from(cx, &mut datagram))?;
        let readable = read_answer(datagram.filled()).and_then(|message| encoded(&message, room.len()));
        let given = readable.as_deref().unwrap_or(datagram.filled());
        let length = given.len().min(room.len());
        room[..length].copy_from_slice(&given[..length]);
        Poll::Ready(Ok((length, from)))
    }

    fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        question: &[u8],
        server: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        self.0.poll_send_to(cx, question, server)
    }
}

/// Encodes the message with as many of its records as fit, without marking it as truncated.
fn encoded(message: &Message, max_bytes: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = BinEncoder::new(&mut bytes);
    encoder.set_max_size(u16::try_from(max_bytes).unwrap_or(u16::MAX));
    message.emit(&mut encoder).ok()?;
    if !message.metadata.truncation {
        *bytes.get_mut(2)? &= !TRUNCATED;
    }
    Some(bytes)
}
