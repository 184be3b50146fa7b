//! Differences between the clocks of locations and ours, and their correction.
//!
//! A report only gets older in transit, so the report that is furthest ahead is the most accurate. A correction
//! changes only when it is clearly wrong, because a result is identified by its time.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::location::LocationCode;

/// A difference up to this many milliseconds is not corrected.
const TOLERANCE_MS: i64 = 2_000;
/// Number of compared reports.
const REPORTS: usize = 6;
/// A correction is kept while it is wrong by at most this many milliseconds.
const STEADY_MS: i64 = 1_500;

/// The clocks of all locations. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct LocationClocks(Arc<Mutex<HashMap<LocationCode, ClockReports>>>);

#[derive(Debug, Default)]
struct ClockReports {
    ahead_ms: VecDeque<i64>,
    correction_ms: i64,
}

/// The clock of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    /// Milliseconds by which the location's clock is ahead; negative when it is behind.
    pub ahead_ms: i64,
    /// The correction in milliseconds; 0 if none is needed.
    pub correction_ms: i64,
}

impl LocationClocks {
    /// Records by how much the clock in a report was ahead of ours when the report arrived.
    pub fn note(&self, location: &LocationCode, ahead_ms: i64) -> ClockOffset {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reports = all.entry(location.clone()).or_default();
        reports.ahead_ms.truncate(REPORTS - 1);
        reports.ahead_ms.push_front(ahead_ms);
        let ahead_ms = reports.ahead_ms.iter().max().copied().unwrap_or_default();
        let is_right = ahead_ms.abs() <= TOLERANCE_MS;
        let wanted_ms = if is_right { 0 } else { (ahead_ms + 500).div_euclid(1_000) * 1_000 };
        if is_right || (ahead_ms - reports.correction_ms).abs() > STEADY_MS {
            reports.correction_ms = wanted_ms;
        }
        ClockOffset { ahead_ms, correction_ms: reports.correction_ms }
    }

    /// Returns the correction of a location's times in milliseconds.
    #[must_use]
    pub fn correction_ms(&self, location: &LocationCode) -> i64 {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(location).map_or(0, |reports| reports.correction_ms)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::right(&[3, -2, 0], 0)]
    #[case::a_bus_that_stood_still(&[0, 0, -9_000, -4_000, 0, 1], 0)]
    #[case::ahead(&[90_004, 90_003], 90_000)]
    #[case::behind(&[-90_004, -90_003], -90_000)]
    #[case::behind_and_late(&[-90_004, -95_000], -90_000)]
    #[case::drifting_a_little(&[90_004, 90_600, 91_400], 90_000)]
    #[case::set_right(&[90_000, 0, 0, 0, 0, 0, 0], 0)]
    #[case::just_tolerated(&[2_000], 0)]
    fn one_late_report_does_not_change_the_clock_correction(
        #[case] reports: &[i64],
        #[case] correction_ms: i64,
    ) {
        let (clocks, fra) = (LocationClocks::default(), "fra".parse().unwrap());
        assert_eq!(clocks.correction_ms(&fra), 0);
        for ahead_ms in reports {
            clocks.note(&fra, *ahead_ms);
        }
        assert_eq!(clocks.correction_ms(&fra), correction_ms);
    }
}
