//! Maps database errors to responses (contract 5.1). An unavailable main database is 503, a full disk has a message of its
//! own, an unavailable history is a separate 503, and any other error is internal.

use crate::http::kit::error::ApiError;
use crate::store::{HistoryError, MainError};

impl From<MainError> for ApiError {
    fn from(error: MainError) -> Self {
        if error.is_given_up() {
            tracing::warn!(%error, "write aborted by the database: it conflicts with another one");
            Self::GivenUp
        } else if error.is_disk_full() {
            tracing::error!(%error, "disk of the main database full");
            Self::DiskFull
        } else if error.is_unreachable() {
            tracing::error!(%error, "cannot reach the main database");
            Self::Unavailable
        } else {
            Self::Internal(error.into())
        }
    }
}

/// Every failure of the history means that measurements are unavailable (contract 4.8).
impl From<HistoryError> for ApiError {
    fn from(error: HistoryError) -> Self {
        tracing::error!(%error, "cannot read measurements from the history database");
        Self::MeasurementsUnavailable
    }
}
