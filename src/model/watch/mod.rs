//! The watch over one service: when to look from where, what to believe, what to record.
//!
//! A pure state machine. Time and outcomes go in, [`Effect`]s come out; the actor around it only turns effects into
//! messages and timers. It joins two: a [`Round`] for each location says when to look, the [`Consensus`] what to
//! believe.

mod arrivals;
mod consensus;
mod effect;
mod memory;
mod plan;
mod round;
#[cfg(test)]
mod tests;

use crate::clock::{STEP_MS, Timestamp};
use crate::model::check::Outcome;
use crate::model::history::ChangeCause;
use crate::model::status_line::Change;
use crate::model::verdict::{Verdict, Vote};
use crate::model::watch::arrivals::Arrivals;
use crate::model::watch::consensus::HURRY_INTERVALS;
pub use crate::model::watch::consensus::{Confirmation, Consensus};
pub use crate::model::watch::effect::{Attempt, Effect, Finished, Heard, Opinion, Urge};
pub(super) use crate::model::watch::memory::Resumed;
pub use crate::model::watch::memory::{AbsentVote, Memory};
pub use crate::model::watch::plan::{PlannedLocation, RoundKeeper, WatchPlan};
pub use crate::model::watch::round::{Ended, Round, Start};

/// The state of the watch over one service.
#[derive(Clone, Debug)]
pub struct Watch {
    plan: WatchPlan,
    /// Of each location in the plan; `None` where the location keeps it.
    rounds: Box<[Option<Round>]>,
    /// Of each location in the plan; empty where none keeps its own schedule.
    arrivals: Box<[Arrivals]>,
    consensus: Consensus,
    /// Where locations keep their schedules, or none is known yet, nothing else wakes the watch when they fall silent.
    next_judgement: Option<Timestamp>,
    /// The hurry that they were told of last.
    told_hurry_until: Timestamp,
}

impl Watch {
    /// Begins to watch. A service that was watched before keeps its rhythm and its votes; one that never was is
    /// looked at once. Effects tell the gap since the last result, if there is one.
    #[must_use]
    pub fn begin(plan: WatchPlan, memory: Memory, now: Timestamp) -> (Self, Vec<Effect>) {
        let is_handed_over = memory.is_handed_over;
        let resumed = memory.resume(now);
        let is_new = resumed.votes.is_empty();
        let last_look = |slot| {
            let vote = resumed.votes.iter().find(|(place, _)| *place == slot);
            vote.map(|(_, vote)| vote.checked_at)
        };
        let round = |(slot, location): (usize, &PlannedLocation)| match location.round {
            RoundKeeper::Location => None,
            RoundKeeper::Watch if is_new => Some(Round::looking_at(&plan, slot, now)),
            RoundKeeper::Watch => {
                let round = Round::resumed(&plan, slot, last_look(slot), now);
                Some(if is_handed_over { round.making_up(last_look(slot), now) } else { round })
            }
        };
        let rounds: Box<[Option<Round>]> = plan.locations.iter().enumerate().map(round).collect();
        let is_kept_elsewhere = rounds.is_empty() || rounds.iter().any(Option::is_none);
        let arrivals = (0..rounds.len()).filter(|_| is_kept_elsewhere);
        let arrivals = arrivals.map(|slot| Arrivals::after(last_look(slot))).collect();
        let next_judgement = is_kept_elsewhere.then(|| now.plus_ms(plan.interval_ms));
        let (consensus, effects) = Consensus::begin(&plan, resumed, now);
        (Self { plan, rounds, arrivals, consensus, next_judgement, told_hurry_until: now }, effects)
    }

    /// Puts the first look off: many services began at once. For a watch that has just begun without votes.
    pub fn look_first_at(&mut self, at: Timestamp) {
        for round in self.rounds.iter_mut().flatten() {
            round.look_first_at(at);
        }
    }

