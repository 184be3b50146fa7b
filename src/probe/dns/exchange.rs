//! Asking one name server: a fresh, connected datagram socket, and TCP when the answer does not fit a datagram.
//!
//! The port is random and the socket hears its server alone, so a forger must guess id and port. Waits without end:
//! the caller decides when the server's time is over.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hickory_proto::op::Message;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, UdpSocket};
use tokio::time::timeout;

use super::question::{DATAGRAM_MAX_BYTES, Question, may_refuse_edns};

/// The time after which a datagram is taken for lost and sent again; doubled each time.
const RESEND_AFTER: Duration = Duration::from_secs(1);

/// Asks `server` until it answers. `source` is where the question comes from, when that is configured.
///
/// A server that refuses the question, or does not answer it, may not know EDNS: it is asked without (RFC 6891,
/// section 7).
pub(super) async fn exchange(
    question: &Question,
    server: SocketAddr,
    source: Option<SocketAddr>,
) -> io::Result<Message> {
    let socket = send(question, server, source)?;
    let mut patience = RESEND_AFTER;
    let (mut bytes, mut has_refused) = (question.bytes(), false);
    let message = loop {
        let is_extended = bytes.len() != question.plain_bytes().len();
        match timeout(patience, receive(question, &socket)).await {
            Ok(received) => {
                let message = received?;
                let is_refusal = may_refuse_edns(message.metadata.response_code);
                if !is_refusal || has_refused {
                    break message;
                }
                has_refused = true;
                if !is_extended {
                    continue; // It may be the late answer to the first question.
                }
            }
            Err(_elapsed) => patience *= 2,
        }
        bytes = question.plain_bytes();
        socket.send(bytes).await?;
    };
    if message.metadata.truncation {
        exchange_over_tcp(question, bytes, server, source).await
    } else {
        Ok(message)
    }
}

/// Sends before the socket is handed to the runtime, which saves waiting for it to become writable.
fn send(question: &Question, server: SocketAddr, source: Option<SocketAddr>) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(server), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    if let Some(source) = source {
        socket.bind(&source.into())?;
    }
    socket.connect(&server.into())?;
    socket.send(question.bytes())?;
    UdpSocket::from_std(socket.into())
}

async fn receive(question: &Question, socket: &UdpSocket) -> io::Result<Message> {
    let mut datagram = [0; DATAGRAM_MAX_BYTES as usize];
    loop {
        let length = socket.recv(&mut datagram).await?;
        if let Some(message) = question.answer_in(&datagram[..length]) {
            return Ok(message);
        }
    }
}

/// A message over TCP has its length in front and at most 64 KiB.
async fn exchange_over_tcp(
    question: &Question,
    bytes: &[u8],
    server: SocketAddr,
    source: Option<SocketAddr>,
) -> io::Result<Message> {
    let socket = match server {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    if let Some(source) = source {
        socket.bind(source)?;
    }
    let mut stream = socket.connect(server).await?;
    let length = u16::try_from(bytes.len()).map_err(io::Error::other)?;
    let request = [&length.to_be_bytes(), bytes].concat();
    stream.write_all(&request).await?;
    let mut response = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut response).await?;
    crate::egress::close_by_reset(&stream);
    question.answer_in(&response).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}
