//! `watchkeeper bench target`: a cheap target for checks, started by `bench probe` as a child process.
//!
//! HTTP, HTTPS and HTTP/2 respond with 1 KiB and close, TCP closes accepted connections, DNS resolves every name to one
//! address. The process prints its port, and ends when its standard input ends. It listens on loopback only, because its
//! key is public.

use std::io::Read as _;
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use crate::bench::kind::{BenchKind, TARGET_ADDRESSES};

/// Certificate of the target, valid for its addresses; checks can be configured to trust it.
pub(super) const CERTIFICATE: &str = include_str!("target.cert.pem");
const KEY: &str = include_str!("target.key.pem");

/// Backlog of connections to accept.
const BACKLOG: u32 = 4_096;
/// Attempts to find a port that is free on every address.
const PORT_ATTEMPTS: u32 = 20;
/// Longest request or DNS question that is read, in bytes.
const REQUEST_MAX_BYTES: usize = 4_096;
const BODY_BYTES: usize = 1_024;

/// `watchkeeper bench target` and its flags.
#[must_use]
pub fn command() -> Command {
    let kind = Arg::new("type").long("type").required(true).value_parser(str::parse::<BenchKind>);
    Command::new("target").about("Something to check, for bench probe").hide(true).arg(kind)
}

/// Listens until standard input ends.
///
/// # Errors
/// When no port is free, or the kind has no target process.
pub async fn run(arguments: &ArgMatches) -> anyhow::Result<ExitCode> {
    let kind = arguments.get_one::<BenchKind>("type").copied().context("a type is needed")?;
    let port = serve(kind).await?;
    println!("{port}");
    end_of_input().await;
    Ok(ExitCode::SUCCESS)
}

/// Listens on every address; returns the port. The listeners live as long as the runtime.
async fn serve(kind: BenchKind) -> anyhow::Result<u16> {
    match kind {
        BenchKind::Icmp => anyhow::bail!("pings are answered by the kernel"),
        BenchKind::Dns => {
            let socket = UdpSocket::bind((Ipv4Addr::new(127, 0, 1, 1), 0)).await?;
            let port = socket.local_addr()?.port();
            tokio::spawn(answer_questions(socket));
            Ok(port)
        }
        BenchKind::Http | BenchKind::Https | BenchKind::Http2 | BenchKind::Tcp | BenchKind::Ssl => {
            let (port, listeners) = listeners()?;
            let protocol: &[u8] = if kind == BenchKind::Http2 { b"h2" } else { b"http/1.1" };
            let tls = kind.has_certificate().then(|| acceptor(protocol)).transpose()?;
            let service = ConnectionHandler { says_something: kind != BenchKind::Tcp, tls };
            for listener in listeners {
                tokio::spawn(accept(listener, service.clone()));
            }
            Ok(port)
        }
    }
}

/// Waits for the end of standard input, on a thread, because reading blocks.
pub(super) async fn end_of_input() {
    let (sender, ended) = oneshot::channel();
    std::thread::spawn(move || {
        // An error counts as the end.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        let _ = sender.send(());
    });
    let _ = ended.await;
}

/// Returns listeners on all addresses, with the same port.
fn listeners() -> anyhow::Result<(u16, Vec<TcpListener>)> {
    for _ in 0..PORT_ATTEMPTS {
        let first = listen(1, 0)?;
        let port = first.local_addr()?.port();
        let others: std::io::Result<Vec<TcpListener>> =
            (2..=TARGET_ADDRESSES).map(|host| listen(host, port)).collect();
        if let Ok(mut all) = others {
            all.push(first);
            return Ok((port, all));
        }
    }
    anyhow::bail!("no port is free on all of 127.0.1.1 to 127.0.1.{TARGET_ADDRESSES}")
}

fn listen(host: u8, port: u16) -> std::io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::new(127, 0, 1, host), port).into())?;
    socket.listen(BACKLOG)
}

