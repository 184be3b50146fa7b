//! The ping URL of a heartbeat service (contract 4.3.11): how it is created, shown and replaced.
//!
//! The secret is looked up by its hash. It is also stored sealed, to be shown again to callers who may edit the service.

use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::v1::address_secret::{draw_secret, hash};
use crate::http::v1::services::view::HeartbeatView;
use crate::http::v1::state::AppState;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::secret::SecretPlace;
use crate::store::heartbeats::{SealedPingSecret, StoredHeartbeat};

/// Generates a ping secret for this service; returns its hash and the sealed secret.
pub(super) fn new_secret(
    state: &AppState,
    caller: &Caller,
    service: Id,
) -> Result<SealedPingSecret, ApiError> {
    let secret = draw_secret()?;
    let sealed = state.compiler.sealer.seal(secret_place(&caller.organisation.id, &service), &secret);
    Ok(SealedPingSecret { hash: hash(&secret), sealed })
}

/// Creates the view of the stored heartbeat, with the ping URL only for callers who may edit the service.
pub(super) fn view(
    state: &AppState,
    caller: &Caller,
    service: Id,
    stored: &StoredHeartbeat,
) -> Result<HeartbeatView, ApiError> {
    let ping_url = if caller.token.permissions.contains(Permission::ServicesEdit) {
        let secret_place = secret_place(&caller.organisation.id, &service);
        let secret = state.compiler.sealer.open(secret_place, &stored.secret);
        let secret = secret.map_err(|error| ApiError::Internal(error.into()))?;
        Some(format!("{}/ping/{secret}", state.config.ping_base_url()))
    } else {
        None
    };
    Ok(HeartbeatView { ping_url, last_ping_at: stored.heartbeat.last.map(|ping| ping.at) })
}

fn secret_place<'a>(organisation: &'a Id, service: &'a Id) -> SecretPlace<'a> {
    SecretPlace {
        organisation: organisation.as_str(),
        table: "heartbeat",
        row: service.as_str(),
        field: "secret",
    }
}
