//! The error for bytes that are not a rollup.

use crate::stats::histogram::HistogramError;

/// A stored rollup cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a stored rollup cannot be read: {0}")]
pub struct RollupError(pub(super) &'static str);

impl From<HistogramError> for RollupError {
    fn from(HistogramError(reason): HistogramError) -> Self {
        Self(reason)
    }
}
