//! The cryptography of TLS: the algorithms that connections offer, and the signatures that they can verify.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::{self, kx_group};

/// The provider for every outbound connection.
///
/// The key exchanges with ML-KEM are omitted: a server that prefers them asks for a second hello, and a check would
/// measure one more round trip.
pub(crate) fn cryptography() -> Arc<CryptoProvider> {
    let kx_groups = vec![kx_group::X25519, kx_group::SECP256R1, kx_group::SECP384R1];
    Arc::new(CryptoProvider { kx_groups, ..aws_lc_rs::default_provider() })
}
