//! Echo requests and replies as bytes (RFC 792, RFC 4443).
//!
//! A reply is told from a forgery by its token: 64 random bits that only the target has seen. Everything that is not
//! a well-formed echo reply is `None`; ICMP errors carry the request inside and are not replies.

/// Length of a request: header, token, zeros; 56 bytes of data as `ping` sends them.
pub(super) const REQUEST_BYTES: usize = 64;

const HEADER_BYTES: usize = 8;
const TOKEN_END: usize = HEADER_BYTES + 8;

/// Protocol number of ICMP in an IPv4 header.
const ICMP: u8 = 1;

/// An address family, as far as ICMP differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Family {
    V4,
    V6,
}

/// What identifies an echo request, and the reply to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Echo {
    pub(super) identifier: u16,
    pub(super) sequence: u16,
    pub(super) token: u64,
}

impl Family {
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

impl Echo {
    /// The request. The checksum of ICMPv6 covers addresses that the kernel chooses; it also fills it in.
    pub(super) fn request(self, family: Family) -> [u8; REQUEST_BYTES] {
        let mut bytes = [0; REQUEST_BYTES];
        bytes[0] = family.request_type();
        bytes[4..6].copy_from_slice(&self.identifier.to_be_bytes());
        bytes[6..8].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[HEADER_BYTES..TOKEN_END].copy_from_slice(&self.token.to_be_bytes());
        if family == Family::V4 {
            let sum = !ones_complement_sum(&bytes);
            bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        bytes
    }

    /// Reads an echo reply, given without IP header.
    pub(super) fn reply(bytes: &[u8], family: Family) -> Option<Self> {
        // The kernel verifies ICMPv6 before it hands a packet out, ICMP on raw sockets only afterwards.
        let is_intact = family == Family::V6 || ones_complement_sum(bytes) == u16::MAX;
        if bytes.len() < TOKEN_END || bytes[..2] != [family.reply_type(), 0] || !is_intact {
            return None;
        }
        Some(Self {
            identifier: u16::from_be_bytes(bytes[4..6].try_into().ok()?),
            sequence: u16::from_be_bytes(bytes[6..8].try_into().ok()?),
            token: u64::from_be_bytes(bytes[HEADER_BYTES..TOKEN_END].try_into().ok()?),
        })
    }
}

/// The payload of an IPv4 packet that carries ICMP.
pub(super) fn without_ipv4_header(packet: &[u8]) -> Option<&[u8]> {
    let header_bytes = usize::from(packet.first()? & 0x0f) * 4;
    let is_icmp = *packet.get(9)? == ICMP && header_bytes >= 20;
    packet.get(header_bytes..).filter(|_| is_icmp)
}

/// RFC 1071, without the final complement; all ones for a message that holds its own checksum.
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

    const ECHO: Echo = Echo {
        identifier: 0x1234,
        sequence: 0xfffe,
        token: 0x0102_0304_0506_0708,
    };

    /// The request as the target would send it back.
    fn reply_to(family: Family) -> [u8; REQUEST_BYTES] {
        let mut bytes = ECHO.request(family);
        bytes[0] = family.reply_type();
        bytes[2..4].fill(0);
        let sum = !ones_complement_sum(&bytes);
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    #[test]
    fn a_reply_carries_what_the_request_said() {
        for family in [Family::V4, Family::V6] {
            assert_eq!(Echo::reply(&reply_to(family), family), Some(ECHO));
        }
    }

    /// The example of RFC 1071, section 3, and a sum that wraps around.
    #[test]
    fn sums_are_those_of_rfc_1071() {
        let example = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(ones_complement_sum(&example), 0xddf2);
        assert_eq!(ones_complement_sum(&[0xff, 0xff, 0x00, 0x01]), 1);
        assert_eq!(ones_complement_sum(&[0xab]), 0xab00);
        assert_eq!(ones_complement_sum(&ECHO.request(Family::V4)), u16::MAX);
    }

    /// The trap: "prohibited" and "unreachable" quote the request, and must not pass for a reply.
    #[test]
    fn icmp_errors_are_not_replies() {
        for kind in [3, 4, 5, 8, 11, 12] {
            let mut bytes = reply_to(Family::V4);
            bytes[0] = kind;
            bytes[2..4].fill(0);
            let sum = !ones_complement_sum(&bytes);
            bytes[2..4].copy_from_slice(&sum.to_be_bytes());
            assert_eq!(Echo::reply(&bytes, Family::V4), None, "type {kind}");
        }
        for kind in [1, 2, 3, 4, 128] {
            let mut bytes = reply_to(Family::V6);
            bytes[0] = kind;
            assert_eq!(Echo::reply(&bytes, Family::V6), None, "type {kind}");
        }
    }

    #[test]
    fn damaged_and_short_packets_are_not_replies() {
        let reply = reply_to(Family::V4);
        for position in 0..reply.len() {
            let mut damaged = reply;
            damaged[position] ^= 0x10;
            assert_eq!(Echo::reply(&damaged, Family::V4), None, "byte {position}");
        }
        for length in 0..TOKEN_END {
            assert_eq!(Echo::reply(&reply[..length], Family::V6), None);
        }
    }

    #[test]
    fn the_ipv4_header_is_taken_off_with_its_options() {
        let mut packet = [0_u8; 40];
        packet[0] = 0x46;
        packet[9] = 1;
        packet[24] = 7;
        assert_eq!(without_ipv4_header(&packet).map(|payload| payload[0]), Some(7));
        packet[9] = 17;
        assert_eq!(without_ipv4_header(&packet), None);
        packet[9] = 1;
        packet[0] = 0x44;
        assert_eq!(without_ipv4_header(&packet), None);
        packet[0] = 0x4f;
        assert_eq!(without_ipv4_header(&packet), None);
        assert_eq!(without_ipv4_header(&[]), None);
    }
}
