//! Finds the reason why a certificate or its chain is refused, where the error of the TLS library does not name
//! it.
//!
//! Each reason is read from the certificates; if none is found, the library's error is kept.

use std::sync::Arc;

use rustls::pki_types::{CertificateDer, SignatureVerificationAlgorithm, TrustAnchor, UnixTime};
use rustls::{CertificateError, Error, OtherError, RootCertStore};
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::time::ASN1Time;
use x509_parser::x509::{X509Name, X509Version};

use crate::model::check::ErrorCode;
use crate::probe::der::contents;
use crate::probe::rsa_keys::{KeyFlaw, RsaKey, SignatureVerdict};
use crate::probe::signatures::{SIGNATURES_MAX, signed_by};

/// The reason why a certificate or its chain is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CertificateFlaw {
    #[error("The RSA key of the certificate {0}")]
    Key(KeyFlaw),
    #[error("The RSA key of the authority {authority} {flaw}")]
    AuthorityKey { authority: String, flaw: KeyFlaw },
    #[error("The certificate is of X.509 version {version}; version 3 is the one that is trusted")]
    Version { version: u32 },
    #[error("The certificate has a critical extension that is not known here")]
    CriticalExtension,
    #[error(
        "More than 6 certificates are between this one and its authority, and not all of them could be verified"
    )]
    LongChain,
    #[error("The certificate of the authority {authority} has expired")]
    AuthorityExpired { authority: String },
    #[error("The certificate of the authority {authority} is not valid yet")]
    AuthorityNotValidYet { authority: String },
}

impl CertificateFlaw {
    /// The error code of a check that fails for this reason.
    pub(crate) const fn code(&self) -> ErrorCode {
        match self {
            Self::AuthorityExpired { .. } | Self::AuthorityNotValidYet { .. } => ErrorCode::TlsExpired,
            _ => ErrorCode::TlsUntrusted,
        }
    }

    /// Returns the reason why a signature by the key of this certificate is refused, or `error` if no reason is
    /// found.
    pub(super) fn explain_signature(own: &CertificateDer<'_>, error: Error) -> Error {
        Self::of_own(own, &error).map_or(error, Error::from)
    }

    /// Returns the reason why a chain is refused, or `error` if no reason is found.
    pub(super) fn explain_chain(chain: &Chain<'_>, error: Error) -> Error {
        Self::of_own(chain.own, &error).or_else(|| Self::of_others(chain, &error)).map_or(error, Error::from)
    }

    fn of_own(own: &CertificateDer<'_>, error: &Error) -> Option<Self> {
        let Error::InvalidCertificate(reason) = error else {
            return None;
        };
        let (_, own) = X509Certificate::from_der(own).ok()?;
        match reason {
            CertificateError::BadSignature => RsaKey::of(&own)?.flaw().map(Self::Key),
            CertificateError::BadEncoding => {
                let version = own.version();
                (version != X509Version::V3).then_some(Self::Version { version: version.0 + 1 })
            }
            _ => match LibraryLimit::read(error)? {
                LibraryLimit::CriticalExtension => Some(Self::CriticalExtension),
                LibraryLimit::LongChain => Some(Self::LongChain),
                LibraryLimit::ServingAuthority | LibraryLimit::UnknownSignature => None,
            },
        }
    }

    fn of_others(chain: &Chain<'_>, error: &Error) -> Option<Self> {
        match error {
            Error::InvalidCertificate(CertificateError::BadSignature) => chain.unusable_key(),
            Error::InvalidCertificate(
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. },
            ) => chain.outdated_authority(),
            _ => None,
        }
    }

    /// Returns the flaw of an authority's certificate that has expired or is not valid yet; `None` if the
    /// certificate is valid at `now`.
    pub(super) fn of_dates(authority: &X509Certificate<'_>, now: ASN1Time) -> Option<Self> {
        let dates = authority.validity();
        let authority = quoted(authority.subject());
        match () {
            () if now < dates.not_before => Some(Self::AuthorityNotValidYet { authority }),
            () if now > dates.not_after => Some(Self::AuthorityExpired { authority }),
            () => None,
        }
    }
}

impl From<CertificateFlaw> for Error {
    fn from(flaw: CertificateFlaw) -> Self {
        CertificateError::Other(OtherError(Arc::new(flaw))).into()
    }
}

