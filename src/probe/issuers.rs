//! Intermediate authorities that trusted ones have issued, where the TLS library does not follow them itself.
//!
//! The library follows at most six certificates up to an authority, and accepts no authority as a server. Here each
//! certificate is verified alone, from the trusted authorities downwards, and is then trusted for this one chain. Name
//! constraints are left to the library: nothing below an authority that has them is verified here.

use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, SignatureVerificationAlgorithm, TrustAnchor, UnixTime};
use rustls::server::ParsedCertificate;
use x509_parser::asn1_rs::Any;
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::time::ASN1Time;

/// Maximum number of signatures that are verified for one chain, as in the TLS library.
const SIGNATURES_MAX: usize = 100;

/// The verified issuers of one chain.
pub(super) struct VerifiedIssuers<'a> {
    roots: &'a RootCertStore,
    verified: RootCertStore,
    algorithms: &'a [&'a dyn SignatureVerificationAlgorithm],
    now: ASN1Time,
    signatures_left: usize,
}

impl<'a> VerifiedIssuers<'a> {
    /// Verifies as many of these certificates as possible; `None` for a time that certificates cannot express.
    pub(super) fn find(
        others: &[CertificateDer<'_>],
        roots: &'a RootCertStore,
        algorithms: &'a [&'a dyn SignatureVerificationAlgorithm],
        now: UnixTime,
    ) -> Option<Self> {
        let now = ASN1Time::from_timestamp(i64::try_from(now.as_secs()).ok()?).ok()?;
        let verified = RootCertStore::empty();
        let mut issuers = Self { roots, verified, algorithms, now, signatures_left: SIGNATURES_MAX };
        // Servers send the certificate next to the authority last.
        let mut waiting: Vec<Candidate<'_>> = others.iter().rev().filter_map(Candidate::read).collect();
        let below = others.len().saturating_sub(1);
        loop {
            let before = waiting.len();
            waiting.retain(|candidate| !issuers.add(candidate, below));
            if waiting.len() == before {
                return Some(issuers);
            }
        }
    }

    /// The verified certificates, as authorities for the rest of the chain.
    pub(super) const fn authorities(&self) -> &RootCertStore {
        &self.verified
    }

    /// Returns true when a trusted or verified authority has issued a server's certificate.
    pub(super) fn vouch_for(&mut self, own: &CertificateDer<'_>) -> bool {
        Candidate::read(own).is_some_and(|own| own.serves_at(self.now) && self.have_signed(&own))
    }

    fn add(&mut self, candidate: &Candidate<'_>, below: usize) -> bool {
        candidate.serves_at(self.now)
            && candidate.may_issue(below)
            && self.have_signed(candidate)
            && self.verified.add(candidate.der.clone()).is_ok()
    }

    fn have_signed(&mut self, candidate: &Candidate<'_>) -> bool {
        let Some(issuer) = contents(candidate.certificate.issuer().as_raw()) else {
            return false;
        };
        let authorities = self.roots.roots.iter().chain(&self.verified.roots);
        let mut named = authorities
            .filter(|authority| authority.subject.as_ref() == issuer && authority.name_constraints.is_none());
        named.any(|authority| {
            self.signatures_left = self.signatures_left.saturating_sub(1);
            self.signatures_left > 0 && candidate.is_signed_by(authority, self.algorithms) == Some(true)
        })
    }
}

/// A certificate that the TLS library can read: version 3, without unknown critical extensions.
struct Candidate<'a> {
    der: &'a CertificateDer<'a>,
    certificate: X509Certificate<'a>,
}

impl<'a> Candidate<'a> {
    fn read(der: &'a CertificateDer<'a>) -> Option<Self> {
        ParsedCertificate::try_from(der).ok()?;
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        Some(Self { der, certificate })
    }

    /// Returns true if it is valid at `now` and not restricted to uses other than servers.
    fn serves_at(&self, now: ASN1Time) -> bool {
        let for_servers = match self.certificate.extended_key_usage() {
            Ok(usage) => usage.is_none_or(|usage| usage.value.server_auth),
            Err(_) => false,
        };
        for_servers && self.certificate.validity().is_valid_at(now)
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

    fn is_signed_by(
        &self,
        authority: &TrustAnchor<'_>,
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> Option<bool> {
        let signed = self.certificate.tbs_certificate.as_ref();
        let (algorithm, rest) = split(contents(self.der)?.get(signed.len()..)?)?;
        let signature = contents(rest)?.strip_prefix(&[0])?;
        let (key_algorithm, rest) = split(authority.subject_public_key_info.as_ref())?;
        let key = contents(rest)?.strip_prefix(&[0])?;
        let mut fitting = algorithms.iter().filter(|known| {
            known.signature_alg_id().as_ref() == algorithm
                && known.public_key_alg_id().as_ref() == key_algorithm
        });
        Some(fitting.any(|known| known.verify_signature(key, signed, signature).is_ok()))
    }
}

/// Returns the contents of the first DER value, and the rest.
fn split(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, value) = Any::from_der(der).ok()?;
    Some((value.data, rest))
}

fn contents(der: &[u8]) -> Option<&[u8]> {
    Some(split(der)?.0)
}
