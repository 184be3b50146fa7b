//! Finds intermediate authorities that lead to a trusted one, for chains that the TLS library cannot follow.
//!
//! The library follows at most six intermediate certificates, refuses a server certificate that is itself an
//! authority, and does not know every RSA signature algorithm. Here each certificate is verified alone, from
//! the trusted authorities downwards, and is then trusted for this one chain. Name constraints are left to the
//! library: an authority that has any vouches for nothing here.

use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, SignatureVerificationAlgorithm};
use rustls::server::ParsedCertificate;
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::time::ASN1Time;

use crate::probe::certificate_flaw::CertificateFlaw;
use crate::probe::der::contents;
use crate::probe::rsa_keys::SignatureVerdict;
use crate::probe::signatures::{SIGNATURES_MAX, signed_by};

/// The treatment of the validity dates of issuers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IssuerDates {
    /// An issuer must be valid now.
    Checked,
    /// Dates do not matter. Used to find out whether they are the only flaw of a chain.
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
    /// Verifies as many of `others` as possible.
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
        // Servers send the certificate nearest to the root last.
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

    /// Returns true if a signature is wrong, and no signature has an unknown algorithm.
    pub(super) const fn met_wrong_signature(&self) -> bool {
        self.met_wrong && !self.met_unknown
    }

    /// Returns the flaw of the first verified issuer that is out of date; always `None` when dates are checked.
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

    /// Returns true unless the certificate is restricted to purposes other than servers.
    fn is_for_servers(&self) -> bool {
        match self.certificate.extended_key_usage() {
            Ok(usage) => usage.is_none_or(|usage| usage.value.server_auth),
            Err(_) => false,
        }
    }

    fn is_valid_at(&self, now: ASN1Time) -> bool {
        self.certificate.validity().is_valid_at(now)
    }

    /// Returns true for an authority that may have `below` further authorities beneath it.
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
