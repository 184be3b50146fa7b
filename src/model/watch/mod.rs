//! The watch over one service: when to look from where, what to believe, what to record.
//!
//! A pure state machine. Time and outcomes go in, [`Effect`]s come out; the actor around it only turns effects into
//! messages and timers. It holds the rules of retries, of confirmation by the other locations, of gaps, and of
//! the status that results.

mod memory;
mod plan;
#[cfg(test)]
mod tests;

use crate::clock::Timestamp;
use crate::model::check::{CheckStatus, Measurement, Outcome};
use crate::model::history::{ChangeCause, MeasuredStatus};
use crate::model::schedule::Schedule;
use crate::model::status_line::{Change, StatusLine};
use crate::model::verdict::{Verdict, Vote, majority};
pub use crate::model::watch::memory::Memory;
pub(super) use crate::model::watch::memory::Resumed;
pub use crate::model::watch::plan::WatchPlan;

/// A check that is due within this time needs no catch-up after a restart, and catch-ups are spread over it.
const CATCH_UP_SPREAD_MS: i64 = 60_000;
/// While votes disagree, locations look this many times as often, for two intervals after the last change of a vote.
const UNCERTAIN_SPEED: i64 = 5;

/// An act of the watch that the actor around it carries out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Start an attempt at a location.
    Run(Attempt),
    /// A check of a location is finished: record it.
    Record(Finished),
    /// The measured status changed.
    Change(Change),
    /// Runs that were due while none could be started, or while one was under way.
    Missed(u64),
    /// A location has an opinion on a service that others see too.
    Opinion(Opinion),
}

/// An attempt to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Place of the location in the plan.
    pub slot: usize,
    /// The due time of the check.
    pub scheduled_at: Timestamp,
    /// From 1.
    pub attempt: u8,
}

/// A finished check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The deciding attempt.
    pub attempt: Attempt,
    /// The start of its deciding attempt.
    pub checked_at: Timestamp,
    /// Its result.
    pub measurement: Measurement,
}

/// A location's result beside those of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// Place of the location in the plan.
    pub slot: usize,
    /// True if it says `down` where the others say `up`.
    pub contradicts: bool,
}

#[derive(Clone, Debug)]
struct Slot {
    schedule: Schedule,
    vote: Option<Vote>,
    /// The location is the suspect: its vote does not count.
    is_set_aside: bool,
    /// The next start: a due run, or a further attempt of the check that is going on.
    next: Next,
    /// The attempt that is under way.
    running: Option<Attempt>,
}

#[derive(Clone, Copy, Debug)]
struct Next {
    at: Timestamp,
    scheduled_at: Timestamp,
    attempt: u8,
}

impl Next {
    const fn run(at: Timestamp) -> Self {
        Self { at, scheduled_at: at, attempt: 1 }
    }
}

/// The state of the watch over one service.
#[derive(Clone, Debug)]
pub struct Watch {
    plan: WatchPlan,
    slots: Box<[Slot]>,
    line: StatusLine,
    verdict: Verdict,
    last_result_at: Option<Timestamp>,
    uncertain_until: Timestamp,
}

impl Watch {
    /// Begins to watch. A service that was watched before keeps its rhythm and its votes; one that never was is
    /// looked at once. Effects tell the gap since the last result, if there is one.
    #[must_use]
    pub fn begin(plan: WatchPlan, memory: Memory, now: Timestamp) -> (Self, Vec<Effect>) {
        let Resumed { votes, line, changes } = memory.resume(now);
        let slots = plan.roles.len();
        let is_new = votes.is_empty();
        let slot = |place| {
            let schedule = Schedule::new(plan.hash, plan.interval_ms, place, slots);
            let at = if is_new { now } else { schedule.next_after(now) };
            Slot { schedule, vote: None, is_set_aside: false, next: Next::run(at), running: None }
        };
        let mut watch = Self {
            slots: (0..slots).map(slot).collect(),
            line,
            verdict: Verdict::Unknown,
            last_result_at: votes.iter().map(|(_, vote)| vote.checked_at).max(),
            uncertain_until: now,
            plan,
        };
        for (place, vote) in votes {
            if let Some(slot) = watch.slots.get_mut(place) {
                slot.vote = Some(vote);
            }
        }
        watch.catch_up(now);
        let mut effects: Vec<Effect> = changes.into_iter().map(Effect::Change).collect();
        watch.judge(now, &mut effects);
        (watch, effects)
    }

    /// Puts the first look off: many services began at once. For a watch that has just begun without votes.
    pub fn look_first_at(&mut self, at: Timestamp) {
        for slot in &mut self.slots {
            slot.next = Next::run(at);
        }
    }

    /// Returns the verdict of the votes. It outlives short gaps: a vote stays fresh for three intervals, at least 300 s.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Returns the time of the newest result.
    #[must_use]
    pub const fn last_result_at(&self) -> Option<Timestamp> {
        self.last_result_at
    }

