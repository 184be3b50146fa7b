//! What a failing database means for a client (contract 5.1): the main one away is "not available", the measurements
//! away is a 503 of their own, anything else is our fault.

use crate::http::kit::error::ApiError;
use crate::store::StoreError;

/// A result of the store on its way to a client.
pub trait StoreResult<T> {
    /// The main database answered, or could not be reached, or failed.
    ///
    /// # Errors
    /// 503 or 500.
    fn or_unavailable(self) -> Result<T, ApiError>;

    /// The history database answered; however it fails, the measurements are not there (contract 4.8).
    ///
    /// # Errors
    /// 503.
    fn or_unmeasured(self) -> Result<T, ApiError>;
}

impl<T, E: Into<StoreError>> StoreResult<T> for Result<T, E> {
    fn or_unavailable(self) -> Result<T, ApiError> {
        self.map_err(|error| {
            let error = error.into();
            if error.is_unreachable() {
                tracing::error!(%error, "the main database cannot be reached");
                ApiError::Unavailable
            } else {
                ApiError::Internal(error.into())
            }
        })
    }

    fn or_unmeasured(self) -> Result<T, ApiError> {
        self.map_err(|error| {
            tracing::error!(error = %error.into(), "measurements cannot be read");
            ApiError::MeasurementsUnavailable
        })
    }
}
