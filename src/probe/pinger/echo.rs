//! Echo requests and replies as bytes (RFC 792, RFC 4443).
//!
//! Replies are parsed by surge-ping, but received on our own sockets. The client of surge-ping exposes neither
//! the payload of a reply nor its checksum, so a forgery cannot be detected. It also takes an ICMP error that
//! quotes a request for the reply, and exposes neither its socket nor the receive buffer and filter
//! (`tests/probe/surge.rs` shows the first two).
//!
//! A reply is distinguished from a forgery by its token: 64 random bits that only the target has seen. Everything that is
//! not a well-formed echo reply is `None`; ICMP errors contain the request and are not replies.

use std::net::{IpAddr, Ipv4Addr};

use socket2::Type;
use surge_ping::{Icmpv4Packet, Icmpv6Packet, PingIdentifier, PingSequence};

/// Length of a request: header, token, zeros; 56 bytes of data as `ping` sends them.
pub(super) const REQUEST_BYTES: usize = 64;

const HEADER_BYTES: usize = 8;
const TOKEN_END: usize = HEADER_BYTES + 8;

/// The address families, which differ in ICMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::probe) enum AddressFamily {
    V4,
    V6,
}

/// The fields that identify an echo request, and the reply to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EchoIdentity {
    pub(super) identifier: PingIdentifier,
    pub(super) sequence: PingSequence,
    pub(super) token: u64,
}

impl AddressFamily {
    const fn request_type(self) -> u8 {
        match self {
            Self::V4 => 8,
            Self::V6 => 128,
        }
    }

    /// Type of an echo reply.
    pub(super) const fn reply_type(self) -> u8 {
        match self {
            Self::V4 => 0,
            Self::V6 => 129,
        }
    }
}

