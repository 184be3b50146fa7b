//! The signature of one certificate, checked with the key of one authority.
//!
//! The algorithms of the TLS library come first, then the RSA algorithms of `rsa_keys`.

use rustls::pki_types::SignatureVerificationAlgorithm;
use x509_parser::prelude::X509Certificate;

use crate::probe::der::{contents, split};
use crate::probe::rsa_keys::{RsaKey, SignatureVerdict, SignedBytes};

/// Maximum number of signatures that are checked for one chain, as in the TLS library.
pub(super) const SIGNATURES_MAX: usize = 100;

/// Checks the signature of a certificate with the key of an authority. `key_info` is the contents of the
/// authority's `SubjectPublicKeyInfo`. `None` when a part of the certificate or the key cannot be read.
pub(super) fn signed_by(
    der: &[u8],
    certificate: &X509Certificate<'_>,
    key_info: &[u8],
    algorithms: &[&dyn SignatureVerificationAlgorithm],
) -> Option<SignatureVerdict> {
    let message = certificate.tbs_certificate.as_ref();
    let (algorithm, rest) = split(contents(der)?.get(message.len()..)?)?;
    let signed = SignedBytes { message, signature: contents(rest)?.strip_prefix(&[0])? };
    let (key_algorithm, rest) = split(key_info)?;
    let key = contents(rest)?.strip_prefix(&[0])?;
    let known = algorithms.iter().find(|known| {
        known.signature_alg_id().as_ref() == algorithm && known.public_key_alg_id().as_ref() == key_algorithm
    });
    let Some(known) = known else {
        let check = |key: RsaKey<'_>| key.check_certificate(&certificate.signature_algorithm, signed);
        return Some(RsaKey::read(key_info).map_or(SignatureVerdict::Unknown, check));
    };
    let is_valid = known.verify_signature(key, signed.message, signed.signature).is_ok();
    Some(if is_valid { SignatureVerdict::Valid } else { SignatureVerdict::Wrong })
}
