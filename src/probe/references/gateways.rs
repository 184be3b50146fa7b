//! The default gateways of this machine, read from the kernel's current routing tables.
//!
//! Only the main table is read. With a source address, only gateways behind the interface with this address
//! count: another uplink proves nothing about this one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use nix::ifaddrs::getifaddrs;
use nix::net::if_::if_nametoindex;

/// The IPv4 routing table of this thread's network namespace.
const IPV4_ROUTES: &str = "/proc/thread-self/net/route";
const IPV6_ROUTES: &str = "/proc/thread-self/net/ipv6_route";
/// Flags of a usable route that leads to a gateway.
const UP_AND_GATEWAY: u32 = 0x3;

#[derive(Clone, Debug, PartialEq, Eq)]
struct DefaultRoute {
    interface: String,
    gateway: IpAddr,
}

/// Returns the default gateways, each once; an empty list when the tables cannot be read.
pub(super) fn of_this_machine(source: Option<IpAddr>) -> Vec<SocketAddr> {
    let table = |path| std::fs::read_to_string(path).unwrap_or_default();
    let (v4, v6) = (table(IPV4_ROUTES), table(IPV6_ROUTES));
    let routes = v4.lines().filter_map(ipv4_route).chain(v6.lines().filter_map(ipv6_route));
    let uplinks = source.map(interfaces_of);
    let mut gateways = Vec::new();
    for route in routes {
        let is_ours = uplinks.as_ref().is_none_or(|uplinks| uplinks.contains(&route.interface));
        let address = address_of(&route);
        if is_ours && !gateways.contains(&address) {
            gateways.push(address);
        }
    }
    gateways
}

/// Parses `eth0 00000000 0100000A 0003 …`: addresses are in network byte order, read as a native number.
fn ipv4_route(line: &str) -> Option<DefaultRoute> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let number = |index: usize| u32::from_str_radix(fields.get(index)?, 16).ok();
    let (destination, gateway, flags, mask) = (number(1)?, number(2)?, number(3)?, number(7)?);
    (destination == 0 && mask == 0 && flags & UP_AND_GATEWAY == UP_AND_GATEWAY).then(|| DefaultRoute {
        interface: fields[0].to_owned(),
        gateway: Ipv4Addr::from(gateway.to_ne_bytes()).into(),
    })
}

/// Parses `destination length source length gateway metric references use flags interface`.
fn ipv6_route(line: &str) -> Option<DefaultRoute> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let [destination, length, _, _, gateway, _, _, _, flags, interface] = fields[..] else { return None };
    let address = |text: &str| u128::from_str_radix(text, 16).ok().map(Ipv6Addr::from_bits);
    let flags = u32::from_str_radix(flags, 16).ok()?;
    let is_default = address(destination)?.is_unspecified() && length == "00";
    let gateway = address(gateway)?;
    (is_default && flags & UP_AND_GATEWAY == UP_AND_GATEWAY && !gateway.is_unspecified())
        .then(|| DefaultRoute { interface: interface.to_owned(), gateway: gateway.into() })
}

/// Returns the address of the gateway; a link-local one includes its interface.
fn address_of(route: &DefaultRoute) -> SocketAddr {
    match route.gateway {
        IpAddr::V6(v6) if v6.is_unicast_link_local() => {
            let scope = if_nametoindex(route.interface.as_str()).unwrap_or_default();
            SocketAddrV6::new(v6, 0, 0, scope).into()
        }
        address => SocketAddr::new(address, 0),
    }
}

fn interfaces_of(source: IpAddr) -> Vec<String> {
    let Ok(interfaces) = getifaddrs() else { return Vec::new() };
    let has_source = |interface: &nix::ifaddrs::InterfaceAddress| {
        let address = interface.address.as_ref();
        let v4 = address.and_then(|address| address.as_sockaddr_in()).map(|v4| IpAddr::V4(v4.ip()));
        let v6 = address.and_then(|address| address.as_sockaddr_in6()).map(|v6| IpAddr::V6(v6.ip()));
        v4.or(v6) == Some(source)
    };
    interfaces.filter(has_source).map(|interface| interface.interface_name).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::the_heading("Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask", None)]
    #[case::a_default("eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0", Some("eth0 192.0.2.1"))]
    #[case::a_network("eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0", None)]
    #[case::without_a_gateway("ppp0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0", None)]
    #[case::half_of_everything("tun0\t00000000\t0100000A\t0003\t0\t0\t0\t00000080\t0\t0\t0", None)]
    fn default_routes_of_ipv4_are_read(#[case] line: &str, #[case] expected: Option<&str>) {
        let read = ipv4_route(line).map(|route| format!("{} {}", route.interface, route.gateway));
        assert_eq!(read.as_deref(), expected);
    }

    const NOWHERE: &str = "00000000000000000000000000000000";

    #[rstest]
    #[case::a_default("00", "fd000000000000000000000000000001", "00000003", Some("eth0 fd00::1"))]
    #[case::a_network("08", "fd000000000000000000000000000001", "00000003", None)]
    #[case::without_a_gateway("00", NOWHERE, "00000001", None)]
    #[case::to_nowhere("00", NOWHERE, "00200200", None)]
    fn default_routes_of_ipv6_are_read(
        #[case] length: &str,
        #[case] gateway: &str,
        #[case] flags: &str,
        #[case] expected: Option<&str>,
    ) {
        let line =
            format!("{NOWHERE} {length} {NOWHERE} 00 {gateway} 00000400 00000003 00000000 {flags}     eth0");
        let read = ipv6_route(&line).map(|route| format!("{} {}", route.interface, route.gateway));
        assert_eq!(read.as_deref(), expected);
    }
}
