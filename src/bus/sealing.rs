//! Sealing to one location: what is sealed to its public key, only the holder of the other half can read.
//!
//! It is NaCl's box (X25519, XSalsa20-Poly1305) in the form that NATS gives it, `xkv1`. Who may write where is the bus's
//! affair, so the sender's key proves nothing; each process makes its own.

use nkeys::XKey;
use secrecy::{ExposeSecret as _, SecretString};

/// A key pair for sealing.
#[derive(Clone, Debug)]
pub struct SealingKey(XKey);

/// The text is no key, or what was sealed does not open with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealingProblem {
    /// The text is no key for sealing.
    #[error("it is no key for sealing")]
    NoKey,
    /// It was sealed for somebody else, or altered.
    #[error("it was sealed for another key, or altered")]
    Foreign,
}

impl SealingKey {
    /// A new key pair.
    #[must_use]
    pub fn random() -> Self {
        Self(XKey::new())
    }

    /// The key pair with this seed.
    ///
    /// # Errors
    /// [`SealingProblem::NoKey`].
    pub fn from_seed(seed: &SecretString) -> Result<Self, SealingProblem> {
        XKey::from_seed(seed.expose_secret().trim()).map(Self).map_err(|_| SealingProblem::NoKey)
    }

    /// The text from which it can be made again.
    ///
    /// # Errors
    /// [`SealingProblem::NoKey`]: it is a public key.
    pub fn seed(&self) -> Result<SecretString, SealingProblem> {
        self.0.seed().map(SecretString::from).map_err(|_| SealingProblem::NoKey)
    }

    /// The half that others may know.
    #[must_use]
    pub fn public(&self) -> String {
        self.0.public_key()
    }

    /// Seals `plain` to the holder of a public key.
    ///
    /// # Errors
    /// [`SealingProblem::NoKey`]: `recipient` is none.
    pub fn seal(&self, plain: &[u8], recipient: &str) -> Result<Vec<u8>, SealingProblem> {
        let recipient = XKey::from_public_key(recipient).map_err(|_| SealingProblem::NoKey)?;
        self.0.seal(plain, &recipient).map_err(|_| SealingProblem::NoKey)
    }

    /// Opens what the holder of `sender` has sealed to this key.
    ///
    /// # Errors
    /// [`SealingProblem`].
    pub fn open(&self, sealed: &[u8], sender: &str) -> Result<Vec<u8>, SealingProblem> {
        let sender = XKey::from_public_key(sender).map_err(|_| SealingProblem::NoKey)?;
        self.0.open(sealed, &sender).map_err(|_| SealingProblem::Foreign)
    }
}

/// Returns true if the text is the public half of a key for sealing.
#[must_use]
pub fn is_public_key(text: &str) -> bool {
    XKey::from_public_key(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_recipient_opens_what_was_sealed() {
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
        for place in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[place] ^= 1;
            assert!(recipient.open(&altered, &sender.public()).is_err(), "{place}");
        }
    }
}
