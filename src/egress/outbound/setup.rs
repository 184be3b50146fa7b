//! The dependencies of the client, and the errors of its setup.

use std::net::SocketAddr;
use std::path::Path;

use crate::clock::Clock;
use crate::egress::{CaFileError, EgressGate};

/// The dependencies of a client.
#[derive(Debug)]
pub struct OutboundParts<'a> {
    /// The gate that permits connections.
    pub egress: EgressGate,
    /// Name servers; the system's if empty.
    pub dns_servers: &'a [SocketAddr],
    /// Certificate authorities that are trusted in addition to the system's; a PEM file.
    pub ca_file: Option<&'a Path>,
    /// Wall time for judging certificates.
    pub clock: Clock,
}

/// The reasons why the client cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    /// The file of further certificate authorities cannot be used.
    #[error(transparent)]
    CaFile(#[from] CaFileError),
    /// No resolver can be set up.
    #[error("names cannot be resolved here: {0}")]
    Resolver(#[from] hickory_resolver::net::NetError),
    /// The TLS library refused its configuration.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
}
