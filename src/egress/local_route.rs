//! This machine's route to an address, over an interface that is up and has a carrier.
//!
//! Used only after an address could not be reached, to distinguish a dead target from a machine that has lost its network. No
//! packet is sent: connecting a datagram socket only looks up the route.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use nix::errno::Errno;
use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::net::if_::InterfaceFlags;

/// The discard service: an arbitrary port.
const PORT: u16 = 9;

/// Returns true when this machine has lost its route to an address. `false` when that cannot be determined.
pub(super) fn is_lost(to: IpAddr, source: Option<IpAddr>) -> bool {
    match local_address(to, source) {
        Ok(local) => interface_of(local).is_some_and(|interface| !is_working(&interface)),
        Err(error) => matches!(
            error.raw_os_error().map(Errno::from_raw),
            Some(Errno::ENETUNREACH | Errno::EHOSTUNREACH | Errno::ENETDOWN | Errno::EADDRNOTAVAIL)
        ),
    }
}

fn local_address(to: IpAddr, source: Option<IpAddr>) -> io::Result<IpAddr> {
    let any = match to {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let socket = UdpSocket::bind(SocketAddr::new(source.unwrap_or(any), 0))?;
    socket.connect(SocketAddr::new(to, PORT))?;
    Ok(socket.local_addr()?.ip())
}

fn interface_of(local: IpAddr) -> Option<InterfaceAddress> {
    getifaddrs().ok()?.find(|interface| address_of(interface) == Some(local))
}

fn address_of(interface: &InterfaceAddress) -> Option<IpAddr> {
    let address = interface.address.as_ref()?;
    let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
}

fn is_working(interface: &InterfaceAddress) -> bool {
    interface.flags.contains(InterfaceFlags::IFF_UP | InterfaceFlags::IFF_LOWER_UP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_always_has_a_route() {
        assert!(!is_lost(Ipv4Addr::LOCALHOST.into(), None));
        assert!(!is_lost(Ipv4Addr::new(127, 3, 2, 1).into(), Some(Ipv4Addr::LOCALHOST.into())));
    }

    #[test]
    fn a_removed_source_address_has_no_route() {
        assert!(is_lost(Ipv4Addr::LOCALHOST.into(), Some(Ipv4Addr::new(192, 0, 2, 1).into())));
    }
}
