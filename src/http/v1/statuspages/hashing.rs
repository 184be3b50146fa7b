//! Hashes passwords on a separate thread, few at a time: each hash takes about 19 MiB and tens of milliseconds.

use anyhow::Context as _;
use tokio::sync::Semaphore;

use crate::http::kit::error::ApiError;
use crate::model::password::Password;

/// Maximum number of passwords hashed at a time.
const AT_A_TIME: usize = 2;

/// Hashes the passwords of status pages.
#[derive(Debug)]
pub(in crate::http::v1) struct PasswordHasher {
    permits: Semaphore,
}

impl Default for PasswordHasher {
    fn default() -> Self {
        Self { permits: Semaphore::new(AT_A_TIME) }
    }
}

impl PasswordHasher {
    /// Returns the hash of a password for storage.
    pub(super) async fn hash(&self, password: Password) -> Result<String, ApiError> {
        let permit =
            self.permits.acquire().await.context("no permit for hashing").map_err(ApiError::Internal)?;
        let hashed = tokio::task::spawn_blocking(move || password.hash()).await;
        drop(permit);
        let hashed = hashed.context("hashing was abandoned").map_err(ApiError::Internal)?;
        hashed.map_err(|error| ApiError::Internal(error.into()))
    }
}
