//! The SLA calculation for a period, for one service or for several together.
//!
//! Times of several services are added up: if two services are down for a minute, that is two minutes of downtime in twice
//! the time. The part of the period that is still to come counts for the budget like measured time.

use crate::clock::Timestamp;
use crate::model::sla::SlaTerms;
use crate::model::sla::budget::ErrorBudget;
use crate::model::sla::burn::{BurnRateReading, LONGEST_MS, MeasuredTime, evaluate_burn_rates};
use crate::model::time_range::TimeRange;
use crate::stats::sla::{SlaHistory, SlaSums, SlaTimeClass, classify, sums};
use crate::stats::uptime::ClassifiedSpan;

/// A period to calculate, with the terms of its target and the present time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlaCalculation {
    /// Objective, period and hours of the target.
    pub terms: SlaTerms,
    /// The whole period, including its future part.
    pub period: TimeRange,
    /// The present time, or the end of the period if that has passed.
    pub until: Timestamp,
    /// The parts of the calculated range that are outside of business hours.
    closed: Vec<TimeRange>,
    /// The future time of the period within business hours, in milliseconds.
    pub to_come_ms: i64,
}

impl SlaCalculation {
    /// Prepares the calculation of a period at `now`.
    #[must_use]
    pub fn new(terms: SlaTerms, period: TimeRange, now: Timestamp) -> Self {
        let until = now.min(period.to).max(period.from);
        let judged = Self { terms, period, until, closed: Vec::new(), to_come_ms: 0 };
        let (zone, to_come) = (judged.terms.zone, TimeRange { from: until, to: period.to });
        let (closed, to_come_ms) = match &judged.terms.business_hours {
            Some(hours) => {
                let open = hours.open(zone, to_come);
                let to_come_ms = open.iter().map(|open| open.to.ms_since(open.from)).sum();
                (hours.closed(zone, judged.evaluated_range()), to_come_ms)
            }
            None => (Vec::new(), to_come.to.ms_since(to_come.from)),
        };
        Self { closed, to_come_ms, ..judged }
    }

    /// The past part of the period.
    #[must_use]
    pub const fn so_far(&self) -> TimeRange {
        TimeRange { from: self.period.from, to: self.until }
    }

    /// The calculated range. It may start before the period, because burn rates look back up to three days.
    #[must_use]
    pub fn evaluated_range(&self) -> TimeRange {
        TimeRange { from: self.period.from.min(self.until.plus_ms(-LONGEST_MS)), to: self.until }
    }

    /// The classified time of a service in the calculated range.
    #[must_use]
    pub fn spans(&self, past: &SlaHistory<'_>) -> Vec<ClassifiedSpan<SlaTimeClass>> {
        classify(past, &self.closed, self.evaluated_range())
    }

    /// The error budget of `services` services that have these sums together.
    #[must_use]
    pub fn budget(&self, sums: SlaSums, services: usize) -> ErrorBudget {
        let to_come_ms = self.to_come_ms.saturating_mul(i64::try_from(services).unwrap_or(i64::MAX));
        let time_ms = sums.up_ms.saturating_add(sums.down_ms).saturating_add(to_come_ms);
        ErrorBudget::new(self.terms.objective, time_ms, sums.down_ms)
    }

    /// The burn rates by all three rules at the end of the past part of the period.
    #[must_use]
    pub fn burn(&self, services: &[Vec<ClassifiedSpan<SlaTimeClass>>]) -> [BurnRateReading; 3] {
        let period_ms = self.period.to.ms_since(self.period.from);
        evaluate_burn_rates(self.terms.objective, period_ms, |window_ms| {
            let window = TimeRange { from: self.until.plus_ms(-window_ms), to: self.until };
            let mut all = SlaSums::default();
            for spans in services {
                all.merge(sums(spans, window));
            }
            MeasuredTime { up_ms: all.up_ms, down_ms: all.down_ms }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange};
    use crate::model::sla::burn::{BurnState, state};
    use crate::model::sla::calendar::SlaPeriod;
    use crate::model::sla::objective::SlaObjective;

    fn at(text: &str) -> Timestamp {
        let moment: chrono::DateTime<chrono::Utc> = text.parse().unwrap();
        Timestamp::from_ms(moment.timestamp_millis())
    }

    fn terms(hours: Option<&str>) -> SlaTerms {
        SlaTerms {
            objective: SlaObjective::from_percent(99.9).unwrap(),
            period: SlaPeriod::Month,
            zone: "Europe/Berlin".parse().unwrap(),
            business_hours: hours.map(|hours| hours.parse().unwrap()),
        }
    }

    /// In the middle of November: two services, one of which has been down for the last hour.
    #[test]
    fn future_time_counts_for_the_budget() {
        let now = at("2026-11-15T23:00:00Z");
        let terms = terms(None);
        let judged = SlaCalculation::new(terms.clone(), terms.period.current(terms.zone, now), now);
        let change = |at, to| StatusChange {
            service: 1,
            at,
            from: MeasuredStatus::Unknown,
            to,
            cause: ChangeCause::Votes,
        };
        let begin = change(at("2026-10-01T00:00:00Z"), MeasuredStatus::Up);
        let changes = [begin, change(at("2026-11-15T22:00:00Z"), MeasuredStatus::Down)];
        let past = |changes| SlaHistory { changes, measured_until: now, windows: &[], incidents: &[] };
        let services = [judged.spans(&past(&changes)), judged.spans(&past(&changes[..1]))];
        let mut all = SlaSums::default();
        for spans in &services {
            all.merge(sums(spans, judged.so_far()));
        }
        let day_s = 86_400;
        assert_eq!((all.down_ms, all.up_ms), (3_600_000, (2 * 15 * day_s - 3_600) * 1_000));
        let budget = judged.budget(all, services.len());
        assert_eq!((budget.total_ms, budget.is_met()), (2 * 30 * day_s, true));
        assert_eq!(state(&judged.burn(&services)), BurnState::Fast);
    }

    #[test]
    fn only_business_hours_count_as_future_time() {
        let now = at("2026-11-27T12:00:00Z");
        let terms = terms(Some("mon,tue,wed,thu,fri 09:00-17:00"));
        let judged = SlaCalculation::new(terms.clone(), terms.period.current(terms.zone, now), now);
        // The time from 13:00 to 17:00 on Friday, and the whole Monday.
        assert_eq!(judged.to_come_ms, 12 * 3_600_000);
    }

    #[test]
    fn a_past_period_has_no_future_time() {
        let now = at("2026-11-27T12:00:00Z");
        let terms = terms(None);
        let judged = SlaCalculation::new(terms.clone(), terms.period.previous(terms.zone, now), now);
        assert_eq!((judged.until, judged.to_come_ms), (judged.period.to, 0));
    }
}
