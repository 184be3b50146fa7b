//! The client address that the rate limit counts for (contract 1.9): the peer, or the address that trusted proxies report.
//!
//! A forwarding header is trusted only as far as trusted proxies wrote it. It is read from its end, and the first address
//! that is not a trusted proxy is the client. Nothing else in such headers is used.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use actix_web::http::header::{HeaderMap, HeaderName};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The client's address. A peer without address (a local socket) counts as `0.0.0.0`.
#[must_use]
pub fn client_address(
    peer: Option<SocketAddr>,
    headers: &HeaderMap,
    is_trusted: impl Fn(IpAddr) -> bool,
) -> IpAddr {
    let mut address = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.ip().to_canonical());
    let lines: Vec<_> = headers.get_all(X_FORWARDED_FOR).collect();
    let hops = lines.iter().rev().flat_map(|line| line.to_str().unwrap_or("?").rsplit(','));
    for hop in hops {
        if !is_trusted(address) {
            break;
        }
        // An invalid address ends the trail at the proxy that wrote it.
        let Some(next) = read_hop(hop.trim()) else { break };
        address = next;
    }
    address
}

/// Parses an address with an optional port.
fn read_hop(hop: &str) -> Option<IpAddr> {
    let with_port = hop.parse::<SocketAddr>().map(|address| address.ip());
    let bare = hop.strip_prefix('[').and_then(|hop| hop.strip_suffix(']')).unwrap_or(hop);
    with_port.or_else(|_| bare.parse::<IpAddr>()).ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;
    use rstest::rstest;

    use super::*;

    fn is_trusted(address: IpAddr) -> bool {
        matches!(address, IpAddr::V4(v4) if v4.octets()[0] == 10)
    }

    #[rstest]
    #[case("192.0.2.1:80", &[], "192.0.2.1")]
    #[case("192.0.2.1:80", &["203.0.113.7"], "192.0.2.1")]
    #[case("10.0.0.1:80", &["203.0.113.7"], "203.0.113.7")]
    #[case("10.0.0.1:80", &["198.51.100.1, 203.0.113.7"], "203.0.113.7")]
    #[case("10.0.0.1:80", &["203.0.113.7, 10.0.0.2"], "203.0.113.7")]
    #[case("10.0.0.1:80", &["198.51.100.1", "203.0.113.7,10.0.0.2"], "203.0.113.7")]
    #[case("10.0.0.1:80", &["10.0.0.3, 10.0.0.2"], "10.0.0.3")]
    #[case("10.0.0.1:80", &["203.0.113.7, unknown"], "10.0.0.1")]
    #[case("10.0.0.1:80", &["203.0.113.7:5000"], "203.0.113.7")]
    #[case("10.0.0.1:80", &["[2001:db8::1]:5000"], "2001:db8::1")]
    #[case("10.0.0.1:80", &["[2001:db8::1]"], "2001:db8::1")]
    #[case("10.0.0.1:80", &["::ffff:203.0.113.7"], "203.0.113.7")]
    #[case("[::ffff:10.0.0.1]:80", &["203.0.113.7"], "203.0.113.7")]
    #[case("10.0.0.1:80", &[], "10.0.0.1")]
    fn only_trusted_proxies_can_name_another_address(
        #[case] peer: SocketAddr,
        #[case] forwarded: &[&str],
        #[case] client: IpAddr,
    ) {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(X_FORWARDED_FOR, HeaderValue::from_str(line).unwrap());
        }
        assert_eq!(client_address(Some(peer), &headers, is_trusted), client);
    }
}
