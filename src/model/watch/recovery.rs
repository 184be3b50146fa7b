//! The end of an outage: the number of good results in a row since the service was last seen down.
//!
//! A result that is not `down` is good. The row starts with the first good one and counts those of all locations
//! together. A `down` ends it, and the next good one starts another, with two exceptions: a check that started before
//! the row does not end it, and neither does a location that is outvoted and has not seen the service up since the
//! outage started.

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::verdict::{LocationVote, Verdict};

/// The good results since an outage started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryProgress {
    /// The start of the newest check that ended a row; results of checks before it do not count.
    broken_at: Option<Timestamp>,
    /// The start of the first good check of the row.
    since: Option<Timestamp>,
    good: u8,
}

impl RecoveryProgress {
    /// A row without good results since a check at `at`.
    pub(super) const fn after(at: Timestamp) -> Self {
        Self { broken_at: Some(at), since: None, good: 0 }
    }

    /// The row that the newest votes show at least: those after the newest bad one.
    pub(super) fn of_votes(votes: impl Iterator<Item = LocationVote> + Clone) -> Self {
        let bad = votes.clone().filter(|vote| vote.status == CheckStatus::Down);
        let mut recovery = Self { broken_at: bad.map(|vote| vote.checked_at).max(), ..Self::default() };
        for vote in votes.filter(|vote| vote.status != CheckStatus::Down) {
            recovery.take_good(vote.checked_at);
        }
        recovery
    }

    /// Takes in the start of a check with a good result.
    pub(super) fn take_good(&mut self, at: Timestamp) {
        if self.broken_at.is_none_or(|broken| broken < at) {
            self.good = self.good.saturating_add(1);
            self.since = Some(self.since.map_or(at, |since| since.min(at)));
        }
    }

    /// Takes in the start of a check with a bad result. `counts` unless its location is outvoted and saw the same
    /// before.
    pub(super) fn take_bad(&mut self, at: Timestamp, counts: bool) {
        if counts && self.since.is_none_or(|since| since <= at) {
            *self = Self::after(self.broken_at.map_or(at, |broken| broken.max(at)));
        }
    }

    /// Limits the row to `at`, before which no check was made: it does not reach further back, though its results
    /// count.
    pub(super) fn begin_after_gap(&mut self, at: Timestamp) {
        self.since = self.since.filter(|since| *since > at);
    }

    /// Moves the times by a step of the wall clock that was set back.
    pub(super) fn shift(&mut self, jump_ms: i64) {
        let shifted = |at: Option<Timestamp>| at.map(|at| at.plus_ms(jump_ms));
        (self.broken_at, self.since) = (shifted(self.broken_at), shifted(self.since));
    }

    /// The start of the first good check of the row.
    pub(super) const fn since(&self) -> Option<Timestamp> {
        self.since
    }

    /// True while good results are being counted.
    pub(super) const fn has_begun(&self) -> bool {
        self.good > 0
    }

    /// Returns the verdict on a service that is down, given the verdict `votes` of the votes: it stays down until
    /// `needed` good results came in a row.
    pub(super) const fn verdict(&self, votes: Verdict, needed: u8) -> Verdict {
        match votes {
            Verdict::Up | Verdict::Degraded if needed > 1 && self.good < needed => Verdict::Down,
            votes => votes,
        }
    }
}
