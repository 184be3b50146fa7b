//! The canary: a DNS question that every working name server answers, whatever the state of other names.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::UdpSocket;

/// Length of a message's header (RFC 1035, section 4.1.1).
const HEADER_BYTES: usize = 12;
/// The bit of the third byte that is set in a response.
const RESPONSE: u8 = 0x80;

/// `. NS` with recursion desired, its id left zero: every server knows the root, or refuses at once.
pub(crate) const CANARY: [u8; 17] = [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1];

/// Asks one server the canary question, from the local address `source` if given, and waits for the answer. A
/// refusal counts as an answer.
///
/// # Errors
/// When the server cannot be reached, or no socket can be opened.
pub(crate) async fn ask(server: SocketAddr, source: Option<IpAddr>) -> io::Result<()> {
    let socket = connected(server, source).await?;
    let mut question = CANARY;
    getrandom::fill(&mut question[..2]).map_err(io::Error::other)?;
    socket.send(&question).await?;
    let mut datagram = [0; HEADER_BYTES];
    while next_answer(&socket, &mut datagram).await?[..2] != question[..2] {}
    Ok(())
}

/// Opens a socket that receives from this server only.
pub(crate) async fn connected(server: SocketAddr, source: Option<IpAddr>) -> io::Result<UdpSocket> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind(SocketAddr::new(source.unwrap_or(any), 0)).await?;
    socket.connect(server).await?;
    Ok(socket)
}

/// Waits for the next response, truncated to `datagram`; it has at least a complete header.
pub(crate) async fn next_answer<'a>(socket: &UdpSocket, datagram: &'a mut [u8]) -> io::Result<&'a [u8]> {
    loop {
        let length = socket.recv(datagram).await?;
        if length >= HEADER_BYTES && datagram[2] & RESPONSE != 0 {
            return Ok(&datagram[..length]);
        }
    }
}
