//! Hashing passwords beside the event loop, few at a time: each takes about 19 MiB and tens of milliseconds.

use anyhow::Context as _;

use crate::http::kit::error::ApiError;
use crate::http::v1::api::Api;
use crate::model::password::Password;

/// The hash to keep of a password.
///
/// # Errors
/// 500.
pub(super) async fn hash(api: &Api, password: Password) -> Result<String, ApiError> {
    let place = api.hashing.acquire().await.context("no place for hashing").map_err(ApiError::Internal)?;
    let hashed = tokio::task::spawn_blocking(move || password.hash()).await;
    drop(place);
    let hashed = hashed.context("hashing was given up").map_err(ApiError::Internal)?;
    hashed.map_err(|error| ApiError::Internal(error.into()))
}
