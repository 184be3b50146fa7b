//! Secrets of channels: sealed in the database, opened for a request.
//!
//! A secret of any shape is sealed as the JSON text of its value, bound to its channel and setting.

use serde_json::{Map, Value};

use crate::id::Id;
use crate::model::notification::{NotificationChannel, place_of};
use crate::model::secret::{SecretSealer, UnsealError};
use crate::notify::kinds::{ChannelDefinition, OpenSettings};

/// Seals and opens the secrets of one channel.
#[derive(Clone, Copy, Debug)]
pub struct ChannelVault<'a> {
    /// Holds the installation's key.
    pub sealer: &'a SecretSealer,
    /// Public id of the organisation.
    pub organisation: Id,
    /// Public id of the channel.
    pub channel: Id,
}

impl ChannelVault<'_> {
    /// Seals the value of a secret setting.
    #[must_use]
    pub fn seal(&self, field: &str, clear: &Value) -> Value {
        Value::from(self.sealer.seal(place_of(&self.organisation, &self.channel, field), &clear.to_string()))
    }

    fn open(&self, field: &str, sealed: &Value) -> Result<Value, UnsealError> {
        let text = sealed.as_str().ok_or(UnsealError)?;
        let clear = self.sealer.open(place_of(&self.organisation, &self.channel, field), text)?;
        serde_json::from_str(&clear).map_err(|_| UnsealError)
    }

    /// Returns the settings with their secrets in clear.
    ///
    /// # Errors
    /// A secret was sealed with another key, or for another channel or setting.
    pub fn open_all(
        &self,
        definition: &ChannelDefinition,
        channel: &NotificationChannel,
    ) -> Result<OpenSettings, UnsealError> {
        let mut settings = Map::new();
        for (name, value) in &channel.settings {
            let is_secret = definition.field(name).is_some_and(|field| field.is_secret);
            let value = if is_secret { self.open(name, value)? } else { value.clone() };
            settings.insert(name.clone(), value);
        }
        Ok(OpenSettings::new(settings))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::Timestamp;
    use crate::model::notification::ChannelKind;
    use crate::model::notification::routing::ChannelRouting;
    use crate::model::secret::KEY_LENGTH;
    use crate::notify::kinds::definition;

    #[test]
    fn a_secret_opens_only_in_its_own_channel() {
        let sealer = SecretSealer::new(&[7; KEY_LENGTH]);
        let vault = ChannelVault { sealer: &sealer, organisation: Id::random(), channel: Id::random() };
        let secret = json!("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let sealed = vault.seal("secret", &secret);
        assert!(!sealed.to_string().contains("MfKQ9r8"));
        let settings = json!({"url": "https://hooks.example.com", "secret": sealed});
        let channel = NotificationChannel {
            key: 1,
            id: vault.channel,
            organisation: 1,
            kind: ChannelKind::Webhook,
            name: "Hooks".into(),
            is_enabled: true,
            settings: settings.as_object().unwrap().clone(),
            routing: ChannelRouting::default(),
            created_at: Timestamp::from_ms(0),
            updated_at: Timestamp::from_ms(0),
        };
        let kind = definition(ChannelKind::Webhook);
        let open = vault.open_all(kind, &channel).unwrap();
        assert_eq!(
            (open.text("url"), open.text("secret")),
            ("https://hooks.example.com", secret.as_str().unwrap())
        );
        let other = ChannelVault { channel: Id::random(), ..vault };
        assert_eq!(other.open_all(kind, &channel), Err(UnsealError));
    }
}
