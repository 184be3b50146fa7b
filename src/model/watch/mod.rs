//! The watch over one service: when each location checks, what the status is, and what is recorded.
//!
//! The watch is a pure state machine. Time and outcomes go in, [`WatchEffect`]s come out; the actor around it turns effects
//! into messages and timers. It consists of a [`CheckRound`] for each location, which decides when to check, and of the
//! [`Consensus`], which decides the status.

mod arrivals;
mod consensus;
mod effect;
mod memory;
mod outage_tracker;
mod plan;
mod recovery;
mod round;
#[cfg(test)]
mod tests;

use crate::clock::{STEP_MS, Timestamp};
use crate::model::check::CheckOutcome;
use crate::model::history::ChangeCause;
use crate::model::status_timeline::MeasuredStatusChange;
use crate::model::time_range::TimeRange;
use crate::model::verdict::{LocationVote, Verdict};
use crate::model::watch::arrivals::ResultArrivals;
use crate::model::watch::consensus::FAST_RECHECK_INTERVALS;
pub use crate::model::watch::consensus::{ConfirmationNeed, Consensus};
pub use crate::model::watch::effect::{
    ArrivalOutcome, CheckAttempt, FinishedCheck, LocationOpinion, RecheckRequest, WatchEffect,
};
pub(super) use crate::model::watch::memory::ResumedMemory;
pub use crate::model::watch::memory::{AbsentVote, MemorySource, WatchMemory};
pub use crate::model::watch::plan::{PlannedLocation, RoundKeeper, WatchPlan};
pub use crate::model::watch::recovery::RecoveryProgress;
pub use crate::model::watch::round::{AttemptEnd, AttemptStart, CheckRound};

/// How long fast rechecks last in milliseconds. After that, an uncertain service is checked five times as often as usual.
const FAST_RECHECKS_MS: i64 = 120_000;
/// Shortest time between two starts of fast rechecks while locations keep disagreeing, in milliseconds.
const FAST_RECHECKS_AGAIN_MS: i64 = 600_000;
/// Shortest time between two rechecks because of a silent target, in milliseconds, so that a target that is always slow is
/// not checked more often.
const SILENCE_AGAIN_MS: i64 = 600_000;

/// The state of the watch over one service.
#[derive(Clone, Debug)]
pub struct WatchState {
    plan: WatchPlan,
    /// The round of each location in the plan; `None` for locations with their own schedule.
    rounds: Box<[Option<CheckRound>]>,
    /// The received results of each location in the plan; empty if no location has its own schedule.
    arrivals: Box<[ResultArrivals]>,
    consensus: Consensus,
    /// The next time at which the status is judged without a result. `None` if all locations are scheduled here, because
    /// then their checks wake the watch.
    next_judgement: Option<Timestamp>,
    /// The end of the fast rechecks that was last sent to the locations with their own schedule.
    announced_fast_until: Timestamp,
    /// Start of the last fast rechecks.
    fast_since: Timestamp,
    /// The last time at which other locations checked because a target was silent.
    silence_noted_at: Timestamp,
}

impl WatchState {
    /// Starts the watch. A service that was watched before keeps its due times and its votes; a new one is checked at once.
    /// The effects include the no-data period since the last result, if there is one.
    #[must_use]
    pub fn begin(plan: WatchPlan, memory: WatchMemory, now: Timestamp) -> (Self, Vec<WatchEffect>) {
        let source = memory.source;
        let is_handed_over = source == MemorySource::OtherProcess;
        let resumed = memory.resume(Some(&plan), now);
        let is_new = resumed.votes.is_empty();
        let last_check = |slot| {
            let vote = resumed.votes.iter().find(|(voting_slot, _)| *voting_slot == slot);
            vote.map(|(_, vote)| vote.checked_at)
        };
        let round = |(slot, location): (usize, &PlannedLocation)| match location.round {
            RoundKeeper::Location => None,
            RoundKeeper::Watch if is_new => Some(CheckRound::starting_at(&plan, slot, now)),
            RoundKeeper::Watch => {
                let since = source.could_check_since(now);
                let round =
                    CheckRound::resumed(&plan, slot, last_check(slot), TimeRange { from: since, to: now });
                Some(if is_handed_over { round.with_catch_up(last_check(slot), now) } else { round })
            }
        };
        let rounds: Box<[Option<CheckRound>]> = plan.locations.iter().enumerate().map(round).collect();
        let is_kept_remotely = rounds.is_empty() || rounds.iter().any(Option::is_none);
        let arrivals = (0..rounds.len()).filter(|_| is_kept_remotely);
        let arrivals = arrivals.map(|slot| ResultArrivals::after(last_check(slot))).collect();
        let next_judgement = is_kept_remotely.then(|| now.plus_ms(plan.interval_ms));
        let (consensus, effects) = Consensus::begin(&plan, resumed, source, now);
        let fast_since = now.plus_ms(-FAST_RECHECKS_AGAIN_MS);
        let announced_fast_until = now;
        let silence_noted_at = now.plus_ms(-SILENCE_AGAIN_MS);
        let watch = Self {
            plan,
            rounds,
            arrivals,
            consensus,
            next_judgement,
            announced_fast_until,
            fast_since,
            silence_noted_at,
        };
        (watch, effects)
    }

