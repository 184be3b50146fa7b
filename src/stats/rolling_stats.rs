//! Rolling figures of one service over the last 30 UTC days, today included: the values of `uptime_30d` and
//! `avg_response_ms`, without reading the history.
//!
//! A day costs 40 bytes, and only days with data are kept, so that 100,000 services fit in memory.

use std::collections::VecDeque;

use crate::stats::uptime::Availability;

/// Number of days that count.
pub const WINDOW_DAYS: i64 = 30;

const MAX_DAYS: usize = 30;
const _: () = assert!(MAX_DAYS as i64 == WINDOW_DAYS);

/// Sums of one UTC day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DailyStats {
    /// Uptime and downtime of the day.
    pub availability: Availability,
    /// Checks of locations with role `full` that got an answer.
    pub answered: u32,
    /// Sum of their response times in microseconds.
    pub sum_us: u64,
}

/// Sums of the last 30 days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RollingStats {
    days: VecDeque<(i32, DailyStats)>,
}

impl RollingStats {
    /// The sums of a day, to be added to; `None` when it is older than all days of a full window. `day` as of
    /// `Timestamp::day`.
    pub fn day(&mut self, day: i64) -> Option<&mut DailyStats> {
        let day = i32::try_from(day).unwrap_or(i32::MAX);
        let mut index = self.days.partition_point(|(known, _)| *known < day);
        if self.days.get(index).is_none_or(|(known, _)| *known != day) {
            if self.days.len() >= MAX_DAYS {
                // The oldest day leaves, and all others move up.
                index = index.checked_sub(1)?;
                self.days.pop_front();
            }
            self.days.insert(index, (day, DailyStats::default()));
        }
        self.days.get_mut(index).map(|(_, figures)| figures)
    }

    /// Adds the sums of another window, day by day.
    pub fn merge(&mut self, other: &Self) {
        for (day, figures) in &other.days {
            if let Some(mine) = self.day(i64::from(*day)) {
                mine.merge(*figures);
            }
        }
    }

    /// Returns the bytes it takes in memory beside itself.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.days.capacity() * size_of::<(i32, DailyStats)>()
    }

    /// The sums of the 30 days that end with `today`.
    #[must_use]
    pub fn total(&self, today: i64) -> DailyStats {
        let mut sum = DailyStats::default();
        for (day, figures) in &self.days {
            if i64::from(*day) > today - WINDOW_DAYS && i64::from(*day) <= today {
                sum.merge(*figures);
            }
        }
        sum
    }
}

impl DailyStats {
    /// Adds the sums of another day.
    pub const fn merge(&mut self, other: Self) {
        self.availability.merge(other.availability);
        self.answered += other.answered;
        self.sum_us += other.sum_us;
    }

    /// Mean response time in milliseconds with one decimal; `None` without an answer.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "sums of 30 days stay far below 2^53")]
    pub fn mean_ms(&self) -> Option<f64> {
        let mean_us = (self.answered > 0).then(|| self.sum_us as f64 / f64::from(self.answered));
        mean_us.map(|us| (us / 100.0).round() / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_leaves_the_window_after_thirty_days() {
        let mut window = RollingStats::default();
        window.day(100).unwrap().answered = 1;
        window.day(129).unwrap().answered = 2;
        assert_eq!(window.total(129).answered, 3);
        assert_eq!(window.total(130).answered, 2);
    }

    #[test]
    fn days_are_kept_in_order_and_bounded() {
        let mut window = RollingStats::default();
        for day in (0..100).rev().chain(0..100) {
            if let Some(figures) = window.day(day) {
                figures.answered += 1;
            }
        }
        assert_eq!(window.days.len(), 30);
        assert!(window.days.iter().zip(window.days.iter().skip(1)).all(|(left, right)| left.0 < right.0));
    }

    /// Regression: a day that was no longer stored, or was between two others, returned the figures of its neighbour.
    #[test]
    fn a_full_window_never_gives_the_figures_of_another_day() {
        let mut window = RollingStats::default();
        for day in (100..160).step_by(2) {
            window.day(day).unwrap().answered = 1;
        }
        assert_eq!(window.day(99), None, "older than all that are kept");
        let between = window.day(131).unwrap();
        assert_eq!(*between, DailyStats::default());
        between.answered = 7;
        assert_eq!(window.day(131).unwrap().answered, 7);
        assert_eq!(window.day(130).unwrap().answered, 1);
        assert_eq!(window.day(132).unwrap().answered, 1);
        assert_eq!(window.day(100), None, "the oldest one has left");
    }

    #[test]
    fn the_mean_has_one_decimal() {
        assert_eq!(DailyStats { answered: 3, sum_us: 1_000, ..DailyStats::default() }.mean_ms(), Some(0.3));
        assert_eq!(DailyStats::default().mean_ms(), None);
    }
}
