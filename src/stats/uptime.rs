//! Availability from status intervals (contract 4.7): uptime divided by measured time, exact to the millisecond.
//!
//! The measured status decides for a moment unless something of higher rank covers it: excluded time (planned maintenance,
//! a pause, an unreachable time), or, above that, an override. Nothing is sampled, and time without data is left out.

use std::collections::BTreeSet;

use crate::clock::{DAY_MS, Timestamp};
use crate::model::history::{MeasuredStatus, StatusChange};
use crate::model::service::OverrideStatus;
use crate::model::service_window::{ServiceWindow, WindowKind};
use crate::model::time_range::TimeRange;

/// What the time of a service counts as for its uptime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UptimeClass {
    /// Counts as uptime.
    Up,
    /// Counts as downtime.
    Down,
    /// Counts neither as uptime nor as downtime.
    Nothing,
}

impl From<MeasuredStatus> for UptimeClass {
    fn from(status: MeasuredStatus) -> Self {
        match status {
            MeasuredStatus::Up | MeasuredStatus::Degraded => Self::Up,
            MeasuredStatus::Down => Self::Down,
            MeasuredStatus::Unknown | MeasuredStatus::NoData => Self::Nothing,
        }
    }
}

impl From<OverrideStatus> for UptimeClass {
    fn from(status: OverrideStatus) -> Self {
        match status {
            OverrideStatus::Up | OverrideStatus::Degraded => Self::Up,
            OverrideStatus::Down => Self::Down,
            OverrideStatus::Maintenance => Self::Nothing,
        }
    }
}

/// A half-open interval `[from, to)` with one classification `C`; by default for uptime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassifiedSpan<C = UptimeClass> {
    /// Start, inclusive.
    pub from: Timestamp,
    /// End, exclusive.
    pub to: Timestamp,
    /// What the time counts as.
    pub counts: C,
}

/// Sums of uptime and downtime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Availability {
    /// Uptime in milliseconds.
    pub up_ms: i64,
    /// Downtime in milliseconds.
    pub down_ms: i64,
}

impl Availability {
    /// Adds `ms` milliseconds of time that counts as `counts`.
    pub const fn add(&mut self, counts: UptimeClass, ms: i64) {
        match counts {
            UptimeClass::Up => self.up_ms += ms,
            UptimeClass::Down => self.down_ms += ms,
            UptimeClass::Nothing => {}
        }
    }

    /// Adds the sums of another period or service.
    pub const fn merge(&mut self, other: Self) {
        self.up_ms += other.up_ms;
        self.down_ms += other.down_ms;
    }

    /// Returns true if nothing was measured.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.up_ms + self.down_ms == 0
    }

    /// Uptime in per cent of the measured time, cut off (not rounded) after three decimals, so that 100 means no downtime
    /// at all. `None` if nothing was measured.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "at most 100,000")]
    pub fn percent(&self) -> Option<f64> {
        let measured_ms = i128::from(self.up_ms) + i128::from(self.down_ms);
        let thousandths = (i128::from(self.up_ms) * 100_000).checked_div(measured_ms)?;
        Some(i64::try_from(thousandths).unwrap_or_default() as f64 / 1_000.0)
    }
}

/// Classifies a range by the measured status, as adjoining spans. `changes` are in order and start with the last one before
/// the range, if there is one. The last status lasts until `measured_until`; for the time after that there is no data.
#[must_use]
pub fn measured<C: From<MeasuredStatus>>(
    changes: &[StatusChange],
    measured_until: Timestamp,
    range: TimeRange,
) -> Vec<ClassifiedSpan<C>> {
    let TimeRange { from, to } = range;
    let ends = changes.iter().skip(1).map(|change| change.at).chain([measured_until]);
    let known = changes.iter().zip(ends).map(|(change, end)| ClassifiedSpan {
        from: change.at.max(from),
        to: end.min(to),
        counts: C::from(change.to),
    });
    let mut spans: Vec<ClassifiedSpan<C>> = known.filter(|span| span.from < span.to).collect();
    fill_gaps(&mut spans, from, to);
    spans
}

