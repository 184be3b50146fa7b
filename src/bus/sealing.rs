//! Sealing to one location: data sealed to its public key can only be read by the holder of the private key.
//!
//! The scheme is NaCl's box (X25519, XSalsa20-Poly1305) in the format of NATS, `xkv1`. The bus controls who may
//! write, so the sender's key proves nothing; each process creates its own.

use nkeys::XKey;
use secrecy::{ExposeSecret as _, SecretString};

/// A key pair for sealing.
#[derive(Clone, Debug)]
pub struct SealingKey(XKey);

/// The text is not a key, or sealed data cannot be opened with the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealingProblem {
    /// The text is not a sealing key.
    #[error("not a sealing key")]
    NoKey,
    /// The data were sealed for another recipient, or altered.
    #[error("sealed for another key, or altered")]
    Foreign,
}

impl SealingKey {
    /// Creates a new key pair.
    #[must_use]
    pub fn random() -> Self {
        Self(XKey::new())
    }

    /// Restores the key pair from its seed.
    ///
    /// # Errors
    /// [`SealingProblem::NoKey`] when the seed is invalid.
    pub fn from_seed(seed: &SecretString) -> Result<Self, SealingProblem> {
        XKey::from_seed(seed.expose_secret().trim()).map(Self).map_err(|_| SealingProblem::NoKey)
    }

    /// Returns the seed, from which the key pair can be restored.
    ///
    /// # Errors
    ///
    /// [`SealingProblem::NoKey`] when only the public key is known.
    pub fn seed(&self) -> Result<SecretString, SealingProblem> {
        self.0.seed().map(SecretString::from).map_err(|_| SealingProblem::NoKey)
    }

    /// Returns the public key of the pair.
    #[must_use]
    pub fn public(&self) -> String {
        self.0.public_key()
    }

    /// Seals `plain` to the holder of a public key.
    ///
    /// # Errors
    ///
    /// [`SealingProblem::NoKey`] when `recipient` is not a key.
    pub fn seal(&self, plain: &[u8], recipient: &str) -> Result<Vec<u8>, SealingProblem> {
        let recipient = XKey::from_public_key(recipient).map_err(|_| SealingProblem::NoKey)?;
        self.0.seal(plain, &recipient).map_err(|_| SealingProblem::NoKey)
    }

    /// Opens data that the holder of `sender` has sealed to this key.
    pub fn open(&self, sealed: &[u8], sender: &str) -> Result<Vec<u8>, SealingProblem> {
        let sender = XKey::from_public_key(sender).map_err(|_| SealingProblem::NoKey)?;
        self.0.open(sealed, &sender).map_err(|_| SealingProblem::Foreign)
    }
}

/// Returns true if the text is a public sealing key.
#[must_use]
pub fn is_public_key(text: &str) -> bool {
    XKey::from_public_key(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_recipient_can_open_a_sealed_message() {
        let [sender, recipient, other] = [(); 3].map(|()| SealingKey::random());
        let sealed = sender.seal(b"password", &recipient.public()).unwrap();
        assert_eq!(recipient.open(&sealed, &sender.public()).unwrap(), b"password");
        assert_eq!(other.open(&sealed, &sender.public()), Err(SealingProblem::Foreign));
        let again = SealingKey::from_seed(&recipient.seed().unwrap()).unwrap();
        assert_eq!(again.open(&sealed, &sender.public()).unwrap(), b"password");
    }

    #[test]
    fn an_altered_byte_is_noticed() {
        let [sender, recipient] = [(); 2].map(|()| SealingKey::random());
        let sealed = sender.seal(b"password", &recipient.public()).unwrap();
        for index in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[index] ^= 1;
            assert!(recipient.open(&altered, &sender.public()).is_err(), "{index}");
        }
    }
}
