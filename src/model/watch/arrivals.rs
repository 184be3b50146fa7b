//! Results that arrive from a location with its own schedule: which are new, which are repeated, and which fill a period
//! without results.
//!
//! A location sends its results in the order of their times. While it was cut off it stores results, and sends these before
//! or after the present ones. Two facts tell a late result from a repeated one: the newest result so far, and the last
//! period without results, which late results fill from its start. Any other result counts as repeated. If that is wrong,
//! the live figures of the day miss it; the history, which identifies each row, has it.

use crate::clock::Timestamp;

/// The times of the results received from one location, as far as they are needed to recognise repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ResultArrivals {
    newest: Option<Timestamp>,
    silence: Option<SilentPeriod>,
}

/// A period without any received result, between two results; neither end is included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SilentPeriod {
    from: Timestamp,
    until: Timestamp,
}

impl ResultArrivals {
    /// Starts after `newest`, the newest result that is known.
    pub(super) const fn after(newest: Option<Timestamp>) -> Self {
        Self { newest, silence: None }
    }

    /// Records a result. Returns true unless it was received before. Between two results that are further apart than
    /// `coverage_ms` there is a period without results.
    pub(super) fn take(&mut self, checked_at: Timestamp, coverage_ms: i64) -> bool {
        let before = self.newest.filter(|newest| checked_at.ms_since(*newest) > coverage_ms);
        if self.newest.is_none_or(|newest| newest < checked_at) {
            self.newest = Some(checked_at);
            self.silence = before.map(|from| SilentPeriod { from, until: checked_at }).or(self.silence);
            return true;
        }
        let open =
            self.silence.as_mut().filter(|silence| silence.from < checked_at && checked_at < silence.until);
        open.map(|silence| silence.from = checked_at).is_some()
    }

    /// Moves all times by a step of the wall clock; `jump_ms` is not positive.
    pub(super) fn shift(&mut self, jump_ms: i64) {
        self.newest = self.newest.map(|at| at.plus_ms(jump_ms));
        self.silence = self.silence.map(|silence| SilentPeriod {
            from: silence.from.plus_ms(jump_ms),
            until: silence.until.plus_ms(jump_ms),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results, given and returned as seconds, that are new. Results further apart than 90 s leave a period without
    /// results.
    fn new_results(seconds: &[i64]) -> Vec<i64> {
        let mut arrivals = ResultArrivals::after(Some(Timestamp::from_ms(0)));
        let is_new = |second: &&i64| arrivals.take(Timestamp::from_ms(**second * 1_000), 90_000);
        seconds.iter().filter(is_new).copied().collect()
    }

    #[rstest::rstest]
    #[case::in_order(&[60, 120, 180], &[60, 120, 180])]
    #[case::known_from_before(&[0, 60], &[60])]
    #[case::sent_twice(&[60, 120, 60, 120, 180, 120], &[60, 120, 180])]
    #[case::kept_and_sent_before_the_present(&[60, 600, 120, 180, 660], &[60, 600, 120, 180, 660])]
    #[case::kept_and_sent_among_the_present(&[60, 600, 120, 660, 180], &[60, 600, 120, 660, 180])]
    #[case::kept_and_sent_twice(&[60, 600, 120, 180, 120, 180, 240], &[60, 600, 120, 180, 240])]
    #[case::the_ends_of_a_silence_are_known(&[60, 600, 60, 600], &[60, 600])]
    #[case::an_older_silence_is_over(&[60, 600, 1_200, 120, 660], &[60, 600, 1_200, 660])]
    fn repeated_results_are_not_new(#[case] arrived: &[i64], #[case] expected: &[i64]) {
        assert_eq!(new_results(arrived), expected);
    }

    #[test]
    fn the_first_result_ever_has_no_gap_before_it() {
        let mut arrivals = ResultArrivals::default();
        assert!(arrivals.take(Timestamp::from_ms(1_000_000), 90_000));
        assert!(!arrivals.take(Timestamp::from_ms(500_000), 90_000));
    }

    #[test]
    fn a_clock_setback_shifts_recorded_arrivals() {
        let mut arrivals = ResultArrivals::after(Some(Timestamp::from_ms(0)));
        arrivals.take(Timestamp::from_ms(600_000), 90_000);
        arrivals.shift(-60_000);
        assert!(!arrivals.take(Timestamp::from_ms(540_000), 90_000));
        assert!(arrivals.take(Timestamp::from_ms(0), 90_000));
        assert!(!arrivals.take(Timestamp::from_ms(-60_000), 90_000));
    }
}
