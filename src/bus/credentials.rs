//! Credentials: a user's token and the key that proves it, in the file format of NATS' own tools (`.creds`).
//!
//! Anyone who has the text of the credentials can act as the user until the token expires. The text is never
//! shown or logged.

use std::fmt;
use std::path::Path;

use nkeys::{KeyPair, KeyPairType};
use secrecy::{ExposeSecret as _, SecretString};

use crate::bus::jwt::{self, TokenError, TokenHolder};

/// A user's token with its key.
pub struct BusCredentials {
    token: String,
    key: KeyPair,
    holder: TokenHolder,
}

/// Credentials that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// The file cannot be read.
    #[error("{0}: {1}")]
    File(String, std::io::Error),
    /// The text lacks one of its two blocks.
    #[error("the credentials contain no {0}")]
    Missing(&'static str),
    /// The token cannot be read.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The seed is not of a user's key, or not of the key that the token was issued for.
    #[error("the key in the credentials does not match their token")]
    ForeignKey,
}

impl BusCredentials {
    /// Joins a token and its key.
    ///
    /// # Errors
    ///
    /// When the token is invalid, or was issued for another key.
    pub fn new(token: String, key: KeyPair) -> Result<Self, CredentialsError> {
        let holder = jwt::decode_unverified(&token)?;
        if key.key_pair_type() != KeyPairType::User || key.public_key() != holder.subject {
            return Err(CredentialsError::ForeignKey);
        }
        Ok(Self { token, key, holder })
    }

    /// Joins a token and the key with this seed.
    ///
    /// # Errors
    /// As [`Self::new`]; also when the seed is invalid.
    pub fn from_seed(token: String, seed: &SecretString) -> Result<Self, CredentialsError> {
        Self::new(token, key_of(seed)?)
    }

    /// Reads a credentials file.
    pub fn read(file: &Path) -> Result<Self, CredentialsError> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| CredentialsError::File(file.display().to_string(), error))?;
        Self::parse(&text)
    }

    /// Parses the text of a credentials file.
    pub fn parse(text: &str) -> Result<Self, CredentialsError> {
        let block = |name: &'static str| {
            let begin = format!("-----BEGIN {name}-----");
            let inside = text.split_once(&begin).and_then(|(_, rest)| rest.split_once("-----END"));
            // The closing line has one hyphen more than the opening one, and a token may end in hyphens.
            let line =
                inside.and_then(|(inside, _)| inside.lines().map(str::trim).find(|line| line.len() > 1));
            line.ok_or(CredentialsError::Missing(name))
        };
        let token = block("NATS USER JWT")?.to_owned();
        let seed = block("USER NKEY SEED")?;
        Self::from_seed(token, &seed.to_owned().into())
    }

    /// Returns the text of a credentials file.
    ///
    /// # Errors
    ///
    /// When only the public key is known.
    pub fn to_text(&self) -> Result<SecretString, CredentialsError> {
        let seed: SecretString = self.key.seed().map_err(|_| CredentialsError::ForeignKey)?.into();
        Ok(format!(
            "-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------\n\n\
             Whoever has this file is this user. Keep it secret.\n\n\
             -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
            self.token,
            seed.expose_secret()
        )
        .into())
    }

    /// The data about the holder in the token.
    #[must_use]
    pub fn holder(&self) -> &TokenHolder {
        &self.holder
    }

    /// The token, a JWT.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Signs the server's nonce, which proves possession of the key.
    pub fn prove(&self, nonce: &[u8]) -> Result<Vec<u8>, TokenError> {
        self.key.sign(nonce).map_err(|error| TokenError::Key(error.to_string()))
    }
}

/// Shows the user without the secrets.
impl fmt::Debug for BusCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("holder", &self.holder).finish_non_exhaustive()
    }
}

/// Creates the seed of a new user key, which only the user may know.
pub fn new_user_seed() -> Result<SecretString, CredentialsError> {
    KeyPair::new_user().seed().map(SecretString::from).map_err(|_| CredentialsError::ForeignKey)
}

/// Returns the public key of a user with this seed.
pub fn public_key_of(seed: &SecretString) -> Result<String, CredentialsError> {
    Ok(key_of(seed)?.public_key())
}

fn key_of(seed: &SecretString) -> Result<KeyPair, CredentialsError> {
    KeyPair::from_seed(seed.expose_secret().trim()).map_err(|_| CredentialsError::ForeignKey)
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::bus::jwt::TokenClaims;
    use crate::clock::Timestamp;

    fn token_about(key: &KeyPair) -> String {
        let claims = TokenClaims {
            subject: key.public_key(),
            name: "node.a".into(),
            issued: Timestamp::from_ms(0),
            expires: None,
            nats: Map::new(),
        };
        jwt::sign(&claims, &KeyPair::new_account()).unwrap()
    }

    #[test]
    fn a_file_reads_back() {
        let key = KeyPair::new_user();
        let credentials = BusCredentials::new(token_about(&key), key).unwrap();
        let text = credentials.to_text().unwrap();
        let read = BusCredentials::parse(text.expose_secret()).unwrap();
        assert_eq!(read.token(), credentials.token());
        assert_eq!(read.holder(), credentials.holder());
        assert_eq!(read.prove(b"nonce"), credentials.prove(b"nonce"));
    }

    #[test]
    fn the_key_must_match_the_token() {
        let token = token_about(&KeyPair::new_user());
        let foreign = BusCredentials::new(token, KeyPair::new_user());
        assert!(matches!(foreign, Err(CredentialsError::ForeignKey)));
        let account = KeyPair::new_account();
        let no_user = BusCredentials::new(token_about(&account), account);
        assert!(matches!(no_user, Err(CredentialsError::ForeignKey)));
    }

    #[test]
    fn debug_output_hides_the_key() {
        let key = KeyPair::new_user();
        let seed = key.seed().unwrap();
        let credentials = BusCredentials::new(token_about(&key), key).unwrap();
        let shown = format!("{credentials:?}");
        assert!(shown.contains("node.a") && !shown.contains(&seed) && !shown.contains(credentials.token()));
    }

    #[test]
    fn a_text_without_blocks_is_refused() {
        let key = KeyPair::new_user();
        let token =
            format!("-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------", token_about(&key));
        for (text, missing) in [("", "NATS USER JWT"), (token.as_str(), "USER NKEY SEED")] {
            let refused = BusCredentials::parse(text);
            assert!(
                matches!(refused, Err(CredentialsError::Missing(name)) if name == missing),
                "{refused:?}"
            );
        }
    }
}
