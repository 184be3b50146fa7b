//! Seals and opens what must stay secret: the keys of certificates, with their chains, and the key of the ACME account.

use crate::certificates::bundle::CertificateBundle;
use crate::model::secret::{SecretPlace, SecretSealer, UnsealError};

/// Separates the chain from the key in a sealed certificate; occurs in neither of them.
const SEPARATOR: char = '\0';

/// Seals with the key of the installation. Cheap to clone.
#[derive(Clone, Debug)]
pub struct CertificateVault(SecretSealer);

impl CertificateVault {
    /// A vault with the sealer of the installation.
    #[must_use]
    pub const fn new(sealer: SecretSealer) -> Self {
        Self(sealer)
    }

    /// Seals the certificate of the domain with this key.
    pub(super) fn seal_certificate(&self, domain: i64, bundle: &CertificateBundle) -> String {
        let text = format!("{}{SEPARATOR}{}", bundle.chain_pem, bundle.key_pem);
        self.0.seal(certificate_place(&domain.to_string()), &text)
    }

    /// Opens the certificate of the domain with this key.
    ///
    /// # Errors
    /// It was sealed with another key, or for another domain.
    pub(super) fn open_certificate(
        &self,
        domain: i64,
        sealed: &str,
    ) -> Result<CertificateBundle, UnsealError> {
        let text = self.0.open(certificate_place(&domain.to_string()), sealed)?;
        let (chain, key) = text.split_once(SEPARATOR).ok_or(UnsealError)?;
        Ok(CertificateBundle { chain_pem: chain.to_owned(), key_pem: key.to_owned() })
    }

    /// Seals the credentials of the account at the authority with this directory.
    pub(super) fn seal_account(&self, directory_url: &str, credentials: &str) -> String {
        self.0.seal(account_place(directory_url), credentials)
    }

    /// Opens the credentials of the account at the authority with this directory.
    ///
    /// # Errors
    /// They were sealed with another key, or for another authority.
    pub(super) fn open_account(&self, directory_url: &str, sealed: &str) -> Result<String, UnsealError> {
        self.0.open(account_place(directory_url), sealed)
    }
}

fn certificate_place(domain: &str) -> SecretPlace<'_> {
    SecretPlace { organisation: "", table: "domain_certificate", row: domain, field: "sealed" }
}

fn account_place(directory_url: &str) -> SecretPlace<'_> {
    SecretPlace { organisation: "", table: "acme_account", row: directory_url, field: "credentials" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::secret::KEY_LENGTH;

    #[test]
    fn a_certificate_opens_only_for_its_domain() {
        let vault = CertificateVault::new(SecretSealer::new(&[7; KEY_LENGTH]));
        let bundle = CertificateBundle { chain_pem: "chain".into(), key_pem: "the key".into() };
        let sealed = vault.seal_certificate(1, &bundle);
        assert!(!sealed.contains("key"));
        assert_eq!(vault.open_certificate(1, &sealed), Ok(bundle));
        assert_eq!(vault.open_certificate(2, &sealed), Err(UnsealError));
        let sealed = vault.seal_account("https://a.example", "{}");
        assert_eq!(vault.open_account("https://a.example", &sealed), Ok("{}".into()));
        assert_eq!(vault.open_account("https://b.example", &sealed), Err(UnsealError));
    }
}
