//! What all locations together say of one service: their votes, the verdict, and the status line that follows.
//!
//! It knows no schedule: results come from wherever a location is, and the clock alone can only age them. It holds the
//! rules of confirmation by the other locations, of suspects, and of gaps.

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::history::{ChangeCause, MeasuredStatus};
use crate::model::status_line::{Change, StatusLine};
use crate::model::verdict::{Verdict, Vote, majority};
use crate::model::watch::effect::{Effect, Opinion};
use crate::model::watch::memory::{AbsentVote, Memory, Resumed};
use crate::model::watch::plan::WatchPlan;

/// Intervals for which locations look more often after the last change of a vote.
pub(super) const HURRY_INTERVALS: i64 = 2;

/// The votes on one service, and what is believed.
#[derive(Clone, Debug)]
pub struct Consensus {
    voices: Box<[Voice]>,
    /// Of locations that are not known yet.
    absent: Box<[AbsentVote]>,
    line: StatusLine,
    verdict: Verdict,
    last_result_at: Option<Timestamp>,
    uncertain_until: Timestamp,
    interval_ms: i64,
    coverage_ms: i64,
}

/// What one location says.
#[derive(Clone, Copy, Debug, Default)]
struct Voice {
    vote: Option<Vote>,
    /// The location is the suspect: its vote does not count.
    is_set_aside: bool,
}

/// The locations that a vote sets to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// Nothing new.
    NotNeeded,
    /// The vote contradicts the verdict: the others look at once instead of waiting for their turn.
    AskOthers,
}

