//! The sealing of the secrets of one service, and the placeholder shown in their place (contract 4.3.5).
//!
//! It seals new secrets for their path and recognises the placeholder. It opens nothing: a secret that is kept is its
//! sealed text, copied.

use serde_json::Value;

use crate::id::Id;
use crate::model::secret::SecretSealer;
use crate::model::service_secrets::{path_of, place_of};

/// Seals the secrets of one service.
#[derive(Clone, Copy, Debug)]
pub struct ServiceVault<'a> {
    /// Seals with the installation's key.
    pub sealer: &'a SecretSealer,
    /// The organisation that owns the service.
    pub organisation: Id,
    /// Public id of the service.
    pub service: Id,
    /// Placeholder by which a client keeps a stored secret: `compat.secret_placeholder`.
    pub keep: &'a str,
}

impl ServiceVault<'_> {
    /// Returns true if a value is the placeholder, byte for byte.
    #[must_use]
    pub fn is_placeholder(&self, value: &Value) -> bool {
        value.as_str() == Some(self.keep)
    }

    /// Returns true if a text becomes the placeholder when it is trimmed: where texts are trimmed and secrets are not
    /// allowed, it would be stored as the placeholder.
    #[must_use]
    pub fn is_placeholder_when_trimmed(&self, value: &Value) -> bool {
        value.as_str().map(str::trim) == Some(self.keep)
    }

    /// Seals a secret for the field at `path`.
    #[must_use]
    pub fn seal(&self, path: &str, clear: &str) -> Value {
        let path = path_of(path);
        self.sealer.seal(place_of(&self.organisation, &self.service, &path), clear).into()
    }
}
