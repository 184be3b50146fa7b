//! Creation times in increasing order: later creations sort later, even within one millisecond.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::clock::Timestamp;

/// Maximum number of milliseconds by which creation times may be ahead of the clock.
const AHEAD_MS: i64 = 1_000;

/// The time of the last creation, in Unix milliseconds.
#[derive(Debug, Default)]
pub struct CreationTimes(AtomicI64);

impl CreationTimes {
    /// Returns `now`, or a later time that is after every earlier creation. When the maximum lead is reached, creations get
    /// `now`, and may have equal times.
    #[must_use]
    pub fn next(&self, now: Timestamp) -> Timestamp {
        let now = now.ms();
        let next = |last: i64| Some(if last < now || last > now + AHEAD_MS { now } else { last + 1 });
        let last = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        Timestamp::from_ms(last.ok().and_then(next).unwrap_or(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creations_in_one_millisecond_keep_their_order() {
        let (times, now) = (CreationTimes::default(), Timestamp::from_ms(5_000));
        let given: Vec<i64> = (0..3).map(|_| times.next(now).ms()).collect();
        assert_eq!(given, [5_000, 5_001, 5_002]);
        assert_eq!(times.next(Timestamp::from_ms(5_001)).ms(), 5_003);
        assert_eq!(times.next(Timestamp::from_ms(9_000)).ms(), 9_000);
    }

    #[test]
    fn creation_times_do_not_run_ahead_of_the_clock() {
        let (times, now) = (CreationTimes::default(), Timestamp::from_ms(5_000));
        let last = (0..3_000).map(|_| times.next(now).ms()).max().unwrap();
        assert!(last <= 5_000 + AHEAD_MS + 1, "{last}");
    }
}
