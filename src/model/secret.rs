//! Secrets: sealed in the database, redacted in all debug output.
//!
//! Secrets are sealed with XChaCha20-Poly1305 and a random nonce. The associated data names organisation, table, row and
//! field, so a sealed text that is copied elsewhere does not open. The API never opens a secret; it copies the sealed text
//! or shows a placeholder. Only the definitions in the engine hold secrets in clear text.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

/// Length of a key in bytes.
pub const KEY_LENGTH: usize = 32;
/// Length of a signature in bytes.
pub const SIGNATURE_LENGTH: usize = 16;
const NONCE_LENGTH: usize = 24;
const SIGNING: &str = "watchkeeper signing key";

/// The field that stores a secret. A sealed text opens only for the same field.
#[derive(Clone, Copy, Debug)]
pub struct SecretPlace<'a> {
    /// Id of the organisation.
    pub organisation: &'a str,
    /// Name of the table.
    pub table: &'a str,
    /// Id of the row.
    pub row: &'a str,
    /// Path of the field, in lower case.
    pub field: &'a str,
}

impl SecretPlace<'_> {
    fn associated_data(&self) -> Vec<u8> {
        [self.organisation, self.table, self.row, self.field].join("\0").into_bytes()
    }
}

/// The sealed text does not open: the key or the field is wrong, or the text was altered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a stored secret cannot be opened with this key")]
pub struct UnsealError;

/// Seals and opens secrets with the key of the installation, and signs values that clients send back.
#[derive(Clone)]
pub struct SecretSealer {
    cipher: XChaCha20Poly1305,
    signing: Hmac<Sha256>,
}

impl SecretSealer {
    /// A sealer for this key.
    #[must_use]
    pub fn new(key: &[u8; KEY_LENGTH]) -> Self {
        let derived = mac(key).chain_update(SIGNING).finalize().into_bytes();
        Self { cipher: XChaCha20Poly1305::new(key.into()), signing: mac(&derived) }
    }

    /// Seals `plain` for a field. Returns base64 of nonce and ciphertext.
    ///
    /// # Panics
    /// If the operating system provides no randomness.
    #[must_use]
    pub fn seal(&self, place: SecretPlace<'_>, plain: &str) -> String {
        let mut nonce = [0; NONCE_LENGTH];
        getrandom::fill(&mut nonce).expect("the operating system provides randomness");
        let payload = Payload { msg: plain.as_bytes(), aad: &place.associated_data() };
        let sealed = self
            .cipher
            .encrypt(&XNonce::from(nonce), payload)
            .expect("sealing fails only beyond 256 GiB, and secrets are at most 8 KiB");
        BASE64.encode([nonce.as_slice(), &sealed].concat())
    }

    /// The signature of a message for one purpose: HMAC-SHA256 with a key derived for signing, cut to 128 bits.
    #[must_use]
    pub fn sign(&self, purpose: &str, message: &[u8]) -> [u8; SIGNATURE_LENGTH] {
        let signature = self.signing_of(purpose, message).finalize().into_bytes();
        std::array::from_fn(|place| signature[place])
    }

    /// Returns true if the signature belongs to this message and purpose. Compares in constant time.
    #[must_use]
    pub fn is_signed(&self, purpose: &str, message: &[u8], signature: &[u8]) -> bool {
        let signing = self.signing_of(purpose, message);
        signature.len() == SIGNATURE_LENGTH && signing.verify_truncated_left(signature).is_ok()
    }

    fn signing_of(&self, purpose: &str, message: &[u8]) -> Hmac<Sha256> {
        self.signing.clone().chain_update(purpose).chain_update([0]).chain_update(message)
    }

    /// Opens a text that was sealed for this field.
    ///
    /// # Errors
    /// [`UnsealError`] if the key or the field differs from that of the sealing, or the text was altered.
    pub fn open(&self, place: SecretPlace<'_>, sealed: &str) -> Result<String, UnsealError> {
        let bytes = BASE64.decode(sealed).map_err(|_| UnsealError)?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LENGTH>().ok_or(UnsealError)?;
        let payload = Payload { msg: sealed, aad: &place.associated_data() };
        let plain = self.cipher.decrypt(&XNonce::from(*nonce), payload).map_err(|_| UnsealError)?;
        String::from_utf8(plain).map_err(|_| UnsealError)
    }
}

fn mac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of every length")
}

impl fmt::Debug for SecretSealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer(..)")
    }
}

/// A secret in clear text, as checks send it. Debug output is redacted, and memory is overwritten on drop.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Wraps a secret in clear text.
    #[must_use]
    pub fn new(clear: impl Into<Box<str>>) -> Self {
        Self(SecretString::new(clear.into()))
    }

    /// The clear text, for sending only; never show it.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl Eq for Secret {}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: SecretPlace<'static> =
        SecretPlace { organisation: "org", table: "service", row: "row", field: "headers.x-api-key" };

    #[test]
    fn a_sealed_secret_opens_only_in_its_field_and_with_its_key() {
        let sealer = SecretSealer::new(&[7; KEY_LENGTH]);
        let sealed = sealer.seal(PLACE, "hunter2");
        assert_eq!(sealer.open(PLACE, &sealed).as_deref(), Ok("hunter2"));
        for other in [
            SecretPlace { organisation: "other", ..PLACE },
            SecretPlace { table: "token", ..PLACE },
            SecretPlace { row: "other", ..PLACE },
            SecretPlace { field: "headers.x-other", ..PLACE },
        ] {
            assert_eq!(sealer.open(other, &sealed), Err(UnsealError), "{other:?}");
        }
        assert_eq!(SecretSealer::new(&[8; KEY_LENGTH]).open(PLACE, &sealed), Err(UnsealError));
    }

    #[test]
    fn altered_or_foreign_text_does_not_open() {
        let sealer = SecretSealer::new(&[7; KEY_LENGTH]);
        let sealed = sealer.seal(PLACE, "");
        assert_eq!(sealer.open(PLACE, &sealed).as_deref(), Ok(""));
        for text in ["", "not base64!", "c2hvcnQ", &sealed[1..]] {
            assert_eq!(sealer.open(PLACE, text), Err(UnsealError), "{text}");
        }
    }

    #[test]
    fn a_signature_holds_for_one_message_one_purpose_and_one_key() {
        let sealer = SecretSealer::new(&[7; KEY_LENGTH]);
        let signature = sealer.sign("cursor", b"position");
        assert!(sealer.is_signed("cursor", b"position", &signature));
        assert!(!sealer.is_signed("cursor", b"positions", &signature));
        assert!(!sealer.is_signed("other", b"position", &signature));
        assert!(!sealer.is_signed("cursor", b"position", &signature[..8]));
        assert!(!SecretSealer::new(&[8; KEY_LENGTH]).is_signed("cursor", b"position", &signature));
    }

    #[test]
    fn two_sealings_of_one_secret_differ() {
        let sealer = SecretSealer::new(&[7; KEY_LENGTH]);
        assert_ne!(sealer.seal(PLACE, "x"), sealer.seal(PLACE, "x"));
    }

    #[test]
    fn debug_output_shows_nothing() {
        assert_eq!(format!("{:?}", Secret::new("hunter2")), "Secret(..)");
    }
}
