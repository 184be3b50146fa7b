//! The class of an address: public, private, loopback, or one that is never connected to.
//!
//! IPv6 addresses that contain an IPv4 address (mapped, compatible, translated, tunnelled) are classified by both: the worse
//! class counts. Ranges follow the IANA special-purpose registries.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kinds of addresses, ordered from harmless to forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressClass {
    /// An address on the internet.
    Public,
    /// RFC 1918, carrier-grade NAT, unique local, benchmark networks.
    Private,
    /// An address of this machine.
    Loopback,
    /// Cloud metadata, link-local, multicast, broadcast, unspecified, reserved.
    Never,
}

/// Metadata services outside the link-local ranges: a probe that reads one would expose the machine's credentials.
const METADATA_V4: [Ipv4Addr; 4] = [
    Ipv4Addr::new(100, 100, 100, 200), // Alibaba Cloud
    Ipv4Addr::new(168, 63, 129, 16),   // Azure
    Ipv4Addr::new(192, 0, 0, 192),     // Oracle Cloud
    Ipv4Addr::new(169, 254, 169, 254), // nearly everyone
];

const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254), // AWS
    Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254), // Google Cloud
    Ipv6Addr::new(0xfd00, 0x0042, 0, 0, 0, 0, 0, 0x0042), // Scaleway
];

/// Blocks of IPv4 with their class. The first match decides; an address without a match is public.
const BLOCKS_V4: [(Ipv4Addr, u32, AddressClass); 17] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, AddressClass::Never),
    (Ipv4Addr::new(127, 0, 0, 0), 8, AddressClass::Loopback),
    (Ipv4Addr::new(10, 0, 0, 0), 8, AddressClass::Private),
    (Ipv4Addr::new(172, 16, 0, 0), 12, AddressClass::Private),
    (Ipv4Addr::new(192, 168, 0, 0), 16, AddressClass::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, AddressClass::Private),
    (Ipv4Addr::new(169, 254, 0, 0), 16, AddressClass::Never),
    (Ipv4Addr::new(192, 0, 0, 9), 32, AddressClass::Public),
    (Ipv4Addr::new(192, 0, 0, 10), 32, AddressClass::Public),
    (Ipv4Addr::new(192, 0, 0, 0), 24, AddressClass::Never),
    (Ipv4Addr::new(192, 0, 2, 0), 24, AddressClass::Never),
    (Ipv4Addr::new(192, 88, 99, 0), 24, AddressClass::Never),
    (Ipv4Addr::new(198, 18, 0, 0), 15, AddressClass::Private),
    (Ipv4Addr::new(198, 51, 100, 0), 24, AddressClass::Never),
    (Ipv4Addr::new(203, 0, 113, 0), 24, AddressClass::Never),
    (Ipv4Addr::new(224, 0, 0, 0), 4, AddressClass::Never),
    (Ipv4Addr::new(240, 0, 0, 0), 4, AddressClass::Never),
];

/// IPv6 networks that are never connected to, as shown to users. Apart from the loopback and embedded IPv4
/// addresses, nothing outside of 2000::/3 and fc00::/7 is connected to either.
const NEVER_V6: [&str; 5] = ["2001:2::/48", "2001:10::/28", "2001:20::/28", "2001:db8::/32", "3fff::/20"];

/// The networks of a class, as shown to users: IPv4 in the order of the search, then IPv6, then single
/// addresses.
#[must_use]
pub fn networks_of(class: AddressClass) -> Vec<String> {
    let v4 = BLOCKS_V4.iter().filter(|(.., known)| *known == class);
    let v4 = v4.map(|(block, prefix, _)| format!("{block}/{prefix}"));
    let (single, v6): (Vec<String>, &[&str]) = match class {
        AddressClass::Never => {
            let v4 = METADATA_V4.iter().map(Ipv4Addr::to_string);
            (v4.chain(METADATA_V6.iter().map(Ipv6Addr::to_string)).collect(), &NEVER_V6)
        }
        AddressClass::Private => (Vec::new(), &["fc00::/7"]),
        AddressClass::Loopback => (Vec::new(), &["::1"]),
        AddressClass::Public => (Vec::new(), &[]),
    };
    // A metadata service in a network that is already listed is not listed again.
    let is_covered = |text: &String| {
        text.parse::<Ipv4Addr>().is_ok_and(|address| {
            BLOCKS_V4
                .iter()
                .find(|(block, prefix, _)| is_in(address, *block, *prefix))
                .is_some_and(|found| found.2 == class)
        })
    };
    let single = single.into_iter().filter(|text| !is_covered(text));
    v4.chain(v6.iter().map(ToString::to_string)).chain(single).collect()
}

