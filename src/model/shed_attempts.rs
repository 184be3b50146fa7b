//! Detects that a location cannot check at all: its attempts fail for reasons of its own machine, and none is carried out.
//!
//! A location is blind if no attempt was carried out for a minute, although at least two were made about a minute apart.
//! The reason of the last one is reported. The first attempt that is carried out ends the blindness. So one failed attempt
//! of a service with a long interval does not make a location blind. Reference targets (`model::impairment`) are not
//! needed.
//!
//! Times are milliseconds of a monotonic clock with any starting point.

use crate::model::check::LocalFault;
use crate::model::impairment::ImpairmentChange;

/// Time without an attempt that was carried out after which a location is blind, in milliseconds.
pub const BLIND_AFTER_MS: u64 = 60_000;
/// Tolerance for the time between the first and the last failed attempt, in milliseconds. Attempts start on schedule, but
/// may end sooner or later.
const SLACK_MS: u64 = 10_000;
/// Time without any attempt after which blindness ends, in milliseconds: probably no checks are requested.
const LAPSES_AFTER_MS: u64 = 300_000;
/// The same limit as a multiple of the longest time between two failed attempts; the longer of the two limits applies.
const LAPSES_AFTER_GAPS: u64 = 3;

/// The recent attempts of one location.
#[derive(Clone, Debug)]
pub struct ShedAttempts {
    /// The attempts that were not carried out since the last one that was; `None` without any.
    stretch: Option<ShedPeriod>,
    is_blind: bool,
    /// Start of the last period in which the location was blind.
    blind_since_ms: Option<u64>,
    /// The time without an attempt that was carried out after which the location is blind, in milliseconds.
    patience_ms: u64,
    /// Attempts that fail up to this time belong to the same fault as the failed attempts before.
    same_trouble_until_ms: u64,
}

/// A period in which attempts were made and none was carried out.
#[derive(Clone, Copy, Debug)]
struct ShedPeriod {
    first_ms: u64,
    last_ms: u64,
    /// The longest time between two attempts of the period.
    widest_gap_ms: u64,
    trouble: LocalFault,
}

/// Why and since when a location is blind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationBlindness {
    /// The time of the first attempt that was not carried out.
    pub since_ms: u64,
    /// The reason why the last attempt was not carried out.
    pub trouble: LocalFault,
}

impl Default for ShedAttempts {
    fn default() -> Self {
        Self {
            stretch: None,
            is_blind: false,
            blind_since_ms: None,
            patience_ms: BLIND_AFTER_MS,
            same_trouble_until_ms: 0,
        }
    }
}

impl ShedAttempts {
    /// Records an attempt that was carried out. If the location was blind, other attempts may still fail. So for a while
    /// the location becomes blind again only after twice the time that the blindness took.
    pub fn note_measured(&mut self, now_ms: u64) -> Option<ImpairmentChange> {
        let stretch = self.stretch.take()?;
        let was_blind = std::mem::take(&mut self.is_blind);
        if was_blind {
            self.patience_ms = 2 * now_ms.saturating_sub(stretch.first_ms);
        }
        was_blind.then_some(ImpairmentChange::Recovered)
    }

    /// Records an attempt that was not carried out. [`Self::judge`] decides about the consequences.
    pub fn note_shed(&mut self, trouble: LocalFault, now_ms: u64) {
        if now_ms > self.same_trouble_until_ms {
            self.patience_ms = BLIND_AFTER_MS;
        }
        let stretch = self.stretch.get_or_insert(ShedPeriod {
            first_ms: now_ms,
            last_ms: now_ms,
            widest_gap_ms: 0,
            trouble,
        });
        stretch.widest_gap_ms = stretch.widest_gap_ms.max(now_ms.saturating_sub(stretch.last_ms));
        (stretch.last_ms, stretch.trouble) = (now_ms, trouble);
        let calm_ms = BLIND_AFTER_MS.max(2 * stretch.widest_gap_ms);
        self.same_trouble_until_ms = self.same_trouble_until_ms.max(now_ms + calm_ms);
    }

    /// Returns a change if the location has become blind by `now_ms`, or if its blindness has ended because no checks are
    /// requested.
    pub fn judge(&mut self, now_ms: u64) -> Option<ImpairmentChange> {
        let stretch = self.stretch?;
        if self.is_blind {
            let lapses_ms = LAPSES_AFTER_MS.max(LAPSES_AFTER_GAPS * stretch.widest_gap_ms);
            let is_over = now_ms.saturating_sub(stretch.last_ms) > lapses_ms;
            if is_over {
                (self.stretch, self.is_blind) = (None, false);
            }
            return is_over.then_some(ImpairmentChange::Recovered);
        }
        let is_long = now_ms.saturating_sub(stretch.first_ms) >= self.patience_ms;
        self.is_blind = is_long && stretch.last_ms - stretch.first_ms + SLACK_MS >= self.patience_ms;
        if self.is_blind {
            self.blind_since_ms = Some(stretch.first_ms);
        }
        self.is_blind.then_some(ImpairmentChange::Impaired)
    }

