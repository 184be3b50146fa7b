//! The settings of one channel, secrets opened, as requests are made of them.

use std::fmt;

use serde_json::{Map, Value};

use super::field::Field;

/// Settings in clear. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct OpenSettings(Map<String, Value>);

impl OpenSettings {
    /// These settings.
    #[must_use]
    pub const fn new(settings: Map<String, Value>) -> Self {
        Self(settings)
    }

    /// The text of a setting; empty when it is not set.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The texts of all settings that are secret and set, so that they can be kept out of what is shown.
    #[must_use]
    pub fn secrets(&self, fields: &[Field]) -> Vec<&str> {
        let secret = fields.iter().filter(|field| field.is_secret);
        secret.map(|field| self.text(field.name)).filter(|text| !text.is_empty()).collect()
    }
}

impl fmt::Debug for OpenSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenSettings(..)")
    }
}
