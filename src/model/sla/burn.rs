//! The burn rate of an error budget, and alerts by several windows and burn rates as in chapter 5 of Google's SRE workbook.
//!
//! A burn rate of 1 uses up exactly the budget of the period. A rule fires if a long window shows that a share of the
//! budget was used, and a short window shows that this continues. Shares and windows are from the workbook; the burn rates
//! follow from the length of the period. For 30 days they are 14.4, 6 and 1, as in the workbook.

use crate::model::sla::objective::{SlaObjective, WHOLE};
use crate::model::word_enum::words;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// A burn rate of 1 in thousandths.
const ONE: i64 = 1_000;

words! {
    /// How fast an error budget is used up.
    #[derive(PartialOrd, Ord)]
    pub enum BurnState {
        /// The budget lasts for the period at the present rate.
        Steady,
        /// The budget is used up too fast to last for the period.
        Slow,
        /// The budget is used up so fast that action is needed now.
        Fast,
    }
}

/// An alert rule for a long and a short window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurnRateRule {
    /// The state that the rule reports when it fires.
    pub state: BurnState,
    /// The window that shows how much of the budget was used, in milliseconds.
    pub long_ms: i64,
    /// The window that shows that the use continues, in milliseconds.
    pub short_ms: i64,
    /// The share of the budget that is used within the long window, in per cent.
    pub budget_percent: i64,
}

/// The alert rules of the workbook (chapter 5, table 5-8).
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
    /// Uptime in milliseconds.
    pub up_ms: i64,
    /// Downtime in milliseconds.
    pub down_ms: i64,
}

impl MeasuredTime {
    /// The burn rate in thousandths, rounded down; `None` if nothing was measured.
    #[must_use]
    pub fn burn_rate(self, objective: SlaObjective) -> Option<i64> {
        let measured = i128::from(self.up_ms) + i128::from(self.down_ms);
        let down = i128::from(self.down_ms) * i128::from(WHOLE) * i128::from(ONE);
        let rate = down.checked_div(measured * i128::from(objective.allowance()))?;
        i64::try_from(rate).ok()
    }
}

/// The burn rates that a rule was evaluated with at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurnRateReading {
    /// The rule that was evaluated.
    pub rule: BurnRateRule,
    /// The burn rate from which the rule fires, in thousandths.
    pub threshold: i64,
    /// The burn rate of the long window in thousandths; `None` if nothing was measured.
    pub long: Option<i64>,
    /// The burn rate of the short window in thousandths; `None` if nothing was measured.
    pub short: Option<i64>,
}

impl BurnRateReading {
    /// Returns true if both windows have reached the threshold.
    #[must_use]
    pub fn is_firing(&self) -> bool {
        let reached = |rate: Option<i64>| rate.is_some_and(|rate| rate >= self.threshold);
        reached(self.long) && reached(self.short)
    }
}

/// Evaluates all rules, in their order. `within` returns the measured time of the last given number of milliseconds.
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

/// The most urgent state of the rules that fire.
#[must_use]
pub fn state(readings: &[BurnRateReading]) -> BurnState {
    let firing = readings.iter().filter(|reading| reading.is_firing());
    firing.map(|reading| reading.rule.state).max().unwrap_or(BurnState::Steady)
}

/// The burn rate at which the share of the rule is used within its long window, in thousandths. At least 1,000, because a
/// budget that burns more slowly lasts; at most the rate of a complete outage.
fn threshold(rule: BurnRateRule, objective: SlaObjective, period_ms: i64) -> i64 {
    let highest = i64::from(WHOLE) * ONE / i64::from(objective.allowance());
    let rate = i128::from(period_ms) * i128::from(rule.budget_percent * ONE / 100) / i128::from(rule.long_ms);
    i64::try_from(rate).unwrap_or(i64::MAX).max(ONE).min(highest)
}

#[cfg(test)]
mod tests;