fn fill_gaps<C: From<MeasuredStatus>>(spans: &mut Vec<ClassifiedSpan<C>>, from: Timestamp, to: Timestamp) {
    let gap = |from, to| ClassifiedSpan { from, to, counts: C::from(MeasuredStatus::NoData) };
    let mut filled = Vec::with_capacity(spans.len() + 2);
    let mut at = from;
    for span in spans.drain(..) {
        if at < span.from {
            filled.push(gap(at, span.from));
        }
        at = span.to;
        filled.push(span);
    }
    if at < to {
        filled.push(gap(at, to));
    }
    *spans = filled;
}

/// Replaces the classification of adjoining spans where covers overlap them. If several covers overlap at a moment, the
/// last one in `covers` decides. The edges are passed once in order, so a long history with many covers stays fast.
#[must_use]
pub fn cover<C: Copy>(spans: &[ClassifiedSpan<C>], covers: &[ClassifiedSpan<C>]) -> Vec<ClassifiedSpan<C>> {
    let mut edges: Vec<(Timestamp, usize, bool)> = Vec::with_capacity(covers.len() * 2);
    for (rank, cover) in covers.iter().enumerate().filter(|(_, cover)| cover.from < cover.to) {
        edges.extend([(cover.from, rank, true), (cover.to, rank, false)]);
    }
    edges.sort_unstable();
    let mut edges = edges.into_iter().peekable();
    let mut open = BTreeSet::new();
    let mut result = Vec::with_capacity(spans.len() + edges.len());
    for span in spans {
        let mut from = span.from;
        while from < span.to {
            while let Some((_, rank, begins)) = edges.next_if(|(at, ..)| *at <= from) {
                if begins {
                    open.insert(rank)
                } else {
                    open.remove(&rank)
                };
            }
            let to = edges.peek().map_or(span.to, |(at, ..)| span.to.min(*at));
            let counts = open.last().map_or(span.counts, |rank: &usize| covers[*rank].counts);
            result.push(ClassifiedSpan { from, to, counts });
            from = to;
        }
    }
    result
}

/// Service windows as covers, in rising rank: excluded time (planned maintenance, pauses, unreachable times), then
/// overrides. Open windows last until `until`.
#[must_use]
pub fn covers(decided: &[ServiceWindow], until: Timestamp) -> Vec<ClassifiedSpan> {
    let span = |window: &ServiceWindow, counts| ClassifiedSpan {
        from: window.from,
        to: window.to.unwrap_or(until),
        counts,
    };
    let (mut left_out, mut stated) = (Vec::new(), Vec::new());
    for window in decided {
        match window.kind {
            WindowKind::Pause | WindowKind::Maintenance | WindowKind::Unreachable => {
                left_out.push(span(window, UptimeClass::Nothing));
            }
            WindowKind::Override(status) => stated.push(span(window, UptimeClass::from(status))),
        }
    }
    left_out.into_iter().chain(stated).collect()
}

/// Returns the sums over all spans.
#[must_use]
pub fn total(spans: &[ClassifiedSpan]) -> Availability {
    let mut sum = Availability::default();
    for span in spans {
        sum.add(span.counts, span.to.ms_since(span.from));
    }
    sum
}

