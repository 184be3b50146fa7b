//! The certificate trust of checks: a chain is judged by the authorities that the gate reads, and the wall clock.
//!
//! Revocation is not checked. Without verification, the server must still prove that it holds the key of what it shows.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::egress::{self, CaFileError};

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
    ) -> Result<Self, CaFileError> {
        Ok(Self { roots: egress::authorities(ca_file)?, algorithms })
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
