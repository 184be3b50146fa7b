//! Decodes images on threads of their own. Only a few are decoded at a time, because each may take a lot of memory.

use tokio::sync::Semaphore;

use crate::http::kit::error::ApiError;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::assets::picture::{AssetPicture, accept};
use crate::model::asset::AssetKind;

/// Maximum number of images decoded at a time; a large one takes several hundred megabytes.
const AT_A_TIME: usize = 2;

#[derive(Debug)]
pub(in crate::http::v1) struct ImageDecoder {
    permits: Semaphore,
}

impl Default for ImageDecoder {
    fn default() -> Self {
        Self { permits: Semaphore::new(AT_A_TIME) }
    }
}

impl ImageDecoder {
    /// Returns the file in its stored form, or the rule that the file breaks.
    ///
    /// # Errors
    /// 500 when a decoder panics; 503 when the process is stopping.
    pub(super) async fn decode(
        &self,
        kind: AssetKind,
        bytes: Vec<u8>,
    ) -> Result<Result<AssetPicture, FieldRule>, ApiError> {
        let _permit = self.permits.acquire().await.map_err(|_| ApiError::Unavailable)?;
        let work = tokio::task::spawn_blocking(move || accept(kind, bytes));
        work.await.map_err(|error| ApiError::Internal(error.into()))
    }
}
