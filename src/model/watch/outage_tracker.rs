//! State of a service that is kept only while something is wrong with it: since when each location sees that, and the
//! progress of a recovery.
//!
//! An outage starts with the first bad attempt that led to it, also with one that was retried. A location that sees
//! trouble all the time while the others do not must not move that start back, so checks count only if they started
//! after the last check at which a location with the same present vote was still better.

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::verdict::LocationVote;
use crate::model::watch::recovery::RecoveryProgress;

/// A bad check that started at most this long (in milliseconds) before the last better one of another location
/// belongs to the same outage: the target failed during both checks.
const TOGETHER_MS: i64 = 2_000;

/// The memory of a service that is not simply up.
#[derive(Clone, Debug)]
pub(super) struct OutageTracker {
    /// Of each location in the plan.
    streaks: Box<[LocationStreaks]>,
    /// Used while the verdict is down.
    pub(super) recovery: RecoveryProgress,
}

/// The recent results of a location.
#[derive(Clone, Copy, Debug, Default)]
struct LocationStreaks {
    /// Since when it is not up.
    troubled: Option<TroubleStreak>,
    /// Since when it is down.
    down: Option<TroubleStreak>,
}

/// Bad checks without a better one in between.
#[derive(Clone, Copy, Debug)]
pub(super) struct TroubleStreak {
    /// The start of the last better check before.
    better_at: Option<Timestamp>,
    /// The start of the first bad attempt.
    since: Timestamp,
}

impl TroubleStreak {
    /// A run of which only the newest check is known.
    pub(super) const fn at(since: Timestamp) -> Self {
        Self { better_at: None, since }
    }
}

impl OutageTracker {
    /// Nothing is remembered of any location.
    pub(super) fn new(locations: usize) -> Self {
        Self {
            streaks: vec![LocationStreaks::default(); locations].into(),
            recovery: RecoveryProgress::default(),
        }
    }

    /// Takes in an attempt that started at `at`; `before` is the vote of its location until now. Returns true if it
    /// is the first of its kind.
    pub(super) fn note(
        &mut self,
        slot: usize,
        status: CheckStatus,
        at: Timestamp,
        before: Option<LocationVote>,
    ) -> bool {
        let Some(streak) = self.streaks.get_mut(slot) else { return false };
        let troubled = extended(&mut streak.troubled, CheckStatus::Degraded, status, at, before);
        let down = extended(&mut streak.down, CheckStatus::Down, status, at, before);
        troubled || down
    }

    /// Returns the run of a location whose status is at least `level`.
    pub(super) fn run(&self, slot: usize, level: CheckStatus) -> Option<TroubleStreak> {
        let streak = self.streaks.get(slot)?;
        if level == CheckStatus::Down { streak.down } else { streak.troubled }
    }

    /// Drops runs from before `blind_since`, from which on no check was made: earlier results do not count for the
    /// time after it.
    pub(super) fn forget_before(&mut self, blind_since: Timestamp) {
        for streak in &mut self.streaks {
            for run in [&mut streak.troubled, &mut streak.down] {
                *run = run.filter(|run| run.since > blind_since);
            }
        }
        self.recovery.begin_after_gap(blind_since);
    }

    /// Moves the times by a step of the wall clock that was set back.
    pub(super) fn shift(&mut self, jump_ms: i64) {
        let runs = self.streaks.iter_mut().flat_map(|streak| [&mut streak.troubled, &mut streak.down]);
        for run in runs.flatten() {
            run.since = run.since.plus_ms(jump_ms);
            run.better_at = run.better_at.map(|at| at.plus_ms(jump_ms));
        }
        self.recovery.shift(jump_ms);
    }

    /// Returns true if no location sees trouble.
    pub(super) fn is_over(&self) -> bool {
        self.streaks.iter().all(|streak| streak.troubled.is_none() && streak.down.is_none())
    }
}

/// Continues a run, starts one, or ends it; returns true if one starts.
fn extended(
    run: &mut Option<TroubleStreak>,
    level: CheckStatus,
    status: CheckStatus,
    at: Timestamp,
    before: Option<LocationVote>,
) -> bool {
    if status < level {
        *run = None;
        return false;
    }
    let begins = run.is_none();
    let better_at = before.filter(|vote| vote.status < level).map(|vote| vote.checked_at);
    run.get_or_insert(TroubleStreak { better_at, since: at });
    begins
}

/// Returns the start of the trouble in these runs of locations; `None` without any.
pub(super) fn beginning(runs: impl Iterator<Item = TroubleStreak> + Clone) -> Option<Timestamp> {
    let better_at = runs.clone().filter_map(|run| run.better_at).max();
    let earliest = better_at.map(|at| at.plus_ms(-TOGETHER_MS));
    let since = runs.map(|run| run.since);
    since.filter(|since| earliest.is_none_or(|earliest| earliest < *since)).min()
}
