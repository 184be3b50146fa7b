//! Queries to one name server: a fresh, connected datagram socket, and TCP when the answer does not fit a datagram.
//!
//! The port is random and the socket receives from its server only, so a forger must guess id and port. There is no
//! timeout here: the caller limits the server's time.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hickory_proto::op::Message;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, UdpSocket};
use tokio::time::timeout;

use super::question::{DnsQuestion, DnsResponse, is_refusal, may_miss_edns};
use crate::egress::DATAGRAM_MAX_BYTES;

/// The time after which a datagram counts as lost and is sent again; doubled each time.
const RESEND_AFTER: Duration = Duration::from_secs(1);

/// Time limit of the second question, without EDNS, after an empty answer.
const SECOND_ANSWER_WAIT: Duration = Duration::from_millis(500);

/// Asks `server` until it answers. `source` is the local address, when one is configured.
///
/// A server that refuses the question, does not answer it or sends an unreadable answer may not know EDNS: it
/// is asked again without EDNS (RFC 6891, section 7). A server that sends an empty answer without EDNS is asked
/// again as well.
///
/// # Errors
/// `InvalidData` when the server's answers cannot be read.
pub(super) async fn exchange(
    question: &DnsQuestion,
    server: SocketAddr,
    source: Option<SocketAddr>,
) -> io::Result<Message> {
    let socket = send(question, server, source)?;
    let mut patience = RESEND_AFTER;
    let (mut bytes, mut has_refused) = (question.bytes(), false);
    let message = loop {
        let is_extended = bytes.len() != question.plain_bytes().len();
        match timeout(patience, receive(question, &socket)).await {
            Ok(answer) => {
                match answer? {
                    DnsResponse::Answer(message) if is_extended && !is_refusal(&message) => {
                        break second_answer(question, &socket, *message).await?;
                    }
                    DnsResponse::Answer(message) if has_refused || !is_refusal(&message) => break *message,
                    DnsResponse::Unreadable if has_refused => return Err(io::ErrorKind::InvalidData.into()),
                    DnsResponse::Answer(_) | DnsResponse::Unreadable => {}
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

/// Returns `first`, or the answer to the same question without EDNS if only that answer has records.
async fn second_answer(question: &DnsQuestion, socket: &UdpSocket, first: Message) -> io::Result<Message> {
    if !may_miss_edns(&first) || first.metadata.truncation {
        return Ok(first);
    }
    socket.send(question.plain_bytes()).await?;
    Ok(match timeout(SECOND_ANSWER_WAIT, receive(question, socket)).await {
        Ok(Ok(DnsResponse::Answer(second))) if !second.answers.is_empty() => *second,
        _ => first,
    })
}

/// Sends before the socket is handed to the runtime, which saves waiting for it to become writable.
fn send(question: &DnsQuestion, server: SocketAddr, source: Option<SocketAddr>) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(server), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    if let Some(source) = source {
        socket.bind(&source.into())?;
    }
    socket.connect(&server.into())?;
    socket.send(question.bytes())?;
    UdpSocket::from_std(socket.into())
}

async fn receive(question: &DnsQuestion, socket: &UdpSocket) -> io::Result<DnsResponse> {
    let mut datagram = vec![0; DATAGRAM_MAX_BYTES];
    loop {
        let length = socket.recv(&mut datagram).await?;
        if let Some(answer) = question.answer_in(&datagram[..length]) {
            return Ok(answer);
        }
    }
}

/// Asks over TCP, where each message is preceded by its length and has at most 64 KiB.
async fn exchange_over_tcp(
    question: &DnsQuestion,
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
    match question.answer_in(&response) {
        Some(DnsResponse::Answer(message)) => Ok(*message),
        Some(DnsResponse::Unreadable) | None => Err(io::ErrorKind::InvalidData.into()),
    }
}