    /// Returns the time until which results back the present status, if no other comes.
    #[must_use]
    pub fn measured_until(&self) -> Option<Timestamp> {
        self.last_result_at.map(|at| at.plus_ms(self.plan.coverage_ms()))
    }

    /// Returns the time of the next call of [`Self::wake`]; `None` while every location is looking.
    #[must_use]
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.slots.iter().filter(|slot| slot.running.is_none()).map(|slot| slot.next.at).min()
    }

    /// Starts what is due and notices gaps.
    pub fn wake(&mut self, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        for place in 0..self.slots.len() {
            let slot = &mut self.slots[place];
            if slot.running.is_some() || slot.next.at > now {
                continue;
            }
            let Next { scheduled_at, attempt, .. } = slot.next;
            let missed = if attempt == 1 { slot.schedule.missed_by(scheduled_at, now) } else { 0 };
            let scheduled_at = if missed > 0 { slot.schedule.latest(now) } else { scheduled_at };
            let attempt = Attempt { slot: place, scheduled_at, attempt };
            slot.running = Some(attempt);
            push_missed(missed, &mut effects);
            effects.push(Effect::Run(attempt));
        }
        self.judge(now, &mut effects);
        effects
    }

    /// The attempt of a location that is under way, as due on the present wall clock.
    #[must_use]
    pub fn under_way(&self, slot: usize) -> Option<Attempt> {
        self.slots.get(slot)?.running
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
        let Some(slot) = self.slots.get_mut(attempt.slot) else {
            return effects;
        };
        slot.running = None;
        let measurement = match outcome {
            Outcome::Measured(measurement) => measurement,
            Outcome::Unmeasured(_) => {
                self.plan_next(attempt, now, &mut effects);
                return effects;
            }
        };
        if measurement.status != CheckStatus::Up && attempt.attempt < self.plan.attempts {
            let at = now.plus_ms(self.plan.backoff_after_ms(attempt.attempt));
            slot.next = Next { at, scheduled_at: attempt.scheduled_at, attempt: attempt.attempt + 1 };
            return effects;
        }
        let status = measurement.status;
        effects.push(Effect::Record(Finished { attempt, checked_at, measurement }));
        self.note_gap(checked_at, &mut effects);
        self.note_opinion(attempt.slot, status, now, &mut effects);
        self.take_vote(attempt.slot, Vote { status, checked_at }, now);
        self.plan_next(attempt, now, &mut effects);
        self.judge_at(checked_at, now, &mut effects);
        effects
    }

    /// Lets the votes of a location count or not; see `model::suspicion`.
    pub fn set_aside(&mut self, slot: usize, is_set_aside: bool) {
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.is_set_aside = is_set_aside;
        }
    }

    /// The wall clock was set ahead by `jump_ms`, or back. What is planned moves with it. What was seen moves back, but not
    /// ahead: a machine that slept looks just like that, and nobody has looked in the meantime. `now` is the new time.
    pub fn shift(&mut self, jump_ms: i64, now: Timestamp) -> Vec<Change> {
        let seen_ms = jump_ms.min(0);
        for slot in &mut self.slots {
            slot.next.at = slot.next.at.plus_ms(jump_ms);
            slot.next.scheduled_at = slot.next.scheduled_at.plus_ms(jump_ms);
            if let Some(attempt) = &mut slot.running {
                attempt.scheduled_at = attempt.scheduled_at.plus_ms(jump_ms);
            }
            if let Some(vote) = &mut slot.vote {
                vote.checked_at = vote.checked_at.plus_ms(seen_ms);
            }
        }
        self.last_result_at = self.last_result_at.map(|at| at.plus_ms(seen_ms));
        self.uncertain_until = self.uncertain_until.plus_ms(jump_ms);
        if jump_ms < 0 { self.line.set_back(now.plus_ms(-jump_ms), now) } else { Vec::new() }
    }

    /// Ends the watch: what was measured holds no longer.
    pub fn end(&mut self, cause: ChangeCause, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.note_gap(now, &mut effects);
        self.verdict = Verdict::Unknown;
        effects.extend(self.line.change_to(MeasuredStatus::Unknown, cause, now).map(Effect::Change));
        effects
    }

    /// Returns the memory that a successor of this watch goes on with.
    #[must_use]
    pub fn memory(&self) -> Memory {
        let votes =
            self.slots.iter().enumerate().filter_map(|(place, slot)| slot.vote.map(|vote| (place, vote)));
        Memory { votes: votes.collect(), status: self.line.status(), status_since: self.line.since() }
    }

    /// Once, after a restart: a location whose due run was missed and whose next one is far away looks soon.
    fn catch_up(&mut self, now: Timestamp) {
        let spread = i64::try_from(self.plan.hash % CATCH_UP_SPREAD_MS.unsigned_abs()).unwrap_or_default();
        for slot in &mut self.slots {
            let Some(vote) = slot.vote else { continue };
            let missed_one = slot.schedule.runs_between(vote.checked_at, now) > 0;
            if missed_one && slot.next.at.ms_since(now) > CATCH_UP_SPREAD_MS {
                slot.next = Next::run(now.plus_ms(spread));
            }
        }
    }

    fn take_vote(&mut self, place: usize, vote: Vote, now: Timestamp) {
        let before = self.slots[place].vote.replace(vote).map(|before| before.status);
        self.last_result_at = self.last_result_at.max(Some(vote.checked_at));
        let contradicts = self.verdict.as_check().is_some_and(|believed| believed != vote.status);
        let is_news = before != Some(vote.status);
        if is_news && (before.is_some() || contradicts) {
            self.uncertain_until = now.plus_ms(2 * self.plan.interval_ms);
        }
        if is_news && contradicts {
            self.ask_the_others(place, vote.checked_at, now);
        }
    }

    /// A location contradicts the verdict: the others look at once instead of waiting for their turn.
    fn ask_the_others(&mut self, place: usize, since: Timestamp, now: Timestamp) {
        for (other, slot) in self.slots.iter_mut().enumerate() {
            let has_looked = slot.vote.is_some_and(|vote| vote.checked_at >= since);
            if other != place && slot.running.is_none() && slot.next.attempt == 1 && !has_looked {
                slot.next = Next::run(slot.next.at.min(now));
            }
        }
    }

    fn note_opinion(&self, place: usize, status: CheckStatus, now: Timestamp, effects: &mut Vec<Effect>) {
        let others =
            self.slots.iter().enumerate().filter(|(other, slot)| *other != place && !slot.is_set_aside);
        let others = others.filter_map(|(_, slot)| slot.vote);
        let believed =
            majority(others.filter(|vote| vote.is_fresh(now, self.plan.interval_ms)).map(|vote| vote.status));
        if believed != Verdict::Unknown {
            let contradicts = status == CheckStatus::Down && believed == Verdict::Up;
            effects.push(Effect::Opinion(Opinion { slot: place, contradicts }));
        }
    }

    fn plan_next(&mut self, done: Attempt, now: Timestamp, effects: &mut Vec<Effect>) {
        let is_uncertain = now < self.uncertain_until && !self.is_unanimous(now);
        let slot = &mut self.slots[done.slot];
        push_missed(slot.schedule.missed_by(done.scheduled_at, now), effects);
        let due = slot.schedule.next_after(now.max(done.scheduled_at));
        let hurry = (self.plan.interval_ms / UNCERTAIN_SPEED).max(self.plan.uncertain_interval_ms);
        let at = if is_uncertain { due.min(now.plus_ms(hurry)) } else { due };
        slot.next = Next::run(at);
    }

    fn is_unanimous(&self, now: Timestamp) -> bool {
        let mut votes = self.fresh_votes(now);
        let first = votes.next();
        votes.all(|vote| Some(vote) == first)
    }

    /// The votes that count: fresh ones, without those that are set aside as long as another location has one.
    fn fresh_votes(&self, now: Timestamp) -> impl Iterator<Item = CheckStatus> {
        let is_fresh =
            move |slot: &&Slot| slot.vote.is_some_and(|vote| vote.is_fresh(now, self.plan.interval_ms));
        let has_others = self.slots.iter().filter(is_fresh).any(|slot| !slot.is_set_aside);
        let counting = self.slots.iter().filter(move |slot| !(has_others && slot.is_set_aside));
        let votes = counting.filter_map(|slot| slot.vote);
        votes.filter(move |vote| vote.is_fresh(now, self.plan.interval_ms)).map(|vote| vote.status)
    }

    /// Without a result the clock alone can change the status: first to a gap, then to unknown.
    fn judge(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        if self.last_result_at.is_some_and(|at| now.ms_since(at) > self.plan.coverage_ms()) {
            self.note_gap(now, effects);
            self.verdict = majority(self.fresh_votes(now));
            if self.verdict == Verdict::Unknown {
                effects.extend(
                    self.line.change_to(MeasuredStatus::Unknown, ChangeCause::Stale, now).map(Effect::Change),
                );
            }
            return;
        }
        self.judge_at(now, now, effects);
    }

    fn judge_at(&mut self, at: Timestamp, now: Timestamp, effects: &mut Vec<Effect>) {
        self.verdict = majority(self.fresh_votes(now));
        effects.extend(self.line.change_to(self.verdict.into(), ChangeCause::Votes, at).map(Effect::Change));
    }

    /// If no result came for longer than one may take, the time since the first one that was due is a gap.
    fn note_gap(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        let is_measured = self.line.status().verdict() != Verdict::Unknown;
        let Some(last) = self.last_result_at.filter(|_| is_measured) else {
            return;
        };
        if now.ms_since(last) > self.plan.coverage_ms() {
            let blind_since = last.plus_ms(self.plan.interval_ms);
            effects.extend(
                self.line
                    .change_to(MeasuredStatus::NoData, ChangeCause::Gap, blind_since)
                    .map(Effect::Change),
            );
        }
    }
}

fn push_missed(runs: u64, effects: &mut Vec<Effect>) {
    if runs > 0 {
        effects.push(Effect::Missed(runs));
    }
}
