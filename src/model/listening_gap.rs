//! Times in which pings may have been lost: the process was stopped or suspended, another node had the service, pings
//! were refused, or the wall clock could not be trusted.
//!
//! The consequences of an absence are decided in `model::heartbeat`.

use crate::clock::Timestamp;

/// A time in which a ping may have been lost: from `from`, inclusive, to `to`, exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListeningGap {
    /// Start of the gap, inclusive.
    pub from: Timestamp,
    /// End of the gap, exclusive; the present time if the gap has not ended.
    pub to: Timestamp,
    /// True if pings were received, but the wall clock was doubted.
    pub is_doubt: bool,
}

impl ListeningGap {
    /// Creates an absence, a gap in which no pings could be received.
    #[must_use]
    pub const fn new(from: Timestamp, to: Timestamp) -> Self {
        Self { from, to, is_doubt: false }
    }

    /// Returns true if the gap overlaps the time from `from`, inclusive, to `to`, exclusive.
    #[must_use]
    pub fn overlaps(self, from: Timestamp, to: Timestamp) -> bool {
        self.from < to && from < self.to
    }
}

/// Returns the absences between these times of listening, oldest first, and the absence from the end of the last time
/// until `now`. Overlapping times are merged. The time before the first time of listening is unknown, so no absence is
/// returned for it.
#[must_use]
pub fn absences_between(
    listened: impl IntoIterator<Item = (Timestamp, Timestamp)>,
    now: Timestamp,
) -> Vec<ListeningGap> {
    let mut spans: Vec<(Timestamp, Timestamp)> = listened.into_iter().collect();
    spans.sort_unstable();
    let mut found = Vec::new();
    let mut until: Option<Timestamp> = None;
    for (from, to) in spans {
        if let Some(until) = until.filter(|until| *until < from) {
            found.push(ListeningGap::new(until, from));
        }
        until = until.max(Some(to));
    }
    // A time in the future was stored before the wall clock was set back.
    found.extend(until.map(|until| ListeningGap::new(until.min(now), now)));
    found
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[rstest]
    #[case::nothing_is_known(&[], &[])]
    #[case::until_now(&[(10, 20)], &[(20, 100)])]
    #[case::in_between(&[(10, 20), (30, 40)], &[(20, 30), (40, 100)])]
    #[case::in_any_order(&[(30, 40), (10, 20)], &[(20, 30), (40, 100)])]
    #[case::together(&[(10, 50), (20, 30), (50, 60)], &[(60, 100)])]
    #[case::of_the_future(&[(10, 20), (30, 140)], &[(20, 30), (100, 100)])]
    fn absences_are_the_gaps_between_listening_spans(
        #[case] listened: &[(i64, i64)],
        #[case] expected: &[(i64, i64)],
    ) {
        let listened = listened.iter().map(|(from, to)| (at(*from), at(*to)));
        let found = absences_between(listened, at(100));
        let found: Vec<(i64, i64)> =
            found.into_iter().map(|absence| (absence.from.ms(), absence.to.ms())).collect();
        assert_eq!(found, expected);
    }

    #[rstest]
    #[case::before(0, 10, false)]
    #[case::touches_the_begin(0, 11, true)]
    #[case::inside(12, 13, true)]
    #[case::touches_the_end(19, 30, true)]
    #[case::after(20, 30, false)]
    fn an_absence_overlaps_spans_that_share_a_moment(
        #[case] from: i64,
        #[case] to: i64,
        #[case] expected: bool,
    ) {
        assert_eq!(ListeningGap::new(at(10), at(20)).overlaps(at(from), at(to)), expected);
    }
}
