//! The error budget: the time that may be down before an objective is missed.
//!
//! The budget is a share of the measured time of the period so far and of its remaining time. So at the end of the period
//! the objective is met exactly if the budget is not overdrawn.

use crate::model::sla::objective::{SlaObjective, WHOLE};

/// The error budget of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorBudget {
    /// The time that may be down in the whole period, in milliseconds.
    pub total_ms: i64,
    /// The time that was down so far, in milliseconds.
    pub used_ms: i64,
}

impl ErrorBudget {
    /// The budget for `time_ms` milliseconds of measured and remaining time, of which `used_ms` were down.
    #[must_use]
    pub fn new(objective: SlaObjective, time_ms: i64, used_ms: i64) -> Self {
        let total_ms = i128::from(time_ms) * i128::from(objective.allowance()) / i128::from(WHOLE);
        Self { total_ms: i64::try_from(total_ms).unwrap_or(i64::MAX), used_ms }
    }

    /// The remaining budget in milliseconds; below 0 if the budget is overdrawn.
    #[must_use]
    pub const fn left_ms(self) -> i64 {
        self.total_ms - self.used_ms
    }

    /// Returns true while the budget is not overdrawn.
    #[must_use]
    pub const fn is_met(self) -> bool {
        self.used_ms <= self.total_ms
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::thirty_days_of_three_nines(99.9, 2_592_000_000, 2_592_000)]
    #[case::cut_not_rounded(99.9, 1_999, 1)]
    #[case::nothing_measured(99.9, 0, 0)]
    #[case::longer_than_any_period(50.0, i64::MAX, i64::MAX / 2)]
    fn a_budget_is_the_time_beyond_the_objective(
        #[case] percent: f64,
        #[case] time_ms: i64,
        #[case] total_ms: i64,
    ) {
        let objective = SlaObjective::from_percent(percent).unwrap();
        let budget = ErrorBudget::new(objective, time_ms, total_ms);
        assert_eq!((budget.total_ms, budget.left_ms(), budget.is_met()), (total_ms, 0, true));
        let overdrawn = ErrorBudget { used_ms: total_ms.saturating_add(1), ..budget };
        assert_eq!((overdrawn.left_ms(), overdrawn.is_met()), (-1, false));
    }
}
