//! Targets on this machine: they are reached without any network, so a failure is always the target's own.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use hickory_proto::rr::Name;

use crate::probe::endpoint::Host;
use crate::probe::resolver::Resolver;
use crate::probe::spec::{CheckKind, CheckSpec};

/// Returns true if the target is on this machine. A name is looked up in the hosts file only; the name of a DNS check is
/// never local, because name servers are asked about it.
pub(crate) fn is_here(spec: &CheckSpec, resolver: &Resolver) -> bool {
    let host = match &spec.kind {
        CheckKind::Http(check) => &check.endpoint.host,
        CheckKind::Tcp(check) => &check.host,
        CheckKind::Ssl(check) => &check.host,
        CheckKind::Icmp(check) => &check.host,
        CheckKind::Dns(_) => return false,
    };
    match host {
        Host::Ip(address) => is_own(*address),
        Host::Name(name) => {
            is_localhost(name) || resolver.in_hosts_file(name).is_some_and(|all| all.into_iter().all(is_own))
        }
    }
}

/// Returns true for `localhost` and its subdomains (RFC 6761).
fn is_localhost(name: &Name) -> bool {
    name.iter().next_back().is_some_and(|label| label.eq_ignore_ascii_case(b"localhost"))
}

/// Returns true if the address belongs to this machine: only then can a socket be bound to it.
fn is_own(address: IpAddr) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || UdpSocket::bind(SocketAddr::new(address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("localhost.", true)]
    #[case("shop.LocalHost.", true)]
    #[case("localhost.example.", false)]
    fn localhost_is_local(#[case] name: &str, #[case] expected: bool) {
        assert_eq!(is_localhost(&Name::from_ascii(name).unwrap()), expected);
    }

    #[rstest]
    #[case("127.9.8.7", true)]
    #[case("::1", true)]
    #[case("::ffff:127.0.0.1", true)]
    #[case("192.0.2.77", false)]
    #[case("2001:db8::77", false)]
    fn only_addresses_of_this_machine_are_local(#[case] address: IpAddr, #[case] expected: bool) {
        assert_eq!(is_own(address), expected);
    }
}
