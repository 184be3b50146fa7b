//! Public keys as devices send them: COSE keys (RFC 9052, RFC 9053, RFC 8230) of the algorithms ES256, EdDSA and RS256.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
};

use crate::model::passkey::PasskeyRefusal;
use crate::model::passkey::cbor::CborValue;

/// Permitted length of the modulus of an RSA key, in bytes.
const MODULUS: std::ops::RangeInclusive<usize> = 256..=1_024;
/// Permitted length of the exponent of an RSA key, in bytes.
const EXPONENT: std::ops::RangeInclusive<usize> = 1..=4;

/// A key by which signatures are checked.
pub(super) enum CoseKey {
    /// ES256 or EdDSA.
    Curve(ParsedPublicKey),
    /// RS256.
    Rsa(RsaPublicKeyComponents<Vec<u8>>),
}

impl CoseKey {
    /// Parses a key of one of the algorithms.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, PasskeyRefusal> {
        Self::read(bytes).ok_or(PasskeyRefusal::UnusableKey)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let map = CborValue::parse(bytes)?;
        let number = |key: i64| map.at(key).and_then(CborValue::integer);
        let field = |key: i64| map.at(key).and_then(CborValue::bytes);
        // Type of the key (1), algorithm (3), and the curve (-1) if there is one.
        match (number(1)?, number(3)?) {
            (2, -7) if number(-1)? == 1 => {
                let (x, y): (&[u8; 32], &[u8; 32]) =
                    (field(-2)?.try_into().ok()?, field(-3)?.try_into().ok()?);
                let point = [&[4], &x[..], &y[..]].concat();
                ParsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point).ok().map(Self::Curve)
            }
            (1, -8) if number(-1)? == 6 => {
                let x: &[u8; 32] = field(-2)?.try_into().ok()?;
                ParsedPublicKey::new(&ED25519, x).ok().map(Self::Curve)
            }
            (3, -257) => {
                let (n, e) = (field(-1)?, field(-2)?);
                let fits =
                    MODULUS.contains(&n.len()) && EXPONENT.contains(&e.len()) && n[0] != 0 && e[0] != 0;
                fits.then(|| Self::Rsa(RsaPublicKeyComponents { n: n.to_vec(), e: e.to_vec() }))
            }
            _ => None,
        }
    }

    /// Returns true if the signature of the message is right.
    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Curve(key) => key.verify_sig(message, signature).is_ok(),
            Self::Rsa(key) => key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok(),
        }
    }
}
