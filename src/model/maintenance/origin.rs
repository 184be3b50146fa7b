//! The place of a maintenance in a series, by which it is found again in any state.

use crate::clock::Timestamp;

/// Database key of a series.
pub type SeriesKey = i64;

/// The place of a maintenance in a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesOrigin {
    /// Database key of the series.
    pub series: SeriesKey,
    /// The start by the rule; stays when members move the maintenance.
    pub occurrence: Timestamp,
    /// True if members changed it: it no longer follows the series.
    pub is_adjusted: bool,
}
