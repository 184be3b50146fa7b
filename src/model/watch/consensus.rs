//! The consensus of all locations on one service: their votes, the verdict, and the status timeline that follows.
//!
//! It knows nothing of schedules: results may come from any location at any time, and time alone only ages them. It
//! contains the rules for confirmation by other locations, for excluded locations, for no-data periods, and for the end of
//! an outage ([`RecoveryProgress`]).

use crate::clock::Timestamp;
use crate::model::check::CheckStatus;
use crate::model::history::{ChangeCause, MeasuredStatus};
use crate::model::quorum::majority;
use crate::model::status_rules::StatusRules;
use crate::model::status_timeline::MeasuredStatusChange;
use crate::model::status_tracker::StatusTracker;
use crate::model::verdict::{LocationVote, Verdict};
use crate::model::watch::effect::{LocationOpinion, WatchEffect};
use crate::model::watch::memory::{AbsentVote, MemorySource, ResumedMemory, WatchMemory};
use crate::model::watch::outage_tracker::{OutageTracker, TroubleStreak, beginning};
use crate::model::watch::plan::WatchPlan;
use crate::model::watch::recovery::RecoveryProgress;

/// Number of intervals for which locations check more often after the last change of a vote.
pub(super) const FAST_RECHECK_INTERVALS: i64 = 2;

/// The votes on one service, and the verdict that follows.
#[derive(Clone, Debug)]
pub struct Consensus {
    location_states: Box<[LocationVoteState]>,
    /// Votes of locations that this process does not know yet.
    absent: Box<[AbsentVote]>,
    tracker: StatusTracker,
    verdict: Verdict,
    last_result_at: Option<Timestamp>,
    /// True from a start before which a due check was not made until the first result.
    was_interrupted: bool,
    uncertain_until: Timestamp,
    /// Facts about the present trouble; `None` while nothing is wrong.
    outage_tracker: Option<Box<OutageTracker>>,
    interval_ms: i64,
    coverage_ms: i64,
    rules: StatusRules,
}

/// The vote of one location, and whether it counts.
#[derive(Clone, Copy, Debug, Default)]
struct LocationVoteState {
    vote: Option<LocationVote>,
    /// True if the vote is excluded because the location is suspect or impaired.
    is_set_aside: bool,
    /// The location was blind from this time on. A vote that is not newer does not count, even if it is the only one.
    blind_since: Option<Timestamp>,
}

impl LocationVoteState {
    /// The vote, if it is fresh and newer than the last blindness of the location.
    fn fresh_vote(&self, now: Timestamp, interval_ms: i64) -> Option<LocationVote> {
        let is_void = |vote: &LocationVote| self.blind_since.is_some_and(|since| vote.checked_at <= since);
        self.vote.filter(|vote| vote.is_fresh(now, interval_ms) && !is_void(vote))
    }
}

/// Whether other locations must confirm a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmationNeed {
    /// The other locations check at their next due times.
    NotNeeded,
    /// The vote contradicts the verdict, so the other locations check at once.
    AskOthers,
}

impl Consensus {
    /// Starts with the votes and the status of `resumed`, as far as they are still valid.
    #[must_use]
    pub(super) fn begin(
        plan: &WatchPlan,
        resumed: ResumedMemory,
        source: MemorySource,
        now: Timestamp,
    ) -> (Self, Vec<WatchEffect>) {
        let ResumedMemory { votes, absent, current, changes, flapping, recovery } = resumed;
        let known = votes.iter().map(|(_, vote)| vote.checked_at);
        let last_result_at = known.chain(absent.iter().map(|absent| absent.vote.checked_at)).max();
        let mut consensus = Self {
            location_states: vec![LocationVoteState::default(); plan.locations.len()].into(),
            tracker: StatusTracker::new(current, flapping, plan.rules.flapping),
            verdict: Verdict::Unknown,
            // Locations that are not known yet may have made checks in the meantime.
            was_interrupted: matches!(source, MemorySource::EndedProcess { .. })
                && absent.is_empty()
                && last_result_at.is_some_and(|last| plan.was_interrupted(last, now)),
            last_result_at,
            absent: absent.into(),
            uncertain_until: now,
            outage_tracker: None,
            interval_ms: plan.interval_ms,
            coverage_ms: plan.coverage_ms(),
            rules: plan.rules,
        };
        if let Some(recovery) = recovery {
            consensus.verdict = Verdict::Down;
            consensus.outage_tracker().recovery = recovery;
        }
        for (slot, vote) in votes {
            if let Some(state) = consensus.location_states.get_mut(slot) {
                state.vote = Some(vote);
            }
        }
        let mut effects = changes.into_iter().map(WatchEffect::Change).collect();
        consensus.judge(now, &mut effects);
        (consensus, effects)
    }

