//! The series and the window that a maintenance belongs to. Stays the same in every state of the maintenance.

use crate::clock::Timestamp;

/// Database key of a series.
pub type SeriesKey = i64;

/// The series and the window that a maintenance belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesOrigin {
    /// Database key of the series.
    pub series: SeriesKey,
    /// Start of the window by the rule of the series; unchanged when members move the maintenance.
    pub occurrence: Timestamp,
    /// True if members changed the maintenance, so that it no longer follows the series.
    pub is_adjusted: bool,
}