fn acceptor(protocol: &[u8]) -> anyhow::Result<TlsAcceptor> {
    let chain = CertificateDer::pem_slice_iter(CERTIFICATE.as_bytes()).collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes())?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    // Every handshake is a full one, so tickets would be wasted work.
    config.send_tls13_tickets = 0;
    config.alpn_protocols = vec![protocol.to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// The handler of connections of a kind.
#[derive(Clone)]
struct ConnectionHandler {
    says_something: bool,
    tls: Option<TlsAcceptor>,
}

async fn accept(listener: TcpListener, service: ConnectionHandler) {
    loop {
        // A client may give up between connect and accept.
        let Ok((stream, _)) = listener.accept().await else { continue };
        if service.says_something {
            tokio::spawn(converse(stream, service.tls.clone()));
        }
    }
}

/// Serves a connection; its errors are ignored.
async fn converse(stream: TcpStream, tls: Option<TlsAcceptor>) {
    match tls {
        None => drop(respond(stream).await),
        Some(tls) => {
            if let Ok(stream) = tls.accept(stream).await {
                let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                drop(if is_http2 { respond_with_frames(stream).await } else { respond(stream).await });
            }
        }
    }
}

async fn respond(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> std::io::Result<()> {
    let mut request = [0; REQUEST_MAX_BYTES];
    let mut length = 0;
    while !request[..length].ends_with(b"\r\n\r\n") {
        let read = stream.read(&mut request[length..]).await?;
        if read == 0 {
            return Ok(());
        }
        length += read;
    }
    stream.write_all(&response()).await?;
    stream.shutdown().await
}

/// Responds over HTTP/2, in the frames that one request needs (RFC 9113): settings and their acknowledgement, headers
/// (`:status: 200` of the static table, a length), data. Returns when the client closes.
async fn respond_with_frames(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> std::io::Result<()> {
    const PREFACE_BYTES: usize = 24;
    const HEADERS: u8 = 1;
    let mut preface = [0; PREFACE_BYTES];
    stream.read_exact(&mut preface).await?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let mut payload = vec![0; usize::from(u16::from_be_bytes([head[1], head[2]]))];
        stream.read_exact(&mut payload).await?;
        if head[3] == HEADERS {
            break;
        }
    }
    let frames: [&[u8]; 5] = [
        b"\x00\x00\x00\x04\x00\x00\x00\x00\x00",
        b"\x00\x00\x00\x04\x01\x00\x00\x00\x00",
        b"\x00\x00\x08\x01\x04\x00\x00\x00\x01\x88\x0f\x0d\x041024",
        b"\x00\x04\x00\x00\x01\x00\x00\x00\x01",
        &[b'x'; BODY_BYTES],
    ];
    stream.write_all(&frames.concat()).await?;
    let mut rest = [0; 256];
    while stream.read(&mut rest).await? > 0 {}
    stream.shutdown().await
}

fn response() -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {BODY_BYTES}\r\nConnection: close\r\n\r\n"
    );
    [head.as_bytes(), &[b'x'; BODY_BYTES]].concat()
}

async fn answer_questions(socket: UdpSocket) {
    let mut datagram = [0; REQUEST_MAX_BYTES];
    loop {
        // The error concerns the closed port of an earlier client, and reading has cleared it.
        let Ok((length, client)) = socket.recv_from(&mut datagram).await else { continue };
        if let Some(answer) = answer(&datagram[..length]) {
            // The client may be gone.
            let _ = socket.send_to(&answer, client).await;
        }
    }
}

/// Returns a response with one A record for any name; `None` if the datagram is not a question.
fn answer(question: &[u8]) -> Option<Vec<u8>> {
    const HEADER_BYTES: usize = 12;
    /// Header after the id: response, authoritative; one question, one answer, nothing else.
    const HEADER_AFTER_ID: [u8; 10] = [0x84, 0x00, 0, 1, 0, 1, 0, 0, 0, 0];
    /// The record: name of the question, A, IN, 60 s, 127.0.1.1.
    const RECORD: [u8; 16] = [0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 1, 1];
    let name_bytes = question.get(HEADER_BYTES..)?.iter().position(|byte| *byte == 0)? + 1;
    let asked = question.get(HEADER_BYTES..HEADER_BYTES + name_bytes + 4)?;
    Some([&question[..2], &HEADER_AFTER_ID, asked, &RECORD].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dns_query_is_answered_with_one_address() {
        let question =
            b"\xab\xcd\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01\x01h\x05bench\x00\x00\x01\x00\x01\x00\x00\x29"
                .as_slice();
        let answer = answer(question).unwrap();
        assert_eq!(&answer[..4], b"\xab\xcd\x84\x00");
        assert_eq!(&answer[12..25], b"\x01h\x05bench\x00\x00\x01\x00\x01");
        assert_eq!(answer[25..], [0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 1, 1]);
    }

    #[test]
    fn a_malformed_dns_query_is_not_answered() {
        assert_eq!(answer(b"short"), None);
        assert_eq!(answer(b"\xab\xcd\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x05bench"), None);
    }

    #[tokio::test]
    async fn a_request_is_answered_with_one_kibibyte() {
        let port = serve(BenchKind::Http).await.unwrap();
        let mut stream =
            TcpStream::connect((Ipv4Addr::new(127, 0, 1, TARGET_ADDRESSES), port)).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        let mut response = Vec::new();
        stream.read_to_end(&mut response).await.unwrap();
        assert!(response.starts_with(b"HTTP/1.1 200 OK\r\n"));
        assert!(response.ends_with(&[b"\r\n\r\n".as_slice(), &[b'x'; BODY_BYTES]].concat()));
    }

    #[test]
    fn the_embedded_certificate_and_key_fit_together() {
        assert!(acceptor(b"h2").is_ok());
    }
}