    /// Postpones the first check, because many services were started at once. Only for a watch that has just started
    /// without votes.
    pub fn set_first_check(&mut self, at: Timestamp) {
        for round in self.rounds.iter_mut().flatten() {
            round.set_first_check(at);
        }
    }

    /// Returns the verdict of the votes. It survives short no-data periods, because a vote stays fresh for three intervals
    /// and at least 300 s.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        self.consensus.verdict()
    }

    /// Returns the number of good results in a row of a service that is down and needs several of them to be up again;
    /// `None` otherwise.
    #[must_use]
    pub fn good_results(&self) -> Option<u8> {
        self.consensus.good_results()
    }

    /// Returns the start of the check with the newest result; `None` without results.
    #[must_use]
    pub const fn last_result_at(&self) -> Option<Timestamp> {
        self.consensus.last_result_at()
    }

    /// Returns the time until which results support the present status, if no further result comes.
    #[must_use]
    pub fn measured_until(&self) -> Option<Timestamp> {
        self.last_result_at().map(|at| at.plus_ms(self.plan.coverage_ms()))
    }

    /// Returns the time at which [`Self::wake`] must be called next. `None` while a check is running at every location, if
    /// all locations are scheduled here.
    #[must_use]
    pub fn next_wake(&self) -> Option<Timestamp> {
        let rounds = self.rounds.iter().flatten().filter_map(CheckRound::next_wake);
        rounds.chain(self.next_judgement).min()
    }

    /// Starts checks that are due and detects no-data periods.
    pub fn wake(&mut self, now: Timestamp) -> Vec<WatchEffect> {
        let mut effects = Vec::new();
        for AttemptStart { attempt, missed } in
            self.rounds.iter_mut().flatten().filter_map(|round| round.wake(now))
        {
            push_missed(missed, &mut effects);
            effects.push(WatchEffect::Run(attempt));
        }
        if self.next_judgement.is_some_and(|at| at <= now) {
            self.next_judgement = Some(now.plus_ms(self.plan.interval_ms));
        }
        self.consensus.judge(now, &mut effects);
        effects
    }

    /// The running attempt of a location, with its due time on the present wall clock; `None` if no attempt is running.
    #[must_use]
    pub fn under_way(&self, slot: usize) -> Option<CheckAttempt> {
        self.rounds.get(slot)?.as_ref()?.under_way()
    }

    /// Processes the outcome of an attempt that started at `checked_at`: plans a retry, or records the check and judges the
    /// status.
    pub fn finish(
        &mut self,
        attempt: CheckAttempt,
        checked_at: Timestamp,
        outcome: CheckOutcome,
        now: Timestamp,
    ) -> Vec<WatchEffect> {
        let mut effects = Vec::new();
        let slot = attempt.slot;
        let Some(Some(round)) = self.rounds.get_mut(slot) else {
            return effects;
        };
        match round.finish(&self.plan, attempt, outcome, now) {
            AttemptEnd::Retry(status) => {
                if self.consensus.note_bad_attempt(slot, status, checked_at) {
                    self.ask_others_here(slot, checked_at, now);
                }
            }
            AttemptEnd::Unmeasured => {
                if self.rounds.len() > 1 {
                    let fast_rechecks_until = self.consensus.fast_rechecks_until(now);
                    self.rounds[slot]
                        .iter_mut()
                        .for_each(|round| round.fast_rechecks_until(fast_rechecks_until));
                }
                self.plan_next(attempt, now, &mut effects);
            }
            AttemptEnd::Measured(measurement) => {
                let vote = LocationVote { status: measurement.status, checked_at };
                effects.push(WatchEffect::Record(FinishedCheck { attempt, checked_at, measurement }));
                self.take_vote(slot, vote, now, &mut effects);
                self.plan_next(attempt, now, &mut effects);
                self.request_fast_recheck(slot, now, &mut effects);
            }
        }
        effects
    }

    /// Handles an attempt that started at `since` and has not ended, because the target is silent or its answer does not
    /// end. If the service was up, the other locations of this process check at once, so that their time-outs overlap with
    /// this one.
    pub fn note_silence(&mut self, slot: usize, since: Timestamp, now: Timestamp) {
        let is_due = now.ms_since(self.silence_noted_at) >= SILENCE_AGAIN_MS;
        if is_due && self.verdict() == Verdict::Up {
            self.silence_noted_at = now;
            self.ask_others_here(slot, since, now);
        }
    }

    /// Processes a result of a location with its own schedule; the result is already recorded. A late result, and one that
    /// is older than the vote of its location, change neither the verdict nor the status.
    pub fn take_remote_result(&mut self, slot: usize, vote: LocationVote, now: Timestamp) -> ArrivalOutcome {
        let LocationVote { checked_at, .. } = vote;
        let is_expected = self.rounds.get(slot).is_some_and(Option::is_none);
        let is_future = checked_at.ms_since(now) > STEP_MS;
        let Some(arrivals) = self.arrivals.get_mut(slot).filter(|_| is_expected && !is_future) else {
            return ArrivalOutcome::Nothing;
        };
        if !arrivals.take(checked_at, self.plan.coverage_ms()) {
            return ArrivalOutcome::Nothing;
        }
        if self.consensus.has_checked_since(slot, checked_at) || !self.plan.is_punctual(checked_at, now) {
            return ArrivalOutcome::Late;
        }
        let mut effects = Vec::new();
        self.take_vote(slot, vote, now, &mut effects);
        ArrivalOutcome::Vote(effects)
    }

    /// Handles a request of a remote engine. The plan must have this location only. It checks at once if `check_now` is
    /// set, and more often for `fast_rechecks_ms`, at most two intervals.
    pub fn apply_recheck_request(
        &mut self,
        check_now: bool,
        fast_rechecks_ms: i64,
        now: Timestamp,
    ) -> Vec<WatchEffect> {
        let fast_rechecks_ms = fast_rechecks_ms.clamp(0, FAST_RECHECK_INTERVALS * self.plan.interval_ms);
        let mut effects = Vec::new();
        let Some(Some(round)) = self.rounds.first_mut() else { return effects };
        let was_calm = !round.is_fast(now);
        round.fast_rechecks_until(now.plus_ms(fast_rechecks_ms));
        round.bring_forward(&self.plan, now);
        if check_now {
            round.check_now(now);
        }
        if fast_rechecks_ms > 0 {
            self.begin_fast_recheck(was_calm, now);
            self.request_fast_recheck(0, now, &mut effects);
        }
        effects
    }

    /// Lets a location check as soon as an uncertain state requires, after the recheck budget has allowed it; see
    /// [`WatchEffect::CheckEarly`].
    pub fn check_early(&mut self, slot: usize, now: Timestamp) {
        if let Some(Some(round)) = self.rounds.get_mut(slot) {
            round.check_early(&self.plan, now);
        }
    }

    /// Lets every location check at once, unless a check is running there.
    pub fn check_all_now(&mut self, now: Timestamp) -> Vec<WatchEffect> {
        let mut effects = Vec::new();
        let fast_rechecks_until = self.announced_fast_until;
        for (slot, round) in self.rounds.iter_mut().enumerate() {
            match round {
                Some(round) => round.check_now(now),
                None => effects.push(WatchEffect::RequestRecheck(RecheckRequest {
                    slot,
                    check_now: true,
                    fast_rechecks_until,
                })),
            }
        }
        effects
    }

    /// Returns true if the check of a location's newest vote started at `since` or later.
    #[must_use]
    pub fn has_checked_since(&self, slot: usize, since: Timestamp) -> bool {
        self.consensus.has_checked_since(slot, since)
    }

    /// Sets whether the vote of a location is excluded because the location is suspect or impaired; see `model::suspicion`.
    pub fn set_aside(&mut self, slot: usize, is_set_aside: bool) {
        self.consensus.set_aside(slot, is_set_aside);
    }

    /// Sets the start of the last blindness of a location. Results up to that time do not count, because later attempts
    /// were not carried out; see `model::shed_attempts`.
    pub fn set_blind_since(&mut self, slot: usize, since: Option<Timestamp>) {
        self.consensus.set_blind_since(slot, since);
    }

    /// Judges the status again after a change of which votes count.
    pub fn judge(&mut self, now: Timestamp) -> Vec<WatchEffect> {
        let mut effects = Vec::new();
        self.consensus.judge(now, &mut effects);
        effects
    }

    /// Handles a step of the wall clock by `jump_ms`, ahead or back. Planned checks move with the clock; for results see
    /// [`Consensus::shift`].
    pub fn shift(&mut self, jump_ms: i64, now: Timestamp) -> Vec<MeasuredStatusChange> {
        for round in self.rounds.iter_mut().flatten() {
            round.shift(jump_ms);
        }
        // Times of results are moved back but not ahead, as in the consensus.
        self.arrivals.iter_mut().for_each(|arrivals| arrivals.shift(jump_ms.min(0)));
        self.next_judgement = self.next_judgement.map(|at| at.plus_ms(jump_ms));
        self.announced_fast_until = self.announced_fast_until.plus_ms(jump_ms);
        self.fast_since = self.fast_since.plus_ms(jump_ms);
        self.silence_noted_at = self.silence_noted_at.plus_ms(jump_ms);
        self.consensus.shift(jump_ms, now)
    }

    /// Ends the watch. Earlier measurements are no longer valid.
    pub fn end(&mut self, cause: ChangeCause, now: Timestamp) -> Vec<WatchEffect> {
        self.consensus.end(cause, now)
    }

    /// Returns the memory from which a following watch continues.
    #[must_use]
    pub fn memory(&self) -> WatchMemory {
        self.consensus.memory()
    }

    /// Records a vote, judges the status, and lets locations check sooner or more often if needed.
    fn take_vote(
        &mut self,
        voting_slot: usize,
        vote: LocationVote,
        now: Timestamp,
        effects: &mut Vec<WatchEffect>,
    ) {
        let was_calm = self.consensus.fast_rechecks_until(now) <= now;
        let confirmation = self.consensus.take_vote(voting_slot, vote, now, effects);
        self.consensus.judge_vote(vote.checked_at, now, effects);
        // A single location cannot disagree with others. Its fast rechecks are requested by a remote engine.
        if self.rounds.len() == 1 && self.plan.rules.recovery_checks == 1 {
            return;
        }
        let fast_rechecks_until = self.consensus.fast_rechecks_until(now);
        let has_fast_changed = fast_rechecks_until.max(now) != self.announced_fast_until.max(now);
        if has_fast_changed && now < fast_rechecks_until {
            self.begin_fast_recheck(was_calm, now);
        }
        for (slot, round) in self.rounds.iter_mut().enumerate() {
            let is_asked = confirmation == ConfirmationNeed::AskOthers && slot != voting_slot;
            let check_now = is_asked && !self.consensus.has_checked_since(slot, vote.checked_at);
            match round {
                Some(round) => {
                    round.fast_rechecks_until(fast_rechecks_until);
                    if check_now {
                        round.check_now(now);
                    }
                }
                None if check_now || has_fast_changed => {
                    effects.push(WatchEffect::RequestRecheck(RecheckRequest {
                        slot,
                        check_now,
                        fast_rechecks_until,
                    }));
                }
                None => {}
            }
        }
        self.announced_fast_until = fast_rechecks_until;
    }

    /// Lets the other locations of this process check at once, so that time-outs of several locations overlap. Remote
    /// locations are asked only after finished checks.
    fn ask_others_here(&mut self, voting_slot: usize, since: Timestamp, now: Timestamp) {
        for (slot, round) in self.rounds.iter_mut().enumerate() {
            let has_checked = self.consensus.has_checked_since(slot, since);
            if let Some(round) = round.as_mut().filter(|_| slot != voting_slot && !has_checked) {
                round.check_now(now);
            }
        }
    }

    fn plan_next(&mut self, done: CheckAttempt, now: Timestamp, effects: &mut Vec<WatchEffect>) {
        if let Some(Some(round)) = self.rounds.get_mut(done.slot) {
            push_missed(round.plan_next(&self.plan, done, now), effects);
        }
    }

    /// Starts fast rechecks if the state was certain before, or if the last fast rechecks started long enough ago.
    fn begin_fast_recheck(&mut self, was_calm: bool, now: Timestamp) {
        if was_calm || now.ms_since(self.fast_since) >= FAST_RECHECKS_AGAIN_MS {
            self.fast_since = now;
        }
    }

    /// Requests recheck budget for an early check, during the limited time of fast rechecks.
    fn request_fast_recheck(&self, slot: usize, now: Timestamp, effects: &mut Vec<WatchEffect>) {
        let Some(Some(round)) = self.rounds.get(slot) else { return };
        let is_fast = round.is_fast(now) && now.ms_since(self.fast_since) < FAST_RECHECKS_MS;
        if is_fast && round.can_check_early(&self.plan, now) {
            effects.push(WatchEffect::CheckEarly(slot));
        }
    }
}

fn push_missed(runs: u64, effects: &mut Vec<WatchEffect>) {
    if runs > 0 {
        effects.push(WatchEffect::Missed(runs));
    }
}
