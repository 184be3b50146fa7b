//! Reference targets: hosts that a location pings to find out whether its own network works.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// Text for "no reference targets".
const NONE: &str = "none";

/// The reference targets of a location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ReferenceTargets {
    /// Not set: the more general setting applies, and finally the name servers and gateways of the system.
    #[default]
    Unset,
    /// No reference targets: the location never counts as impaired.
    None,
    /// A list of at least one target.
    These(Vec<ReferenceTarget>),
}

/// One reference target: `host` is pinged; for `host:port` a TCP connection is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceTarget {
    /// A host name in lower case or an IP address.
    pub host: String,
    /// The port to connect to; `None` = the host is pinged.
    pub port: Option<u16>,
}

/// Error: the text is not a list of reference targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not reference targets")]
pub struct InvalidReferenceTargets;

impl FromStr for ReferenceTargets {
    type Err = InvalidReferenceTargets;

    fn from_str(text: &str) -> Result<Self, InvalidReferenceTargets> {
        match text.trim() {
            "" => Ok(Self::Unset),
            NONE => Ok(Self::None),
            list => {
                list.split(',').map(|item| item.trim().parse()).collect::<Result<_, _>>().map(Self::These)
            }
        }
    }
}

impl FromStr for ReferenceTarget {
    type Err = InvalidReferenceTargets;

    fn from_str(text: &str) -> Result<Self, InvalidReferenceTargets> {
        if text.parse::<Ipv6Addr>().is_ok() {
            return Ok(Self { host: text.to_owned(), port: None });
        }
        let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once("]:"));
        let (host, port) = match (bracketed, text.split_once(':')) {
            (Some((address, port)), _) if address.parse::<Ipv6Addr>().is_ok() => (address, Some(port)),
            (Some(_), _) => return Err(InvalidReferenceTargets),
            (None, Some((host, port))) if is_host(host) => (host, Some(port)),
            (None, None) if is_host(text) => (text, None),
            _ => return Err(InvalidReferenceTargets),
        };
        let port = port.map(port_number).transpose()?;
        Ok(Self { host: host.to_owned(), port })
    }
}

/// Returns true for an IPv4 address or a host name in lower case. A name must not end in a number, and must not be `none`.
fn is_host(text: &str) -> bool {
    let is_label = |label: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&label.len()) && label.bytes().all(is_allowed)
    };
    let is_number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = text.len() <= 253
        && text.split('.').all(is_label)
        && text.rsplit('.').next().is_some_and(|last| !is_number(last));
    text != NONE && (is_name || text.parse::<IpAddr>().is_ok_and(|address| address.is_ipv4()))
}

/// Parses a port: digits only, 1 to 65535.
fn port_number(text: &str) -> Result<u16, InvalidReferenceTargets> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| is_number && *port != 0).ok_or(InvalidReferenceTargets)
}

impl fmt::Display for ReferenceTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            None => f.write_str(&self.host),
            Some(port) if self.host.contains(':') => write!(f, "[{}]:{port}", self.host),
            Some(port) => write!(f, "{}:{port}", self.host),
        }
    }
}

/// Serialized as the text that is parsed; empty if unset.
impl Serialize for ReferenceTargets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = match self {
            Self::Unset => return serializer.serialize_none(),
            Self::None => NONE.to_owned(),
            Self::These(these) => these.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
        };
        serializer.serialize_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Columns: setting, text shown for it (empty if unset). `None` = refused.
    #[rstest]
    #[case("192.0.2.1", Some("192.0.2.1"))]
    #[case("192.0.2.1:443", Some("192.0.2.1:443"))]
    #[case(
        "gw.example.net:53, 2001:db8::1 ,[2001:db8::1]:443",
        Some("gw.example.net:53,2001:db8::1,[2001:db8::1]:443")
    )]
    #[case(" none ", Some("none"))]
    #[case("", Some("null"))]
    #[case("none,192.0.2.1", None)]
    #[case("192.0.2.1,", None)]
    #[case("192.0.2.300", None)]
    #[case("[2001:db8::1]", None)]
    #[case("[192.0.2.1]:53", None)]
    #[case("192.0.2.1:0", None)]
    #[case("192.0.2.1:+53", None)]
    #[case("https://192.0.2.1", None)]
    #[case("two words", None)]
    fn reference_targets_are_read(#[case] text: &str, #[case] shown: Option<&str>) {
        let read: Option<ReferenceTargets> = text.parse().ok();
        let read = read.map(|targets| serde_json::to_string(&targets).unwrap().replace('"', ""));
        assert_eq!(read.as_deref(), shown);
    }
}
