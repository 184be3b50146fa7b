//! The certificate trust of checks: a chain is judged by the authorities that the gate reads, and the wall clock.
//!
//! Revocation is not checked. A connection that only reads a certificate demands proof that the server holds its key;
//! one with verification switched off demands nothing.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme};
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;
use x509_parser::x509::X509Version;

use crate::egress::{self, CaFileError};
use crate::probe::issuers::VerifiedIssuers;

/// Smallest RSA key in bits for which the TLS library verifies signatures.
const RSA_BITS_MIN: usize = 2_048;

/// Every signature scheme, the better ones first: where nothing is verified, an old server has to find one that it
/// supports.
const ALL_SCHEMES: [SignatureScheme; 13] = [
    SignatureScheme::ECDSA_NISTP256_SHA256,
    SignatureScheme::ECDSA_NISTP384_SHA384,
    SignatureScheme::ECDSA_NISTP521_SHA512,
    SignatureScheme::ED25519,
    SignatureScheme::ED448,
    SignatureScheme::RSA_PSS_SHA256,
    SignatureScheme::RSA_PSS_SHA384,
    SignatureScheme::RSA_PSS_SHA512,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA512,
    SignatureScheme::ECDSA_SHA1_Legacy,
    SignatureScheme::RSA_PKCS1_SHA1,
];

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
        judge().map_err(|error| CertificateFlaw::explain(own, error))
    }

    /// Verifies the chain, in two steps where the TLS library stops by itself.
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
        let Some(stop) = LibraryStop::read(&error) else {
            return Err(error);
        };
        let verified = VerifiedIssuers::find(others, &self.roots, algorithms, now);
        let followed = verified.is_some_and(|mut issuers| match stop {
            LibraryStop::LongChain => verify(issuers.authorities()).is_ok(),
            LibraryStop::ServingAuthority => issuers.vouch_for(own),
            LibraryStop::CriticalExtension => false,
        });
        if followed { Ok(()) } else { Err(error) }
    }
}

/// The ways in which a connection treats the server's certificate.
#[derive(Debug)]
pub(crate) enum Verifier {
    /// Accepts certificates issued by trusted authorities.
    Strict(Arc<Trust>),
    /// Accepts any certificate whose key the server proves to hold.
    Lenient(WebPkiSupportedAlgorithms),
    /// Accepts anything.
    Unjudged,
}

impl Verifier {
    /// The algorithms for verifying signatures; `None` when they are not verified.
    fn algorithms(&self) -> Option<&WebPkiSupportedAlgorithms> {
        match self {
            Self::Strict(trust) => Some(&trust.algorithms),
            Self::Lenient(algorithms) => Some(algorithms),
            Self::Unjudged => None,
        }
    }

    /// Verifies a signature of the handshake, if required.
    fn check_signature(
        &self,
        certificate: &CertificateDer<'_>,
        check: impl FnOnce(&WebPkiSupportedAlgorithms) -> Result<HandshakeSignatureValid, Error>,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.algorithms() {
            Some(algorithms) => {
                check(algorithms).map_err(|error| CertificateFlaw::explain(certificate, error))
            }
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }
}

/// The exact flaw of a certificate, where the TLS library reports none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CertificateFlaw {
    #[error("The RSA key of the certificate has {bits} bits; 2,048 are the least that is trusted")]
    ShortKey { bits: usize },
    #[error("The certificate is of X.509 version {version}; version 3 is the one that is trusted")]
    Version { version: u32 },
    #[error("The certificate has a critical extension that is not known here")]
    CriticalExtension,
    #[error(
        "More than 6 certificates are between this one and its authority, and not all of them could be verified"
    )]
    LongChain,
}

impl CertificateFlaw {
    /// Returns the error with its reason, if it is one of these flaws.
    fn explain(certificate: &CertificateDer<'_>, error: Error) -> Error {
        match Self::find(certificate, &error) {
            Some(flaw) => CertificateError::Other(OtherError(Arc::new(flaw))).into(),
            None => error,
        }
    }

    fn find(certificate: &CertificateDer<'_>, error: &Error) -> Option<Self> {
        match error {
            Error::InvalidCertificate(CertificateError::BadSignature) => {
                let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
                match certificate.public_key().parsed().ok()? {
                    PublicKey::RSA(key) if key.key_size() < RSA_BITS_MIN => {
                        Some(Self::ShortKey { bits: key.key_size() })
                    }
                    _ => None,
                }
            }
            Error::InvalidCertificate(CertificateError::BadEncoding) => {
                let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
                let version = certificate.version();
                (version != X509Version::V3).then_some(Self::Version { version: version.0 + 1 })
            }
            _ => match LibraryStop::read(error)? {
                LibraryStop::CriticalExtension => Some(Self::CriticalExtension),
                LibraryStop::LongChain => Some(Self::LongChain),
                LibraryStop::ServingAuthority => None,
            },
        }
    }
}

/// Limitations of the TLS library.
#[derive(Clone, Copy)]
enum LibraryStop {
    CriticalExtension,
    LongChain,
    /// The server's certificate may itself issue others.
    ServingAuthority,
}

impl LibraryStop {
    /// Recognises the library's own errors, by their text only.
    fn read(error: &Error) -> Option<Self> {
        let Error::InvalidCertificate(CertificateError::Other(other)) = error else {
            return None;
        };
        match other.0.to_string().as_str() {
            "UnsupportedCriticalExtension" => Some(Self::CriticalExtension),
            "MaximumPathDepthExceeded" => Some(Self::LongChain),
            "CaUsedAsEndEntity" => Some(Self::ServingAuthority),
            _ => None,
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
        self.check_signature(certificate, |algorithms| {
            verify_tls12_signature(message, certificate, signed, algorithms)
        })
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(certificate, |algorithms| {
            verify_tls13_signature(message, certificate, signed, algorithms)
        })
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms().map_or_else(|| ALL_SCHEMES.to_vec(), WebPkiSupportedAlgorithms::supported_schemes)
    }
}