fn is_in(address: Ipv4Addr, block: Ipv4Addr, prefix: u32) -> bool {
    (address.to_bits() ^ block.to_bits()) >> (32 - prefix) == 0
}

/// Returns the class of `address`, after taking an embedded IPv4 address into account.
#[must_use]
pub fn classify(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(v4) => classify_v4(v4),
        IpAddr::V6(v6) => classify_v6(v6),
    }
}

fn classify_v4(address: Ipv4Addr) -> AddressClass {
    if METADATA_V4.contains(&address) {
        return AddressClass::Never;
    }
    BLOCKS_V4
        .iter()
        .find(|(block, prefix, _)| is_in(address, *block, *prefix))
        .map_or(AddressClass::Public, |(.., class)| *class)
}

fn classify_v6(address: Ipv6Addr) -> AddressClass {
    if address.is_loopback() {
        return AddressClass::Loopback;
    }
    if address.is_unspecified() || METADATA_V6.contains(&address) {
        return AddressClass::Never;
    }
    // A tunnel or translator must not bypass the rules, nor does it make a documentation address usable.
    let prefix = match ipv4_in_prefix(address) {
        Some(inner) => inner.into_iter().map(classify_v4).max().unwrap_or(AddressClass::Never),
        None => native_v6(address.segments()),
    };
    ipv4_in_interface_id(address).map_or(prefix, |inner| prefix.max(classify_v4(inner)))
}

/// Returns the IPv4 addresses contained in an address with a known prefix: two for Teredo (server, client),
/// otherwise the same one twice.
fn ipv4_in_prefix(address: Ipv6Addr) -> Option<[Ipv4Addr; 2]> {
    let at = |from: usize| ipv4_at(address, from);
    let twice = |inner: Ipv4Addr| Some([inner, inner]);
    match address.segments() {
        // IPv4-compatible, -mapped and -translated (RFC 4291, RFC 2765).
        [0, 0, 0, 0, 0 | 0xffff, 0 | 0xffff, _, _] => twice(at(12)),
        // NAT64, well-known prefix and local-use block (RFC 6052, RFC 8215).
        [0x64, 0xff9b, 0 | 1, 0, 0, 0, _, _] => twice(at(12)),
        // 6to4 (RFC 3056).
        [0x2002, ..] => twice(at(2)),
        // Teredo (RFC 4380): the client's address is written inverted.
        [0x2001, 0, ..] => Some([at(4), Ipv4Addr::from_bits(!at(12).to_bits())]),
        _ => None,
    }
}

/// Returns the IPv4 address in an interface identifier of ISATAP (RFC 5214), below any prefix: also below a private one, or
/// one that contains another address itself. The bits "universal" and "group" may be set or not.
fn ipv4_in_interface_id(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [_, _, _, _, 0 | 0x0100 | 0x0200 | 0x0300, 0x5efe, _, _] => Some(ipv4_at(address, 12)),
        _ => None,
    }
}

fn ipv4_at(address: Ipv6Addr, from: usize) -> Ipv4Addr {
    let octets = address.octets();
    Ipv4Addr::new(octets[from], octets[from + 1], octets[from + 2], octets[from + 3])
}

