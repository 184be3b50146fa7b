//! JSON web tokens of NATS, version 2: an operator vouches for accounts, an account for users.
//!
//! The server checks the chain up to the operator that its configuration names. Claims have the form of the `nats` object
//! (github.com/nats-io/jwt, version 2); signatures are Ed25519 by the issuer's nkey. There is no maintained crate that
//! creates these tokens. No decision is made here by a token: [`decode_unverified`] only decodes our own, and
//! checks no signature.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nkeys::KeyPair;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::clock::Timestamp;
use crate::id::Id;

/// The content of a token.
#[derive(Clone, Debug)]
pub struct TokenClaims {
    /// Public key of the token's holder.
    pub subject: String,
    /// Name of the holder, for people.
    pub name: String,
    /// Time at which the token was issued.
    pub issued: Timestamp,
    /// The end of the token's validity, rounded down to a second; `None` if the token does not expire.
    pub expires: Option<Timestamp>,
    /// The `nats` object, with `type` and `version`.
    pub nats: Map<String, Value>,
}

/// A key that cannot sign, or a token that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The issuer's key has no seed, or is damaged.
    #[error("the key cannot sign: {0}")]
    Key(String),
    /// The text does not have the three parts of a token, or lacks the expected claims.
    #[error("not a token of a NATS user: {0}")]
    Form(String),
}

/// Encodes and signs the claims.
pub fn sign(claims: &TokenClaims, issuer: &KeyPair) -> Result<String, TokenError> {
    let mut body = json!({
        "jti": Id::random(),
        "iat": claims.issued.ms().div_euclid(1_000),
        "iss": issuer.public_key(),
        "name": claims.name,
        "sub": claims.subject,
        "nats": claims.nats,
    });
    if let Some(expires) = claims.expires {
        body["exp"] = json!(expires.ms().div_euclid(1_000));
    }
    let header = json!({"typ": "JWT", "alg": "ed25519-nkey"});
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(&header), part(&body));
    let signature = issuer.sign(signed.as_bytes()).map_err(|error| TokenError::Key(error.to_string()))?;
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// The holder of one of our own tokens, as named in the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenHolder {
    /// Public key of the holder.
    pub subject: String,
    /// Public key of the signer.
    pub issuer: String,
    /// Name given by the issuer.
    pub name: String,
    /// The end of the token's validity; `None` if the token does not expire.
    pub expires: Option<Timestamp>,
}

#[derive(Deserialize)]
struct TokenPayload {
    sub: String,
    iss: String,
    name: String,
    exp: Option<i64>,
}

/// Decodes a token without checking its signature.
pub fn decode_unverified(token: &str) -> Result<TokenHolder, TokenError> {
    let form = |problem: &dyn std::fmt::Display| TokenError::Form(problem.to_string());
    let body = token.split('.').nth(1).ok_or_else(|| form(&"it has no second part"))?;
    let bytes = URL_SAFE_NO_PAD.decode(body).map_err(|error| form(&error))?;
    let body: TokenPayload = serde_json::from_slice(&bytes).map_err(|error| form(&error))?;
    let expires = body.exp.map(|seconds| Timestamp::from_ms(seconds.saturating_mul(1_000)));
    Ok(TokenHolder { subject: body.sub, issuer: body.iss, name: body.name, expires })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> TokenClaims {
        let nats = json!({"type": "user", "version": 2});
        TokenClaims {
            subject: KeyPair::new_user().public_key(),
            name: "fra".into(),
            issued: Timestamp::from_ms(1_500),
            expires: Some(Timestamp::from_ms(61_999)),
            nats: nats.as_object().cloned().unwrap_or_default(),
        }
    }

    #[test]
    fn the_signature_covers_the_whole_token() {
        let issuer = KeyPair::new_account();
        let token = sign(&claims(), &issuer).unwrap();
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        assert!(issuer.verify(signed.as_bytes(), &signature).is_ok());
        assert!(issuer.verify(&signed.as_bytes()[1..], &signature).is_err());
    }

    #[test]
    fn a_token_names_its_holder_and_expiry() {
        let claims = claims();
        let issuer = KeyPair::new_account();
        let holder = decode_unverified(&sign(&claims, &issuer).unwrap()).unwrap();
        let expires = Some(Timestamp::from_ms(61_000));
        let issuer = issuer.public_key();
        assert_eq!(holder, TokenHolder { subject: claims.subject, issuer, name: claims.name, expires });
    }

    #[test]
    fn a_malformed_token_is_refused() {
        for text in ["", "a", "a.b.c", "a.e30.c", "a.%.c"] {
            assert!(matches!(decode_unverified(text), Err(TokenError::Form(_))), "{text}");
        }
    }

    #[test]
    fn a_public_key_cannot_sign() {
        let public = KeyPair::from_public_key(&KeyPair::new_account().public_key()).unwrap();
        assert!(matches!(sign(&claims(), &public), Err(TokenError::Key(_))));
    }
}
