//! Rolling statistics of one service over the last 30 UTC days including today, from which `uptime_30d` and
//! `avg_response_ms` come without reading the history.
//!
//! A day takes 24 bytes and only days with data are stored, so a million services fit in memory.

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
    days: Vec<StoredDay>,
}

/// Statistics of a day in few bytes: a day has fewer than 2^27 milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StoredDay {
    day: i32,
    up_ms: u32,
    down_ms: u32,
    answered: u32,
    /// The higher and the lower half of the sum, which need no padding.
    sum_us: [u32; 2],
}

impl RollingStats {
    /// Adds statistics to those of a day; `day` as in `Timestamp::day`. Ignores a day if 30 later ones are stored.
    pub fn add(&mut self, day: i64, stats: DailyStats) {
        let day = i32::try_from(day).unwrap_or(i32::MAX);
        let mut index = self.days.partition_point(|known| known.day < day);
        if let Some(known) = self.days.get_mut(index).filter(|known| known.day == day) {
            let mut sum = known.stats();
            sum.merge(stats);
            *known = StoredDay::new(day, sum);
            return;
        }
        if self.days.len() >= MAX_DAYS {
            // The oldest day is removed, and all others move up.
            let Some(moved) = index.checked_sub(1) else { return };
            index = moved;
            self.days.remove(0);
        }
        // A day is added once a day: no memory is held for more.
        self.days.reserve_exact(1);
        self.days.insert(index, StoredDay::new(day, stats));
    }

    /// Adds the statistics of `other`, day by day.
    pub fn merge(&mut self, other: &Self) {
        for known in &other.days {
            self.add(i64::from(known.day), known.stats());
        }
    }

    /// Returns the bytes on the heap, without the size of the struct itself.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.days.capacity() * size_of::<StoredDay>()
    }

    /// The sum of the 30 days that end with `today`.
    #[must_use]
    pub fn total(&self, today: i64) -> DailyStats {
        let mut sum = DailyStats::default();
        for known in &self.days {
            let day = i64::from(known.day);
            if day > today - WINDOW_DAYS && day <= today {
                sum.merge(known.stats());
            }
        }
        sum
    }
}

impl StoredDay {
    fn new(day: i32, stats: DailyStats) -> Self {
        let compact = |ms: i64| u32::try_from(ms.max(0)).unwrap_or(u32::MAX);
        let DailyStats { availability: Availability { up_ms, down_ms }, answered, sum_us } = stats;
        #[expect(clippy::cast_possible_truncation, reason = "the two halves of the number")]
        let sum_us = [(sum_us >> 32) as u32, sum_us as u32];
        Self { day, up_ms: compact(up_ms), down_ms: compact(down_ms), answered, sum_us }
    }

    fn stats(&self) -> DailyStats {
        let [high, low] = self.sum_us.map(u64::from);
        DailyStats {
            availability: Availability { up_ms: self.up_ms.into(), down_ms: self.down_ms.into() },
            answered: self.answered,
            sum_us: high << 32 | low,
        }
    }
}

impl DailyStats {
    /// Adds the statistics of another day or service.
    pub const fn merge(&mut self, other: Self) {
        self.availability.merge(other.availability);
        self.answered = self.answered.saturating_add(other.answered);
        self.sum_us = self.sum_us.saturating_add(other.sum_us);
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

    fn answered(answered: u32) -> DailyStats {
        DailyStats { answered, ..DailyStats::default() }
    }

    /// The days with data and their checks, latest day last.
    fn days(window: &RollingStats) -> Vec<(i32, u32)> {
        window.days.iter().map(|known| (known.day, known.answered)).collect()
    }

    #[test]
    fn a_day_leaves_the_window_after_thirty_days() {
        let mut window = RollingStats::default();
        window.add(100, answered(1));
        window.add(129, answered(2));
        assert_eq!(window.total(129).answered, 3);
        assert_eq!(window.total(130).answered, 2);
    }

    #[test]
    fn days_are_kept_in_order_and_bounded() {
        let mut window = RollingStats::default();
        (0..100).rev().chain(0..100).for_each(|day| window.add(day, answered(1)));
        assert_eq!(days(&window), (70..100).map(|day| (day, 2)).collect::<Vec<_>>());
        assert_eq!(window.heap_bytes(), 30 * 24);
    }

    /// Regression: a day that was no longer stored, or was between two stored ones, returned the statistics of another day.
    #[test]
    fn a_full_window_never_gives_the_figures_of_another_day() {
        let mut window = RollingStats::default();
        (100..160).step_by(2).for_each(|day| window.add(day, answered(1)));
        let full = window.clone();
        window.add(99, answered(7));
        assert_eq!(window, full, "older than all that are stored");
        window.add(131, answered(7));
        let around: Vec<_> = days(&window).into_iter().filter(|(day, _)| (129..134).contains(day)).collect();
        assert_eq!(around, [(130, 1), (131, 7), (132, 1)]);
        window.add(100, answered(7));
        assert_eq!(days(&window)[0], (102, 1), "the oldest one has left");
    }

    #[test]
    fn a_stored_day_has_the_exact_sums() {
        let availability = Availability { up_ms: 86_399_999, down_ms: 1 };
        let stats = DailyStats { availability, answered: u32::MAX, sum_us: (5 << 40) + 7 };
        let mut window = RollingStats::default();
        window.add(3, stats);
        assert_eq!(window.total(3), stats);
        window.add(3, stats);
        assert_eq!((window.total(3).sum_us, window.total(3).answered), ((10 << 40) + 14, u32::MAX));
    }

    #[test]
    fn the_mean_has_one_decimal() {
        assert_eq!(DailyStats { answered: 3, sum_us: 1_000, ..DailyStats::default() }.mean_ms(), Some(0.3));
        assert_eq!(DailyStats::default().mean_ms(), None);
    }
}
