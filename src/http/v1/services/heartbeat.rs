//! The ping address of a heartbeat service (contract 4.3.11): made, shown, replaced.
//!
//! Only its hash is searched for; the secret itself is kept sealed, to be shown again to those who may edit the service.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::v1::services::view::HeartbeatView;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::secret::SecretPlace;
use crate::store::heartbeats::{SecretHash, StoredHeartbeat};

/// Random bytes of a secret.
const SECRET_BYTES: usize = 32;
/// Characters of a secret.
const SECRET_LENGTH: usize = 43;

/// A new secret for this service: its hash, and the secret sealed.
pub(super) fn new_secret(
    state: &AppState,
    caller: &Caller,
    service: Id,
) -> Result<(SecretHash, String), ApiError> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| ApiError::Internal(anyhow::anyhow!("no randomness: {error}")))?;
    let secret = URL_SAFE_NO_PAD.encode(bytes);
    let sealed = state.definer.sealer.seal(place(&caller.organisation.id, &service), &secret);
    Ok((hash(&secret), sealed))
}

/// Returns the hash by which a secret is found; `None` for a text that cannot be a secret.
pub(in crate::http) fn read_secret(text: &str) -> Option<SecretHash> {
    let in_alphabet = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (text.len() == SECRET_LENGTH && text.bytes().all(in_alphabet)).then(|| hash(text))
}

/// The view of what is stored; the address only for callers who may edit the service.
pub(super) fn view(
    state: &AppState,
    caller: &Caller,
    service: Id,
    stored: &StoredHeartbeat,
) -> Result<HeartbeatView, ApiError> {
    let ping_url = if caller.token.permissions.contains(Permission::ServicesEdit) {
        let place = place(&caller.organisation.id, &service);
        let secret = state.definer.sealer.open(place, &stored.secret);
        let secret = secret.map_err(|error| ApiError::Internal(error.into()))?;
        Some(format!("{}/ping/{secret}", state.config.ping_base_url()))
    } else {
        None
    };
    Ok(HeartbeatView { ping_url, last_ping_at: stored.heartbeat.last.map(|ping| ping.at) })
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
