//! The round of one location for one service: when it checks, when it retries, and which checks it missed.
//!
//! A round knows nothing of other locations or of the verdict. So a remote location has the same round, and continues with
//! it while it is cut off. Its owner may request a check now, or fast rechecks for a while.

use crate::clock::Timestamp;
use crate::model::check::{CheckOutcome, CheckStatus, Measurement};
use crate::model::schedule::CheckSchedule;
use crate::model::time_range::TimeRange;
use crate::model::watch::effect::CheckAttempt;
use crate::model::watch::plan::WatchPlan;

/// After a restart, a missed check is made up for within this time after the start, in milliseconds, unless the next one is due
/// by then.
const CATCH_UP_WITHIN_MS: i64 = 60_000;
/// Services that are watched late after the start have at least this time, in milliseconds.
const SHORTEST_SPREAD_MS: i64 = 10_000;
/// An odd number whose product with a hash has well mixed upper bits (Knuth, The Art of Computer Programming, vol. 3, 6.4).
const MIXER: u64 = 0x9E37_79B9_7F4A_7C15;
/// How many times as often a location checks during fast rechecks. An even higher rate needs recheck budget.
const FAST_RECHECK_SPEED: i64 = 5;
/// A check that became due longer ago than this is not made up for after a handover, in milliseconds.
const MADE_UP_MS: i64 = 15_000;

/// The due times of one location for one service, and the attempt that is running there.
#[derive(Clone, Debug)]
pub struct CheckRound {
    slot: usize,
    schedule: CheckSchedule,
    next: NextAttempt,
    /// The running attempt, if there is one.
    running: Option<CheckAttempt>,
    /// End of the fast rechecks.
    fast_rechecks_until: Timestamp,
}

/// The next start: of a check that is due, or of a further attempt of the present check.
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

/// An attempt that starts, and the number of checks that were missed before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptStart {
    /// The attempt to make.
    pub attempt: CheckAttempt,
    /// Number of due times that passed without a check.
    pub missed: u64,
}

/// What follows from the end of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// The attempt had this bad status, and another attempt follows.
    Retry(CheckStatus),
    /// The location itself had a fault, so the attempt says nothing about the target.
    Unmeasured,
    /// The check is finished with this result.
    Measured(Measurement),
}

impl CheckRound {
    /// A round whose first check is at `at`, which need not be a due time.
    #[must_use]
    pub fn starting_at(plan: &WatchPlan, slot: usize, at: Timestamp) -> Self {
        let schedule = CheckSchedule::new(plan.hash, plan.interval_ms, slot, plan.locations.len());
        Self { slot, schedule, next: NextAttempt::run(at), running: None, fast_rechecks_until: at }
    }

    /// A round that continues with the due times of its schedule. If a check was missed since `last_check` and the next is
    /// far from the start of the process, it checks soon. `start` is the time from the start of the process until now: many
    /// services need so long that checks become due in it.
    #[must_use]
    pub fn resumed(plan: &WatchPlan, slot: usize, last_check: Option<Timestamp>, start: TimeRange) -> Self {
        let now = start.to;
        let mut round = Self::starting_at(plan, slot, now);
        let due = round.schedule.next_after(now);
        let has_missed = last_check.is_some_and(|last| round.schedule.runs_between(last, now) > 0);
        let deadline = start.from.plus_ms(CATCH_UP_WITHIN_MS).max(now.plus_ms(SHORTEST_SPREAD_MS));
        let left = deadline.ms_since(now);
        // The phase follows from the lower bits of the hash; the spread must not follow from the phase.
        let spread = (plan.hash.wrapping_mul(MIXER) >> 32) % left.unsigned_abs();
        let spread = i64::try_from(spread).unwrap_or_default();
        let is_made_up = has_missed && due > deadline;
        round.next = NextAttempt::run(if is_made_up { now.plus_ms(spread) } else { due });
        round
    }

    /// The same round, but a check that became due a moment ago, while the watch was handed over, is made at once.
    #[must_use]
    pub fn with_catch_up(mut self, last_check: Option<Timestamp>, now: Timestamp) -> Self {
        let due = self.schedule.latest(now);
        let is_missed = last_check.is_some_and(|last| self.schedule.runs_between(last, now) > 0);
        if is_missed && now.ms_since(due) <= MADE_UP_MS {
            self.next = NextAttempt { at: now, scheduled_at: due, attempt: 1 };
        }
        self
    }

    /// Sets the time of the first check.
    pub fn set_first_check(&mut self, at: Timestamp) {
        self.next = NextAttempt::run(at);
    }

    /// Returns the time of the next attempt; `None` while an attempt is running.
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

    /// The running attempt, with its due time on the present wall clock; `None` if no attempt is running.
    #[must_use]
    pub const fn under_way(&self) -> Option<CheckAttempt> {
        self.running
    }

    /// Processes the outcome of an attempt, and plans a retry if it is not up and the plan has attempts left. Otherwise
    /// [`Self::plan_next`] must follow.
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

    /// Plans the next check after a finished one. Returns the number of checks that were due in between.
    pub fn plan_next(&mut self, plan: &WatchPlan, done: CheckAttempt, now: Timestamp) -> u64 {
        let due = self.schedule.next_after(now.max(done.scheduled_at));
        let at =
            if now < self.fast_rechecks_until { due.min(now.plus_ms(fast_rechecks_ms(plan))) } else { due };
        self.next = NextAttempt::run(at);
        self.schedule.missed_by(done.scheduled_at, now)
    }

    /// Checks at once instead of at the next due time, unless an attempt is running or a retry is planned.
    pub fn check_now(&mut self, now: Timestamp) {
        if self.running.is_none() && self.next.attempt == 1 {
            self.next = NextAttempt::run(self.next.at.min(now));
        }
    }

    /// Checks more often until `until`; a time that has passed ends this. A check that is already planned stays.
    pub const fn fast_rechecks_until(&mut self, until: Timestamp) {
        self.fast_rechecks_until = until;
    }

    /// Returns true during fast rechecks.
    #[must_use]
    pub fn is_fast(&self, now: Timestamp) -> bool {
        now < self.fast_rechecks_until
    }

    /// Returns true if recheck budget would make the next check come sooner than planned.
    #[must_use]
    pub fn can_check_early(&self, plan: &WatchPlan, now: Timestamp) -> bool {
        self.running.is_none()
            && self.next.attempt == 1
            && now.plus_ms(plan.uncertain_interval_ms) < self.next.at
    }

    /// Moves the planned check to the earliest time that the plan allows, if that is sooner.
    pub fn check_early(&mut self, plan: &WatchPlan, now: Timestamp) {
        if self.can_check_early(plan, now) {
            self.next = NextAttempt::run(now.plus_ms(plan.uncertain_interval_ms));
        }
    }

    /// Moves the planned check forward to the rate of fast rechecks, while these last and unless an attempt is running.
    pub fn bring_forward(&mut self, plan: &WatchPlan, now: Timestamp) {
        if now < self.fast_rechecks_until && self.running.is_none() && self.next.attempt == 1 {
            self.next = NextAttempt::run(self.next.at.min(now.plus_ms(fast_rechecks_ms(plan))));
        }
    }

    /// Moves all times with a step of the wall clock of `jump_ms` milliseconds, ahead or back.
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

    /// The time of the next attempt if that is a retry.
    pub(super) fn retry_at(&self) -> Option<Timestamp> {
        (self.next.attempt > 1).then_some(self.next.at)
    }
}
