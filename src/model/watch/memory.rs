//! The past of a service, from which a watch continues: after a restart, a handover, or the panic of an actor.

use crate::clock::{STEP_MS, Timestamp};
use crate::model::flapping::FlappingState;
use crate::model::history::MeasuredStatus;
use crate::model::location::LocationCode;
use crate::model::status_timeline::{CurrentStatus, MeasuredStatusChange};
use crate::model::verdict::{LocationVote, Verdict};
use crate::model::watch::plan::WatchPlan;
use crate::model::watch::recovery::RecoveryProgress;

/// The past of a service, from which a watch continues.
#[derive(Clone, Debug, Default)]
pub struct WatchMemory {
    /// The newest result of each location, by the index of the location in the plan. Locations without results are left
    /// out.
    pub votes: Vec<(usize, LocationVote)>,
    /// The newest results of locations that this process does not know yet.
    pub absent: Vec<AbsentVote>,
    /// The time of the newest result of a service that is not checked at present, and so has no votes.
    pub last_checked_at: Option<Timestamp>,
    /// The measured status that was recorded last.
    pub status: MeasuredStatus,
    /// The start of that status; `None` if it is unknown.
    pub status_since: Option<Timestamp>,
    /// Recent transitions, and whether the service is flapping.
    pub flapping: FlappingState,
    /// Progress of the recovery; `None` unless the verdict is down and the progress is known.
    pub recovery: Option<RecoveryProgress>,
    /// The watch that the memory comes from.
    pub source: MemorySource,
}

/// The watch that a memory comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemorySource {
    /// A watch of this process; its checks continue.
    #[default]
    SameProcess,
    /// A watch of another process that made checks until a moment ago. Checks that became due since then are made at once.
    OtherProcess,
    /// A process that has ended. No check was made since then, and none of its attempts is running.
    EndedProcess {
        /// The start of this process: it takes a while until many services are watched again.
        started_at: Timestamp,
    },
}

impl MemorySource {
    /// Returns the time since which this process could have made checks, if it had watched every service at once.
    pub(in crate::model) const fn could_check_since(self, now: Timestamp) -> Timestamp {
        match self {
            Self::EndedProcess { started_at } => started_at,
            Self::SameProcess | Self::OtherProcess => now,
        }
    }
}

/// The newest result of a location that this process does not know yet. It counts while it is fresh, like the vote of a
/// location that is cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentVote {
    /// Code of the location.
    pub location: LocationCode,
    /// Start of the check, and status.
    pub vote: LocationVote,
}

/// The part of a memory that is valid at the present time.
#[derive(Clone, Debug)]
pub(in crate::model) struct ResumedMemory {
    /// The newest results of locations that are not from the future, by the index of the location in the plan.
    pub(in crate::model) votes: Vec<(usize, LocationVote)>,
    /// The newest results of locations that are not known yet, also without those from the future.
    pub(in crate::model) absent: Vec<AbsentVote>,
    /// The present end of the status timeline that continues.
    pub(in crate::model) current: CurrentStatus,
    /// The changes that close a timeline from the future, to be recorded; usually empty.
    pub(in crate::model) changes: Vec<MeasuredStatusChange>,
    /// Recent transitions, and whether the service is flapping.
    pub(in crate::model) flapping: FlappingState,
    /// Progress of the recovery; set while the verdict is down.
    pub(in crate::model) recovery: Option<RecoveryProgress>,
}

impl WatchMemory {
    /// Returns the verdict of the votes that are fresh at `now`.
    #[must_use]
    pub fn verdict(&self, plan: &WatchPlan, now: Timestamp) -> Verdict {
        let fresh = self.fresh_votes(plan, now).map(|vote| vote.status);
        let votes = plan.rules.quorum.judge(fresh);
        self.recovery(plan, now).map_or(votes, |recovery| recovery.verdict(votes, plan.rules.recovery_checks))
    }

    /// Returns the progress of the recovery of a service that is down. If it is not stored, it is derived from the votes.
    fn recovery(&self, plan: &WatchPlan, now: Timestamp) -> Option<RecoveryProgress> {
        let is_down = self.status == MeasuredStatus::Down;
        self.recovery.or_else(|| is_down.then(|| RecoveryProgress::of_votes(self.fresh_votes(plan, now))))
    }

    fn fresh_votes(&self, plan: &WatchPlan, now: Timestamp) -> impl Iterator<Item = LocationVote> + Clone {
        let interval_ms = plan.interval_ms;
        self.all_votes()
            .filter(move |vote| !is_future(vote.checked_at, now) && vote.is_fresh(now, interval_ms))
    }

    /// Returns the time of the newest result that is not from the future.
    #[must_use]
    pub fn last_result_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.all_votes()
            .map(|vote| vote.checked_at)
            .chain(self.last_checked_at)
            .filter(|at| !is_future(*at, now))
            .max()
    }

    /// Returns true if there is no vote.
    #[must_use]
    pub const fn is_without_votes(&self) -> bool {
        self.votes.is_empty() && self.absent.is_empty()
    }

    /// Keeps only the status, because earlier measurements are no longer valid.
    #[must_use]
    pub fn without_votes(self) -> Self {
        Self { status: self.status, status_since: self.status_since, ..Self::default() }
    }

    fn all_votes(&self) -> impl Iterator<Item = LocationVote> + Clone {
        self.votes.iter().map(|(_, vote)| *vote).chain(self.absent.iter().map(|absent| absent.vote))
    }

    /// Returns the part that is valid at `now`. Results from the future were recorded under a wrong clock, so their age is
    /// unknown and they are dropped. A status from the future continues from now.
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

/// Returns true if a time is in the future beyond tolerance, because the wall clock has been set back since.
const fn is_future(at: Timestamp, now: Timestamp) -> bool {
    at.ms_since(now) > STEP_MS
}
