//! The certificate trust of checks: the system's certificate authorities, those of the operator, and the wall clock.
//!
//! An empty system store is a warning, not an error: plain HTTP and TCP can be watched without it. Revocation is not
//! checked. Without verification, the server must still prove that it holds the key of what it shows.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::time_provider::TimeProvider;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::clock::Clock;
use crate::probe::toolbox::ToolboxError;

/// The trusted authorities.
#[derive(Debug)]
pub(crate) struct Trust {
    roots: RootCertStore,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Trust {
    /// Reads the system's store and `ca_file`, a list of PEM certificates.
    pub(crate) fn load(
        ca_file: Option<&Path>,
        algorithms: WebPkiSupportedAlgorithms,
    ) -> Result<Self, ToolboxError> {
        let mut roots = RootCertStore::empty();
        let system = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(system.certs);
        if roots.is_empty() {
            tracing::warn!(errors = ?system.errors, "this system trusts no certificate authority");
        }
        if let Some(path) = ca_file {
            add_file(&mut roots, path)?;
        }
        Ok(Self { roots, algorithms })
    }

    /// Checks that a chain is valid now, trusted, and for this name; the first certificate is the server's own.
    pub(crate) fn judge(
        &self,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), Error> {
        let (own, others) = chain.split_first().ok_or(Error::NoCertificatesPresented)?;
        self.judge_own(own, others, name, now)
    }

    fn judge_own(
        &self,
        own: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), Error> {
        let own = ParsedCertificate::try_from(own)?;
        verify_server_cert_signed_by_trust_anchor(&own, &self.roots, others, now, self.algorithms.all)?;
        verify_server_name(&own, name)
    }
}

fn add_file(roots: &mut RootCertStore, path: &Path) -> Result<(), ToolboxError> {
    let refused = |reason: String| ToolboxError::CaFile { path: path.to_owned(), reason };
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| refused(error.to_string()))?;
    let mut added = 0_usize;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| refused(error.to_string()))?;
        roots.add(certificate).map_err(|error| refused(error.to_string()))?;
        added += 1;
    }
    if added == 0 {
        return Err(refused("it holds no certificate".to_owned()));
    }
    Ok(())
}

/// The ways in which a connection treats the certificate it is shown.
#[derive(Debug)]
pub(crate) enum Verifier {
    /// Accepts what the authorities vouch for.
    Strict(Arc<Trust>),
    /// Accepts any certificate.
    Lenient(WebPkiSupportedAlgorithms),
}

impl Verifier {
    fn algorithms(&self) -> &WebPkiSupportedAlgorithms {
        match self {
            Self::Strict(trust) => &trust.algorithms,
            Self::Lenient(algorithms) => algorithms,
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Self::Strict(trust) = self {
            trust.judge_own(end_entity, intermediates, server_name, now)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, self.algorithms())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, self.algorithms())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms().supported_schemes()
    }
}

/// The wall clock as certificates need it.
#[derive(Debug)]
pub(crate) struct CertificateTime(pub(crate) Clock);

impl CertificateTime {
    /// The present time; never before 1970.
    pub(crate) fn now(&self) -> UnixTime {
        let ms = u64::try_from(self.0.now().ms()).unwrap_or_default();
        UnixTime::since_unix_epoch(Duration::from_millis(ms))
    }
}

impl TimeProvider for CertificateTime {
    fn current_time(&self) -> Option<UnixTime> {
        Some(self.now())
    }
}
