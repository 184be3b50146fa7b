//! Seals the secrets of one service, and recognises the placeholder that is shown instead of them (contract 4.3.5).
//!
//! Nothing is opened here: for a secret that stays, the sealed text is copied.

use serde_json::Value;

use crate::id::Id;
use crate::model::secret::SecretSealer;
use crate::model::service_secrets::{path_of, place_of};

/// Seals the secrets of one service, each for its field.
#[derive(Clone, Copy, Debug)]
pub struct ServiceVault<'a> {
    /// Seals with the key of the installation.
    pub sealer: &'a SecretSealer,
    /// The organisation that owns the service.
    pub organisation: Id,
    /// Public id of the service.
    pub service: Id,
    /// The placeholder by which a client keeps a stored secret; the setting `compat.secret_placeholder`.
    pub keep: &'a str,
}

impl ServiceVault<'_> {
    /// Returns true if a value equals the placeholder, byte for byte.
    #[must_use]
    pub fn is_placeholder(&self, value: &Value) -> bool {
        value.as_str() == Some(self.keep)
    }

    /// Returns true if a value equals the placeholder after trimming. Fields that are trimmed and must not contain secrets
    /// would store such a text as the placeholder.
    #[must_use]
    pub fn is_placeholder_when_trimmed(&self, value: &Value) -> bool {
        value.as_str().map(str::trim) == Some(self.keep)
    }

    /// Seals a secret for the field at `path`; returns the sealed text.
    #[must_use]
    pub fn seal(&self, path: &str, clear: &str) -> Value {
        let path = path_of(path);
        self.sealer.seal(place_of(&self.organisation, &self.service, &path), clear).into()
    }
}
