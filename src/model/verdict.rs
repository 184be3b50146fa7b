//! From the results of several locations to one verdict (contract 4.3.7).
//!
//! A location votes with its newest final result while that is fresh; a location without fresh data has no
//! vote. The rule is a pure function of the votes ([`quorum`]), so the engine, the tests and a reader see the same thing.

pub mod quorum;

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::verdict::quorum::Quorum;
use crate::model::word::words;

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
pub struct Vote {
    /// The status that it saw.
    pub status: CheckStatus,
    /// The start of the check.
    pub checked_at: Timestamp,
}

impl Vote {
    /// True if the vote still counts at `now`.
    #[must_use]
    pub fn is_fresh(&self, now: Timestamp, interval_ms: i64) -> bool {
        now.ms_since(self.checked_at) <= freshness_ms(interval_ms)
    }
}

/// The default rule: n votes, d down, g degraded: `down` if 2d > n; else `degraded` if 2(d+g) >= n and
/// d+g > 0; else `up`. No votes: `unknown`.
#[must_use]
pub fn majority(votes: impl IntoIterator<Item = CheckStatus>) -> Verdict {
    Quorum::Majority.judge(votes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn votes(text: &str) -> Vec<CheckStatus> {
        text.chars()
            .map(|vote| match vote {
                'u' => CheckStatus::Up,
                'g' => CheckStatus::Degraded,
                _ => CheckStatus::Down,
            })
            .collect()
    }

    /// Contract 4.3.7, the default verdict rule.
    #[rstest]
    #[case("", Verdict::Unknown)]
    #[case("u", Verdict::Up)]
    #[case("g", Verdict::Degraded)]
    #[case("d", Verdict::Down)]
    #[case("uu", Verdict::Up)]
    #[case("ud", Verdict::Degraded)]
    #[case("ug", Verdict::Degraded)]
    #[case("gd", Verdict::Degraded)]
    #[case("dd", Verdict::Down)]
    #[case("uud", Verdict::Up)]
    #[case("uug", Verdict::Up)]
    #[case("udg", Verdict::Degraded)]
    #[case("udd", Verdict::Down)]
    #[case("gdd", Verdict::Down)]
    #[case("uudd", Verdict::Degraded)]
    #[case("uddd", Verdict::Down)]
    #[case("uuud", Verdict::Up)]
    fn the_majority_of_fresh_votes_decides(#[case] cast: &str, #[case] verdict: Verdict) {
        assert_eq!(majority(votes(cast)), verdict);
    }

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
        let vote = Vote { status: CheckStatus::Up, checked_at: Timestamp::from_ms(0) };
        assert_eq!(vote.is_fresh(Timestamp::from_ms(age_ms), interval_ms), fresh);
    }

    proptest! {
        #[test]
        fn order_does_not_matter(mut cast in prop::collection::vec(0_i16..3, 0..9)) {
            let verdict = |codes: &[i16]| majority(codes.iter().filter_map(|code| CheckStatus::from_code(*code)));
            let before = verdict(&cast);
            cast.reverse();
            prop_assert_eq!(before, verdict(&cast));
        }

        #[test]
        fn a_worse_vote_never_improves_the_verdict(cast in prop::collection::vec(0_i16..3, 1..9), at in 0_usize..9) {
            let at = at % cast.len();
            let mut worse = cast.clone();
            worse[at] = (worse[at] + 1).min(2);
            let rank = |codes: &[i16]| majority(codes.iter().filter_map(|code| CheckStatus::from_code(*code))).as_check();
            prop_assert!(rank(&worse) >= rank(&cast));
        }
    }
}
