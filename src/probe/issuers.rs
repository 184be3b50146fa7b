//! Intermediate authorities that trusted ones have issued, where the TLS library does not follow them itself.
//!
//! It follows six certificates between one and its authority, takes no authority as a server, and does not know every
//! way of signing with RSA. Here each certificate is verified alone, from the trusted authorities downwards, and is then
//! trusted for this one chain. What the library knows of names that an authority may vouch for stays with it: nothing
//! below such an authority is verified here.

use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, SignatureVerificationAlgorithm};
use rustls::server::ParsedCertificate;
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::time::ASN1Time;

use crate::probe::certificate_flaw::CertificateFlaw;
use crate::probe::der::contents;
use crate::probe::rsa_keys::SignatureVerdict;
use crate::probe::signatures::{SIGNATURES_MAX, signed_by};

/// What the dates of issuers are good for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IssuerDates {
    /// An issuer must be valid now.
    Checked,
    /// It need not be: this tells whether the dates are all that is wrong.
    Ignored,
}

/// The verified issuers of one chain.
pub(super) struct VerifiedIssuers<'a> {
    roots: &'a RootCertStore,
    verified: RootCertStore,
    algorithms: &'a [&'a dyn SignatureVerificationAlgorithm],
    now: ASN1Time,
    dates: IssuerDates,
    signatures_left: usize,
    met_wrong: bool,
    met_unknown: bool,
    outdated: Option<CertificateFlaw>,
}

impl<'a> VerifiedIssuers<'a> {
    /// Verifies as many of these certificates as can be.
    pub(super) fn find(
        others: &[CertificateDer<'_>],
        roots: &'a RootCertStore,
        algorithms: &'a [&'a dyn SignatureVerificationAlgorithm],
        now: ASN1Time,
        dates: IssuerDates,
    ) -> Self {
        let mut issuers = Self {
            roots,
            verified: RootCertStore::empty(),
            algorithms,
            now,
            dates,
            signatures_left: SIGNATURES_MAX,
            met_wrong: false,
            met_unknown: false,
            outdated: None,
        };
        // Servers send the highest one last.
        let mut waiting: Vec<CandidateCertificate<'_>> =
            others.iter().rev().filter_map(CandidateCertificate::read).collect();
        let below = others.len().saturating_sub(1);
        loop {
            let before = waiting.len();
            waiting.retain(|candidate| !issuers.add(candidate, below));
            if waiting.len() == before {
                return issuers;
            }
        }
    }

    /// The verified certificates, as authorities for the rest of the chain.
    pub(super) const fn authorities(&self) -> &RootCertStore {
        &self.verified
    }

    /// Whether a signature does not fit, and every other one could be checked.
    pub(super) const fn met_wrong_signature(&self) -> bool {
        self.met_wrong && !self.met_unknown
    }

    /// One of the verified issuers whose dates were ignored.
    pub(super) fn into_outdated(self) -> Option<CertificateFlaw> {
        self.outdated
    }

    /// Returns true when a trusted or verified authority vouches for a server's certificate.
    pub(super) fn vouch_for(&mut self, own: &CertificateDer<'_>) -> bool {
        CandidateCertificate::read(own)
            .is_some_and(|own| own.is_for_servers() && own.is_valid_at(self.now) && self.have_signed(&own))
    }

    fn add(&mut self, candidate: &CandidateCertificate<'_>, below: usize) -> bool {
        let flaw = CertificateFlaw::of_dates(&candidate.certificate, self.now);
        let is_added = (flaw.is_none() || self.dates == IssuerDates::Ignored)
            && candidate.is_for_servers()
            && candidate.may_issue(below)
            && self.have_signed(candidate)
            && self.verified.add(candidate.der.clone()).is_ok();
        if is_added && self.outdated.is_none() {
            self.outdated = flaw;
        }
        is_added
    }

    fn have_signed(&mut self, candidate: &CandidateCertificate<'_>) -> bool {
        let Some(issuer) = contents(candidate.certificate.issuer().as_raw()) else {
            return false;
        };
        let authorities = self.roots.roots.iter().chain(&self.verified.roots);
        let mut named = authorities
            .filter(|authority| authority.subject.as_ref() == issuer && authority.name_constraints.is_none());
        named.any(|authority| {
            self.signatures_left = self.signatures_left.saturating_sub(1);
            if self.signatures_left == 0 {
                return false;
            }
            let key_info = authority.subject_public_key_info.as_ref();
            let verdict = signed_by(candidate.der, &candidate.certificate, key_info, self.algorithms);
            self.met_wrong |= verdict == Some(SignatureVerdict::Wrong);
            self.met_unknown |= verdict == Some(SignatureVerdict::Unknown);
            verdict == Some(SignatureVerdict::Valid)
        })
    }
}

/// A certificate that the TLS library can read: version 3, without unknown critical extensions.
struct CandidateCertificate<'a> {
    der: &'a CertificateDer<'a>,
    certificate: X509Certificate<'a>,
}

impl<'a> CandidateCertificate<'a> {
    fn read(der: &'a CertificateDer<'a>) -> Option<Self> {
        ParsedCertificate::try_from(der).ok()?;
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        Some(Self { der, certificate })
    }

    /// Not meant for something else than servers.
    fn is_for_servers(&self) -> bool {
        match self.certificate.extended_key_usage() {
            Ok(usage) => usage.is_none_or(|usage| usage.value.server_auth),
            Err(_) => false,
        }
    }

    fn is_valid_at(&self, now: ASN1Time) -> bool {
        self.certificate.validity().is_valid_at(now)
    }

    /// Returns true for an authority that may have `below` others below it.
    fn may_issue(&self, below: usize) -> bool {
        let is_authority = match self.certificate.basic_constraints() {
            Ok(Some(limits)) => {
                let length = limits.value.path_len_constraint;
                limits.value.ca
                    && length.is_none_or(|length| usize::try_from(length).is_ok_and(|length| length >= below))
            }
            Ok(None) | Err(_) => false,
        };
        let signs = match self.certificate.key_usage() {
            Ok(usage) => usage.is_none_or(|usage| usage.value.key_cert_sign()),
            Err(_) => false,
        };
        is_authority && signs
    }
}
