//! The meaning of a failing database for a client (contract 5.1): the main one away is "not available", its disk
//! full says so, the measurements away is a 503 of their own, anything else is our fault.

use crate::http::kit::error::ApiError;
use crate::store::{HistoryError, MainError};

impl From<MainError> for ApiError {
    fn from(error: MainError) -> Self {
        if error.is_given_up() {
            tracing::warn!(%error, "the database gave a write up in favour of another one");
            Self::GivenUp
        } else if error.is_disk_full() {
            tracing::error!(%error, "the disk of the main database is full");
            Self::DiskFull
        } else if error.is_unreachable() {
            tracing::error!(%error, "the main database cannot be reached");
            Self::Unavailable
        } else {
            Self::Internal(error.into())
        }
    }
}

/// However the history fails, the measurements are not there (contract 4.8).
impl From<HistoryError> for ApiError {
    fn from(error: HistoryError) -> Self {
        tracing::error!(%error, "measurements cannot be read");
        Self::MeasurementsUnavailable
    }
}
