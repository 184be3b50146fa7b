//! The only gate for outbound connections: classify, pin, connect.
//!
//! An address becomes a [`PermittedAddress`] only through [`EgressGate::permit`], and only a permitted address
//! can be connected to: the connection goes to the address that was classified, so a name that changes its
//! address in between does not bypass the gate. Names are resolved by the callers; redirects pass the gate
//! again, hop by hop.

mod address;
mod authorities;
mod certificate_time;
mod cryptography;
mod dns_answer;
mod head_limits;
mod lenient;
mod local_fault;
mod local_route;
mod name_answers;
mod name_servers;
mod name_transport;
pub mod outbound;
mod race;
mod socket;
mod system_names;

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use tokio::net::TcpStream;

pub use address::{AddressClass, classify, networks_of};
pub use authorities::CaFileError;
pub(crate) use authorities::authorities;
pub(crate) use certificate_time::CertificateTime;
pub(crate) use cryptography::cryptography;
pub(crate) use dns_answer::{DATAGRAM_MAX_BYTES, read_answer};
pub(crate) use head_limits::{HEAD_MAX_BYTES, HEAD_MAX_LINES};
pub(crate) use lenient::LenientStream;
pub(crate) use local_fault::local_fault;
pub(crate) use name_servers::{addresses, configured_name_servers, find_in_hosts};
pub use system_names::NameFiles;
pub(crate) use system_names::SystemNames;

/// Returns true when the head of a response exceeds the limits. On the client side, hyper reports it only in its error text.
pub(crate) fn is_head_too_large(error: &hyper::Error) -> bool {
    error.is_parse() && error.to_string().contains("too large")
}

/// The addresses that this installation may connect to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EgressPolicy {
    /// Public, private and loopback addresses: the operator monitors machines of their own.
    #[default]
    PrivateAllowed,
    /// Public addresses only: untrusted users may create services.
    PublicOnly,
}

/// The gate: a policy, and the source address of connections.
#[derive(Clone, Copy, Debug, Default)]
pub struct EgressGate {
    /// Decides which addresses are permitted.
    pub policy: EgressPolicy,
    /// Local address of outbound connections of the same family; chosen by the kernel when it is not set.
    pub source: Option<IpAddr>,
}

impl EgressGate {
    /// Classifies an address; a permitted one may be connected to.
    pub fn permit(&self, address: IpAddr) -> Result<PermittedAddress, BlockedAddress> {
        let class = classify(address);
        let allowed = match class {
            AddressClass::Public => true,
            AddressClass::Loopback | AddressClass::Private => self.policy == EgressPolicy::PrivateAllowed,
            AddressClass::Never => false,
        };
        if allowed { Ok(PermittedAddress(address)) } else { Err(BlockedAddress { address, class }) }
    }

    /// Opens a TCP connection to a permitted address.
    pub async fn connect(&self, to: PermittedAddress, port: u16) -> std::io::Result<TcpStream> {
        socket::connect(SocketAddr::new(to.0, port), self.source_for(to.0)).await
    }

    /// Returns true when this machine has no route to an address, or only over an interface that is down.
    pub(crate) fn has_lost_route_to(&self, to: IpAddr) -> bool {
        local_route::is_lost(to, self.source_for(to))
    }

    /// Returns the configured source address for packets to this address, if it is of the same family.
    pub(crate) fn source_for(&self, to: IpAddr) -> Option<IpAddr> {
        self.source.filter(|source| source.is_ipv4() == to.is_ipv4())
    }
}

/// An address that passed the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermittedAddress(IpAddr);

impl PermittedAddress {
    /// Returns the address that passed.
    #[must_use]
    pub const fn address(self) -> IpAddr {
        self.0
    }
}

/// The policy forbids the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockedAddress {
    /// The address as it was given.
    pub address: IpAddr,
    /// The class of the address.
    pub class: AddressClass,
}

impl std::error::Error for BlockedAddress {}

/// Omits the address: the owner of a name need not learn its address within our network.
impl fmt::Display for BlockedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("The egress policy forbids the address of this target")
    }
}

/// Makes closing the connection a reset, so that it leaves no port in `TIME_WAIT`. Only for a finished exchange: data that
/// the peer still sends are lost.
pub fn close_by_reset(stream: &TcpStream) {
    socket::close_by_reset(stream);
}