    /// Returns the verdict of the votes. It survives short no-data periods, because a vote stays fresh for three intervals
    /// and at least 300 s.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Returns the start of the check with the newest result; `None` without results.
    #[must_use]
    pub const fn last_result_at(&self) -> Option<Timestamp> {
        self.last_result_at
    }

    /// Returns true if the check of a location's newest vote started at `since` or later.
    #[must_use]
    pub fn has_checked_since(&self, slot: usize, since: Timestamp) -> bool {
        self.location_states
            .get(slot)
            .and_then(|state| state.vote)
            .is_some_and(|vote| vote.checked_at >= since)
    }

    /// Returns the time until which locations check more often: two intervals after the last change of a vote, but only
    /// while votes disagree or a recovery is being counted. A time that has passed means that this is not needed.
    #[must_use]
    pub fn fast_rechecks_until(&self, now: Timestamp) -> Timestamp {
        if self.is_recovering() || !self.is_unanimous(now) { self.uncertain_until } else { now }
    }

    /// Records a bad attempt that will be retried. Returns true if it is the first sign of trouble: until now the vote of
    /// its location and the verdict were better.
    pub fn note_bad_attempt(&mut self, slot: usize, status: CheckStatus, at: Timestamp) -> bool {
        let Some(vote) = self.location_states.get(slot).map(|state| state.vote) else { return false };
        let is_first = self.note_check(slot, status, at);
        let is_better_believed = self.verdict.as_check().is_some_and(|believed| believed < status);
        is_first && is_better_believed && vote.is_none_or(|vote| vote.status < status)
    }

    /// Records the vote of a location. [`Self::judge_vote`] must follow.
    pub fn take_vote(
        &mut self,
        slot: usize,
        vote: LocationVote,
        now: Timestamp,
        effects: &mut Vec<WatchEffect>,
    ) -> ConfirmationNeed {
        self.note_gap(vote.checked_at, effects);
        self.note_opinion(slot, vote.status, now, effects);
        self.note_check(slot, vote.status, vote.checked_at);
        let before = self.location_states[slot].vote.replace(vote).map(|before| before.status);
        self.last_result_at = self.last_result_at.max(Some(vote.checked_at));
        self.was_interrupted = false;
        if self.verdict == Verdict::Down {
            self.count_recovery(slot, vote, before, now);
        }
        let contradicts = self.verdict.as_check().is_some_and(|believed| believed != vote.status);
        let has_changed = before != Some(vote.status);
        if has_changed && (before.is_some() || contradicts) {
            self.uncertain_until = now.plus_ms(FAST_RECHECK_INTERVALS * self.interval_ms);
        }
        if has_changed && contradicts { ConfirmationNeed::AskOthers } else { ConfirmationNeed::NotNeeded }
    }

    /// Sets whether the vote of a location is excluded because the location is suspect or impaired; see `model::suspicion`.
    pub fn set_aside(&mut self, slot: usize, is_set_aside: bool) {
        if let Some(state) = self.location_states.get_mut(slot) {
            state.is_set_aside = is_set_aside;
        }
    }

    /// Sets the start of the last blindness of a location. Results up to that time do not count.
    pub fn set_blind_since(&mut self, slot: usize, since: Option<Timestamp>) {
        if let Some(state) = self.location_states.get_mut(slot) {
            state.blind_since = since;
        }
    }

