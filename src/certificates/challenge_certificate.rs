//! The certificate that answers TLS-ALPN-01 (RFC 8737, section 3): self-signed, with the digest of the key authorization.

use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;
use sha2::{Digest as _, Sha256};

use crate::store::acme_challenges::ChallengeAnswer;

/// The certificate for an answer cannot be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum ChallengeCertificateError {
    #[error(transparent)]
    Certificate(#[from] rcgen::Error),
    #[error(transparent)]
    Key(#[from] rustls::Error),
}

/// Makes the certificate for an answer, with a key of its own.
pub(super) fn challenge_certificate(
    answer: &ChallengeAnswer,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, ChallengeCertificateError> {
    let digest = Sha256::digest(&answer.key_authorization);
    let mut params = CertificateParams::new(vec![answer.hostname.clone()])?;
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(&digest)];
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    Ok(CertifiedKey::from_der(vec![certificate.der().clone()], key, provider)?)
}
