//! Rolling statistics of one service over the last 30 UTC days including today, from which `uptime_30d` and
//! `avg_response_ms` come without reading the history.
//!
//! A day takes 40 bytes and only days with data are stored, so 100,000 services fit in memory.

use std::collections::VecDeque;

use crate::stats::uptime::Availability;

/// Number of days, including today.
pub const WINDOW_DAYS: i64 = 30;

const MAX_DAYS: usize = 30;
const _: () = assert!(MAX_DAYS as i64 == WINDOW_DAYS);

/// Statistics of one UTC day, or the sum of several days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DailyStats {
    /// Uptime and downtime.
    pub availability: Availability,
    /// Number of checks with a response time, from locations with role `full`.
    pub answered: u32,
    /// Sum of these response times, in microseconds.
    pub sum_us: u64,
}

/// Statistics of each of the last 30 days with data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RollingStats {
    days: VecDeque<(i32, DailyStats)>,
}

impl RollingStats {
    /// The statistics of a day, to be added to; `day` as in `Timestamp::day`. `None` if 30 later days are stored.
    pub fn day(&mut self, day: i64) -> Option<&mut DailyStats> {
        let day = i32::try_from(day).unwrap_or(i32::MAX);
        let mut index = self.days.partition_point(|(known, _)| *known < day);
        if self.days.get(index).is_none_or(|(known, _)| *known != day) {
            if self.days.len() >= MAX_DAYS {
                // The oldest day is removed, and all others move up.
                index = index.checked_sub(1)?;
                self.days.pop_front();
            }
            self.days.insert(index, (day, DailyStats::default()));
        }
        self.days.get_mut(index).map(|(_, figures)| figures)
    }

    /// Adds the statistics of `other`, day by day.
    pub fn merge(&mut self, other: &Self) {
        for (day, figures) in &other.days {
            if let Some(mine) = self.day(i64::from(*day)) {
                mine.merge(*figures);
            }
        }
    }

    /// Returns the bytes on the heap, without the size of the struct itself.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.days.capacity() * size_of::<(i32, DailyStats)>()
    }

    /// The sum of the 30 days that end with `today`.
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
    /// Adds the statistics of another day or service.
    pub const fn merge(&mut self, other: Self) {
        self.availability.merge(other.availability);
        self.answered += other.answered;
        self.sum_us += other.sum_us;
    }

    /// Mean response time in milliseconds with one decimal; `None` if no check was answered.
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

    /// Regression: a day that was no longer stored, or was between two stored ones, returned the statistics of another day.
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
