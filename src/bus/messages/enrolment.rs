//! Enrolment of a machine as a location: the join token, which an operator copies to the machine, and the
//! requests between machine and engine.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::bus::credentials::BusCredentials;

/// The first characters of a join token; the digit is its version.
const HEAD: &str = "wkjoin1.";

/// All the data that a machine needs to become a location. A token can be used once, within an hour.
#[derive(Clone, Debug)]
pub struct JoinToken {
    /// Addresses of the NATS servers.
    pub url: String,
    /// Authorities (PEM), one of which must have signed the servers' certificate; `None` for the system's
    /// authorities.
    pub authority: Option<String>,
    /// Credentials of the enrolment, as a text.
    pub credentials: SecretString,
}

/// The token as JSON, before it is encoded as one word.
#[derive(Deserialize, Serialize)]
struct JoinTokenContent {
    url: String,
    authority: Option<String>,
    credentials: String,
}

/// The text is not a join token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a join token; watchkeeper location create prints one, which begins with {HEAD}")]
pub struct JoinTokenError;

impl JoinToken {
    /// Encodes the token as one word.
    #[must_use]
    pub fn to_text(&self) -> SecretString {
        let inside = JoinTokenContent {
            url: self.url.clone(),
            authority: self.authority.clone(),
            credentials: self.credentials.expose_secret().to_owned(),
        };
        // Three texts can always be written as JSON.
        let json = serde_json::to_vec(&inside).unwrap_or_default();
        format!("{HEAD}{}", BASE64.encode(json)).into()
    }

    /// Parses the text of a join token.
    ///
    /// # Errors
    ///
    /// [`JoinTokenError`] when it is not a join token, or a truncated one.
    pub fn parse(text: &str) -> Result<Self, JoinTokenError> {
        let word = text.trim().strip_prefix(HEAD).ok_or(JoinTokenError)?;
        let json = BASE64.decode(word).map_err(|_| JoinTokenError)?;
        let inside: JoinTokenContent = serde_json::from_slice(&json).map_err(|_| JoinTokenError)?;
        BusCredentials::parse(&inside.credentials).map_err(|_| JoinTokenError)?;
        let JoinTokenContent { url, authority, credentials } = inside;
        Ok(Self { url, authority, credentials: credentials.into() })
    }
}

/// The request of a machine to become the location of its enrolment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnrolmentRequest {
    /// Public key of the machine's future credentials.
    pub user_key: String,
    /// Public key to which the machine's definitions will be sealed.
    pub sealing_key: String,
}

/// The answer to a successful enrolment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnrolmentGrant {
    /// Code of the location.
    pub code: String,
    /// Name of the location.
    pub name: String,
    /// Token of the location, for the key in its request. The token expires; see [`RenewalGrant`].
    pub token: String,
}

/// The answer with a renewed token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenewalGrant {
    /// The token, for the key that the location was enrolled with.
    pub token: String,
}

/// The answer to a request that can be refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BusReply<T> {
    /// The requested data.
    Granted(T),
    /// The reason, for people.
    Refused(String),
}

#[cfg(test)]
mod tests {
    use nkeys::KeyPair;

    use super::*;
    use crate::bus::users::{BusUser, TokenIssuer};
    use crate::clock::Timestamp;
    use crate::id::Id;

    fn token() -> JoinToken {
        let issuer = TokenIssuer::new(KeyPair::new_account().public_key(), KeyPair::new_account());
        let made =
            issuer.credentials(&BusUser::Enrolment(Id::random()), Timestamp::from_ms(0), None).unwrap();
        JoinToken {
            url: "tls://nats.example.net:4222".into(),
            authority: None,
            credentials: made.to_text().unwrap(),
        }
    }

    #[test]
    fn a_join_token_is_one_word_that_reads_back() {
        let text = token().to_text();
        assert!(text.expose_secret().chars().all(|letter| letter.is_ascii_graphic()));
        let read = JoinToken::parse(&format!(" {}\n", text.expose_secret())).unwrap();
        assert_eq!(read.to_text().expose_secret(), text.expose_secret());
    }

    #[test]
    fn a_token_that_was_cut_is_refused() {
        let text = token().to_text();
        let text = text.expose_secret();
        for length in [0, 5, 8, 100, text.len() - 1] {
            assert!(JoinToken::parse(&text[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let token = token();
        assert!(!format!("{token:?}").contains("SEED"));
    }
}
