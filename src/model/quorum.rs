//! The quorum of a service: how many votes of locations decide its verdict.
//!
//! Of n votes, d are down and g degraded. A quorum needs k of them: `any` 1, `all` n, a number the smaller of that number
//! and n. The verdict is `down` if d >= k, else `degraded` if d+g >= k, else `up`. The default, `majority`, is the rule of
//! contract 4.3.7: `down` if 2d > n, else `degraded` if 2(d+g) >= n and d+g > 0, else `up`. Without votes the verdict is
//! unknown.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::model::check::CheckStatus;
use crate::model::verdict::Verdict;

/// Permitted numbers of locations in a quorum by number; if fewer locations vote, all of these are needed.
pub const LOCATIONS: RangeInclusive<u8> = 1..=50;

/// The number of votes needed for the verdict `down` or `degraded`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Quorum {
    /// One vote is enough.
    Any,
    /// More than half for `down`, half for `degraded`.
    #[default]
    Majority,
    /// Every vote is needed.
    All,
    /// This number of votes is needed, or all if there are fewer; within [`LOCATIONS`].
    AtLeast(u8),
}

impl Quorum {
    /// The words of the quorums that are not numbers.
    pub const WORDS: &[&str] = &["any", "majority", "all"];

    /// Returns the verdict of these votes. Their order does not matter.
    #[must_use]
    pub fn judge(self, votes: impl IntoIterator<Item = CheckStatus>) -> Verdict {
        let (mut all, mut down, mut degraded) = (0_u32, 0_u32, 0_u32);
        for vote in votes {
            all += 1;
            match vote {
                CheckStatus::Up => {}
                CheckStatus::Degraded => degraded += 1,
                CheckStatus::Down => down += 1,
            }
        }
        let troubled = down + degraded;
        let (is_down, is_degraded) = match self {
            Self::Any => (down >= 1, troubled >= 1),
            Self::Majority => (2 * down > all, troubled > 0 && 2 * troubled >= all),
            Self::All => (down == all, troubled == all),
            Self::AtLeast(number) => {
                let needed = all.min(number.into());
                (down >= needed, troubled >= needed)
            }
        };
        match () {
            () if all == 0 => Verdict::Unknown,
            () if is_down => Verdict::Down,
            () if is_degraded => Verdict::Degraded,
            () => Verdict::Up,
        }
    }
}

/// The default rule: n votes, d down, g degraded: `down` if 2d > n; else `degraded` if 2(d+g) >= n and
/// d+g > 0; else `up`. No votes: `unknown`.
#[must_use]
pub fn majority(votes: impl IntoIterator<Item = CheckStatus>) -> Verdict {
    Quorum::Majority.judge(votes)
}

impl fmt::Display for Quorum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Majority => f.write_str("majority"),
            Self::All => f.write_str("all"),
            Self::AtLeast(number) => write!(f, "{number}"),
        }
    }
}

/// The text is not a quorum.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a quorum; use any, majority, all, or a number from 1 to 50")]
pub struct UnknownQuorum(String);

impl FromStr for Quorum {
    type Err = UnknownQuorum;

    fn from_str(text: &str) -> Result<Self, UnknownQuorum> {
        match text {
            "any" => Ok(Self::Any),
            "majority" => Ok(Self::Majority),
            "all" => Ok(Self::All),
            number => {
                let number = number.parse().ok().filter(|number| LOCATIONS.contains(number));
                number.map(Self::AtLeast).ok_or_else(|| UnknownQuorum(text.into()))
            }
        }
    }
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

