//! Passwords of status pages, stored only as a salted Argon2id hash with its parameters.
//!
//! Hashing takes tens of milliseconds and about 19 MiB on purpose. Callers run it outside of their event loop and limit how
//! many hashes are computed at once.

use std::ops::RangeInclusive;

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _, phc::PasswordHash};

/// Permitted number of characters of a password.
pub const PASSWORD_LENGTH: RangeInclusive<usize> = 8..=255;

/// A password could not be hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a password could not be hashed")]
pub struct PasswordHashError;

/// A password in clear text; its debug output is redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password(…)")
    }
}

impl Password {
    /// Wraps a password as a person typed it.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// Computes the hash to be stored, with a new salt.
    ///
    /// # Errors
    ///
    /// If the system provides no randomness, or the text is too long.
    pub fn hash(&self) -> Result<String, PasswordHashError> {
        let hash = Argon2::default().hash_password(self.0.as_bytes()).map_err(|_| PasswordHashError)?;
        Ok(hash.to_string())
    }

    /// Returns true if this password belongs to the stored hash.
    #[must_use]
    pub fn fits(&self, stored_hash: &str) -> bool {
        let Ok(hash) = PasswordHash::new(stored_hash) else { return false };
        Argon2::default().verify_password(self.0.as_bytes(), &hash).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_password_fits_its_hash() {
        let password = Password::new(" correct horse ".into());
        let stored_hash = password.hash().unwrap();
        assert!(stored_hash.starts_with("$argon2id$") && !stored_hash.contains("horse"), "{stored_hash}");
        assert_ne!(password.hash().unwrap(), stored_hash, "each hash has a salt of its own");
        assert!(password.fits(&stored_hash));
        assert!(!Password::new("correct horse".into()).fits(&stored_hash));
        assert!(!password.fits("") && !password.fits("$argon2id$nonsense"));
        assert_eq!(format!("{password:?}"), "Password(…)");
    }
}
