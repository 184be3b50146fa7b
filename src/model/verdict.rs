//! The verdict on a service, reached from the results of its locations (contract 4.3.7).
//!
//! The newest final result of a location is its vote while it is fresh; a location without a fresh result has no vote. The
//! verdict is a pure function of the votes (`model::quorum`), the same in the engine and in tests.

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::word_enum::words;

/// Results up to this age always count as fresh, in milliseconds.
pub const FRESH_AT_LEAST_MS: i64 = 300_000;
/// Results up to an age of this many intervals are fresh; the longer of this and [`FRESH_AT_LEAST_MS`] applies.
pub const FRESH_INTERVALS: i64 = 3;

words! {
    /// The state of a service according to its measurements.
    #[derive(Default)]
    pub enum Verdict {
        /// No result is fresh.
        #[default]
        Unknown,
        /// Not enough locations see the service down or degraded.
        Up,
        /// Enough locations see the service degraded or down, by default at least half.
        Degraded,
        /// Enough locations see the service down, by default more than half.
        Down,
    }
}

impl Verdict {
    /// The vote with which a single location would produce this verdict; `None` for unknown.
    #[must_use]
    pub const fn as_check(self) -> Option<CheckStatus> {
        match self {
            Self::Unknown => None,
            Self::Up => Some(CheckStatus::Up),
            Self::Degraded => Some(CheckStatus::Degraded),
            Self::Down => Some(CheckStatus::Down),
        }
    }
}

/// Returns how long a result counts as a vote, in milliseconds.
#[must_use]
pub fn freshness_ms(interval_ms: i64) -> i64 {
    interval_ms.saturating_mul(FRESH_INTERVALS).max(FRESH_AT_LEAST_MS)
}

/// The newest final result of one location, which is its vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationVote {
    /// The status that the location measured.
    pub status: CheckStatus,
    /// The start of the check.
    pub checked_at: Timestamp,
}

impl LocationVote {
    /// Returns true if the vote still counts at `now`.
    #[must_use]
    pub fn is_fresh(&self, now: Timestamp, interval_ms: i64) -> bool {
        now.ms_since(self.checked_at) <= freshness_ms(interval_ms)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(60_000, 300_000, true)]
    #[case(60_000, 300_001, false)]
    #[case(200_000, 600_000, true)]
    #[case(200_000, 600_001, false)]
    fn a_vote_is_fresh_for_three_intervals_but_at_least_300_s(
        #[case] interval_ms: i64,
        #[case] age_ms: i64,
        #[case] fresh: bool,
    ) {
        let vote = LocationVote { status: CheckStatus::Up, checked_at: Timestamp::from_ms(0) };
        assert_eq!(vote.is_fresh(Timestamp::from_ms(age_ms), interval_ms), fresh);
    }
}
