//! The times at which a location checks a service: phase + k × interval in Unix time, for whole numbers k.
//!
//! The phase comes from a hash of the service's id. So load is spread evenly, nothing drifts, and a restart or a change of
//! the responsible node keeps the times. The locations of one service are spread over the interval, so that L locations
//! notice an outage up to L times sooner.

use crate::clock::Timestamp;

/// The due times of one location for one service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckSchedule {
    interval_ms: i64,
    phase_ms: i64,
}

impl CheckSchedule {
    /// The schedule of the location with index `slot` of `slots`. `interval_ms` is positive.
    #[must_use]
    pub fn new(hash: u64, interval_ms: i64, slot: usize, slots: usize) -> Self {
        let interval_ms = interval_ms.max(1);
        let width = interval_ms.unsigned_abs();
        let stagger = width * (slot as u64) / (slots.max(1) as u64);
        let phase = (hash % width + stagger) % width;
        Self { interval_ms, phase_ms: i64::try_from(phase).unwrap_or_default() }
    }

    /// The phase in milliseconds, from 0 to below the interval.
    #[must_use]
    pub const fn phase_ms(&self) -> i64 {
        self.phase_ms
    }

    /// The first due time after `moment`.
    #[must_use]
    pub const fn next_after(&self, moment: Timestamp) -> Timestamp {
        self.latest(moment).plus_ms(self.interval_ms)
    }

    /// The last due time at or before `moment`.
    #[must_use]
    pub const fn latest(&self, moment: Timestamp) -> Timestamp {
        let since_phase = moment.ms() - self.phase_ms;
        Timestamp::from_ms(since_phase.div_euclid(self.interval_ms) * self.interval_ms + self.phase_ms)
    }

    /// Returns the number of due times in `(after, until]`.
    #[must_use]
    pub fn runs_between(&self, after: Timestamp, until: Timestamp) -> u64 {
        let span_ms = self.latest(until).ms_since(self.latest(after));
        u64::try_from(span_ms / self.interval_ms).unwrap_or(0)
    }

    /// Returns the number of due times up to `now` that passed without a check since the one at `checked_at`. If
    /// `checked_at` is between two due times, as for the first check, that check also counts for the next due time.
    #[must_use]
    pub fn missed_by(&self, checked_at: Timestamp, now: Timestamp) -> u64 {
        let passed = self.runs_between(checked_at, now);
        if self.latest(checked_at) == checked_at { passed } else { passed.saturating_sub(1) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn due_times_keep_their_phase(
            hash: u64,
            interval_ms in 1_i64..604_800_000,
            slot in 0_usize..50,
            now in 0_i64..4_000_000_000_000,
        ) {
            let schedule = CheckSchedule::new(hash, interval_ms, slot, 50);
            let now = Timestamp::from_ms(now);
            let next = schedule.next_after(now);
            prop_assert!(next > now);
            prop_assert!(next.ms_since(now) <= interval_ms);
            prop_assert_eq!(schedule.next_after(next).ms_since(next), interval_ms);
            prop_assert_eq!(schedule.latest(next), next);
            prop_assert_eq!(next.ms().rem_euclid(interval_ms), schedule.phase_ms);
        }

        #[test]
        fn runs_are_counted_as_walking_counts_them(
            hash: u64, interval_ms in 1_i64..5_000, start in 0_i64..100_000, length in 0_i64..50_000,
        ) {
            let schedule = CheckSchedule::new(hash, interval_ms, 0, 1);
            let (start, end) = (Timestamp::from_ms(start), Timestamp::from_ms(start + length));
            let walked = std::iter::successors(Some(schedule.next_after(start)), |at| Some(schedule.next_after(*at)))
                .take_while(|at| *at <= end)
                .count();
            prop_assert_eq!(schedule.runs_between(start, end), walked as u64);
        }
    }

    #[test]
    fn a_check_between_two_due_times_counts_for_the_next_one() {
        let schedule = CheckSchedule::new(0, 1_000, 0, 1);
        let missed =
            |checked_at, now| schedule.missed_by(Timestamp::from_ms(checked_at), Timestamp::from_ms(now));
        assert_eq!([missed(990, 999), missed(990, 1_010), missed(990, 2_000)], [0, 0, 1]);
        assert_eq!([missed(1_000, 1_999), missed(1_000, 2_000), missed(1_000, 3_000)], [0, 1, 2]);
    }

    #[test]
    fn locations_are_spread_over_the_interval() {
        let due = |slot| CheckSchedule::new(0, 60_000, slot, 3).next_after(Timestamp::from_ms(0)).ms();
        assert_eq!([due(0), due(1), due(2)], [60_000, 20_000, 40_000]);
    }
}