impl Consensus {
    /// Goes on with the votes and the status of before, as far as they hold now.
    #[must_use]
    pub(super) fn begin(plan: &WatchPlan, resumed: Resumed, now: Timestamp) -> (Self, Vec<Effect>) {
        let Resumed { votes, absent, line, changes } = resumed;
        let known = votes.iter().map(|(_, vote)| vote.checked_at);
        let last_result_at = known.chain(absent.iter().map(|absent| absent.vote.checked_at)).max();
        let mut consensus = Self {
            voices: vec![Voice::default(); plan.locations.len()].into(),
            absent: absent.into(),
            line,
            verdict: Verdict::Unknown,
            last_result_at,
            uncertain_until: now,
            interval_ms: plan.interval_ms,
            coverage_ms: plan.coverage_ms(),
        };
        for (place, vote) in votes {
            if let Some(voice) = consensus.voices.get_mut(place) {
                voice.vote = Some(vote);
            }
        }
        let mut effects = changes.into_iter().map(Effect::Change).collect();
        consensus.judge(now, &mut effects);
        (consensus, effects)
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

    /// Returns true if the newest vote of a location was cast at `since` or later.
    #[must_use]
    pub fn has_looked_since(&self, slot: usize, since: Timestamp) -> bool {
        self.voices.get(slot).and_then(|voice| voice.vote).is_some_and(|vote| vote.checked_at >= since)
    }

    /// Returns the time until which locations look more often: as long as votes disagree, for two intervals after the
    /// last change of a vote. A time that is over when there is no need.
    #[must_use]
    pub fn hurry_until(&self, now: Timestamp) -> Timestamp {
        if self.is_unanimous(now) { now } else { self.uncertain_until }
    }

    /// Takes in the vote of a location. [`Self::judge_vote`] follows.
    pub fn take_vote(
        &mut self,
        place: usize,
        vote: Vote,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> Confirmation {
        self.note_gap(vote.checked_at, effects);
        self.note_opinion(place, vote.status, now, effects);
        let before = self.voices[place].vote.replace(vote).map(|before| before.status);
        self.last_result_at = self.last_result_at.max(Some(vote.checked_at));
        let contradicts = self.verdict.as_check().is_some_and(|believed| believed != vote.status);
        let is_news = before != Some(vote.status);
        if is_news && (before.is_some() || contradicts) {
            self.uncertain_until = now.plus_ms(HURRY_INTERVALS * self.interval_ms);
        }
        if is_news && contradicts { Confirmation::AskOthers } else { Confirmation::NotNeeded }
    }

    /// Lets the votes of a location count or not; see `model::suspicion`.
    pub fn set_aside(&mut self, slot: usize, is_set_aside: bool) {
        if let Some(voice) = self.voices.get_mut(slot) {
            voice.is_set_aside = is_set_aside;
        }
    }

    /// The wall clock was set ahead by `jump_ms`, or back. What was seen moves back, but not ahead: a machine that slept
    /// looks just like that, and nobody has looked in the meantime. `now` is the new time.
    pub fn shift(&mut self, jump_ms: i64, now: Timestamp) -> Vec<Change> {
        let seen_ms = jump_ms.min(0);
        let absent = self.absent.iter_mut().map(|absent| &mut absent.vote);
        for vote in self.voices.iter_mut().filter_map(|voice| voice.vote.as_mut()).chain(absent) {
            vote.checked_at = vote.checked_at.plus_ms(seen_ms);
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

    /// Returns the memory that a successor goes on with.
    #[must_use]
    pub fn memory(&self) -> Memory {
        let votes =
            self.voices.iter().enumerate().filter_map(|(place, voice)| voice.vote.map(|vote| (place, vote)));
        Memory {
            votes: votes.collect(),
            absent: self.absent.to_vec(),
            status: self.line.status(),
            status_since: self.line.since(),
            is_handed_over: false,
        }
    }

    /// Without a result the clock alone can change the status: first to a gap, then to unknown.
    pub fn judge(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        if self.last_result_at.is_some_and(|at| now.ms_since(at) > self.coverage_ms) {
            self.note_gap(now, effects);
            self.verdict = majority(self.fresh_votes(now));
            if self.verdict == Verdict::Unknown {
                effects.extend(
                    self.line.change_to(MeasuredStatus::Unknown, ChangeCause::Stale, now).map(Effect::Change),
                );
            }
            return;
        }
        self.judge_vote(now, now, effects);
    }

    /// Draws the conclusion from a vote that was cast at `at`.
    pub fn judge_vote(&mut self, at: Timestamp, now: Timestamp, effects: &mut Vec<Effect>) {
        self.verdict = majority(self.fresh_votes(now));
        effects.extend(self.line.change_to(self.verdict.into(), ChangeCause::Votes, at).map(Effect::Change));
    }

    fn note_opinion(&self, place: usize, status: CheckStatus, now: Timestamp, effects: &mut Vec<Effect>) {
        let others =
            self.voices.iter().enumerate().filter(|(other, voice)| *other != place && !voice.is_set_aside);
        let others = others.filter_map(|(_, voice)| voice.vote);
        let believed =
            majority(others.filter(|vote| vote.is_fresh(now, self.interval_ms)).map(|vote| vote.status));
        if believed != Verdict::Unknown {
            let contradicts = status == CheckStatus::Down && believed == Verdict::Up;
            effects.push(Effect::Opinion(Opinion { slot: place, contradicts }));
        }
    }

    fn is_unanimous(&self, now: Timestamp) -> bool {
        let mut votes = self.fresh_votes(now);
        let first = votes.next();
        votes.all(|vote| Some(vote) == first)
    }

    /// The votes that count: fresh ones, without those that are set aside as long as another location has one.
    fn fresh_votes(&self, now: Timestamp) -> impl Iterator<Item = CheckStatus> {
        let interval_ms = self.interval_ms;
        let is_fresh = move |vote: &Vote| vote.is_fresh(now, interval_ms);
        let absent = self.absent.iter().map(|absent| absent.vote).filter(is_fresh);
        let fresh = self.voices.iter().filter(move |voice| voice.vote.is_some_and(|vote| is_fresh(&vote)));
        let has_others = absent.clone().next().is_some() || fresh.clone().any(|voice| !voice.is_set_aside);
        let counting = fresh.filter(move |voice| !(has_others && voice.is_set_aside));
        counting.filter_map(|voice| voice.vote).chain(absent).map(|vote| vote.status)
    }

    /// If no result came for longer than one may take, the time since the first one that was due is a gap.
    fn note_gap(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        let is_measured = self.line.status().verdict() != Verdict::Unknown;
        let Some(last) = self.last_result_at.filter(|_| is_measured) else {
            return;
        };
        if now.ms_since(last) > self.coverage_ms {
            let blind_since = last.plus_ms(self.interval_ms);
            effects.extend(
                self.line
                    .change_to(MeasuredStatus::NoData, ChangeCause::Gap, blind_since)
                    .map(Effect::Change),
            );
        }
    }
}
