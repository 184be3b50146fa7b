//! A server whose RSA key is restricted to PSS (RFC 4055), which rustls cannot make.
//!
//! Its certificates are made by OpenSSL: the authority signs with SHA-512 and the longest salt, the one between with
//! SHA-384, the server's own key is restricted to SHA-256.

use std::sync::Arc;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeyPair;
use aws_lc_rs::signature::{RSA_PSS_SHA256, RSA_PSS_SHA384, RsaEncoding};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{Signer, SigningKey};
use rustls::{Error, SignatureAlgorithm, SignatureScheme, SupportedProtocolVersion};

use crate::support::certificates::{acceptor, serve};
use crate::support::server::Server;

/// The server's own certificate, the one between, the authority, and the server's key.
pub(crate) const RESTRICTED: &str = include_str!("certificates/restricted.pem");
/// Another authority of the same name.
pub(crate) const STRANGER: &str = include_str!("certificates/restricted_stranger.pem");

/// Signature scheme of the server, whatever it was offered.
#[derive(Clone, Debug)]
pub(crate) enum Signing {
    /// As its key may.
    Allowed,
    /// With a hash function that its key is not for.
    OtherHash,
    /// Nothing at all.
    Junk,
}

/// The key of the server.
#[derive(Debug)]
struct RestrictedKey {
    key: Arc<KeyPair>,
    signing: Signing,
}

impl RestrictedKey {
    fn read(signing: Signing) -> Self {
        let key = PrivateKeyDer::from_pem_slice(RESTRICTED.as_bytes()).unwrap();
        Self { key: Arc::new(KeyPair::from_der(key.secret_der()).unwrap()), signing }
    }
}

impl SigningKey for RestrictedKey {
    fn choose_scheme(&self, _: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        Some(Box::new(Self { key: Arc::clone(&self.key), signing: self.signing.clone() }))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::RSA
    }
}

impl Signer for RestrictedKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut signature = vec![0; self.key.public_modulus_len()];
        let encoding: &'static dyn RsaEncoding = match self.signing {
            Signing::Allowed => &RSA_PSS_SHA256,
            Signing::OtherHash => &RSA_PSS_SHA384,
            Signing::Junk => return Ok(signature),
        };
        self.key.sign(encoding, &SystemRandom::new(), message, &mut signature).unwrap();
        Ok(signature)
    }

    fn scheme(&self) -> SignatureScheme {
        match self.signing {
            Signing::Allowed | Signing::Junk => SignatureScheme::Unknown(0x0809),
            Signing::OtherHash => SignatureScheme::Unknown(0x080a),
        }
    }
}

/// The authority alone.
pub(crate) fn authority() -> &'static str {
    RESTRICTED.split_inclusive("-----END CERTIFICATE-----\n").nth(2).unwrap()
}

/// An HTTPS server that answers `204`, in one of these versions.
pub(crate) async fn serve_restricted(
    signing: Signing,
    versions: &[&'static SupportedProtocolVersion],
) -> Server {
    let certificates = CertificateDer::pem_slice_iter(RESTRICTED.as_bytes());
    let chain = certificates.take(2).map(Result::unwrap).collect();
    serve(acceptor(chain, Arc::new(RestrictedKey::read(signing)), versions, &["http/1.1"])).await
}

/// The same with a certificate whose key it does not have.
pub(crate) async fn serve_without_key(certificate: &str) -> Server {
    let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
    let key = Arc::new(RestrictedKey::read(Signing::Junk));
    serve(acceptor(chain, key, rustls::ALL_VERSIONS, &["http/1.1"])).await
}
