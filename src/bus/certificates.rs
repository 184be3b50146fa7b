//! The certificate authority of the NATS server, and the server's certificate: created here, pinned by every client.
//!
//! Keys are ECDSA P-256. The authority signs servers of this installation only. Each run signs the server's certificate
//! again, for the same key, so that new names are included and its validity restarts; the authority is kept.

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};
use x509_parser::pem::parse_x509_pem;

use crate::clock::Timestamp;

/// Years for which the authority is valid.
const AUTHORITY_YEARS: i32 = 30;
/// Years for which a server's certificate is valid.
pub const SERVER_YEARS: i32 = 10;

/// A certificate could not be created; contains the reason.
#[derive(Debug, thiserror::Error)]
#[error("cannot create the certificate: {0}")]
pub struct CertificateProblem(String);

impl From<rcgen::Error> for CertificateProblem {
    fn from(error: rcgen::Error) -> Self {
        Self(error.to_string())
    }
}

/// An authority with its key.
pub struct CertificateAuthority(CertifiedIssuer<'static, KeyPair>);

impl CertificateAuthority {
    /// Creates the authority with this key (PEM). The same key gives the same name, so earlier signatures stay valid.
    pub fn with_key(pem: &str, now: Timestamp) -> Result<Self, CertificateProblem> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, "Watchkeeper bus authority");
        params.not_after = date_time_ymd(year(now).saturating_add(AUTHORITY_YEARS), 1, 1);
        Ok(Self(CertifiedIssuer::self_signed(params, KeyPair::from_pem(pem)?)?))
    }

    /// Returns the authority's certificate (PEM), which clients pin.
    #[must_use]
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Returns true if the certificate (PEM) has this authority's key; its dates do not matter.
    #[must_use]
    pub fn is_in(&self, pem: &str) -> bool {
        public_key(pem).is_some_and(|key| public_key(&self.pem()) == Some(key))
    }

    /// Signs a certificate for the server with this key (PEM) and these names or addresses.
    ///
    /// # Errors
    ///
    /// When a name cannot occur in a certificate, or the key cannot be used.
    pub fn sign_server(
        &self,
        names: &[String],
        key_pem: &str,
        now: Timestamp,
    ) -> Result<String, CertificateProblem> {
        let mut params = CertificateParams::new(names.to_vec())?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.distinguished_name.push(DnType::CommonName, "Watchkeeper bus server");
        params.use_authority_key_identifier_extension = true;
        params.not_after = date_time_ymd(year(now).saturating_add(SERVER_YEARS), 1, 1);
        let certificate: Certificate = params.signed_by(&KeyPair::from_pem(key_pem)?, &self.0)?;
        Ok(certificate.pem())
    }
}

/// Creates a private key (PEM).
pub fn new_key() -> Result<String, CertificateProblem> {
    Ok(KeyPair::generate()?.serialize_pem())
}

/// Returns the public key in a certificate (PEM); `None` if the text is not a certificate.
fn public_key(pem: &str) -> Option<Vec<u8>> {
    let (_, pem) = parse_x509_pem(pem.as_bytes()).ok()?;
    let certificate = pem.parse_x509().ok()?;
    Some(certificate.public_key().raw.to_vec())
}

fn year(now: Timestamp) -> i32 {
    now.date().split('-').next().and_then(|year| year.parse().ok()).unwrap_or(2_026)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_signed_for_its_names_and_for_years() {
        let now = Timestamp::from_ms(1_767_225_600_000);
        let authority = CertificateAuthority::with_key(&new_key().unwrap(), now).unwrap();
        let names = ["nats.example.net".to_owned(), "10.0.0.7".to_owned()];
        let pem = authority.sign_server(&names, &new_key().unwrap(), now).unwrap();
        let (_, pem) = parse_x509_pem(pem.as_bytes()).unwrap();
        let certificate = pem.parse_x509().unwrap();
        let (_, authority) = parse_x509_pem(authority.pem().as_bytes()).unwrap();
        let authority = authority.parse_x509().unwrap();
        assert_eq!(certificate.issuer(), authority.subject());
        assert_eq!(certificate.validity().not_after.to_datetime().year(), 2_036);
        let names = certificate.subject_alternative_name().unwrap().unwrap();
        assert_eq!(names.value.general_names.len(), 2);
    }

    #[test]
    fn a_name_that_fits_in_no_certificate_is_refused() {
        let now = Timestamp::from_ms(0);
        let authority = CertificateAuthority::with_key(&new_key().unwrap(), now).unwrap();
        assert!(authority.sign_server(&["bücher".to_owned()], &new_key().unwrap(), now).is_err());
    }
}
