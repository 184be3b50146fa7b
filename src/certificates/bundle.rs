//! A certificate as it is issued and stored: the chain and the private key, both PEM.

use std::fmt;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::clock::Timestamp;
use crate::model::certificate::CertificateValidity;

/// A chain with its private key.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct CertificateBundle {
    /// The certificate and its issuers, PEM.
    pub(super) chain_pem: String,
    /// The private key, PKCS#8 as PEM.
    pub(super) key_pem: String,
}

/// A chain or key that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the certificate cannot be used: {0}")]
pub(super) struct BundleError(String);

/// A certificate in the form in which TLS connections use it.
#[derive(Clone, Debug)]
pub(super) struct UsableCertificate {
    pub(super) key: CertifiedKey,
    pub(super) validity: CertificateValidity,
}

impl CertificateBundle {
    /// Reads the chain and the key.
    ///
    /// # Errors
    /// When one of them is malformed, or they do not belong together.
    pub(super) fn open(&self, provider: &CryptoProvider) -> Result<UsableCertificate, BundleError> {
        let refused = |problem: &dyn fmt::Display| BundleError(problem.to_string());
        let chain: Result<Vec<CertificateDer<'static>>, _> =
            CertificateDer::pem_slice_iter(self.chain_pem.as_bytes()).collect();
        let chain = chain.map_err(|error| refused(&error))?;
        let own = chain.first().ok_or_else(|| refused(&"the chain is empty"))?;
        let validity = validity(own).ok_or_else(|| refused(&"it is not X.509"))?;
        let key = PrivateKeyDer::from_pem_slice(self.key_pem.as_bytes()).map_err(|error| refused(&error))?;
        let key = CertifiedKey::from_der(chain, key, provider).map_err(|error| refused(&error))?;
        Ok(UsableCertificate { key, validity })
    }
}

fn validity(certificate: &CertificateDer<'_>) -> Option<CertificateValidity> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let validity = certificate.validity();
    let time = |seconds: i64| Timestamp::from_ms(seconds.saturating_mul(1_000));
    Some(CertificateValidity {
        not_before: time(validity.not_before.timestamp()),
        not_after: time(validity.not_after.timestamp()),
    })
}

impl fmt::Debug for CertificateBundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CertificateBundle(..)")
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};
    use rustls::crypto::aws_lc_rs::default_provider;

    use super::*;

    fn bundle(key: &KeyPair) -> CertificateBundle {
        let mut params = CertificateParams::new(vec!["status.example.com".into()]).unwrap();
        params.not_before = date_time_ymd(2026, 1, 1);
        params.not_after = date_time_ymd(2026, 4, 1);
        let certificate = params.self_signed(key).unwrap();
        CertificateBundle { chain_pem: certificate.pem(), key_pem: key.serialize_pem() }
    }

    #[test]
    fn a_certificate_is_read_with_its_validity() {
        let bundle = bundle(&KeyPair::generate().unwrap());
        let usable = bundle.open(&default_provider()).unwrap();
        assert_eq!(usable.validity.not_before.to_string(), "2026-01-01T00:00:00.000Z");
        assert_eq!(usable.validity.not_after.to_string(), "2026-04-01T00:00:00.000Z");
        assert!(!format!("{bundle:?}").contains("PRIVATE"));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let good = bundle(&KeyPair::generate().unwrap());
        let other_key = KeyPair::generate().unwrap().serialize_pem();
        for wrong in [
            CertificateBundle { key_pem: other_key, ..good.clone() },
            CertificateBundle { chain_pem: String::new(), ..good.clone() },
            CertificateBundle { key_pem: "no key".into(), ..good },
        ] {
            assert!(wrong.open(&default_provider()).is_err());
        }
    }
}
