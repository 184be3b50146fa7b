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
    // The key is not compared with the certificate, because rustls refuses to read one with this critical extension.
    let key = provider.key_provider.load_private_key(key)?;
    Ok(CertifiedKey::new(vec![certificate.der().clone()], key))
}

#[cfg(test)]
mod tests {
    use rustls::crypto::aws_lc_rs::default_provider;
    use x509_parser::prelude::{FromDer as _, X509Certificate};

    use super::*;

    /// RFC 8737, section 3: one name, and the digest in a critical extension.
    #[test]
    fn an_answer_becomes_a_certificate() {
        let answer = ChallengeAnswer {
            token: "token".into(),
            hostname: "status.example.com".into(),
            key_authorization: "token.thumbprint".into(),
        };
        let made = challenge_certificate(&answer, &default_provider()).unwrap();
        let (_, certificate) = X509Certificate::from_der(&made.cert[0]).unwrap();
        let names = certificate.subject_alternative_name().unwrap().unwrap();
        assert_eq!(names.value.general_names.len(), 1);
        let extensions = certificate.extensions();
        let identifier =
            extensions.iter().find(|one| one.oid.to_id_string() == "1.3.6.1.5.5.7.1.31").unwrap();
        assert!(identifier.critical);
        assert_eq!(identifier.value[2..], Sha256::digest("token.thumbprint")[..]);
    }
}
