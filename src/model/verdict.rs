//! From the results of several locations to one verdict (contract 4.3.7).
//!
//! A location votes with its newest final result while that is fresh; a location without fresh data has no
//! vote. The rule is a pure function of the votes (`model::quorum`), so the engine, the tests and a reader see the same thing.

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::word_enum::words;

/// Results younger than this always count as fresh.
pub const FRESH_AT_LEAST_MS: i64 = 300_000;
/// Results older than this many intervals are stale (unless younger than [`FRESH_AT_LEAST_MS`]).
pub const FRESH_INTERVALS: i64 = 3;

words! {
    /// The state of a service according to its measurements.
    #[derive(Default)]
    pub enum Verdict {
        /// No fresh result at all.
        #[default]
        Unknown,
        /// Enough locations see it up: by default most.
        Up,
        /// Enough locations see trouble: by default at least half.
        Degraded,
        /// Enough locations see it down: by default more than half.
        Down,
    }
}

impl Verdict {
    /// The vote that a single location would need to cast to produce this verdict.
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

/// Returns the milliseconds for which a result counts as a vote.
#[must_use]
pub fn freshness_ms(interval_ms: i64) -> i64 {
    interval_ms.saturating_mul(FRESH_INTERVALS).max(FRESH_AT_LEAST_MS)
}

/// The newest final result of one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationVote {
    /// The status that it saw.
    pub status: CheckStatus,
    /// The start of the check.
    pub checked_at: Timestamp,
}

impl LocationVote {
    /// True if the vote still counts at `now`.
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
