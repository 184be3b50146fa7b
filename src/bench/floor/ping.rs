//! The floor of a ping: one echo request and its reply on a raw socket.
//!
//! A socket filter passes only replies; on loopback the kernel would deliver our own requests as well.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use socket2::{Domain, Protocol, SockFilter, Socket, Type};
use tokio::net::UdpSocket;
use tokio::time::timeout;

const REQUEST_BYTES: usize = 64;
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) struct PingSocket(UdpSocket);

impl PingSocket {
    /// Opens the socket, if permitted.
    pub(super) fn open() -> std::io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4))?;
        socket.set_nonblocking(true)?;
        socket.attach_filter(&only_replies())?;
        Ok(Self(UdpSocket::from_std(socket.into())?))
    }

    /// Sends the echo request with this number and waits for its reply.
    pub(super) async fn once(&self, number: u64, peer: IpAddr) -> std::io::Result<()> {
        let sequence = u16::try_from(number & 0xffff).unwrap_or_default();
        self.0.send_to(&request(sequence), SocketAddr::new(peer, 0)).await?;
        let mut reply = [0; 256];
        loop {
            let (length, from) = timeout(PATIENCE, self.0.recv_from(&mut reply)).await??;
            // 20 bytes of IP header, 6 of ICMP before the sequence number.
            if from.ip() == peer && length >= 28 && reply[26..28] == sequence.to_be_bytes() {
                return Ok(());
            }
        }
    }
}

/// Returns an echo request; its checksum (RFC 1071) covers type and sequence number, all other bytes are zero.
fn request(sequence: u16) -> [u8; REQUEST_BYTES] {
    let mut bytes = [0; REQUEST_BYTES];
    bytes[0] = 8;
    bytes[6..8].copy_from_slice(&sequence.to_be_bytes());
    let (sum, carry) = 0x0800_u16.overflowing_add(sequence);
    bytes[2..4].copy_from_slice(&(!(sum + u16::from(carry))).to_be_bytes());
    bytes
}

/// Returns a filter for type 0 after the IP header: an echo reply.
fn only_replies() -> [SockFilter; 5] {
    [
        SockFilter::new(0xb1, 0, 0, 0),
        SockFilter::new(0x50, 0, 0, 0),
        SockFilter::new(0x15, 0, 1, 0),
        SockFilter::new(0x06, 0, 0, u32::MAX),
        SockFilter::new(0x06, 0, 0, 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_complements_the_sum_to_all_ones() {
        for sequence in [0, 1, 0x1234, 0xf7ff, 0xf800, 0xffff] {
            let bytes = request(sequence);
            let words = bytes.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
            let sum: u32 = words.sum();
            assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "{sequence:#x}");
        }
    }
}
