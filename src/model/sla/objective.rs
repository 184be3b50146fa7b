//! The promised share of uptime: per cent with up to four decimals, stored as a whole number of millionths.
//!
//! Whole numbers make every comparison exact: 99.9 per cent of a month is a fixed number of milliseconds.

/// Number of millionths in the whole.
pub const WHOLE: u32 = 1_000_000;
/// The smallest objective in per cent.
pub const PERCENT_MIN: u32 = 50;
/// Millionths of one per cent.
const OF_A_PERCENT: u32 = WHOLE / 100;

/// An objective, below 100 per cent. At 100 per cent there would be no budget, and no alert before the objective is missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlaObjective(u32);

impl SlaObjective {
    /// The objective of this number of millionths; `None` outside of 50 to 99.9999 per cent.
    #[must_use]
    pub fn from_millionths(millionths: u32) -> Option<Self> {
        (PERCENT_MIN * OF_A_PERCENT..WHOLE).contains(&millionths).then_some(Self(millionths))
    }

    /// The objective of this number of per cent; `None` outside of 50 to 99.9999, or with more than four decimals.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and a million")]
    pub fn from_percent(percent: f64) -> Option<Self> {
        let exact = percent * f64::from(OF_A_PERCENT);
        let rounded = exact.round();
        let is_whole = (exact - rounded).abs() < 1e-4;
        let is_within = (0.0..f64::from(WHOLE)).contains(&rounded);
        if is_whole && is_within { Self::from_millionths(rounded as u32) } else { None }
    }

    /// Promised share in millionths.
    #[must_use]
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// Promised share in per cent.
    #[must_use]
    pub fn percent(self) -> f64 {
        f64::from(self.0) / f64::from(OF_A_PERCENT)
    }

    /// The share of the time that may be down, in millionths; at least 1.
    #[must_use]
    pub const fn allowance(self) -> u32 {
        WHOLE - self.0
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(99.9, Some(999_000))]
    #[case(99.95, Some(999_500))]
    #[case(99.9999, Some(999_999))]
    #[case(57.07, Some(570_700))]
    #[case(50.0, Some(500_000))]
    #[case(99.0, Some(990_000))]
    #[case(99.99999, None)]
    #[case(99.912_345, None)]
    #[case(49.9999, None)]
    #[case(100.0, None)]
    #[case(-1.0, None)]
    #[case(f64::NAN, None)]
    #[case(f64::INFINITY, None)]
    fn per_cent_have_four_decimals(#[case] percent: f64, #[case] millionths: Option<u32>) {
        let objective = SlaObjective::from_percent(percent);
        assert_eq!(objective.map(SlaObjective::millionths), millionths);
    }

    #[test]
    fn every_objective_is_read_back_as_it_was_written() {
        for millionths in 500_000..WHOLE {
            let objective = SlaObjective::from_millionths(millionths).unwrap();
            assert_eq!(SlaObjective::from_percent(objective.percent()), Some(objective));
        }
    }
}