    /// Handles a step of the wall clock by `jump_ms`, ahead or back. The times of results are moved back but not ahead: a
    /// machine that was suspended looks the same as a clock that was set ahead, and made no checks. `now` is the new time.
    pub fn shift(&mut self, jump_ms: i64, now: Timestamp) -> Vec<MeasuredStatusChange> {
        let seen_ms = jump_ms.min(0);
        let absent = self.absent.iter_mut().map(|absent| &mut absent.vote);
        for vote in self.location_states.iter_mut().filter_map(|state| state.vote.as_mut()).chain(absent) {
            vote.checked_at = vote.checked_at.plus_ms(seen_ms);
        }
        self.last_result_at = self.last_result_at.map(|at| at.plus_ms(seen_ms));
        self.uncertain_until = self.uncertain_until.plus_ms(jump_ms);
        if let Some(outage_tracker) = &mut self.outage_tracker {
            outage_tracker.shift(seen_ms);
        }
        if jump_ms < 0 { self.tracker.set_back(jump_ms, now) } else { Vec::new() }
    }

    /// Ends the watch. Earlier measurements are no longer valid.
    pub fn end(&mut self, cause: ChangeCause, now: Timestamp) -> Vec<WatchEffect> {
        let mut effects = Vec::new();
        self.note_gap(now, &mut effects);
        (self.verdict, self.outage_tracker) = (Verdict::Unknown, None);
        effects.extend(self.tracker.end(cause, now).map(WatchEffect::Change));
        effects
    }

    /// Returns the memory from which a following watch continues.
    #[must_use]
    pub fn memory(&self) -> WatchMemory {
        let votes = self
            .location_states
            .iter()
            .enumerate()
            .filter_map(|(slot, state)| state.vote.map(|vote| (slot, vote)));
        let current = self.tracker.current();
        let outage_tracker = self.outage_tracker.as_ref().filter(|_| self.verdict == Verdict::Down);
        WatchMemory {
            last_checked_at: None,
            votes: votes.collect(),
            absent: self.absent.to_vec(),
            status: current.status(),
            status_since: current.since(),
            flapping: self.tracker.flapping(),
            recovery: outage_tracker.map(|outage_tracker| outage_tracker.recovery),
            source: MemorySource::SameProcess,
        }
    }

    /// Judges the status again because time has passed. Without results the status becomes no data, and unknown once no vote
    /// is fresh; if all locations with votes are blind, both happen without delay. Also ends flapping.
    pub fn judge(&mut self, now: Timestamp, effects: &mut Vec<WatchEffect>) {
        if self.is_overdue(now) || self.is_blind(now) {
            self.note_gap(now, effects);
            self.decide(now, now);
            if self.verdict == Verdict::Unknown {
                let stale = self.tracker.change_to(MeasuredStatus::Unknown, ChangeCause::Stale, now);
                effects.extend(stale.map(WatchEffect::Change));
            }
        } else {
            self.decide(now, now);
            self.record_verdict(now, now, effects);
        }
        effects.extend(self.tracker.settle(now).map(WatchEffect::Change));
    }

    /// Judges the status after a vote whose check started at `at`.
    pub fn judge_vote(&mut self, at: Timestamp, now: Timestamp, effects: &mut Vec<WatchEffect>) {
        let recovered_at = self.decide(at, now);
        self.record_verdict(recovered_at.unwrap_or(at), now, effects);
    }

    /// Records the verdict if it has changed. A worse status starts at the first bad attempt, not at its confirmation.
    fn record_verdict(&mut self, at: Timestamp, now: Timestamp, effects: &mut Vec<WatchEffect>) {
        let to = MeasuredStatus::from(self.verdict);
        if to == self.tracker.status() {
            return;
        }
        let at = if self.is_worse(to) { self.worsened_at(at, now) } else { at };
        effects.extend(self.tracker.change_to(to, ChangeCause::Votes, at).map(WatchEffect::Change));
    }