const fn native_v6(segments: [u16; 8]) -> AddressClass {
    match segments {
        [0xfc00..=0xfdff, ..] => AddressClass::Private,
        // Documentation and benchmarking (RFC 3849, RFC 9637, RFC 5180), ORCHID (RFC 4843, RFC 7343).
        [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] | [0x2001, 2, 0, ..] | [0x2001, 0x10..=0x2f, ..] => {
            AddressClass::Never
        }
        [0x2000..=0x3fff, ..] => AddressClass::Public,
        // Link-local, site-local, multicast, discard-only, and all unassigned ranges.
        _ => AddressClass::Never,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::AddressClass::{Loopback, Never, Private, Public};
    use super::*;

    /// The first address of each documented network belongs to its class.
    #[rstest]
    fn documented_networks_match_the_classification(#[values(Never, Private, Loopback)] class: AddressClass) {
        let networks = networks_of(class);
        assert!(!networks.is_empty());
        for network in networks {
            let first = network.split('/').next().unwrap().parse().unwrap();
            // Two addresses in 192.0.0.0/24 are public, but not the first one.
            assert_eq!(classify(first), class, "{network}");
        }
    }

    #[test]
    fn documentation_and_metadata_are_named() {
        let never = networks_of(Never);
        for network in ["192.0.2.0/24", "169.254.0.0/16", "168.63.129.16", "fd00:ec2::254", "2001:db8::/32"] {
            assert!(never.iter().any(|known| known == network), "{network}: {never:?}");
        }
        assert!(!never.iter().any(|known| known == "169.254.169.254"), "{never:?}");
    }

    /// An IPv4 address within an IPv6 address is extracted before the classification.
    #[rstest]
    #[case("1.1.1.1", Public)]
    #[case("172.15.255.255", Public)]
    #[case("172.32.0.0", Public)]
    #[case("100.63.255.255", Public)]
    #[case("100.128.0.0", Public)]
    #[case("198.20.0.0", Public)]
    #[case("192.0.0.9", Public)]
    #[case("223.255.255.255", Public)]
    #[case("10.0.0.1", Private)]
    #[case("172.16.0.0", Private)]
    #[case("172.31.255.255", Private)]
    #[case("192.168.255.255", Private)]
    #[case("100.64.0.1", Private)]
    #[case("127.0.0.1", Loopback)]
    #[case("127.255.255.255", Loopback)]
    #[case("0.0.0.0", Never)]
    #[case("0.1.2.3", Never)]
    #[case("169.254.0.1", Never)]
    #[case("169.254.169.254", Never)]
    #[case("100.100.100.200", Never)]
    #[case("168.63.129.16", Never)]
    #[case("192.0.0.192", Never)]
    #[case("192.0.2.1", Never)]
    #[case("198.18.0.1", Private)]
    #[case("198.51.100.7", Never)]
    #[case("203.0.113.7", Never)]
    #[case("224.0.0.1", Never)]
    #[case("239.255.255.255", Never)]
    #[case("240.0.0.1", Never)]
    #[case("255.255.255.255", Never)]
    #[case("2606:4700:4700::1111", Public)]
    #[case("2a00:1450::1", Public)]
    #[case("fc00::1", Private)]
    #[case("fd12:3456::1", Private)]
    #[case("::1", Loopback)]
    #[case("::", Never)]
    #[case("fd00:ec2::254", Never)]
    #[case("fd20:ce::254", Never)]
    #[case("fd00:42::42", Never)]
    #[case("fe80::1", Never)]
    #[case("febf::1", Never)]
    #[case("fec0::1", Never)]
    #[case("ff02::1", Never)]
    #[case("100::1", Never)]
    #[case("2001:db8::1", Never)]
    #[case("3fff::1", Never)]
    #[case("2001:2::1", Never)]
    #[case("2001:20::1", Never)]
    #[case("4000::1", Never)]
    // Mapped, compatible and translated.
    #[case("::ffff:1.1.1.1", Public)]
    #[case("::ffff:10.0.0.1", Private)]
    #[case("::ffff:127.0.0.1", Loopback)]
    #[case("::ffff:169.254.169.254", Never)]
    #[case("::127.0.0.1", Loopback)]
    #[case("::169.254.169.254", Never)]
    #[case("::ffff:0:127.0.0.1", Loopback)]
    // NAT64, well-known and local-use.
    #[case("64:ff9b::1.1.1.1", Public)]
    #[case("64:ff9b::192.168.0.1", Private)]
    #[case("64:ff9b::169.254.169.254", Never)]
    #[case("64:ff9b:1::169.254.169.254", Never)]
    #[case("64:ff9b:1::10.0.0.1", Private)]
    #[case("64:ff9b:1:a9fe:a9:fe00::", Never)]
    // 6to4 and Teredo.
    #[case("2002:0101:0101::1", Public)]
    #[case("2002:7f00:0001::1", Loopback)]
    #[case("2002:a9fe:a9fe::1", Never)]
    #[case("2001:0:101:101::fefe:fefe", Public)]
    #[case("2001:0:101:101::5601:5601", Never)]
    #[case("2001:0:7f00:1::fefe:fefe", Loopback)]
    // ISATAP.
    #[case("2606:4700::5efe:127.0.0.1", Loopback)]
    #[case("2606:4700::200:5efe:169.254.169.254", Never)]
    #[case("2606:4700::300:5efe:10.0.0.1", Private)]
    #[case("2606:4700::5efe:8.8.8.8", Public)]
    // Nested: the worse class of both counts.
    #[case("fd00::5efe:8.8.8.8", Private)]
    #[case("fe80::5efe:8.8.8.8", Never)]
    #[case("2001:db8::5efe:8.8.8.8", Never)]
    #[case("2002:0a00:0001::5efe:8.8.8.8", Private)]
    #[case("2002:0808:0808::5efe:127.0.0.1", Loopback)]
    #[case("2002:a9fe:a9fe::200:5efe:8.8.8.8", Never)]
    fn every_address_has_its_class(#[case] address: &str, #[case] class: AddressClass) {
        assert_eq!(classify(address.parse().unwrap()), class);
    }
}