impl EchoIdentity {
    /// Returns the request. The checksum of ICMPv6 covers addresses that the kernel chooses, so the kernel fills it in.
    pub(super) fn request(self, family: AddressFamily) -> [u8; REQUEST_BYTES] {
        let mut bytes = [0; REQUEST_BYTES];
        bytes[0] = family.request_type();
        bytes[4..6].copy_from_slice(&self.identifier.into_u16().to_be_bytes());
        bytes[6..8].copy_from_slice(&self.sequence.into_u16().to_be_bytes());
        bytes[HEADER_BYTES..TOKEN_END].copy_from_slice(&self.token.to_be_bytes());
        if family == AddressFamily::V4 {
            let sum = !ones_complement_sum(&bytes);
            bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        bytes
    }

    /// Parses an echo reply in the form that a socket of this type returns: raw IPv4 sockets put the IP header
    /// in front.
    pub(super) fn reply(packet: &[u8], socket: Type, from: IpAddr) -> Option<Self> {
        let header = IcmpHeader::decode(packet, socket, from)?;
        let message = packet.get(packet.len().checked_sub(header.message_bytes)?..)?;
        // The kernel verifies ICMPv6 before it delivers a packet, ICMP on raw sockets only afterwards.
        let is_intact = from.is_ipv6() || ones_complement_sum(message) == u16::MAX;
        let token = message.get(HEADER_BYTES..TOKEN_END)?.try_into().ok()?;
        (header.is_reply && is_intact).then(|| Self {
            identifier: header.identifier,
            sequence: header.sequence,
            token: u64::from_be_bytes(token),
        })
    }
}

/// The header of a message, as parsed by surge-ping.
struct IcmpHeader {
    is_reply: bool,
    identifier: PingIdentifier,
    sequence: PingSequence,
    message_bytes: usize,
}

impl IcmpHeader {
    /// Decodes the header. For an ICMP error, identifier and sequence are those of the quoted request.
    fn decode(packet: &[u8], socket: Type, from: IpAddr) -> Option<Self> {
        match from {
            IpAddr::V4(from) => {
                let message = Icmpv4Packet::decode(packet, socket, from, Ipv4Addr::UNSPECIFIED).ok()?;
                let kind = (message.get_icmp_type().0, message.get_icmp_code().0);
                Some(Self {
                    is_reply: kind == (AddressFamily::V4.reply_type(), 0),
                    identifier: message.get_identifier(),
                    sequence: message.get_sequence(),
                    message_bytes: message.get_size(),
                })
            }
            IpAddr::V6(from) => {
                let message = Icmpv6Packet::decode(packet, from).ok()?;
                let kind = (message.get_icmpv6_type().0, message.get_icmpv6_code().0);
                Some(Self {
                    is_reply: kind == (AddressFamily::V6.reply_type(), 0),
                    identifier: message.get_identifier(),
                    sequence: message.get_sequence(),
                    message_bytes: message.get_size(),
                })
            }
        }
    }
}

/// Checksum of RFC 1071, without the final complement; all ones for a message that contains its own checksum.
fn ones_complement_sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| match *pair {
        [high, low] => u16::from_be_bytes([high, low]),
        _ => u16::from_be_bytes([pair[0], 0]),
    });
    words.fold(0, |sum: u16, word| {
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ECHO: EchoIdentity = EchoIdentity {
        identifier: PingIdentifier(0x1234),
        sequence: PingSequence(0xfffe),
        token: 0x0102_0304_0506_0708,
    };

    /// Parses a packet in the form in which a ping socket receives it.
    fn read(bytes: &[u8], family: AddressFamily) -> Option<EchoIdentity> {
        let from = match family {
            AddressFamily::V4 => "192.0.2.1",
            AddressFamily::V6 => "2001:db8::1",
        };
        EchoIdentity::reply(bytes, Type::DGRAM, from.parse().unwrap())
    }

    /// The request as the target would send it back.
    fn reply_to(family: AddressFamily) -> [u8; REQUEST_BYTES] {
        let mut bytes = ECHO.request(family);
        bytes[0] = family.reply_type();
        bytes[2..4].fill(0);
        let sum = !ones_complement_sum(&bytes);
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    #[test]
    fn a_reply_contains_the_data_of_the_request() {
        for family in [AddressFamily::V4, AddressFamily::V6] {
            assert_eq!(read(&reply_to(family), family), Some(ECHO));
        }
    }

    /// The example of RFC 1071, section 3, and a sum that wraps around.
    #[test]
    fn sums_are_those_of_rfc_1071() {
        let example = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(ones_complement_sum(&example), 0xddf2);
        assert_eq!(ones_complement_sum(&[0xff, 0xff, 0x00, 0x01]), 1);
        assert_eq!(ones_complement_sum(&[0xab]), 0xab00);
        assert_eq!(ones_complement_sum(&ECHO.request(AddressFamily::V4)), u16::MAX);
    }

    /// ICMP errors such as "prohibited" and "unreachable" quote the request, and must not pass for a reply.
    #[test]
    fn icmp_errors_are_not_replies() {
        for kind in [3, 4, 5, 8, 11, 12] {
            let mut bytes = reply_to(AddressFamily::V4);
            bytes[0] = kind;
            bytes[2..4].fill(0);
            let sum = !ones_complement_sum(&bytes);
            bytes[2..4].copy_from_slice(&sum.to_be_bytes());
            assert_eq!(read(&bytes, AddressFamily::V4), None, "type {kind}");
        }
        for kind in [1, 2, 3, 4, 128] {
            let mut bytes = reply_to(AddressFamily::V6);
            bytes[0] = kind;
            assert_eq!(read(&bytes, AddressFamily::V6), None, "type {kind}");
        }
    }

    #[test]
    fn damaged_and_short_packets_are_not_replies() {
        let reply = reply_to(AddressFamily::V4);
        for position in 0..reply.len() {
            let mut damaged = reply;
            damaged[position] ^= 0x10;
            assert_eq!(read(&damaged, AddressFamily::V4), None, "byte {position}");
        }
        for length in 0..TOKEN_END {
            assert_eq!(read(&reply[..length], AddressFamily::V6), None);
        }
    }

    /// A packet from a raw socket, with a header of `header_bytes` bytes.
    fn packet(header_bytes: usize, message: &[u8]) -> Vec<u8> {
        let mut header = vec![0_u8; header_bytes];
        header[0] = 0x40 | u8::try_from(header_bytes / 4).unwrap();
        let total = u16::try_from(header_bytes + message.len()).unwrap();
        header[2..4].copy_from_slice(&total.to_be_bytes());
        header[9] = 1;
        [&header, message].concat()
    }

    #[test]
    fn the_ipv4_header_is_removed_with_its_options() {
        let from = "192.0.2.1".parse().unwrap();
        let reply = reply_to(AddressFamily::V4);
        for header_bytes in [20, 24, 60] {
            assert_eq!(
                EchoIdentity::reply(&packet(header_bytes, &reply), Type::RAW, from),
                Some(ECHO),
                "{header_bytes}"
            );
        }
        for length in 0..36 {
            assert_eq!(EchoIdentity::reply(&packet(20, &reply)[..length], Type::RAW, from), None, "{length}");
        }
        let mut lies = packet(20, &reply);
        lies[0] = 0x4f;
        assert_eq!(EchoIdentity::reply(&lies, Type::RAW, from), None);
    }
}
