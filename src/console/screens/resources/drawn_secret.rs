//! The signing secret of a new webhook channel. Unless somebody enters one, it is drawn with the form, so that a form that is sent
//! twice has the same secret; it is shown once, after the channel was created.

use serde_json::{Value, json};

use crate::console::form_data::FormData;
use crate::console::screen_error::ScreenError;
use crate::http::kit::error::ApiError;
use crate::model::notification::ChannelKind;
use crate::subscribers::address::draw_webhook_secret;

/// Name of the input with the secret.
const INPUT: &str = "drawn-secret";

/// A secret in the form of Standard Webhooks. Its debug output does not show it.
pub(super) struct DrawnSecret(String);

impl DrawnSecret {
    /// Draws a secret for the form of a new channel, if channels of this kind have one.
    ///
    /// # Errors
    /// The operating system provides no randomness.
    pub(super) fn for_new(kind: Option<ChannelKind>) -> Result<Option<Self>, ScreenError> {
        if kind == Some(ChannelKind::Webhook) { Self::draw().map(Some) } else { Ok(None) }
    }

    /// Puts the secret of the form into the body that creates a channel, if the channel needs one and none was entered. Returns
    /// the secret in that case.
    ///
    /// # Errors
    /// The operating system provides no randomness.
    pub(super) fn fill(body: &mut Value, form: &FormData) -> Result<Option<Self>, ScreenError> {
        let needs_one = body["kind"] == ChannelKind::Webhook.as_str() && body["settings"]["secret"].is_null();
        if !needs_one {
            return Ok(None);
        }
        let secret = match form.text(INPUT) {
            "" => Self::draw()?,
            drawn => Self(drawn.to_owned()),
        };
        body["settings"]["secret"] = json!(secret.0);
        Ok(Some(secret))
    }

    fn draw() -> Result<Self, ScreenError> {
        let drawn = draw_webhook_secret();
        Ok(Self(drawn.map_err(|error| ApiError::Internal(anyhow::anyhow!("no randomness: {error}")))?))
    }

    /// The secret in clear.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// The secret in clear.
    pub(super) fn into_text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// What is entered counts; other channels have no secret.
    #[rstest]
    #[case(json!({"kind": "webhook", "settings": {"url": "u"}}), "whsec_drawn", Some("whsec_drawn"))]
    #[case(json!({"kind": "webhook", "settings": {"url": "u", "secret": "own"}}), "whsec_drawn", None)]
    #[case(json!({"kind": "slack", "settings": {"url": "u"}}), "whsec_drawn", None)]
    #[case(json!({"name": "Policy"}), "whsec_drawn", None)]
    fn a_secret_is_drawn_if_none_is_entered(
        #[case] mut body: Value,
        #[case] drawn: &str,
        #[case] expected: Option<&str>,
    ) {
        let before = body.clone();
        let mut form = FormData::default();
        form.push(INPUT, drawn);
        let secret = DrawnSecret::fill(&mut body, &form).unwrap_or_default();
        assert_eq!(secret.as_ref().map(DrawnSecret::text), expected);
        match expected {
            Some(secret) => assert_eq!(body["settings"]["secret"], secret),
            None => assert_eq!(body["name"], before["name"]),
        }
    }

    #[test]
    fn a_form_without_a_secret_gets_one() {
        let mut body = json!({"kind": "webhook", "settings": {}});
        let secret = DrawnSecret::fill(&mut body, &FormData::default()).unwrap_or_default();
        assert!(
            secret.is_some_and(|secret| secret.text().starts_with("whsec_") && secret.text().len() == 50)
        );
    }
}
