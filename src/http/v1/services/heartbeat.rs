//! The ping address of a heartbeat service (contract 4.3.11): made, shown, replaced.
//!
//! Only its hash is searched for; the secret itself is kept sealed, to be shown again to those who may edit the service.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::v1::api::Api;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::secret::SecretPlace;
use crate::store::heartbeats::{SecretHash, StoredHeartbeat};

/// Random bytes of a secret.
const SECRET_BYTES: usize = 32;
/// Characters of a secret.
const SECRET_LENGTH: usize = 43;

/// A new secret for this service: its hash, and the secret sealed.
pub(super) fn new_secret(api: &Api, caller: &Caller, service: Id) -> Result<(SecretHash, String), ApiError> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| ApiError::Internal(anyhow::anyhow!("no randomness: {error}")))?;
    let secret = URL_SAFE_NO_PAD.encode(bytes);
    let sealed = api.parts.definer.sealer.seal(place(&caller.organisation.id, &service), &secret);
    Ok((hash(&secret), sealed))
}

/// What a secret is found by; `None` for what cannot be one.
pub(in crate::http) fn read_secret(text: &str) -> Option<SecretHash> {
    let in_alphabet = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (text.len() == SECRET_LENGTH && text.bytes().all(in_alphabet)).then(|| hash(text))
}

/// `heartbeat` of the service object.
pub(super) fn heartbeat_json(
    api: &Api,
    caller: &Caller,
    (service, stored): (Id, &StoredHeartbeat),
) -> Result<Value, ApiError> {
    let url = if caller.token.permissions.contains(Permission::ServicesEdit) {
        let place = place(&caller.organisation.id, &service);
        let secret = api.parts.definer.sealer.open(place, &stored.secret);
        let secret = secret.map_err(|error| ApiError::Internal(error.into()))?;
        Some(format!("{}/ping/{secret}", api.parts.config.ping_base_url()))
    } else {
        None
    };
    let last = stored.heartbeat.last.map(|ping| ping.at.to_string());
    Ok(json!({"ping_url": url, "last_ping_at": last}))
}

fn place<'a>(organisation: &'a Id, service: &'a Id) -> SecretPlace<'a> {
    SecretPlace {
        organisation: organisation.as_str(),
        table: "heartbeat",
        row: service.as_str(),
        field: "secret",
    }
}

fn hash(secret: &str) -> SecretHash {
    Sha256::digest(secret).into()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&"a".repeat(43), true)]
    #[case("0123456789-_ABCDEFGHIJKLMNOPQRSTUVWXYZabcde", true)]
    #[case(&"a".repeat(42), false)]
    #[case(&"a".repeat(44), false)]
    #[case("0123456789+/ABCDEFGHIJKLMNOPQRSTUVWXYZabcde", false)]
    fn a_secret_has_43_characters(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(read_secret(text).is_some(), expected);
    }
}
