//! The past of a service: from an earlier process, or from an actor that has panicked.

use crate::clock::{STEP_MS, Timestamp};
use crate::model::flapping::FlappingState;
use crate::model::history::MeasuredStatus;
use crate::model::location::LocationCode;
use crate::model::status_timeline::{CurrentStatus, MeasuredStatusChange};
use crate::model::verdict::{LocationVote, Verdict};
use crate::model::watch::plan::WatchPlan;
use crate::model::watch::recovery::RecoveryProgress;

/// The past of a service, from the history.
#[derive(Clone, Debug, Default)]
pub struct WatchMemory {
    /// The newest result of each location that has one, by the index of the location in the plan.
    pub votes: Vec<(usize, LocationVote)>,
    /// The newest results of locations that this process does not know yet.
    pub absent: Vec<AbsentVote>,
    /// The newest result of a service that is not checked at the moment, and so has no votes.
    pub last_checked_at: Option<Timestamp>,
    /// Measured status that was recorded last.
    pub status: MeasuredStatus,
    /// The time of its start.
    pub status_since: Option<Timestamp>,
    /// Its recent transitions, and whether it flaps.
    pub flapping: FlappingState,
    /// Set while the verdict is down, if the progress of the recovery is known.
    pub recovery: Option<RecoveryProgress>,
    /// The watch that it comes from.
    pub source: MemorySource,
}

/// The watch that a memory comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemorySource {
    /// A watch of this process, which continues.
    #[default]
    SameProcess,
    /// Another process made checks until a moment ago: checks that were due since are made at once.
    OtherProcess,
    /// A process that has ended: no check was made since, and none of its attempts is running.
    EndedProcess,
}

/// The newest result of a location that this process does not know yet, but will. It counts while it is fresh, like
/// that of a location that is cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentVote {
    /// Code of the location.
    pub location: LocationCode,
    /// Time and status of the result.
    pub vote: LocationVote,
}

/// A memory, as far as it is valid at the present time.
#[derive(Clone, Debug)]
pub(in crate::model) struct ResumedMemory {
    /// The results that are not of the future.
    pub(in crate::model) votes: Vec<(usize, LocationVote)>,
    /// The same of locations that are not known yet.
    pub(in crate::model) absent: Vec<AbsentVote>,
    /// The status timeline that continues.
    pub(in crate::model) current: CurrentStatus,
    /// The changes with which it continues.
    pub(in crate::model) changes: Vec<MeasuredStatusChange>,
    /// Its recent transitions, and whether it flaps.
    pub(in crate::model) flapping: FlappingState,
    /// Set while the verdict is down.
    pub(in crate::model) recovery: Option<RecoveryProgress>,
}

impl WatchMemory {
    /// Returns the verdict of those votes that are still fresh at `now`.
    #[must_use]
    pub fn verdict(&self, plan: &WatchPlan, now: Timestamp) -> Verdict {
        let fresh = self.fresh_votes(plan, now).map(|vote| vote.status);
        let votes = plan.rules.quorum.judge(fresh);
        self.recovery(plan, now).map_or(votes, |recovery| recovery.verdict(votes, plan.rules.recovery_checks))
    }

    /// Returns the progress of the recovery of a service that is down: at least as far as its votes show.
    fn recovery(&self, plan: &WatchPlan, now: Timestamp) -> Option<RecoveryProgress> {
        let is_down = self.status == MeasuredStatus::Down;
        self.recovery.or_else(|| is_down.then(|| RecoveryProgress::of_votes(self.fresh_votes(plan, now))))
    }

    fn fresh_votes(&self, plan: &WatchPlan, now: Timestamp) -> impl Iterator<Item = LocationVote> + Clone {
        let interval_ms = plan.interval_ms;
        self.all_votes()
            .filter(move |vote| !is_future(vote.checked_at, now) && vote.is_fresh(now, interval_ms))
    }

    /// Returns the time of the newest result that is not of the future.
    #[must_use]
    pub fn last_result_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.all_votes()
            .map(|vote| vote.checked_at)
            .chain(self.last_checked_at)
            .filter(|at| !is_future(*at, now))
            .max()
    }

    /// Returns true if no location has a vote.
    #[must_use]
    pub const fn is_without_votes(&self) -> bool {
        self.votes.is_empty() && self.absent.is_empty()
    }

    /// The same status without votes: earlier measurements are no longer valid.
    #[must_use]
    pub fn without_votes(self) -> Self {
        Self { status: self.status, status_since: self.status_since, ..Self::default() }
    }

    fn all_votes(&self) -> impl Iterator<Item = LocationVote> + Clone {
        self.votes.iter().map(|(_, vote)| *vote).chain(self.absent.iter().map(|absent| absent.vote))
    }

    /// Returns the part that is valid at `now`. Results of the future were recorded under a wrong clock: their age is
    /// unknown. A status of the future continues from now.
    pub(in crate::model) fn resume(self, plan: Option<&WatchPlan>, now: Timestamp) -> ResumedMemory {
        let recovery = plan.and_then(|plan| self.recovery(plan, now));
        let newest = self.all_votes().map(|vote| vote.checked_at).max();
        let mut current = CurrentStatus::new(self.status, self.status_since);
        let changes = match self.status_since.filter(|since| is_future(*since, now)) {
            Some(since) => current.set_back(newest.map_or(since, |newest| newest.max(since)), now),
            None => Vec::new(),
        };
        let Self { mut votes, mut absent, flapping, .. } = self;
        votes.retain(|(_, vote)| !is_future(vote.checked_at, now));
        absent.retain(|absent| !is_future(absent.vote.checked_at, now));
        let flapping = flapping.until(now.plus_ms(STEP_MS));
        ResumedMemory { votes, absent, current, changes, flapping, recovery }
    }
}

/// Returns true for results that were recorded before the wall clock was set back.
const fn is_future(at: Timestamp, now: Timestamp) -> bool {
    at.ms_since(now) > STEP_MS
}
