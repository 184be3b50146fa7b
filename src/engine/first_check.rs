//! The time of the first check of a service: at once, unless many services are added at the same time.
//!
//! A pure structure, one per shard. A limited number of services per second is checked at once, so that a single new service
//! never waits, even while others do. The rest is spread over the service's interval, or a minute if that is shorter: into
//! the earliest bin (a tenth of a second) that has room, or else into the emptiest one. A hundred thousand services that are
//! added together are all checked within an interval, and running checks are not delayed.

/// The longest wait in milliseconds.
const LONGEST_MS: u64 = 60_000;
/// Length of a bin in milliseconds.
const BIN_MS: u64 = 100;
/// Number of bins that can be planned ahead.
const BINS: usize = 600;
/// First checks that need not wait: size of a burst, and number per second.
const AT_ONCE: u64 = 100;
/// First checks in one bin before the next bin is used.
const BIN_ROOM: u32 = 10;

#[derive(Debug)]
pub(super) struct FirstCheckPlan {
    /// First checks per bin; the index is the bin's number since the start, modulo [`BINS`].
    planned: Box<[u32]>,
    /// Number of the current bin.
    bin: u64,
    /// First checks that may still happen at once, in thousandths.
    credit: u64,
    credited_ms: u64,
}

impl Default for FirstCheckPlan {
    fn default() -> Self {
        Self { planned: vec![0; BINS].into(), bin: 0, credit: AT_ONCE * 1_000, credited_ms: 0 }
    }
}

impl FirstCheckPlan {
    /// Plans the first check of a service that is checked every `interval_ms`; returns its wait in milliseconds.
    /// `now_ms` counts from the start and never decreases.
    pub(super) fn plan(&mut self, now_ms: u64, interval_ms: u64) -> u64 {
        self.credit = (self.credit + (now_ms - self.credited_ms) * AT_ONCE).min(AT_ONCE * 1_000);
        self.credited_ms = now_ms;
        if self.credit >= 1_000 {
            self.credit -= 1_000;
            return 0;
        }
        self.forget_past(now_ms / BIN_MS);
        let ahead = (interval_ms.min(LONGEST_MS) / BIN_MS).max(1);
        let ahead = usize::try_from(ahead).unwrap_or(BINS).min(BINS);
        let count = |wait: &usize| self.planned[self.bin_index(*wait)];
        let with_room = (0..ahead).find(|wait| count(wait) < BIN_ROOM);
        let wait = with_room.or_else(|| (0..ahead).min_by_key(count)).unwrap_or_default();
        let bin_index = self.bin_index(wait);
        let within = u64::from(self.planned[bin_index]) * 7 % BIN_MS;
        self.planned[bin_index] += 1;
        wait as u64 * BIN_MS + within
    }

    /// Returns the index of the bin that is `ahead` bins after the current one.
    fn bin_index(&self, ahead: usize) -> usize {
        usize::try_from(self.bin % BINS as u64).unwrap_or_default().wrapping_add(ahead) % BINS
    }

    fn forget_past(&mut self, bin: u64) {
        let passed = usize::try_from(bin - self.bin).unwrap_or(BINS).min(BINS);
        for ahead in 0..passed {
            let bin_index = self.bin_index(ahead);
            self.planned[bin_index] = 0;
        }
        self.bin = bin;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_new_service_is_checked_at_once() {
        let mut plan = FirstCheckPlan::default();
        assert!((0..200).all(|second| plan.plan(second * 1_000, 60_000) == 0));
    }

    #[test]
    fn a_few_hundred_new_services_wait_a_moment() {
        let mut plan = FirstCheckPlan::default();
        let waits: Vec<u64> = (0..300).map(|_| plan.plan(0, 60_000)).collect();
        assert!(waits[..100].iter().all(|wait| *wait == 0));
        assert!(waits.iter().all(|wait| *wait < 2_000), "{waits:?}");
    }

    #[test]
    fn many_new_services_are_spread_and_a_later_one_does_not_wait() {
        let mut plan = FirstCheckPlan::default();
        let mut a_second = vec![0; 60];
        for _ in 0..60_100 {
            a_second[usize::try_from(plan.plan(0, 300_000) / 1_000).unwrap()] += 1;
        }
        assert!(a_second.iter().all(|count| (1_000..=1_100).contains(count)), "{a_second:?}");
        assert_eq!(plan.plan(100, 300_000), 0, "a client that adds one sees it checked");
    }

    #[test]
    fn the_first_check_waits_at_most_one_interval() {
        let mut plan = FirstCheckPlan::default();
        for _ in 0..50_000 {
            plan.plan(0, 60_000);
        }
        assert!((0..1_000).all(|_| plan.plan(1, 1_000) < 1_000));
        assert!((0..1_000).all(|_| plan.plan(2, 1) <= BIN_MS));
    }

    #[test]
    fn past_seconds_free_their_capacity() {
        let mut plan = FirstCheckPlan::default();
        for round in 0..5 {
            let now_ms = round * 90_000;
            let waits: Vec<u64> = (0..6_100).map(|_| plan.plan(now_ms, 60_000)).collect();
            assert!(waits.iter().all(|wait| *wait < 60_100), "round {round}");
            assert_eq!(waits.iter().filter(|wait| **wait == 0).count(), 101, "round {round}");
        }
    }
}