    /// Cases: votes; the verdicts by `any`, `majority`, 2, 3 and `all`, each as its first letter, `x` for unknown.
    #[rstest]
    #[case("", "xxxxx")]
    #[case("u", "uuuuu")]
    #[case("g", "ggggg")]
    #[case("d", "ddddd")]
    #[case("uu", "uuuuu")]
    #[case("ud", "dguuu")]
    #[case("ug", "gguuu")]
    #[case("gd", "dgggg")]
    #[case("dd", "ddddd")]
    #[case("uud", "duuuu")]
    #[case("udg", "dgguu")]
    #[case("udd", "ddduu")]
    #[case("gdd", "dddgg")]
    #[case("ddd", "ddddd")]
    #[case("uugd", "dgguu")]
    #[case("uudd", "dgduu")]
    #[case("uddd", "ddddu")]
    #[case("gddd", "ddddg")]
    #[case("uuuuud", "duuuu")]
    fn each_quorum_asks_for_its_number_of_votes(#[case] cast: &str, #[case] expected: &str) {
        let quorums = [Quorum::Any, Quorum::Majority, Quorum::AtLeast(2), Quorum::AtLeast(3), Quorum::All];
        let letter = |quorum: Quorum| match quorum.judge(votes(cast)) {
            Verdict::Unknown => 'x',
            Verdict::Up => 'u',
            Verdict::Degraded => 'g',
            Verdict::Down => 'd',
        };
        assert_eq!(quorums.map(letter).iter().collect::<String>(), expected);
    }

    /// Contract 4.3.7, the default quorum.
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
    #[case("any", Some(Quorum::Any))]
    #[case("majority", Some(Quorum::Majority))]
    #[case("all", Some(Quorum::All))]
    #[case("1", Some(Quorum::AtLeast(1)))]
    #[case("50", Some(Quorum::AtLeast(50)))]
    #[case("0", None)]
    #[case("51", None)]
    #[case("most", None)]
    fn a_quorum_reads_back_as_it_is_written(#[case] text: &str, #[case] quorum: Option<Quorum>) {
        assert_eq!(text.parse().ok(), quorum);
        assert!(quorum.is_none_or(|quorum| quorum.to_string() == text));
    }

    fn quorum() -> impl Strategy<Value = Quorum> {
        let number = LOCATIONS.prop_map(Quorum::AtLeast);
        prop_oneof![Just(Quorum::Any), Just(Quorum::Majority), Just(Quorum::All), number]
    }

    fn cast() -> impl Strategy<Value = Vec<CheckStatus>> {
        prop::collection::vec(prop::sample::select(CheckStatus::ALL.to_vec()), 0..9)
    }

    proptest! {
        #[test]
        fn order_does_not_matter(quorum in quorum(), cast in cast(), by in any::<prop::sample::Index>()) {
            let mut turned = cast.clone();
            turned.reverse();
            if !turned.is_empty() {
                turned.rotate_left(by.index(cast.len()));
            }
            prop_assert_eq!(quorum.judge(cast), quorum.judge(turned));
        }

        #[test]
        fn a_worse_vote_never_improves_the_verdict(
            quorum in quorum(), mut cast in cast(), at in any::<prop::sample::Index>(),
        ) {
            prop_assume!(!cast.is_empty());
            let before = quorum.judge(cast.iter().copied()).as_check();
            let at = at.index(cast.len());
            cast[at] = if cast[at] == CheckStatus::Up { CheckStatus::Degraded } else { CheckStatus::Down };
            prop_assert!(quorum.judge(cast).as_check() >= before);
        }

        #[test]
        fn a_larger_quorum_never_worsens_the_verdict(cast in cast(), some in LOCATIONS, more in LOCATIONS) {
            let (some, more) = (some.min(more), some.max(more));
            let judge = |quorum: Quorum| quorum.judge(cast.iter().copied()).as_check();
            prop_assert!(judge(Quorum::Any) >= judge(Quorum::Majority));
            prop_assert!(judge(Quorum::Majority) >= judge(Quorum::All));
            prop_assert!(judge(Quorum::AtLeast(some)) >= judge(Quorum::AtLeast(more)));
            prop_assert_eq!(judge(Quorum::AtLeast(1)), judge(Quorum::Any));
            prop_assert_eq!(judge(Quorum::AtLeast(*LOCATIONS.end())), judge(Quorum::All));
        }
    }
}
