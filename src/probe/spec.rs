//! The specification of one check, parsed and ready: no text is parsed again while checks run.
//!
//! A [`CheckSpec`] is compiled once from a stored service (with its secrets opened) and shared by every run.
//! A million specifications may exist at once, so lists have no spare capacity, and default conditions are shared.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hickory_proto::rr::Name;
use http::{HeaderMap, Method};
use url::Url;

use crate::model::word_enum::words;
use crate::probe::condition::Condition;
use crate::probe::endpoint::{Endpoint, Host};

/// One check, ready to run.
#[derive(Debug)]
pub struct CheckSpec {
    /// The longest time that one attempt may take.
    pub timeout: Duration,
    /// The conditions under which the service is degraded or down.
    pub conditions: Arc<[Condition]>,
    /// The kind of check, with its settings.
    pub kind: CheckKind,
}

impl CheckSpec {
    /// Returns the target for the log: without user, password, query and fragment of an address, which may be secrets.
    #[must_use]
    pub fn target_for_log(&self) -> String {
        match &self.kind {
            CheckKind::Http(check) => {
                format!("{}{}", check.url.origin().ascii_serialization(), check.url.path())
            }
            CheckKind::Tcp(TcpCheck { host, port, .. }) | CheckKind::Ssl(SslCheck { host, port, .. }) => {
                host_and_port(host, *port)
            }
            CheckKind::Dns(check) => check.name.to_ascii().trim_end_matches('.').to_owned(),
            CheckKind::Icmp(check) => check.host.to_text(),
        }
    }
}

fn host_and_port(host: &Host, port: u16) -> String {
    match host {
        Host::Ip(IpAddr::V6(address)) => format!("[{address}]:{port}"),
        other => format!("{}:{port}", other.to_text()),
    }
}

/// One check of each type, ready to run.
#[derive(Debug)]
pub enum CheckKind {
    /// One HTTP request and its redirects.
    Http(Box<HttpCheck>),
    /// Opens a TCP connection.
    Tcp(TcpCheck),
    /// One question to a name server.
    Dns(DnsCheck),
    /// Sends echo requests.
    Icmp(IcmpCheck),
    /// The certificate chain of a TLS server.
    Ssl(SslCheck),
}

/// The address families that a check uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddressingOptions {
    /// The families that may be tried.
    pub ip_version: IpVersion,
    /// With `Auto`: true if a name with one dead family is `degraded`.
    pub smart_dualstack: bool,
}

/// The families that may be tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IpVersion {
    /// Both; one answer suffices.
    #[default]
    Auto,
    /// IPv4 only.
    Ipv4,
    /// IPv6 only.
    Ipv6,
}

/// A check by one HTTP request.
#[derive(Debug)]
pub struct HttpCheck {
    /// The URL to request.
    pub url: Url,
    /// `Endpoint::of(&url)`, so that nothing is parsed per check.
    pub endpoint: Endpoint,
    /// Method of the request.
    pub method: Method,
    /// Configured headers and credentials, merged; values are marked sensitive.
    pub headers: HeaderMap,
    /// Sent with `POST`, `PUT` and `PATCH`; otherwise empty.
    pub body: Bytes,
    /// True when redirects are followed.
    pub follow_redirects: bool,
    /// True when the certificate must be valid.
    pub verify_ssl: bool,
    /// The address families that are tried.
    pub addressing: AddressingOptions,
}

/// A check by one TCP connection.
#[derive(Debug)]
pub struct TcpCheck {
    /// The host that is connected to.
    pub host: Host,
    /// Port of the connection, 1..65535.
    pub port: u16,
    /// The address families that are tried.
    pub addressing: AddressingOptions,
}

/// A check by one TLS handshake.
#[derive(Debug)]
pub struct SslCheck {
    /// The host that is connected to; names are also sent as server name.
    pub host: Host,
    /// Port of the connection, 1..65535.
    pub port: u16,
    /// The address families that are tried.
    pub addressing: AddressingOptions,
}

/// Echo requests to one host.
#[derive(Debug)]
pub struct IcmpCheck {
    /// The host that is pinged.
    pub host: Host,
    /// The address families that are tried.
    pub addressing: AddressingOptions,
}

/// One question to a name server.
#[derive(Debug)]
pub struct DnsCheck {
    /// The name asked for, fully qualified.
    pub name: Name,
    /// The record type asked for.
    pub record: DnsRecord,
}

words! {
    /// The record types that a DNS check may ask for.
    pub enum DnsRecord {
        /// IPv4 addresses.
        #[strum(serialize = "A")]
        A,
        /// IPv6 addresses.
        #[strum(serialize = "AAAA")]
        Aaaa,
        /// Mail exchangers.
        #[strum(serialize = "MX")]
        Mx,
        /// The canonical name.
        #[strum(serialize = "CNAME")]
        Cname,
        /// Texts.
        #[strum(serialize = "TXT")]
        Txt,
        /// Name servers.
        #[strum(serialize = "NS")]
        Ns,
    }
}
