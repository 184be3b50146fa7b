//! The recovery that ends an outage: the number of good results in a row since the service was last seen down.
//!
//! Any result except `down` is good. Good results of all locations are counted together. A `down` ends the row, and the
//! next good result starts a new one. There are two exceptions: a check that started before the row does not end it, and
//! neither does a location that is outvoted and has not seen the service up since the outage started.

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::verdict::{LocationVote, Verdict};

/// The good results in a row since an outage started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryProgress {
    /// The start of the newest check that ended a row. Results of earlier checks do not count.
    broken_at: Option<Timestamp>,
    /// The start of the first good check of the row.
    since: Option<Timestamp>,
    good: u8,
}

impl RecoveryProgress {
    /// A recovery without good results, after a bad check at `at`.
    pub(super) const fn after(at: Timestamp) -> Self {
        Self { broken_at: Some(at), since: None, good: 0 }
    }

    /// The recovery that the newest votes show: the good votes after the newest bad one.
    pub(super) fn of_votes(votes: impl Iterator<Item = LocationVote> + Clone) -> Self {
        let bad = votes.clone().filter(|vote| vote.status == CheckStatus::Down);
        let mut recovery = Self { broken_at: bad.map(|vote| vote.checked_at).max(), ..Self::default() };
        for vote in votes.filter(|vote| vote.status != CheckStatus::Down) {
            recovery.take_good(vote.checked_at);
        }
        recovery
    }

    /// Records a good result, by the start of its check.
    pub(super) fn take_good(&mut self, at: Timestamp) {
        if self.broken_at.is_none_or(|broken| broken < at) {
            self.good = self.good.saturating_add(1);
            self.since = Some(self.since.map_or(at, |since| since.min(at)));
        }
    }

    /// Records a bad result, by the start of its check. `counts` is false for a location that is outvoted and has not seen
    /// the service up since the outage started.
    pub(super) fn take_bad(&mut self, at: Timestamp, counts: bool) {
        if counts && self.since.is_none_or(|since| since <= at) {
            *self = Self::after(self.broken_at.map_or(at, |broken| broken.max(at)));
        }
    }

    /// Handles a time without checks before `at`. The row does not start before `at`, though its earlier results still
    /// count.
    pub(super) fn begin_after_gap(&mut self, at: Timestamp) {
        self.since = self.since.filter(|since| *since > at);
    }

    /// Moves all times by a step of the wall clock; `jump_ms` is not positive.
    pub(super) fn shift(&mut self, jump_ms: i64) {
        let shifted = |at: Option<Timestamp>| at.map(|at| at.plus_ms(jump_ms));
        (self.broken_at, self.since) = (shifted(self.broken_at), shifted(self.since));
    }

    /// The start of the first good check of the row; `None` if it is not known, or there is no row.
    pub(super) const fn since(&self) -> Option<Timestamp> {
        self.since
    }

    /// Number of good results in a row.
    pub(super) const fn good(&self) -> u8 {
        self.good
    }

    /// Returns true if at least one good result was counted.
    pub(super) const fn has_begun(&self) -> bool {
        self.good > 0
    }

    /// Returns the verdict on a service that was down. `votes` is the verdict of the votes; the service stays down until
    /// `needed` good results have come in a row.
    pub(super) const fn verdict(&self, votes: Verdict, needed: u8) -> Verdict {
        match votes {
            Verdict::Up | Verdict::Degraded if needed > 1 && self.good < needed => Verdict::Down,
            votes => votes,
        }
    }
}
