//! Selects the certificate of a TLS connection by its server name (SNI).

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::certificates::cache::CertificateCache;

/// Protocol name of TLS-ALPN-01 (RFC 8737).
const ACME_PROTOCOL: &[u8] = b"acme-tls/1";

/// TLS refused its configuration.
#[derive(Debug, thiserror::Error)]
#[error("TLS cannot be set up: {0}")]
pub struct TlsSetupError(#[from] rustls::Error);

/// Gives each connection the certificate of its server name; a name without a certificate gets none, which ends the handshake.
#[derive(Debug)]
struct ServerNameResolver(CertificateCache);

impl ResolvesServerCert for ServerNameResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name()?.to_ascii_lowercase();
        let is_challenge = hello.alpn().is_some_and(|offered| offered.eq([ACME_PROTOCOL]));
        if is_challenge { self.0.challenge_certificate(&name) } else { self.0.certificate(&name) }
    }
}

/// The TLS of the listeners that serve these certificates.
#[derive(Clone, Debug)]
pub struct ServerTls(ServerConfig);

impl ServerTls {
    /// The TLS of a server with the certificates of this cache.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(cache: &CertificateCache) -> Result<Self, TlsSetupError> {
        let mut config = ServerConfig::builder_with_provider(Arc::clone(cache.provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(ServerNameResolver(cache.clone())));
        config.alpn_protocols = vec![ACME_PROTOCOL.to_vec()];
        Ok(Self(config))
    }

    /// Returns the configuration, to which the server adds the protocols that it speaks.
    #[must_use]
    pub fn config(&self) -> ServerConfig {
        self.0.clone()
    }
}
