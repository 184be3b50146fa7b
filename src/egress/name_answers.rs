//! The resolver's sockets: they pass on only the readable part of an answer, so that the resolver refuses none.
//!
//! An answer that cannot be read at all is passed on unchanged.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::io::{AsyncRead, AsyncWrite};
use hickory_proto::op::Message;
use hickory_proto::serialize::binary::{BinEncodable as _, BinEncoder};
use hickory_resolver::net::runtime::{
    DnsTcpStream, DnsUdpSocket, RuntimeProvider, TokioRuntimeProvider, TokioTime,
};
use tokio::io::ReadBuf;
use tokio::net::UdpSocket;

use super::dns_answer::{DATAGRAM_MAX_BYTES, read_answer};

/// The bit of a message's third byte that is set in a truncated message.
const TRUNCATED: u8 = 0x02;
/// Size in bytes of the length field that precedes a message over TCP.
const LENGTH_BYTES: usize = 2;

/// A datagram socket that passes on the readable part of each answer.
pub(crate) struct AnswerSocket(pub(super) UdpSocket);

impl DnsUdpSocket for AnswerSocket {
    type Time = TokioTime;

    fn poll_recv_from(&self, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<(usize, SocketAddr)>> {
        let mut datagram = vec![0; DATAGRAM_MAX_BYTES];
        let mut datagram = ReadBuf::new(&mut datagram);
        let from = ready!(self.0.poll_recv_from(cx, &mut datagram))?;
        let readable = readable_part(datagram.filled(), room.len());
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

type TokioStream = <TokioRuntimeProvider as RuntimeProvider>::Tcp;

/// A TCP connection that passes on the readable part of each answer.
pub(crate) struct AnswerStream {
    stream: TokioStream,
    /// The received part of a message, with its length in front.
    received: Vec<u8>,
    /// A readable message with its length in front, and the part of it that was passed on.
    readable: io::Cursor<Vec<u8>>,
}

impl AnswerStream {
    pub(super) fn new(stream: TokioStream) -> Self {
        Self { stream, received: Vec::new(), readable: io::Cursor::default() }
    }

    /// Number of bytes that the current message lacks; 0 when it is complete.
    fn missing_bytes(&self) -> usize {
        let length = self.received.first_chunk::<LENGTH_BYTES>();
        let whole = length.map_or(0, |length| usize::from(u16::from_be_bytes(*length)));
        (LENGTH_BYTES + whole).saturating_sub(self.received.len())
    }

    /// Turns the received message into the readable one that is passed on.
    fn finish_message(&mut self) {
        let received = std::mem::take(&mut self.received);
        let message = received.get(LENGTH_BYTES..).unwrap_or_default();
        let framed = readable_part(message, usize::from(u16::MAX)).and_then(|message| {
            let length = u16::try_from(message.len()).ok()?;
            Some([&length.to_be_bytes()[..], &message].concat())
        });
        self.readable = io::Cursor::new(framed.unwrap_or(received));
    }
}

impl DnsTcpStream for AnswerStream {
    type Time = TokioTime;
}

impl AsyncRead for AnswerStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            let given = io::Read::read(&mut self.readable, room)?;
            if given > 0 || room.is_empty() {
                return Poll::Ready(Ok(given));
            }
            let mut piece = vec![0; self.missing_bytes()];
            let length = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut piece))?;
            self.received.extend_from_slice(&piece[..length]);
            match (length, self.received.is_empty()) {
                (0, true) => return Poll::Ready(Ok(0)),
                (0, false) => self.finish_message(),
                _ if self.missing_bytes() == 0 => self.finish_message(),
                _ => {}
            }
        }
    }
}

impl AsyncWrite for AnswerStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        question: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, question)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_close(cx)
    }
}

/// The readable part of a message, with as many of its records as fit. Missing records do not mark it as
/// truncated.
fn readable_part(message: &[u8], max_bytes: usize) -> Option<Vec<u8>> {
    encoded(&read_answer(message)?, max_bytes)
}

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
