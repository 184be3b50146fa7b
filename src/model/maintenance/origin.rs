//! The place of a maintenance in a series, by which it is found again in any state.

use crate::clock::Timestamp;

/// Database key of a series.
pub type SeriesKey = i64;

/// The place of a maintenance in a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The series.
    pub series: SeriesKey,
    /// The start that the rule gave it; stays when people move it.
    pub occurrence: Timestamp,
    /// True if people changed it: it no longer follows the series.
    pub is_adjusted: bool,
}
