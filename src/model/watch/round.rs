//! The round of one location for one service: when it checks, when it retries, which runs it missed.
//!
//! It is independent of other locations and of the verdict, so a remote location runs the same one and continues with
//! it when it is cut off. Its owner may request a check now, or fast rechecks for a while.

use crate::clock::Timestamp;
use crate::model::check::{CheckOutcome, CheckStatus, Measurement};
use crate::model::schedule::CheckSchedule;
use crate::model::watch::effect::CheckAttempt;
use crate::model::watch::plan::WatchPlan;

/// A check that is due within this time needs no catch-up after a restart, and catch-ups are spread over it.
const CATCH_UP_SPREAD_MS: i64 = 60_000;
/// The factor by which a location checks more often in fast rechecks; a higher rate needs recheck budget.
const FAST_RECHECK_SPEED: i64 = 5;
/// A run that was due longer ago is missed.
const MADE_UP_MS: i64 = 15_000;

/// The due times of one location for one service, and the check that is running there.
#[derive(Clone, Debug)]
pub struct CheckRound {
    slot: usize,
    schedule: CheckSchedule,
    next: NextAttempt,
    /// The attempt that is under way.
    running: Option<CheckAttempt>,
    /// End of the fast rechecks.
    fast_rechecks_until: Timestamp,
}

/// The next start: a due run, or a further attempt of the running check.
#[derive(Clone, Copy, Debug)]
struct NextAttempt {
    at: Timestamp,
    scheduled_at: Timestamp,
    attempt: u8,
}

impl NextAttempt {
    const fn run(at: Timestamp) -> Self {
        Self { at, scheduled_at: at, attempt: 1 }
    }
}

/// An attempt that starts, and the runs that were due before it and did not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptStart {
    /// The attempt to make.
    pub attempt: CheckAttempt,
    /// Number of due times that passed without a check.
    pub missed: u64,
}

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// It had this bad status, and another attempt decides.
    Retry(CheckStatus),
    /// Trouble of the location itself: it does not count for the target.
    Unmeasured,
    /// The check is finished with this result.
    Measured(Measurement),
}

impl CheckRound {
    /// A round whose first check is at `at`, between two due times or on one.
    #[must_use]
    pub fn starting_at(plan: &WatchPlan, slot: usize, at: Timestamp) -> Self {
        let schedule = CheckSchedule::new(plan.hash, plan.interval_ms, slot, plan.locations.len());
        Self { slot, schedule, next: NextAttempt::run(at), running: None, fast_rechecks_until: at }
    }

    /// A round that keeps its rhythm. If a run was due since `last_check` and the next one is far away, it checks
    /// soon.
    #[must_use]
    pub fn resumed(plan: &WatchPlan, slot: usize, last_check: Option<Timestamp>, now: Timestamp) -> Self {
        let mut round = Self::starting_at(plan, slot, now);
        let due = round.schedule.next_after(now);
        let has_missed = last_check.is_some_and(|last| round.schedule.runs_between(last, now) > 0);
        let is_far = due.ms_since(now) > CATCH_UP_SPREAD_MS;
        let spread = i64::try_from(plan.hash % CATCH_UP_SPREAD_MS.unsigned_abs()).unwrap_or_default();
        round.next = NextAttempt::run(if has_missed && is_far { now.plus_ms(spread) } else { due });
        round
    }

    /// The same round, which at once makes up for a run that was due a moment ago, while the watch was handed over.
    #[must_use]
    pub fn with_catch_up(mut self, last_check: Option<Timestamp>, now: Timestamp) -> Self {
        let due = self.schedule.latest(now);
        let is_missed = last_check.is_some_and(|last| self.schedule.runs_between(last, now) > 0);
        if is_missed && now.ms_since(due) <= MADE_UP_MS {
            self.next = NextAttempt { at: now, scheduled_at: due, attempt: 1 };
        }
        self
    }

    /// Postpones the first check.
    pub fn set_first_check(&mut self, at: Timestamp) {
        self.next = NextAttempt::run(at);
    }

