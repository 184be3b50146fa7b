//! The measured kinds of checks, and the targets of their services.
//!
//! HTTPS is a kind of its own although its check type is `http`: a handshake costs ten times the rest. With the target
//! that a run starts, `https` uses HTTP/1.1 and `http2` HTTP/2, and the embedded certificate is verified; given targets
//! decide on the protocol, and their certificates are not verified.

use std::net::Ipv4Addr;
use std::str::FromStr;

use serde_json::{Map, Value, json};

use crate::model::check::CheckType;

/// Addresses that a target listens on, from 127.0.1.1 on; the embedded certificate names them.
pub(super) const TARGET_ADDRESSES: u8 = 16;
/// Hosts that are pinged: 127.1.x.y, answered by the kernel.
const PINGED_HOSTS: u32 = 1_000;

/// A kind of measured check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BenchKind {
    Http,
    Https,
    Http2,
    Tcp,
    Dns,
    Icmp,
    Ssl,
}

impl BenchKind {
    /// Every kind, in the order of the report.
    pub(super) const ALL: [Self; 7] =
        [Self::Http, Self::Https, Self::Http2, Self::Tcp, Self::Dns, Self::Icmp, Self::Ssl];

    /// Returns the name on the command line.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Http2 => "http2",
            Self::Tcp => "tcp",
            Self::Dns => "dns",
            Self::Icmp => "icmp",
            Self::Ssl => "ssl",
        }
    }

    /// Returns the check type of the kind's services.
    pub(super) const fn check_type(self) -> CheckType {
        match self {
            Self::Http | Self::Https | Self::Http2 => CheckType::Http,
            Self::Tcp => CheckType::Tcp,
            Self::Dns => CheckType::Dns,
            Self::Icmp => CheckType::Icmp,
            Self::Ssl => CheckType::Ssl,
        }
    }

    /// Returns the check configuration of the kind's services; `verifies` is true if certificates are those of the run's
    /// own target.
    pub(super) fn config(self, verifies: bool) -> Map<String, Value> {
        match self {
            Self::Https | Self::Http2 => Map::from_iter([("verify_ssl".to_owned(), json!(verifies))]),
            _ => Map::new(),
        }
    }

    /// Returns true if the kind's target has a certificate.
    pub(super) const fn has_certificate(self) -> bool {
        matches!(self, Self::Https | Self::Http2 | Self::Ssl)
    }

    /// Returns the number of exchanges with the target per check; the floor is measured per exchange.
    pub(super) const fn exchanges(self) -> u8 {
        match self {
            Self::Icmp => crate::probe::ECHO_REQUESTS,
            _ => 1,
        }
    }

    /// Returns true if the kind's target is a process that has to be started; pings are answered by the kernel.
    pub(super) const fn needs_process(self) -> bool {
        !matches!(self, Self::Icmp)
    }

    /// Returns the default targets of the services.
    pub(super) fn targets(self, port: u16) -> Vec<String> {
        let listening = (1..=TARGET_ADDRESSES).map(|host| Ipv4Addr::new(127, 0, 1, host));
        let pinged = (0..PINGED_HOSTS).map(|host| Ipv4Addr::from_bits(0x7f01_0001 + host));
        match self {
            Self::Http => listening.map(|address| format!("http://{address}:{port}/")).collect(),
            Self::Https | Self::Http2 => {
                listening.map(|address| format!("https://{address}:{port}/")).collect()
            }
            Self::Tcp | Self::Ssl => listening.map(|address| format!("{address}:{port}")).collect(),
            Self::Dns => (0..1_000).map(|host| format!("h{host}.bench.test")).collect(),
            Self::Icmp => pinged.map(|address| address.to_string()).collect(),
        }
    }
}

/// Error: no kind has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("allowed: http, https, http2, tcp, dns, icmp, ssl")]
pub(super) struct UnknownKind;

impl FromStr for BenchKind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(UnknownKind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::spec::CheckSpec;

    #[test]
    fn every_target_of_every_kind_can_be_checked() {
        for kind in BenchKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            for target in kind.targets(18_080) {
                let spec = CheckSpec::compile(kind.check_type(), &target, 10, &kind.config(true));
                assert!(spec.is_ok(), "{target}: {spec:?}");
            }
        }
        assert_eq!("all".parse::<BenchKind>(), Err(UnknownKind));
    }
}