/// Sums for each UTC day as (day number as in [`Timestamp::day`], sums), in order. Days without spans are left out.
#[must_use]
pub fn per_day(spans: &[ClassifiedSpan]) -> Vec<(i64, Availability)> {
    let mut days: Vec<(i64, Availability)> = Vec::new();
    for span in spans {
        let mut from = span.from;
        while from < span.to {
            let midnight = Timestamp::from_ms((from.day() + 1) * DAY_MS);
            let to = midnight.min(span.to);
            if days.last().is_none_or(|(day, _)| *day != from.day()) {
                days.push((from.day(), Availability::default()));
            }
            if let Some((_, sum)) = days.last_mut() {
                sum.add(span.counts, to.ms_since(from));
            }
            from = to;
        }
    }
    days
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::model::history::ChangeCause;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn change(at_ms: i64, to: MeasuredStatus) -> StatusChange {
        StatusChange {
            service: 1,
            at: at(at_ms),
            from: MeasuredStatus::Unknown,
            to,
            cause: ChangeCause::Votes,
        }
    }

    /// Contract 4.7: percentages are cut, not rounded.
    #[rstest]
    #[case(0, 0, None)]
    #[case(1, 0, Some(100.0))]
    #[case(0, 1, Some(0.0))]
    #[case(999_999_999, 1, Some(99.999))]
    #[case(2, 1, Some(66.666))]
    #[case(i64::MAX / 2, 0, Some(100.0))]
    fn percentages_are_truncated(#[case] up_ms: i64, #[case] down_ms: i64, #[case] percent: Option<f64>) {
        assert_eq!(Availability { up_ms, down_ms }.percent(), percent);
    }

    #[test]
    fn time_without_evidence_at_either_end_does_not_count() {
        let changes = [change(10, MeasuredStatus::Up), change(30, MeasuredStatus::Down)];
        let spans = measured(&changes, at(40), TimeRange { from: at(0), to: at(100) });
        let expected = [
            (0, 10, UptimeClass::Nothing),
            (10, 30, UptimeClass::Up),
            (30, 40, UptimeClass::Down),
            (40, 100, UptimeClass::Nothing),
        ];
        let expected: Vec<ClassifiedSpan> = expected
            .into_iter()
            .map(|(from, to, counts)| ClassifiedSpan { from: at(from), to: at(to), counts })
            .collect();
        assert_eq!(spans, expected);
    }

    #[test]
    fn a_day_boundary_splits_a_span() {
        let span = ClassifiedSpan { from: at(DAY_MS - 10), to: at(DAY_MS + 5), counts: UptimeClass::Down };
        let down = |down_ms| Availability { up_ms: 0, down_ms };
        assert_eq!(per_day(&[span]), [(0, down(10)), (1, down(5))]);
    }

    /// Contract 4.7, 4.12: time of overlapping maintenances is left out once, and an override outranks it.
    #[test]
    fn planned_maintenance_is_left_out_once_and_an_override_wins() {
        let window =
            |kind, from, to: Option<i64>| ServiceWindow { service: 1, kind, from: at(from), to: to.map(at) };
        let decided = [
            window(WindowKind::Maintenance, 10, Some(30)),
            window(WindowKind::Override(OverrideStatus::Up), 25, Some(28)),
            window(WindowKind::Maintenance, 20, Some(40)),
            window(WindowKind::Pause, 35, Some(45)),
            window(WindowKind::Maintenance, 90, None),
        ];
        let spans =
            measured(&[change(0, MeasuredStatus::Down)], at(100), TimeRange { from: at(0), to: at(100) });
        let spans = cover(&spans, &covers(&decided, at(100)));
        assert_eq!(total(&spans), Availability { up_ms: 3, down_ms: 10 + 45 });
    }

    /// Midnights before the end of February in a leap year and in another year, and before the end of a month.
    const MIDNIGHTS: [&str; 3] = ["2028-02-28", "2027-02-28", "2026-04-30"];
    /// All edges of the histories below are at multiples of this step.
    const STEP_MS: i64 = DAY_MS / 48;

    fn midnight(date: &str) -> Timestamp {
        let date: chrono::NaiveDate = date.parse().unwrap();
        Timestamp::from(date.and_time(chrono::NaiveTime::MIN).and_utc())
    }

    #[test]
    fn a_leap_day_is_a_day() {
        let span = ClassifiedSpan {
            from: midnight("2028-02-28"),
            to: midnight("2028-03-01").plus_ms(5),
            counts: UptimeClass::Up,
        };
        let dates: Vec<_> = per_day(&[span])
            .iter()
            .map(|(day, sum)| (Timestamp::from_ms(day * DAY_MS).date(), sum.up_ms))
            .collect();
        let expected = [("2028-02-28", DAY_MS), ("2028-02-29", DAY_MS), ("2028-03-01", 5)];
        assert_eq!(dates, expected.map(|(date, ms)| (date.to_owned(), ms)));
    }

    fn window_kind() -> impl Strategy<Value = WindowKind> {
        let stated =
            [OverrideStatus::Up, OverrideStatus::Degraded, OverrideStatus::Down, OverrideStatus::Maintenance];
        prop_oneof![
            Just(WindowKind::Maintenance),
            Just(WindowKind::Pause),
            Just(WindowKind::Unreachable),
            prop::sample::select(stated.to_vec()).prop_map(WindowKind::Override),
        ]
    }

    /// The classification of a single moment, without any calculation with intervals. The newest override outranks excluded
    /// time, which outranks the measured status; a no-data period is a change to "no data".
    fn oracle(
        changes: &[StatusChange],
        until: Timestamp,
        decided: &[ServiceWindow],
        moment: Timestamp,
    ) -> UptimeClass {
        let holds = |window: &&ServiceWindow| window.from <= moment && window.to.is_none_or(|to| moment < to);
        let stated = decided.iter().rev().filter(holds).find_map(|window| match window.kind {
            WindowKind::Override(status) => Some(status),
            WindowKind::Pause | WindowKind::Maintenance | WindowKind::Unreachable => None,
        });
        match (stated, decided.iter().find(holds)) {
            (Some(OverrideStatus::Up | OverrideStatus::Degraded), _) => UptimeClass::Up,
            (Some(OverrideStatus::Down), _) => UptimeClass::Down,
            (Some(OverrideStatus::Maintenance), _) | (None, Some(_)) => UptimeClass::Nothing,
            (None, None) => match changes.iter().rev().find(|change| change.at <= moment) {
                Some(change) if moment < until => match change.to {
                    MeasuredStatus::Up | MeasuredStatus::Degraded => UptimeClass::Up,
                    MeasuredStatus::Down => UptimeClass::Down,
                    MeasuredStatus::Unknown | MeasuredStatus::NoData => UptimeClass::Nothing,
                },
                _ => UptimeClass::Nothing,
            },
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]
        /// For three and a half days around the end of a month, sums and days equal a step-by-step count.
        #[test]
        fn sums_equal_a_moment_by_moment_count(
            midnight in prop::sample::select(MIDNIGHTS.map(midnight).to_vec()),
            steps in prop::collection::vec((0_i64..40, prop::sample::select(MeasuredStatus::ALL.to_vec())), 0..12),
            until in 0_i64..200,
            decided in prop::collection::vec((window_kind(), 0_i64..170, prop::option::of(0_i64..60)), 0..8),
            (first, length) in (0_i64..100, 0_i64..170),
        ) {
            let step = |number: i64| midnight.plus_ms(number * STEP_MS);
            let mut number = 0;
            let changes: Vec<StatusChange> = steps.iter().map(|(pause, to)| {
                number += pause;
                change(step(number).ms(), *to)
            }).collect();
            let until = step(until.max(number));
            let decided: Vec<ServiceWindow> = decided.iter().map(|(kind, from, length)| {
                ServiceWindow { service: 1, kind: *kind, from: step(*from), to: length.map(|length| step(from + length)) }
            }).collect();
            let (from, to) = (step(first), step(first + length));
            let spans = cover(&measured(&changes, until, TimeRange { from, to }), &covers(&decided, to));
            prop_assert!(spans.iter().all(|span| span.from < span.to));
            prop_assert!(spans.is_sorted_by(|left, right| left.to == right.from), "they adjoin");
            let (mut sum, mut days) = (Availability::default(), BTreeMap::<String, Availability>::new());
            for moment in (first..first + length).map(step) {
                let counts = oracle(&changes, until, &decided, moment);
                sum.add(counts, STEP_MS);
                days.entry(moment.date()).or_default().add(counts, STEP_MS);
            }
            prop_assert_eq!(total(&spans), sum);
            let found: BTreeMap<String, Availability> = per_day(&spans)
                .into_iter()
                .map(|(day, sum)| (Timestamp::from_ms(day * DAY_MS).date(), sum))
                .collect();
            prop_assert_eq!(found, days);
        }
    }
}