    /// Returns the time of the next start; `None` while an attempt is running.
    #[must_use]
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.running.is_none().then_some(self.next.at)
    }

    /// Starts the next attempt, if it is due.
    pub fn wake(&mut self, now: Timestamp) -> Option<AttemptStart> {
        if self.running.is_some() || self.next.at > now {
            return None;
        }
        let NextAttempt { scheduled_at, attempt, .. } = self.next;
        let missed = if attempt == 1 { self.schedule.missed_by(scheduled_at, now) } else { 0 };
        let scheduled_at = if missed > 0 { self.schedule.latest(now) } else { scheduled_at };
        let attempt = CheckAttempt { slot: self.slot, scheduled_at, attempt };
        self.running = Some(attempt);
        Some(AttemptStart { attempt, missed })
    }

    /// The running attempt, as due on the present wall clock.
    #[must_use]
    pub const fn under_way(&self) -> Option<CheckAttempt> {
        self.running
    }

    /// Takes in the outcome of an attempt. This decides whether it is retried: if it is not up and the plan has attempts
    /// left. Otherwise [`Self::plan_next`] follows.
    pub fn finish(
        &mut self,
        plan: &WatchPlan,
        attempt: CheckAttempt,
        outcome: CheckOutcome,
        now: Timestamp,
    ) -> AttemptEnd {
        self.running = None;
        let measurement = match outcome {
            CheckOutcome::Measured(measurement) => measurement,
            CheckOutcome::Unmeasured(_) => return AttemptEnd::Unmeasured,
        };
        if measurement.status != CheckStatus::Up && attempt.attempt < plan.attempts {
            let at = now.plus_ms(plan.backoff_after_ms(attempt.attempt));
            self.next = NextAttempt { at, scheduled_at: attempt.scheduled_at, attempt: attempt.attempt + 1 };
            return AttemptEnd::Retry(measurement.status);
        }
        AttemptEnd::Measured(measurement)
    }

    /// Plans the run after a finished check. Returns the runs that were due during that check.
    pub fn plan_next(&mut self, plan: &WatchPlan, done: CheckAttempt, now: Timestamp) -> u64 {
        let due = self.schedule.next_after(now.max(done.scheduled_at));
        let at =
            if now < self.fast_rechecks_until { due.min(now.plus_ms(fast_rechecks_ms(plan))) } else { due };
        self.next = NextAttempt::run(at);
        self.schedule.missed_by(done.scheduled_at, now)
    }

    /// Checks at once instead of at its due time, unless a check is running.
    pub fn check_now(&mut self, now: Timestamp) {
        if self.running.is_none() && self.next.attempt == 1 {
            self.next = NextAttempt::run(self.next.at.min(now));
        }
    }

    /// Checks more often until then; a time in the past ends this. The run that is already planned stays.
    pub const fn fast_rechecks_until(&mut self, until: Timestamp) {
        self.fast_rechecks_until = until;
    }

    /// Returns true during fast rechecks.
    #[must_use]
    pub fn is_fast(&self, now: Timestamp) -> bool {
        now < self.fast_rechecks_until
    }

    /// Returns true if it would check sooner with recheck budget than at the usual fast rate.
    #[must_use]
    pub fn can_check_early(&self, plan: &WatchPlan, now: Timestamp) -> bool {
        self.running.is_none()
            && self.next.attempt == 1
            && now.plus_ms(plan.uncertain_interval_ms) < self.next.at
    }

    /// Brings the planned run as far forward as allowed.
    pub fn check_early(&mut self, plan: &WatchPlan, now: Timestamp) {
        if self.can_check_early(plan, now) {
            self.next = NextAttempt::run(now.plus_ms(plan.uncertain_interval_ms));
        }
    }

    /// Brings the planned run forward during fast rechecks, if no check is running.
    pub fn bring_forward(&mut self, plan: &WatchPlan, now: Timestamp) {
        if now < self.fast_rechecks_until && self.running.is_none() && self.next.attempt == 1 {
            self.next = NextAttempt::run(self.next.at.min(now.plus_ms(fast_rechecks_ms(plan))));
        }
    }

    /// Moves planned checks by a step of the wall clock, which was set ahead by `jump_ms`, or back.
    pub fn shift(&mut self, jump_ms: i64) {
        self.next.at = self.next.at.plus_ms(jump_ms);
        self.next.scheduled_at = self.next.scheduled_at.plus_ms(jump_ms);
        self.fast_rechecks_until = self.fast_rechecks_until.plus_ms(jump_ms);
        if let Some(attempt) = &mut self.running {
            attempt.scheduled_at = attempt.scheduled_at.plus_ms(jump_ms);
        }
    }
}

/// Milliseconds between two fast rechecks.
fn fast_rechecks_ms(plan: &WatchPlan) -> i64 {
    (plan.interval_ms / FAST_RECHECK_SPEED).max(plan.uncertain_interval_ms)
}

#[cfg(test)]
impl CheckRound {
    pub(super) const fn schedule(&self) -> CheckSchedule {
        self.schedule
    }

    /// The time of a further attempt, if one waits.
    pub(super) fn retry_at(&self) -> Option<Timestamp> {
        (self.next.attempt > 1).then_some(self.next.at)
    }
}
