//! Facts that are stored only while something is wrong with a service: since when each location sees trouble, and the
//! progress of the recovery.
//!
//! An outage starts with the first bad attempt that led to it, even if that attempt was retried. A location that always
//! sees trouble while the others do not must not move this start back. So checks count only if they started after the last
//! better check of any location that now has the same status.

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::verdict::LocationVote;
use crate::model::watch::recovery::RecoveryProgress;

/// Tolerance in milliseconds: a bad check that started at most this long before the last better check of another location
/// still belongs to the outage, because the target failed during both checks.
const TOGETHER_MS: i64 = 2_000;

/// Facts about a service that is not simply up.
#[derive(Clone, Debug)]
pub(super) struct OutageTracker {
    /// The streaks of each location in the plan.
    streaks: Box<[LocationStreaks]>,
    /// Progress of the recovery; used while the verdict is down.
    pub(super) recovery: RecoveryProgress,
}

/// The streaks of bad results of one location.
#[derive(Clone, Copy, Debug, Default)]
struct LocationStreaks {
    /// The streak of results that are not up, if the newest is one.
    troubled: Option<TroubleStreak>,
    /// The streak of results that are down, if the newest is one.
    down: Option<TroubleStreak>,
}

/// A streak of bad checks of one location, without a better one in between.
#[derive(Clone, Copy, Debug)]
pub(super) struct TroubleStreak {
    /// The start of the last better check before the streak; `None` if it is not known.
    better_at: Option<Timestamp>,
    /// The start of the first bad attempt.
    since: Timestamp,
}

impl TroubleStreak {
    /// A streak of which only the newest check is known.
    pub(super) const fn at(since: Timestamp) -> Self {
        Self { better_at: None, since }
    }
}

impl OutageTracker {
    /// A tracker without streaks, for this number of locations.
    pub(super) fn new(locations: usize) -> Self {
        Self {
            streaks: vec![LocationStreaks::default(); locations].into(),
            recovery: RecoveryProgress::default(),
        }
    }

    /// Records an attempt that started at `at`; `before` is the vote of its location until then. Returns true if a streak
    /// starts with this attempt.
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

    /// Returns the present streak of a location in which all results are at least as bad as `level`.
    pub(super) fn run(&self, slot: usize, level: CheckStatus) -> Option<TroubleStreak> {
        let streak = self.streaks.get(slot)?;
        if level == CheckStatus::Down { streak.down } else { streak.troubled }
    }

    /// Drops streaks that started before `blind_since`, from which no checks were made: earlier results say nothing about
    /// the time afterwards.
    pub(super) fn forget_before(&mut self, blind_since: Timestamp) {
        for streak in &mut self.streaks {
            for run in [&mut streak.troubled, &mut streak.down] {
                *run = run.filter(|run| run.since > blind_since);
            }
        }
        self.recovery.begin_after_gap(blind_since);
    }

    /// Moves all times by a step of the wall clock; `jump_ms` is not positive.
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

/// Continues, starts or ends a streak; returns true if it starts.
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

/// Returns the start of the trouble that these streaks of several locations show; `None` if there are none.
pub(super) fn beginning(runs: impl Iterator<Item = TroubleStreak> + Clone) -> Option<Timestamp> {
    let better_at = runs.clone().filter_map(|run| run.better_at).max();
    let earliest = better_at.map(|at| at.plus_ms(-TOGETHER_MS));
    let since = runs.map(|run| run.since);
    since.filter(|since| earliest.is_none_or(|earliest| earliest < *since)).min()
}
