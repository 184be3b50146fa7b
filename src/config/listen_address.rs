//! An address to listen on: one of this machine, `localhost`, or `*` for all of them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// An address and a port to listen on. `localhost` and `*` mean both families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenAddress {
    host: ListenHost,
    port: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListenHost {
    Address(IpAddr),
    /// 127.0.0.1 and ::1.
    Localhost,
    /// 0.0.0.0 and ::.
    Everywhere,
}

impl ListenAddress {
    /// Returns the address; the IPv4 address if both families are meant.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        let ip = match self.host {
            ListenHost::Address(ip) => ip,
            ListenHost::Localhost => IpAddr::V4(Ipv4Addr::LOCALHOST),
            ListenHost::Everywhere => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        };
        SocketAddr::new(ip, self.port)
    }

    /// Returns the IPv6 address of `localhost` or `*`, which is listened on as well if this machine has IPv6; `None` for a
    /// single address.
    #[must_use]
    pub const fn second_address(&self) -> Option<SocketAddr> {
        let ip = match self.host {
            ListenHost::Address(_) => return None,
            ListenHost::Localhost => Ipv6Addr::LOCALHOST,
            ListenHost::Everywhere => Ipv6Addr::UNSPECIFIED,
        };
        Some(SocketAddr::new(IpAddr::V6(ip), self.port))
    }

    /// Returns the port to listen on.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the same host with another port, such as the port that the system assigned for 0.
    #[must_use]
    pub const fn with_port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// Returns true if the address means every address of this machine, of one family or of both.
    #[must_use]
    pub const fn is_everywhere(&self) -> bool {
        self.address().ip().is_unspecified()
    }

    /// Returns the address at which a process on this machine reaches the listener.
    #[must_use]
    pub fn local_address(&self) -> SocketAddr {
        let mut address = self.address();
        if address.ip().is_unspecified() {
            address.set_ip(match address {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        address
    }
}

impl From<SocketAddr> for ListenAddress {
    fn from(address: SocketAddr) -> Self {
        Self { host: ListenHost::Address(address.ip()), port: address.port() }
    }
}

impl FromStr for ListenAddress {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let host = match text.rsplit_once(':') {
            // Host names have no case (RFC 4343).
            Some((host, _)) if host.eq_ignore_ascii_case("localhost") => ListenHost::Localhost,
            Some(("*" | "", _)) => ListenHost::Everywhere,
            _ => return text.parse::<SocketAddr>().map(Self::from).map_err(|_| ()),
        };
        let port = text.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).ok_or(())?;
        Ok(Self { host, port })
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host {
            ListenHost::Address(_) => self.address().fmt(formatter),
            ListenHost::Localhost => write!(formatter, "localhost:{}", self.port),
            ListenHost::Everywhere => write!(formatter, "*:{}", self.port),
        }
    }
}

impl Serialize for ListenAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Columns: the text, its addresses, and the address at which this machine reaches the listener.
    #[rstest]
    #[case("127.0.0.1:80", "127.0.0.1:80", None, "127.0.0.1:80")]
    #[case("[::1]:80", "[::1]:80", None, "[::1]:80")]
    #[case("localhost:80", "127.0.0.1:80", Some("[::1]:80"), "127.0.0.1:80")]
    #[case("LocalHost:80", "127.0.0.1:80", Some("[::1]:80"), "127.0.0.1:80")]
    #[case("*:80", "0.0.0.0:80", Some("[::]:80"), "127.0.0.1:80")]
    #[case(":80", "0.0.0.0:80", Some("[::]:80"), "127.0.0.1:80")]
    #[case("0.0.0.0:80", "0.0.0.0:80", None, "127.0.0.1:80")]
    #[case("[::]:80", "[::]:80", None, "[::1]:80")]
    fn addresses_are_read(
        #[case] text: &str,
        #[case] address: &str,
        #[case] second: Option<&str>,
        #[case] local: &str,
    ) {
        let read: ListenAddress = text.parse().unwrap();
        assert_eq!(read.address().to_string(), address);
        assert_eq!(read.second_address().map(|address| address.to_string()).as_deref(), second);
        assert_eq!(read.local_address().to_string(), local);
        assert_eq!(read.to_string().parse(), Ok(read));
    }

    #[rstest]
    fn other_texts_are_refused(
        #[values("localhost", "localhost:", "localhost:x", "*:70000", "example.net:80", "127.0.0.1", "")]
        text: &str,
    ) {
        assert_eq!(text.parse::<ListenAddress>(), Err(()));
    }
}
