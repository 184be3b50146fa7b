//! Where figures come from: derived hours as far as they reach and fit, rows for the rest.

use crate::clock::Timestamp;
use crate::http::api::Api;
use crate::http::error::ApiError;
use crate::http::store_access::StoreResult as _;
use crate::model::history::Sample;
use crate::model::service::ServiceKey;
use crate::stats::histogram::ResponseTimes;
use crate::store::history::samples;

/// A part of what was measured.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// One result.
    Sample(Sample),
}

impl Piece {
    /// When it was measured; for an hour, when that began.
    pub(super) const fn at(&self) -> Timestamp {
        match self {
            Self::Sample(sample) => sample.checked_at,
        }
    }

    /// Finished checks, and those that were down.
    pub(super) fn counts(&self) -> (u64, u64) {
        match self {
            Self::Sample(sample) => (1, u64::from(sample.is_down)),
        }
    }

    /// Adds its response times. An hour that cannot be read is our fault, and said so in the log.
    pub(super) fn add_to(&self, times: &mut ResponseTimes) {
        match self {
            Self::Sample(sample) => {
                if let Some(response_us) = sample.response_us {
                    times.record(response_us);
                }
            }
        }
    }
}

/// The pieces of a service in `[from, to)`; only of these locations, unless `None`.
pub(super) async fn between(
    api: &Api,
    service: ServiceKey,
    (from, to): (Timestamp, Timestamp),
    locations: Option<&[i32]>,
) -> Result<Vec<Piece>, ApiError> {
    let reader = api.parts.databases.history.reader();
    let found = samples::fresh(reader, service, (from, to), locations).await.or_unmeasured()?;
    Ok(found.into_iter().map(Piece::Sample).collect())
}
