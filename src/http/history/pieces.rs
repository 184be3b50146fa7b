//! Where figures come from: derived hours as far as they reach and fit, rows for the rest.

use crate::clock::Timestamp;
use crate::http::api::Api;
use crate::http::error::ApiError;
use crate::http::store_access::StoreResult as _;
use crate::model::history::Sample;
use crate::model::service::ServiceKey;
use crate::stats::histogram::ResponseTimes;
use crate::store::history::hours::{HOUR_MS, Hour};
use crate::store::history::{hours, samples};

/// Ranges up to this length read rows alone: their buckets are finer than an hour.
const ROWS_ALONE_MS: i64 = 24 * HOUR_MS;

/// A part of what was measured.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// One result.
    Sample(Sample),
    /// The results of one location in one hour.
    Hour(Hour),
}

impl Piece {
    /// When it was measured; for an hour, when that began.
    pub(super) const fn at(&self) -> Timestamp {
        match self {
            Self::Sample(sample) => sample.checked_at,
            Self::Hour(hour) => hour.start,
        }
    }

    /// Finished checks, and those that were down.
    pub(super) fn counts(&self) -> (u64, u64) {
        match self {
            Self::Sample(sample) => (1, u64::from(sample.is_down)),
            Self::Hour(hour) => (u64::from(hour.checks), u64::from(hour.failed)),
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
            Self::Hour(hour) => {
                let Some(histogram) = &hour.histogram else { return };
                if let Err(error) = times.merge_serialised(histogram) {
                    tracing::error!(service = hour.service, start = %hour.start, %error, "an hour is left out");
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
    let (hours_from, hours_to) = if to.ms_since(from) <= ROWS_ALONE_MS {
        (from, from)
    } else {
        derived_part((from, to), hours::watermark(reader).await.or_unmeasured()?)
    };
    let before = samples::between(reader, service, (from, hours_from), locations).await.or_unmeasured()?;
    let derived = hours::between(reader, service, (hours_from, hours_to), locations).await.or_unmeasured()?;
    let after = samples::between(reader, service, (hours_to, to), locations).await.or_unmeasured()?;
    let pieces = before.into_iter().map(Piece::Sample);
    Ok(pieces
        .chain(derived.into_iter().map(Piece::Hour))
        .chain(after.into_iter().map(Piece::Sample))
        .collect())
}

/// The whole hours of `[from, to)` that are derived.
fn derived_part((from, to): (Timestamp, Timestamp), watermark: Option<Timestamp>) -> (Timestamp, Timestamp) {
    let first_whole = Timestamp::from_ms(from.ms().div_euclid(HOUR_MS) * HOUR_MS);
    let first_whole = if first_whole < from { first_whole.plus_ms(HOUR_MS) } else { first_whole };
    let first_whole = first_whole.min(to);
    (first_whole, watermark.unwrap_or(first_whole).clamp(first_whole, to))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0, 10, None, 0, 0)]
    #[case(0, 10, Some(4), 0, 4)]
    #[case(0, 10, Some(40), 0, 10)]
    #[case(5, 10, Some(4), 5, 5)]
    fn whole_hours_below_the_watermark_are_derived(
        #[case] from: i64,
        #[case] to: i64,
        #[case] watermark: Option<i64>,
        #[case] hours_from: i64,
        #[case] hours_to: i64,
    ) {
        let hour = |hours: i64| Timestamp::from_ms(hours * HOUR_MS);
        let part = derived_part((hour(from), hour(to)), watermark.map(hour));
        assert_eq!(part, (hour(hours_from), hour(hours_to)));
    }

    #[test]
    fn a_cut_hour_is_read_from_rows() {
        let from = Timestamp::from_ms(HOUR_MS / 2);
        let to = Timestamp::from_ms(10 * HOUR_MS);
        let (hours_from, hours_to) = derived_part((from, to), Some(to));
        assert_eq!((hours_from.ms(), hours_to), (HOUR_MS, to));
    }
}
