//! The certificate trust of checks: a chain is judged by the authorities that `egress` reads, and by the wall
//! clock.
//!
//! Revocation is not checked. A connection that only reads a certificate still requires proof that the server
//! holds the certificate's key. A connection with verification switched off requires nothing.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::egress::{self, CaFileError};
use crate::probe::certificate_flaw::{CertificateFlaw, Chain, LibraryLimit, certificate_time};
use crate::probe::der::contents;
use crate::probe::issuers::{IssuerDates, VerifiedIssuers};
use crate::probe::rsa_keys::{RESTRICTED_SCHEMES, RsaKey, SignatureVerdict, SignedBytes};

/// A function of the TLS library that checks a signature of a handshake.
type HandshakeCheck = fn(
    &[u8],
    &CertificateDer<'_>,
    &DigitallySignedStruct,
    &WebPkiSupportedAlgorithms,
) -> Result<HandshakeSignatureValid, Error>;

/// All schemes by which a server may sign, the better ones first. They are offered where nothing is checked, so
/// that an old server finds one that it supports.
const ALL_SCHEMES: [SignatureScheme; 16] = [
    SignatureScheme::ECDSA_NISTP256_SHA256,
    SignatureScheme::ECDSA_NISTP384_SHA384,
    SignatureScheme::ECDSA_NISTP521_SHA512,
    SignatureScheme::ED25519,
    SignatureScheme::ED448,
    SignatureScheme::RSA_PSS_SHA256,
    SignatureScheme::RSA_PSS_SHA384,
    SignatureScheme::RSA_PSS_SHA512,
    RESTRICTED_SCHEMES[0],
    RESTRICTED_SCHEMES[1],
    RESTRICTED_SCHEMES[2],
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA512,
    SignatureScheme::ECDSA_SHA1_Legacy,
    SignatureScheme::RSA_PKCS1_SHA1,
];

#[derive(Debug)]
pub(crate) struct TrustStore {
    roots: RootCertStore,
    algorithms: WebPkiSupportedAlgorithms,
}

impl TrustStore {
    /// Reads the system's store and `ca_file`, a list of PEM certificates.
    pub(crate) fn load(
        ca_file: Option<&Path>,
        algorithms: WebPkiSupportedAlgorithms,
    ) -> Result<Self, CaFileError> {
        Ok(Self { roots: egress::authorities(ca_file)?, algorithms })
    }

    /// Verifies that a chain is valid now, trusted, and for this name; the first certificate is the server's own.
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
        let judge = || {
            self.follow(own, others, now)?;
            verify_server_name(&ParsedCertificate::try_from(own)?, name)
        };
        let chain = Chain { own, others, roots: &self.roots, algorithms: self.algorithms.all, now };
        judge().map_err(|error| CertificateFlaw::explain_chain(&chain, error))
    }

    /// Checks the chain with the TLS library, or with `VerifiedIssuers` where the library reaches one of its
    /// limits.
    fn follow(
        &self,
        own: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), Error> {
        let parsed = ParsedCertificate::try_from(own)?;
        let algorithms = self.algorithms.all;
        let verify = |roots: &RootCertStore| {
            verify_server_cert_signed_by_trust_anchor(&parsed, roots, others, now, algorithms)
        };
        let Err(error) = verify(&self.roots) else {
            return Ok(());
        };
        let stop = LibraryLimit::read(&error).filter(|stop| *stop != LibraryLimit::CriticalExtension);
        let (Some(stop), Some(now)) = (stop, certificate_time(now)) else {
            return Err(error);
        };
        let find = |dates| VerifiedIssuers::find(others, &self.roots, algorithms, now, dates);
        let follow = |issuers: &mut VerifiedIssuers<'_>| {
            verify(issuers.authorities()).is_ok() || issuers.vouch_for(own)
        };
        let mut issuers = find(IssuerDates::Checked);
        if follow(&mut issuers) {
            return Ok(());
        }
        let mut of_any_time = find(IssuerDates::Ignored);
        if follow(&mut of_any_time)
            && let Some(flaw) = of_any_time.into_outdated()
        {
            return Err(flaw.into());
        }
        match stop {
            LibraryLimit::UnknownSignature if issuers.met_wrong_signature() => {
                Err(CertificateError::BadSignature.into())
            }
            _ => Err(error),
        }
    }
}

/// The ways in which a connection treats the server's certificate.
#[derive(Debug)]
pub(crate) enum CertificateVerifier {
    /// Accepts certificates issued by trusted authorities.
    Strict(Arc<TrustStore>),
    /// Accepts any certificate whose key the server proves to hold.
    Lenient(WebPkiSupportedAlgorithms),
    /// Accepts anything.
    Unjudged,
}

impl CertificateVerifier {
    /// The algorithms for verifying signatures; `None` when they are not verified.
    fn algorithms(&self) -> Option<&WebPkiSupportedAlgorithms> {
        match self {
            Self::Strict(trust) => Some(&trust.algorithms),
            Self::Lenient(algorithms) => Some(algorithms),
            Self::Unjudged => None,
        }
    }

    /// Checks a signature of the handshake, unless signatures are not verified. `check` is the function of the
    /// TLS library.
    fn check_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
        check: HandshakeCheck,
    ) -> Result<HandshakeSignatureValid, Error> {
        let Some(algorithms) = self.algorithms() else {
            return Ok(HandshakeSignatureValid::assertion());
        };
        let checked = if RESTRICTED_SCHEMES.contains(&signed.scheme) {
            check_restricted(message, certificate, signed)
        } else {
            check(message, certificate, signed, algorithms)
        };
        checked.map_err(|error| CertificateFlaw::explain_signature(certificate, error))
    }
}

/// Checks a signature of the handshake by a key that is restricted to PSS.
fn check_restricted(
    message: &[u8],
    certificate: &CertificateDer<'_>,
    signed: &DigitallySignedStruct,
) -> Result<HandshakeSignatureValid, Error> {
    let bytes = SignedBytes { message, signature: signed.signature() };
    let key_info = ParsedCertificate::try_from(certificate)?.subject_public_key_info();
    let verdict = contents(&key_info)
        .and_then(RsaKey::read)
        .map_or(SignatureVerdict::Wrong, |key| key.check_handshake(signed.scheme, bytes));
    match verdict {
        SignatureVerdict::Valid => Ok(HandshakeSignatureValid::assertion()),
        SignatureVerdict::Wrong | SignatureVerdict::Unknown => Err(CertificateError::BadSignature.into()),
    }
}

impl ServerCertVerifier for CertificateVerifier {
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
        self.check_signature(message, certificate, signed, verify_tls12_signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, certificate, signed, verify_tls13_signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        match self.algorithms() {
            Some(algorithms) => [algorithms.supported_schemes(), RESTRICTED_SCHEMES.to_vec()].concat(),
            None => ALL_SCHEMES.to_vec(),
        }
    }
}
