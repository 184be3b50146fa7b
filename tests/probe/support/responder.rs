//! Stands in for the kernel's answers to echo requests, truthfully or not.
//!
//! Only of use where the kernel itself is silent (`namespace`).

use std::net::{IpAddr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

const IP_HEADER_BYTES: usize = 20;

/// Reply to an echo request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// The reply.
    Truthful,
    /// The reply, three times.
    Thrice,
    /// The reply to the second and every further request.
    ButTheFirst,
    /// A reply whose token was guessed.
    WrongToken,
    /// A reply to another request of the same sender.
    WrongSequence,
    /// A reply to another process.
    WrongIdentifier,
    /// A reply that was damaged on the way.
    WrongChecksum,
    /// An invalid reply: the request itself is returned.
    Mirror,
    /// A reply that was sent by another address.
    FromElsewhere,
    /// The reply to the request three before: it arrives after its check is over.
    ThreeLate,
    /// "Destination unreachable" with this code, quoting the request.
    Unreachable(u8),
}

/// Answers the echo requests to one address until it is dropped.
#[derive(Debug)]
pub(crate) struct Responder(JoinHandle<()>);

impl Responder {
    /// Answers requests to `address` in this manner.
    pub(crate) fn start(address: &str, manner: Manner) -> Self {
        let (here, elsewhere) = (socket(address), socket("127.0.0.99"));
        Self(tokio::spawn(async move {
            let mut requests: Vec<Vec<u8>> = Vec::new();
            let mut buffer = [0; 256];
            loop {
                let (length, from) = here.recv_from(&mut buffer).await.unwrap();
                let packet = &buffer[..length];
                if packet[IP_HEADER_BYTES] != 8 {
                    continue;
                }
                requests.push(packet.to_vec());
                let sender = if manner == Manner::FromElsewhere { &elsewhere } else { &here };
                for answer in answers(manner, &requests) {
                    sender.send_to(&answer, SocketAddr::new(from.ip(), 0)).await.unwrap();
                }
            }
        }))
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A raw socket that receives packets to `address`, and sends from there.
fn socket(address: &str) -> UdpSocket {
    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4)).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket.set_recv_buffer_size(4 << 20).unwrap();
    let address: IpAddr = address.parse().unwrap();
    socket.bind(&SocketAddr::new(address, 0).into()).unwrap();
    UdpSocket::from_std(socket.into()).unwrap()
}

/// Packets sent after the last of these requests (with their IP headers).
fn answers(manner: Manner, requests: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let request = requests.last().unwrap();
    let mut reply = request[IP_HEADER_BYTES..].to_vec();
    reply[0] = 0;
    match manner {
        Manner::Truthful | Manner::FromElsewhere => vec![sealed(reply)],
        Manner::Thrice => vec![sealed(reply); 3],
        Manner::ButTheFirst => {
            if requests.len() > 1 {
                vec![sealed(reply)]
            } else {
                vec![]
            }
        }
        Manner::WrongToken => vec![sealed(changed(reply, 8))],
        Manner::WrongSequence => vec![sealed(changed(reply, 7))],
        Manner::WrongIdentifier => vec![sealed(changed(reply, 5))],
        Manner::WrongChecksum => vec![changed(sealed(reply), 2)],
        Manner::Mirror => vec![request[IP_HEADER_BYTES..].to_vec()],
        Manner::ThreeLate => {
            let late = requests.len().checked_sub(4).map(|position| &requests[position]);
            late.map(|late| {
                let mut reply = late[IP_HEADER_BYTES..].to_vec();
                reply[0] = 0;
                sealed(reply)
            })
            .into_iter()
            .collect()
        }
        Manner::Unreachable(code) => {
            let quote = [&[3, code, 0, 0, 0, 0, 0, 0], request.as_slice()].concat();
            vec![sealed(quote)]
        }
    }
}

fn changed(mut bytes: Vec<u8>, position: usize) -> Vec<u8> {
    bytes[position] ^= 1;
    bytes
}

/// The message with its checksum (RFC 1071).
fn sealed(mut message: Vec<u8>) -> Vec<u8> {
    message[2..4].fill(0);
    let words = message.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let sum = words.sum::<u32>();
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    let checksum = !u16::try_from(folded).unwrap();
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    message
}
