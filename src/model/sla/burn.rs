//! The burn rate of an error budget, and alerts on several windows and burn rates, as in chapter 5 of Google's SRE
//! workbook.
//!
//! A burn rate of 1 uses up exactly the budget of the period. A rule fires when a long window shows that a share of
//! the budget is used, and a short one that it is still being used. Shares and windows are the workbook's; the rates
//! follow from the length of the period, so that 30 days have its 14.4, 6 and 1.

use crate::model::sla::objective::{SlaObjective, WHOLE};
use crate::model::word_enum::words;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// Thousandths in a burn rate of 1.
const ONE: i64 = 1_000;

words! {
    /// The state of a budget.
    #[derive(PartialOrd, Ord)]
    pub enum BurnState {
        /// The budget lasts, at the present rate.
        Steady,
        /// It is used up so fast that it will not last.
        Slow,
        /// It is used up so fast that action is needed now.
        Fast,
    }
}

/// A rule for an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurnRateRule {
    /// The state when it fires.
    pub state: BurnState,
    /// The window that shows the used share, in milliseconds.
    pub long_ms: i64,
    /// The window that shows that it continues, in milliseconds.
    pub short_ms: i64,
    /// The share of the budget that is used within the long window, in per cent.
    pub budget_percent: i64,
}

/// The rules of the workbook (chapter 5, table 5-8).
pub const RULES: [BurnRateRule; 3] = [
    BurnRateRule { state: BurnState::Fast, long_ms: HOUR_MS, short_ms: 5 * MINUTE_MS, budget_percent: 2 },
    BurnRateRule {
        state: BurnState::Fast,
        long_ms: 6 * HOUR_MS,
        short_ms: 30 * MINUTE_MS,
        budget_percent: 5,
    },
    BurnRateRule { state: BurnState::Slow, long_ms: 72 * HOUR_MS, short_ms: 6 * HOUR_MS, budget_percent: 10 },
];

/// The longest window of all rules, in milliseconds.
pub const LONGEST_MS: i64 = 72 * HOUR_MS;

/// The measured time of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasuredTime {
    /// Milliseconds that were up.
    pub up_ms: i64,
    /// Milliseconds that were down.
    pub down_ms: i64,
}

impl MeasuredTime {
    /// The burn rate in thousandths, cut; `None` when nothing was measured.
    #[must_use]
    pub fn burn_rate(self, objective: SlaObjective) -> Option<i64> {
        let measured = i128::from(self.up_ms) + i128::from(self.down_ms);
        let down = i128::from(self.down_ms) * i128::from(WHOLE) * i128::from(ONE);
        let rate = down.checked_div(measured * i128::from(objective.allowance()))?;
        i64::try_from(rate).ok()
    }
}

/// The reading of a rule at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurnRateReading {
    /// The rule that was evaluated.
    pub rule: BurnRateRule,
    /// The burn rate from which on it fires, in thousandths.
    pub threshold: i64,
    /// The burn rate of the long window.
    pub long: Option<i64>,
    /// The burn rate of the short window.
    pub short: Option<i64>,
}

impl BurnRateReading {
    /// Returns true when both windows have reached the threshold.
    #[must_use]
    pub fn is_firing(&self) -> bool {
        let reached = |rate: Option<i64>| rate.is_some_and(|rate| rate >= self.threshold);
        reached(self.long) && reached(self.short)
    }
}

/// Reads all rules, in their order; `within` returns the measured time in the last milliseconds of the given number.
#[must_use]
pub fn evaluate_burn_rates(
    objective: SlaObjective,
    period_ms: i64,
    within: impl Fn(i64) -> MeasuredTime,
) -> [BurnRateReading; 3] {
    RULES.map(|rule| BurnRateReading {
        rule,
        threshold: threshold(rule, objective, period_ms),
        long: within(rule.long_ms).burn_rate(objective),
        short: within(rule.short_ms).burn_rate(objective),
    })
}

/// The state of the rules together: the most urgent one of those that fire.
#[must_use]
pub fn state(readings: &[BurnRateReading]) -> BurnState {
    let firing = readings.iter().filter(|reading| reading.is_firing());
    firing.map(|reading| reading.rule.state).max().unwrap_or(BurnState::Steady)
}

/// The burn rate at which the share of the rule is used within its long window, in thousandths: at least 1, since a
/// budget that burns slower lasts, and at most the rate at which everything is down.
fn threshold(rule: BurnRateRule, objective: SlaObjective, period_ms: i64) -> i64 {
    let highest = i64::from(WHOLE) * ONE / i64::from(objective.allowance());
    let rate = i128::from(period_ms) * i128::from(rule.budget_percent * ONE / 100) / i128::from(rule.long_ms);
    i64::try_from(rate).unwrap_or(i64::MAX).max(ONE).min(highest)
}

#[cfg(test)]
mod tests;