    /// Returns why and since when the location is blind.
    #[must_use]
    pub fn blindness(&self) -> Option<LocationBlindness> {
        let ShedPeriod { first_ms, trouble, .. } = self.stretch.filter(|_| self.is_blind)?;
        Some(LocationBlindness { since_ms: first_ms, trouble })
    }

    /// Returns true if the last attempts were not carried out.
    #[must_use]
    pub const fn is_disturbed(&self) -> bool {
        self.stretch.is_some()
    }

    /// Returns the start of the last blindness. Results from before that time no longer count.
    #[must_use]
    pub const fn blind_since_ms(&self) -> Option<u64> {
        self.blind_since_ms
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Plays attempts, given as second and kind: `x` not carried out, `u` carried out, `-` no attempt. The location is
    /// judged each second. Returns the seconds at which it became blind and recovered.
    fn play(attempts: &[(u64, char)], until: u64) -> String {
        let mut record = ShedAttempts::default();
        let mut changes = Vec::new();
        for second in 0..=until {
            let now_ms = second * 1_000;
            for (_, what) in attempts.iter().filter(|(at, _)| *at == second) {
                match what {
                    'x' => record.note_shed(LocalFault::ResolverUnavailable, now_ms),
                    _ => changes.extend(record.note_measured(now_ms).map(|_| format!("{second} well"))),
                }
            }
            let turn = record.judge(now_ms);
            changes.extend(turn.map(|turn| match turn {
                ImpairmentChange::Impaired => format!("{second} blind"),
                ImpairmentChange::Recovered => format!("{second} well"),
            }));
        }
        changes.join(", ")
    }

    /// Attempts of one kind every `step` seconds, from the second `from` to the second `to`.
    fn every(step: usize, from: u64, to: u64, what: char) -> Vec<(u64, char)> {
        (from..=to).step_by(step).map(|at| (at, what)).collect()
    }

    #[rstest]
    #[case::no_attempts(&[], 600, "")]
    #[case::all_is_well(&[every(1, 0, 600, 'u')], 600, "")]
    #[case::a_minute_of_nothing(&[every(1, 0, 100, 'x'), every(1, 101, 300, 'u')], 300, "60 blind, 101 well")]
    #[case::less_than_a_minute(&[every(1, 0, 59, 'x'), every(1, 60, 300, 'u')], 300, "")]
    #[case::one_of_many_is_checked(&[every(1, 0, 300, 'x'), every(30, 0, 300, 'u')], 300, "")]
    #[case::one_service_a_minute(&[every(60, 0, 120, 'x'), every(60, 180, 300, 'u')], 300, "60 blind, 180 well")]
    #[case::one_service_each_forty_seconds(&[every(40, 0, 200, 'x')], 200, "80 blind")]
    #[case::one_failure_of_a_service_in_its_interval(&[vec![(0, 'x')], every(300, 300, 900, 'u')], 900, "")]
    #[case::two_failures_at_once(&[vec![(0, 'x'), (2, 'x')], every(300, 300, 900, 'u')], 900, "")]
    #[case::a_service_in_its_interval(&[every(300, 0, 900, 'x'), vec![(1_200, 'u')]], 1_200, "300 blind, 1200 well")]
    #[case::an_interval_of_an_hour_does_not_lapse(&[every(3_600, 0, 14_400, 'x')], 14_400, "3600 blind")]
    #[case::no_more_attempts(&[every(1, 0, 100, 'x')], 900, "60 blind, 401 well")]
    #[case::it_fails_again(
        &[every(1, 0, 600, 'x'), every(1, 601, 700, 'u'), every(1, 701, 800, 'x')], 800, "60 blind, 601 well, 761 blind"
    )]
    #[case::another_service_is_checked_now_and_then(
        &[every(10, 0, 3_600, 'x'), every(300, 295, 3_600, 'u')], 3_600, "60 blind, 295 well"
    )]
    fn a_location_is_blind_after_a_minute_without_a_check(
        #[case] attempts: &[Vec<(u64, char)>],
        #[case] until: u64,
        #[case] expected: &str,
    ) {
        assert_eq!(play(&attempts.concat(), until), expected);
    }

    #[test]
    fn the_last_reason_is_reported() {
        let mut record = ShedAttempts::default();
        record.note_shed(LocalFault::NoPorts, 1_000);
        record.note_shed(LocalFault::NoDescriptors, 61_000);
        assert_eq!(record.blindness(), None);
        assert_eq!(record.judge(61_000), Some(ImpairmentChange::Impaired));
        let expected = LocationBlindness { since_ms: 1_000, trouble: LocalFault::NoDescriptors };
        assert_eq!(record.blindness(), Some(expected));
        record.note_measured(62_000);
        assert_eq!((record.blindness(), record.blind_since_ms()), (None, Some(1_000)));
    }
}