    /// Computes the verdict after an event at `at`. If this ends an outage, returns the time at which the outage ended.
    fn decide(&mut self, at: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let before = self.verdict;
        self.verdict = self.rules.quorum.judge(self.fresh_votes(now));
        if before == Verdict::Down && self.verdict != Verdict::Down {
            let recovery = self
                .outage_tracker
                .as_ref()
                .map(|outage_tracker| outage_tracker.recovery)
                .unwrap_or_default();
            self.verdict = recovery.verdict(self.verdict, self.rules.recovery_checks);
            self.drop_outage_tracker();
            return recovery.since().filter(|_| self.verdict.as_check().is_some()).map(|since| since.min(at));
        } else if self.verdict == Verdict::Down && before != Verdict::Down {
            self.outage_tracker().recovery = RecoveryProgress::after(at);
        }
        None
    }

    /// Counts a result towards the recovery. The result of an excluded location does not count if another one has a vote.
    fn count_recovery(
        &mut self,
        slot: usize,
        vote: LocationVote,
        before: Option<CheckStatus>,
        now: Timestamp,
    ) {
        if self.location_states[slot].is_set_aside && self.has_others(now) {
            return;
        }
        if vote.status == CheckStatus::Down {
            let was_better = before.is_some_and(|before| before != CheckStatus::Down);
            let counts = was_better || self.rules.quorum.judge(self.fresh_votes(now)) == Verdict::Down;
            self.outage_tracker().recovery.take_bad(vote.checked_at, counts);
        } else {
            self.outage_tracker().recovery.take_good(vote.checked_at);
        }
    }

    /// Returns the number of good results in a row of a service that is down and needs several of them; `None` otherwise.
    pub(super) fn good_results(&self) -> Option<u8> {
        let is_counted = self.verdict == Verdict::Down && self.rules.recovery_checks > 1;
        self.outage_tracker.as_ref().filter(|_| is_counted).map(|tracker| tracker.recovery.good())
    }

    fn is_recovering(&self) -> bool {
        let outage_tracker = self.outage_tracker.as_ref().filter(|_| self.verdict == Verdict::Down);
        outage_tracker.is_some_and(|outage_tracker| outage_tracker.recovery.has_begun())
    }

    /// Records since when a location sees trouble. Returns true if that starts with this check.
    fn note_check(&mut self, slot: usize, status: CheckStatus, at: Timestamp) -> bool {
        if status == CheckStatus::Up && self.outage_tracker.is_none() {
            return false;
        }
        let before = self.location_states[slot].vote;
        let begins = self.outage_tracker().note(slot, status, at, before);
        self.drop_outage_tracker();
        begins
    }

    fn outage_tracker(&mut self) -> &mut OutageTracker {
        let locations = self.location_states.len();
        self.outage_tracker.get_or_insert_with(|| Box::new(OutageTracker::new(locations)))
    }

    fn drop_outage_tracker(&mut self) {
        self.outage_tracker
            .take_if(|outage_tracker| self.verdict != Verdict::Down && outage_tracker.is_over());
    }

    /// Returns true if `to` is a bad status, and worse than the present one or the present one is unknown.
    fn is_worse(&self, to: MeasuredStatus) -> bool {
        let present = self.tracker.status().verdict().as_check();
        to.verdict()
            .as_check()
            .is_some_and(|to| to != CheckStatus::Up && present.is_none_or(|from| from < to))
    }

    /// Returns the start of the trouble that the vote of a check at `at` has confirmed.
    fn worsened_at(&self, at: Timestamp, now: Timestamp) -> Timestamp {
        let Some(level) = self.verdict.as_check() else { return at };
        let says_so = |state: &&LocationVoteState| state.vote.is_some_and(|vote| vote.status >= level);
        let location_states = self.counting(now).filter(move |(_, state)| says_so(state));
        let runs = location_states.filter_map(|(slot, state)| {
            let known =
                self.outage_tracker.as_ref().and_then(|outage_tracker| outage_tracker.run(slot, level));
            known.or_else(|| state.vote.map(|vote| TroubleStreak::at(vote.checked_at)))
        });
        beginning(runs).map_or(at, |since| since.min(at))
    }