    /// Returns the verdict of the votes. It outlives short gaps: a vote stays fresh for three intervals, at least 300 s.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        self.consensus.verdict()
    }

    /// Returns the time of the newest result.
    #[must_use]
    pub const fn last_result_at(&self) -> Option<Timestamp> {
        self.consensus.last_result_at()
    }

    /// Returns the time until which results back the present status, if no other comes.
    #[must_use]
    pub fn measured_until(&self) -> Option<Timestamp> {
        self.last_result_at().map(|at| at.plus_ms(self.plan.coverage_ms()))
    }

    /// Returns the time of the next call of [`Self::wake`]; `None` while every location is looking, and all are here.
    #[must_use]
    pub fn next_wake(&self) -> Option<Timestamp> {
        let rounds = self.rounds.iter().flatten().filter_map(Round::next_wake);
        rounds.chain(self.next_judgement).min()
    }

    /// Starts what is due and notices gaps.
    pub fn wake(&mut self, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        for Start { attempt, missed } in self.rounds.iter_mut().flatten().filter_map(|round| round.wake(now))
        {
            push_missed(missed, &mut effects);
            effects.push(Effect::Run(attempt));
        }
        if self.next_judgement.is_some_and(|at| at <= now) {
            self.next_judgement = Some(now.plus_ms(self.plan.interval_ms));
        }
        self.consensus.judge(now, &mut effects);
        effects
    }

    /// The attempt of a location that is under way, as due on the present wall clock.
    #[must_use]
    pub fn under_way(&self, slot: usize) -> Option<Attempt> {
        self.rounds.get(slot)?.as_ref()?.under_way()
    }

    /// Takes in the outcome of an attempt that started at `checked_at`: retries, or believes it, records it and draws the
    /// conclusions.
    pub fn finish(
        &mut self,
        attempt: Attempt,
        checked_at: Timestamp,
        outcome: Outcome,
        now: Timestamp,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        let is_among_others = self.rounds.len() > 1;
        let Some(Some(round)) = self.rounds.get_mut(attempt.slot) else {
            return effects;
        };
        match round.finish(&self.plan, attempt, outcome, now) {
            Ended::TriesAgain => {}
            Ended::Unmeasured => {
                if is_among_others {
                    round.hurry_until(self.consensus.hurry_until(now));
                }
                push_missed(round.plan_next(&self.plan, attempt, now), &mut effects);
            }
            Ended::Measured(measurement) => {
                let vote = Vote { status: measurement.status, checked_at };
                effects.push(Effect::Record(Finished { attempt, checked_at, measurement }));
                self.take_vote(attempt.slot, vote, now, &mut effects);
                if let Some(round) = &mut self.rounds[attempt.slot] {
                    push_missed(round.plan_next(&self.plan, attempt, now), &mut effects);
                }
                self.consensus.judge_vote(checked_at, now, &mut effects);
            }
        }
        effects
    }

    /// Takes in what a location that keeps its own schedule has seen. It is recorded already. A result that is late, or
    /// older than one that came before, changes neither the verdict nor the status.
    pub fn hear(&mut self, slot: usize, vote: Vote, now: Timestamp) -> Heard {
        let Vote { checked_at, .. } = vote;
        let is_expected = self.rounds.get(slot).is_some_and(Option::is_none);
        let is_future = checked_at.ms_since(now) > STEP_MS;
        let Some(arrivals) = self.arrivals.get_mut(slot).filter(|_| is_expected && !is_future) else {
            return Heard::Nothing;
        };
        if !arrivals.take(checked_at, self.plan.coverage_ms()) {
            return Heard::Nothing;
        }
        if self.consensus.has_looked_since(slot, checked_at) || !self.plan.is_punctual(checked_at, now) {
            return Heard::Late;
        }
        let mut effects = Vec::new();
        self.take_vote(slot, vote, now, &mut effects);
        self.consensus.judge_vote(checked_at, now, &mut effects);
        Heard::Vote(effects)
    }

    /// Does what an engine elsewhere asks of this location, which is the only one of its plan: looks at once, and more
    /// often for `hurry_ms`, which is two intervals at most.
    pub fn heed(&mut self, look_now: bool, hurry_ms: i64, now: Timestamp) {
        let hurry_ms = hurry_ms.clamp(0, HURRY_INTERVALS * self.plan.interval_ms);
        if let Some(Some(round)) = self.rounds.first_mut() {
            round.hurry_until(now.plus_ms(hurry_ms));
            round.hurry_now(&self.plan, now);
            if look_now {
                round.look_now(now);
            }
        }
    }

    /// Lets every location look at once, as far as no check is going on there.
    pub fn look_now(&mut self, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        let hurry_until = self.told_hurry_until;
        for (slot, round) in self.rounds.iter_mut().enumerate() {
            match round {
                Some(round) => round.look_now(now),
                None => effects.push(Effect::Urge(Urge { slot, look_now: true, hurry_until })),
            }
        }
        effects
    }

    /// Lets the votes of a location count or not; see `model::suspicion`.
    pub fn set_aside(&mut self, slot: usize, is_set_aside: bool) {
        self.consensus.set_aside(slot, is_set_aside);
    }

    /// The wall clock was set ahead by `jump_ms`, or back. What is planned moves with it; see [`Consensus::shift`].
    pub fn shift(&mut self, jump_ms: i64, now: Timestamp) -> Vec<Change> {
        for round in self.rounds.iter_mut().flatten() {
            round.shift(jump_ms);
        }
        // What was seen moves back, but not ahead, as in the consensus.
        self.arrivals.iter_mut().for_each(|arrivals| arrivals.shift(jump_ms.min(0)));
        self.next_judgement = self.next_judgement.map(|at| at.plus_ms(jump_ms));
        self.told_hurry_until = self.told_hurry_until.plus_ms(jump_ms);
        self.consensus.shift(jump_ms, now)
    }

    /// Ends the watch: what was measured holds no longer.
    pub fn end(&mut self, cause: ChangeCause, now: Timestamp) -> Vec<Effect> {
        self.consensus.end(cause, now)
    }

    /// Returns the memory that a successor of this watch goes on with.
    #[must_use]
    pub fn memory(&self) -> Memory {
        self.consensus.memory()
    }

    /// Takes in a vote, and lets the rounds know what it means for them. A single location has nobody to disagree with; if
    /// it is told to hurry, then by an engine elsewhere.
    fn take_vote(&mut self, place: usize, vote: Vote, now: Timestamp, effects: &mut Vec<Effect>) {
        let confirmation = self.consensus.take_vote(place, vote, now, effects);
        if self.rounds.len() == 1 {
            return;
        }
        let hurry_until = self.consensus.hurry_until(now);
        let is_hurry_news = hurry_until.max(now) != self.told_hurry_until.max(now);
        for (slot, round) in self.rounds.iter_mut().enumerate() {
            let is_asked = confirmation == Confirmation::AskOthers && slot != place;
            let look_now = is_asked && !self.consensus.has_looked_since(slot, vote.checked_at);
            match round {
                Some(round) => {
                    round.hurry_until(hurry_until);
                    if look_now {
                        round.look_now(now);
                    }
                }
                None if look_now || is_hurry_news => {
                    effects.push(Effect::Urge(Urge { slot, look_now, hurry_until }));
                }
                None => {}
            }
        }
        self.told_hurry_until = hurry_until;
    }
}

fn push_missed(runs: u64, effects: &mut Vec<Effect>) {
    if runs > 0 {
        effects.push(Effect::Missed(runs));
    }
}
