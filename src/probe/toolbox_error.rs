//! Errors of setting up the tools of a location. They have a module of their own because the tools report them
//! as well.

use hickory_resolver::net::NetError;

use crate::egress::CaFileError;

/// The reasons why a location cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum ToolboxError {
    /// The file of further certificate authorities cannot be used.
    #[error(transparent)]
    CaFile(#[from] CaFileError),
    /// No resolver can be set up.
    #[error("names cannot be resolved here: {0}")]
    Resolver(#[from] NetError),
    /// The TLS library refused its configuration.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}