/// The input of a verification: a server's certificate, the other certificates that the server sent, the
/// trusted authorities, the known signature algorithms, and the current time.
pub(super) struct Chain<'a> {
    pub(super) own: &'a CertificateDer<'a>,
    pub(super) others: &'a [CertificateDer<'a>],
    pub(super) roots: &'a RootCertStore,
    pub(super) algorithms: &'a [&'a dyn SignatureVerificationAlgorithm],
    pub(super) now: UnixTime,
}

impl Chain<'_> {
    /// Follows the chain to the first signature that cannot be verified. Returns the authority with the name of
    /// that signature's issuer, if the key of this authority is unusable.
    fn unusable_key(&self) -> Option<CertificateFlaw> {
        let sent: Vec<_> = self.others.iter().filter_map(|der| Some((der, parsed(der)?))).collect();
        let mut signatures_left = SIGNATURES_MAX;
        let mut link = (self.own, parsed(self.own)?);
        loop {
            let name = link.1.issuer();
            let trusted = self.roots.roots.iter().filter(|root| has_name(root, name));
            let trusted = trusted.map(|root| (None, root.subject_public_key_info.as_ref()));
            let others = sent.iter().filter(|(_, other)| other.subject().as_raw() == name.as_raw());
            let others = others
                .filter_map(|other| Some((Some(other), contents(other.1.tbs_certificate.subject_pki.raw)?)));
            let named: Vec<_> = trusted.chain(others).collect();
            let signer = named.iter().find(|(_, key_info)| {
                signatures_left = signatures_left.saturating_sub(1);
                signatures_left > 0
                    && signed_by(link.0, &link.1, key_info, self.algorithms) == Some(SignatureVerdict::Valid)
            });
            match signer {
                Some((Some(next), _)) if signatures_left > 0 => link = (*next).clone(),
                Some(_) => return None,
                None => {
                    let flaw = named.iter().find_map(|(_, key_info)| RsaKey::read(key_info)?.flaw())?;
                    return Some(CertificateFlaw::AuthorityKey { authority: quoted(name), flaw });
                }
            }
        }
    }

    /// Returns an authority whose certificate is not valid now; `None` if the server's own certificate is not
    /// valid either.
    fn outdated_authority(&self) -> Option<CertificateFlaw> {
        let now = certificate_time(self.now)?;
        let own = parsed(self.own)?;
        if !own.validity().is_valid_at(now) {
            return None;
        }
        self.others.iter().filter_map(|der| CertificateFlaw::of_dates(&parsed(der)?, now)).next()
    }
}

/// A property of certificates that the TLS library does not support.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LibraryLimit {
    CriticalExtension,
    LongChain,
    /// The server's certificate may issue other certificates.
    ServingAuthority,
    /// A certificate is signed with an algorithm that the library does not know.
    UnknownSignature,
}

impl LibraryLimit {
    /// Returns the limit that an error stems from; `None` for other errors. Most of these errors can be
    /// recognised only by their text.
    pub(super) fn read(error: &Error) -> Option<Self> {
        let other = match error {
            Error::InvalidCertificate(CertificateError::Other(other)) => other,
            Error::InvalidCertificate(
                CertificateError::UnsupportedSignatureAlgorithmContext { .. }
                | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. },
            ) => return Some(Self::UnknownSignature),
            _ => return None,
        };
        match other.0.to_string().as_str() {
            "UnsupportedCriticalExtension" => Some(Self::CriticalExtension),
            "MaximumPathDepthExceeded" => Some(Self::LongChain),
            "CaUsedAsEndEntity" => Some(Self::ServingAuthority),
            _ => None,
        }
    }
}

/// Converts a time to the form that certificates use; `None` if it is out of their range.
pub(super) fn certificate_time(now: UnixTime) -> Option<ASN1Time> {
    ASN1Time::from_timestamp(i64::try_from(now.as_secs()).ok()?).ok()
}

fn parsed<'a>(der: &'a CertificateDer<'a>) -> Option<X509Certificate<'a>> {
    X509Certificate::from_der(der).ok().map(|(_, certificate)| certificate)
}

/// Returns true if a trusted authority has this name. The authority's name is stored without its outermost DER
/// header.
fn has_name(root: &TrustAnchor<'_>, name: &X509Name<'_>) -> bool {
    contents(name.as_raw()) == Some(root.subject.as_ref())
}

fn quoted(name: &X509Name<'_>) -> String {
    format!("\"{name}\"")
}