    fn note_opinion(&self, slot: usize, status: CheckStatus, now: Timestamp, effects: &mut Vec<WatchEffect>) {
        let others = self
            .location_states
            .iter()
            .enumerate()
            .filter(|(other, state)| *other != slot && !state.is_set_aside);
        let others = others.filter_map(|(_, state)| state.fresh_vote(now, self.interval_ms));
        let believed = majority(others.map(|vote| vote.status));
        if believed != Verdict::Unknown {
            let contradicts = status == CheckStatus::Down && believed == Verdict::Up;
            effects.push(WatchEffect::Opinion(LocationOpinion { slot, contradicts }));
        }
    }

    fn is_unanimous(&self, now: Timestamp) -> bool {
        let mut votes = self.fresh_votes(now);
        let first = votes.next();
        votes.all(|vote| Some(vote) == first)
    }

    /// The votes that count at `now`.
    fn fresh_votes(&self, now: Timestamp) -> impl Iterator<Item = CheckStatus> {
        let known = self.counting(now).filter_map(|(_, state)| state.vote);
        known.chain(self.fresh_absent(now)).map(|vote| vote.status)
    }

    fn fresh_absent(&self, now: Timestamp) -> impl Iterator<Item = LocationVote> {
        let interval_ms = self.interval_ms;
        self.absent.iter().map(|absent| absent.vote).filter(move |vote| vote.is_fresh(now, interval_ms))
    }

    /// The locations whose votes count: those with a fresh vote. Excluded locations count only if no other location has a
    /// vote.
    fn counting(&self, now: Timestamp) -> impl Iterator<Item = (usize, &LocationVoteState)> + Clone {
        let interval_ms = self.interval_ms;
        let fresh = self.location_states.iter().enumerate();
        let fresh = fresh.filter(move |(_, state)| state.fresh_vote(now, interval_ms).is_some());
        let has_others = self.location_states.iter().any(|state| state.is_set_aside) && self.has_others(now);
        fresh.filter(move |(_, state)| !(has_others && state.is_set_aside))
    }

    /// Returns true if a location that is not excluded has a vote that counts.
    fn has_others(&self, now: Timestamp) -> bool {
        let is_fresh = |state: &LocationVoteState| state.fresh_vote(now, self.interval_ms).is_some();
        let known = self.location_states.iter().any(|state| !state.is_set_aside && is_fresh(state));
        known || self.fresh_absent(now).next().is_some()
    }

    /// Returns true if no result came for longer than usual, or no check was made before this start.
    fn is_overdue(&self, now: Timestamp) -> bool {
        self.was_interrupted || self.last_result_at.is_some_and(|at| now.ms_since(at) > self.coverage_ms)
    }

    /// Returns true if all locations with recent votes are blind, so that no vote counts.
    fn is_blind(&self, now: Timestamp) -> bool {
        let has_voted =
            |state: &LocationVoteState| state.vote.is_some_and(|vote| vote.is_fresh(now, self.interval_ms));
        self.location_states.iter().any(has_voted) && self.fresh_votes(now).next().is_none()
    }

    /// Starts a no-data period if results are missing: at the time at which the first missing result was due. If all
    /// locations are blind, one missing result is enough; otherwise none must have come for longer than usual.
    fn note_gap(&mut self, now: Timestamp, effects: &mut Vec<WatchEffect>) {
        let is_measured = self.tracker.status().verdict() != Verdict::Unknown;
        let Some(last) = self.last_result_at.filter(|_| is_measured) else {
            return;
        };
        let has_missed = now.ms_since(last) >= self.interval_ms;
        if self.is_overdue(now) || (has_missed && self.is_blind(now)) {
            let blind_since = last.plus_ms(self.interval_ms);
            if let Some(outage_tracker) = &mut self.outage_tracker {
                outage_tracker.forget_before(blind_since);
            }
            let gap = self.tracker.change_to(MeasuredStatus::NoData, ChangeCause::Gap, blind_since);
            effects.extend(gap.map(WatchEffect::Change));
        }
    }
}
