//! RSA keys and signatures of certificates that the TLS library does not support.
//!
//! Supported here are keys that are restricted to RSASSA-PSS (RFC 4055), and signatures by PSS with a salt of
//! any length. The module also finds the reason why a key cannot be used at all. Nothing is checked with SHA-1.

use aws_lc_rs::signature::{
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters,
    RsaPssSaltLength, VerificationAlgorithm,
};
use rustls::SignatureScheme;
use x509_parser::asn1_rs::Any;
use x509_parser::oid_registry::{
    OID_NIST_HASH_SHA256, OID_NIST_HASH_SHA384, OID_NIST_HASH_SHA512, OID_PKCS1_RSAENCRYPTION,
    OID_PKCS1_RSASSAPSS, Oid,
};
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::RSAPublicKey;
use x509_parser::signature_algorithm::RsaSsaPssParams;
use x509_parser::x509::AlgorithmIdentifier;

use crate::probe::der::contents;

/// The smallest and the largest key, in bits, with which signatures are checked.
const KEY_BITS_MIN: usize = 2_048;
const KEY_BITS_MAX: usize = 8_192;
/// The largest public exponent, in bits, with which signatures are checked.
const EXPONENT_BITS_MAX: usize = 33;

/// The object identifier of the mask generation function MGF1 (RFC 8017, appendix B.2.1).
const MGF1: &str = "1.2.840.113549.1.1.8";

/// The TLS signature schemes for a restricted key (RFC 8446, section 4.2.3); the TLS library has no names for
/// them.
pub(super) const RESTRICTED_SCHEMES: [SignatureScheme; 3] =
    [SignatureScheme::Unknown(0x0809), SignatureScheme::Unknown(0x080a), SignatureScheme::Unknown(0x080b)];

/// A signature and the message that it signs.
#[derive(Clone, Copy)]
pub(super) struct SignedBytes<'a> {
    pub(super) message: &'a [u8],
    pub(super) signature: &'a [u8],
}

/// The result of checking a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignatureVerdict {
    Valid,
    Wrong,
    /// The signature algorithm is not supported here.
    Unknown,
}

/// The reasons why a key cannot be used to check a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeyFlaw {
    #[error("has {bits} bits; 2,048 are the least that is trusted")]
    Short { bits: usize },
    #[error("has {bits} bits; 8,192 are the most that can be checked here")]
    Long { bits: usize },
    #[error("has a public exponent of {bits} bits; 33 are the most that can be checked here")]
    LongExponent { bits: usize },
    #[error("has a public exponent that is not an odd number above 1")]
    BadExponent,
}

pub(super) struct RsaKey<'a> {
    /// The key alone (`RSAPublicKey`).
    der: &'a [u8],
    use_for: KeyUse<'a>,
}

/// The signature schemes that a key may be used with.
enum KeyUse<'a> {
    AnyScheme,
    /// PSS only, with these parameters if the key names any.
    Pss(Option<Any<'a>>),
}

impl<'a> RsaKey<'a> {
    /// The key of a certificate; `None` for a key that is not RSA.
    pub(super) fn of(certificate: &X509Certificate<'a>) -> Option<Self> {
        Self::read(contents(certificate.tbs_certificate.subject_pki.raw)?)
    }

    /// Reads the contents of a `SubjectPublicKeyInfo`; `None` for keys that are not RSA.
    pub(super) fn read(key_info: &'a [u8]) -> Option<Self> {
        let (rest, algorithm) = AlgorithmIdentifier::from_der(key_info).ok()?;
        let use_for = if algorithm.algorithm == OID_PKCS1_RSAENCRYPTION {
            KeyUse::AnyScheme
        } else if algorithm.algorithm == OID_PKCS1_RSASSAPSS {
            KeyUse::Pss(algorithm.parameters)
        } else {
            return None;
        };
        Some(Self { der: contents(rest)?.strip_prefix(&[0])?, use_for })
    }

    /// The reason why the key cannot be used, if there is one.
    pub(super) fn flaw(&self) -> Option<KeyFlaw> {
        let (_, key) = RSAPublicKey::from_der(self.der).ok()?;
        let (bits, exponent_bits) = (bit_length(key.modulus), bit_length(key.exponent));
        let is_odd = key.exponent.last().is_some_and(|byte| byte % 2 == 1);
        match () {
            () if bits < KEY_BITS_MIN => Some(KeyFlaw::Short { bits }),
            () if bits > KEY_BITS_MAX => Some(KeyFlaw::Long { bits }),
            () if !is_odd || exponent_bits < 2 => Some(KeyFlaw::BadExponent),
            () if exponent_bits > EXPONENT_BITS_MAX => Some(KeyFlaw::LongExponent { bits: exponent_bits }),
            () => None,
        }
    }

    /// Checks a signature of a handshake by one of the [`RESTRICTED_SCHEMES`].
    pub(super) fn check_handshake(
        &self,
        scheme: SignatureScheme,
        signed: SignedBytes<'_>,
    ) -> SignatureVerdict {
        match (&self.use_for, PssHash::of_scheme(scheme)) {
            (KeyUse::Pss(_), Some(hash)) => {
                self.check(PssParameters { hash, salt_bytes: hash.bytes() }, signed)
            }
            _ => SignatureVerdict::Unknown,
        }
    }

    /// Checks the signature of a certificate that was made with `algorithm`; `Unknown` unless that is PSS.
    pub(super) fn check_certificate(
        &self,
        algorithm: &AlgorithmIdentifier<'_>,
        signed: SignedBytes<'_>,
    ) -> SignatureVerdict {
        let parameters = algorithm.parameters.as_ref().and_then(PssParameters::read);
        match parameters.filter(|_| algorithm.algorithm == OID_PKCS1_RSASSAPSS) {
            Some(parameters) => self.check(parameters, signed),
            None => SignatureVerdict::Unknown,
        }
    }

    fn check(&self, parameters: PssParameters, signed: SignedBytes<'_>) -> SignatureVerdict {
        if let KeyUse::Pss(Some(limits)) = &self.use_for {
            match PssParameters::read(limits) {
                Some(limits) if !parameters.keep(limits) => return SignatureVerdict::Wrong,
                Some(_) => {}
                None => return SignatureVerdict::Unknown,
            }
        }
        match parameters.algorithm().map(|known| known.verify_sig(self.der, signed.message, signed.signature))
        {
            Some(Ok(())) => SignatureVerdict::Valid,
            Some(Err(_)) => SignatureVerdict::Wrong,
            None => SignatureVerdict::Unknown,
        }
    }
}

/// The hash functions that are known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PssHash {
    Sha256,
    Sha384,
    Sha512,
}

impl PssHash {
    fn of_scheme(scheme: SignatureScheme) -> Option<Self> {
        let at = RESTRICTED_SCHEMES.iter().position(|restricted| *restricted == scheme)?;
        [Self::Sha256, Self::Sha384, Self::Sha512].get(at).copied()
    }

    fn named(id: &Oid<'_>) -> Option<Self> {
        let known = [
            (OID_NIST_HASH_SHA256, Self::Sha256),
            (OID_NIST_HASH_SHA384, Self::Sha384),
            (OID_NIST_HASH_SHA512, Self::Sha512),
        ];
        known.into_iter().find(|(known, _)| known == id).map(|(_, hash)| hash)
    }

    const fn bytes(self) -> u32 {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }
}

/// The parameters of a PSS signature: the hash function of the message and of its mask, and the length of the
/// salt in bytes.
#[derive(Clone, Copy)]
struct PssParameters {
    hash: PssHash,
    salt_bytes: u32,
}

impl PssParameters {
    /// Reads the parameters of a signature or of a key (RFC 4055, section 3.1).
    fn read(parameters: &Any<'_>) -> Option<Self> {
        let read = RsaSsaPssParams::try_from(parameters).ok()?;
        let hash = PssHash::named(read.hash_algorithm_oid())?;
        let mask = read.mask_gen_algorithm().ok()?;
        let is_known = mask.mgf.to_id_string() == MGF1
            && PssHash::named(&mask.hash) == Some(hash)
            && read.trailer_field() == 1;
        is_known.then_some(Self { hash, salt_bytes: read.salt_length() })
    }

    /// Returns true if a key that is restricted to `limits` may sign with these parameters. The salt of
    /// `limits` is the shortest allowed one.
    fn keep(self, limits: Self) -> bool {
        self.hash == limits.hash && self.salt_bytes >= limits.salt_bytes
    }

    fn algorithm(self) -> Option<RsaParameters> {
        let known = match self.hash {
            PssHash::Sha256 => RSA_PSS_2048_8192_SHA256,
            PssHash::Sha384 => RSA_PSS_2048_8192_SHA384,
            PssHash::Sha512 => RSA_PSS_2048_8192_SHA512,
        };
        let salt_bytes = u16::try_from(self.salt_bytes).ok()?;
        Some(known.with_pss_salt_length(RsaPssSaltLength::Custom(salt_bytes)))
    }
}

/// The number of bits of a positive number, big-endian.
fn bit_length(number: &[u8]) -> usize {
    let first = number.iter().position(|byte| *byte != 0).unwrap_or(number.len());
    let rest = &number[first..];
    rest.len() * 8 - rest.first().map_or(0, |byte| usize::try_from(byte.leading_zeros()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// The contents of a `SubjectPublicKeyInfo` with `rsaEncryption`.
    fn key_info(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
        let algorithm = [0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 1, 5, 0];
        let key = wrapped(0x30, &[wrapped(2, modulus), wrapped(2, exponent)].concat());
        [&algorithm[..], &wrapped(3, &[&[0], &key[..]].concat())].concat()
    }

    fn wrapped(tag: u8, content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(content.len()).unwrap().to_be_bytes();
        [&[tag, 0x82, length[0], length[1]], content].concat()
    }

    /// A positive number of this many bits.
    fn number(bits: usize) -> Vec<u8> {
        let mut number = vec![0xff; bits / 8 + 1];
        number[0] = u8::try_from((1_u16 << (bits % 8)) - 1).unwrap();
        number
    }

    #[rstest]
    #[case::common(2_048, &[1, 0, 1], None)]
    #[case::smallest_exponent(2_048, &[3], None)]
    #[case::largest(8_192, &[1, 0xff, 0xff, 0xff, 0xff], None)]
    #[case::short(1_024, &[1, 0, 1], Some(KeyFlaw::Short { bits: 1_024 }))]
    #[case::a_little_short(2_047, &[1, 0, 1], Some(KeyFlaw::Short { bits: 2_047 }))]
    #[case::long(8_193, &[1, 0, 1], Some(KeyFlaw::Long { bits: 8_193 }))]
    #[case::long_exponent(2_048, &[2, 0, 0, 0, 1], Some(KeyFlaw::LongExponent { bits: 34 }))]
    #[case::even(2_048, &[1, 0, 0], Some(KeyFlaw::BadExponent))]
    #[case::one(2_048, &[1], Some(KeyFlaw::BadExponent))]
    fn a_key_that_cannot_be_used_has_its_reason(
        #[case] bits: usize,
        #[case] exponent: &[u8],
        #[case] flaw: Option<KeyFlaw>,
    ) {
        assert_eq!(RsaKey::read(&key_info(&number(bits), exponent)).unwrap().flaw(), flaw);
    }
}
