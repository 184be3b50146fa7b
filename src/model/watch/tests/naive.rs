//! The verdicts of a watch, computed from all past events each time; slow, but without stored state.
//!
//! This is a second implementation of the same rules. Checks, votes and moments of judgement go in; the expected changes
//! come out.

use super::*;
use crate::model::flapping::is_transition;
use crate::model::quorum::Quorum;

/// An event at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) now: Timestamp,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// An attempt was bad and is retried.
    Attempt(Seen),
    /// A location votes.
    Vote(Seen),
    /// The status is judged because time has passed.
    Judgement,
}

/// A result of the location with index `slot`, whose check started at `at`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) slot: usize,
    pub(super) at: Timestamp,
    pub(super) status: CheckStatus,
}

/// All events, and the state that followed from them.
pub(super) struct Replay<'a> {
    plan: &'a WatchPlan,
    entries: &'a [Entry],
    verdict: Verdict,
    /// Index of the event with which the verdict became down, and the start of its check.
    outage: (usize, Timestamp),
    /// Each detected no-data period: index of the event that detected it, and its start.
    gaps: Vec<(usize, Timestamp)>,
    status_changes: Vec<MeasuredStatusChange>,
    /// The time of the last judgement.
    judged_at: Timestamp,
}

/// Returns the changes that a watch with this plan must have reported.
pub(super) fn replay(plan: &WatchPlan, entries: &[Entry]) -> Vec<MeasuredStatusChange> {
    let begin = Timestamp::from_ms(0);
    let mut replay = Replay {
        plan,
        entries,
        verdict: Verdict::Unknown,
        outage: (0, begin),
        gaps: Vec::new(),
        status_changes: Vec::new(),
        judged_at: begin,
    };
    for index in 0..entries.len() {
        replay.pass(index);
    }
    replay.status_changes
}

impl Replay<'_> {
    fn pass(&mut self, index: usize) {
        let Entry { now, what } = self.entries[index];
        match what {
            What::Attempt(_) => {}
            What::Vote(seen) => {
                self.note_gap(index, index, seen.at);
                let recovered_at = self.decide(index, seen.at);
                self.report_verdict(index, seen.at, recovered_at);
            }
            What::Judgement => {
                let is_silent = self.last_result(index).is_some_and(|last| self.is_gap(last, now));
                self.note_gap(index, index, now);
                self.decide(index, now);
                if !is_silent {
                    self.report_verdict(index, now, None);
                } else if self.verdict == Verdict::Unknown {
                    self.report_change(MeasuredStatus::Unknown, ChangeCause::Stale, now);
                }
                self.settle(now);
            }
        }
    }

    fn status(&self) -> MeasuredStatus {
        let last = self.status_changes.iter().rfind(|change| !change.cause.is_about_flapping());
        last.map(|change| change.to).unwrap_or_default()
    }

    fn votes(&self, until: usize) -> impl DoubleEndedIterator<Item = (usize, Seen)> + Clone {
        let entries = self.entries[..until].iter().enumerate();
        entries.filter_map(|(index, entry)| match entry.what {
            What::Vote(seen) => Some((index, seen)),
            _ => None,
        })
    }

    fn last_result(&self, until: usize) -> Option<Timestamp> {
        self.votes(until).map(|(_, seen)| seen.at).max()
    }

    fn is_gap(&self, last: Timestamp, now: Timestamp) -> bool {
        self.plan.backed_until(last, now) < now
    }

    fn note_gap(&mut self, index: usize, until: usize, now: Timestamp) {
        let Some(last) = self.last_result(until).filter(|last| self.is_gap(*last, now)) else { return };
        if self.status().verdict() != Verdict::Unknown {
            let blind_since = last.plus_ms(self.plan.interval_ms);
            self.gaps.push((index, blind_since));
            self.report_change(MeasuredStatus::NoData, ChangeCause::Gap, blind_since);
        }
    }

    /// The newest vote of each location after the event `index`, if it is fresh then.
    fn fresh(&self, index: usize) -> Vec<Seen> {
        let now = self.entries[index].now;
        let newest = |slot| self.votes(index + 1).rev().map(|(_, seen)| seen).find(|seen| seen.slot == slot);
        let fresh = |seen: &Seen| {
            LocationVote { status: seen.status, checked_at: seen.at }.is_fresh(now, self.plan.interval_ms)
        };
        (0..self.plan.locations.len()).filter_map(newest).filter(fresh).collect()
    }

    fn vote(&self, index: usize) -> Verdict {
        let fresh = self.fresh(index);
        let with = |level| fresh.iter().filter(|seen| seen.status >= level).count();
        let (all, down, bad) = (fresh.len(), with(CheckStatus::Down), with(CheckStatus::Degraded));
        let is_enough = |count: usize, is_down: bool| match self.plan.rules.quorum {
            Quorum::Any => count > 0,
            Quorum::All => count == all,
            Quorum::AtLeast(needed) => count >= all.min(needed.into()),
            Quorum::Majority if is_down => count > all - count,
            Quorum::Majority => count > 0 && count >= all - count,
        };
        match (all, is_enough(down, true), is_enough(bad, false)) {
            (0, ..) => Verdict::Unknown,
            (_, true, _) => Verdict::Down,
            (_, false, true) => Verdict::Degraded,
            (_, false, false) => Verdict::Up,
        }
    }

    /// Computes the verdict; if an outage has ended, returns the start of the first good check.
    fn decide(&mut self, index: usize, at: Timestamp) -> Option<Timestamp> {
        let votes = self.vote(index);
        let (good, since) = if self.verdict == Verdict::Down { self.row(index) } else { (0, None) };
        let needed = usize::from(self.plan.rules.recovery_checks);
        let is_better = matches!(votes, Verdict::Up | Verdict::Degraded);
        if self.verdict == Verdict::Down && is_better && needed > 1 && good < needed {
            return None;
        }
        let is_over = self.verdict == Verdict::Down && is_better;
        if votes == Verdict::Down && self.verdict != Verdict::Down {
            self.outage = (index, at);
        }
        self.verdict = votes;
        since.filter(|_| is_over).map(|since| since.min(at))
    }

    /// The number of good results in a row since the start of the outage, and the start of the first one.
    fn row(&self, until: usize) -> (usize, Option<Timestamp>) {
        let (begin, mut broken_at) = self.outage;
        let (mut good, mut since) = (0, None::<Timestamp>);
        for index in begin + 1..=until {
            if let Some((_, blind_since)) = self.gaps.iter().find(|(noticed, _)| *noticed == index) {
                since = since.filter(|since| since > blind_since);
            }
            let What::Vote(seen) = self.entries[index].what else { continue };
            if seen.status != CheckStatus::Down {
                if seen.at > broken_at {
                    good += 1;
                    since = Some(since.map_or(seen.at, |since| since.min(seen.at)));
                }
                continue;
            }
            let before = self.votes(index).rev().find(|(_, vote)| vote.slot == seen.slot);
            let was_better = before.is_some_and(|(_, vote)| vote.status != CheckStatus::Down);
            let says_down = was_better || self.vote(index) == Verdict::Down;
            if says_down && since.is_none_or(|since| since <= seen.at) {
                (good, since, broken_at) = (0, None, broken_at.max(seen.at));
            }
        }
        (good, since)
    }

    fn report_verdict(&mut self, index: usize, at: Timestamp, recovered_at: Option<Timestamp>) {
        let (from, to) = (self.status(), MeasuredStatus::from(self.verdict));
        let rank = |status: MeasuredStatus| status.verdict().as_check().map(|status| status as u8);
        let is_worse = rank(to) > Some(0) && rank(from) < rank(to);
        let at = if is_worse { self.worse_since(index, at) } else { recovered_at.unwrap_or(at) };
        self.report_change(to, ChangeCause::Votes, at);
    }

    /// The start of a worse status: the earliest start of a streak of bad results at the locations that now have this
    /// status, after the last better vote of any of them.
    fn worse_since(&self, index: usize, at: Timestamp) -> Timestamp {
        let Some(level) = self.verdict.as_check() else { return at };
        let says_so = self.fresh(index).into_iter().filter(|seen| seen.status >= level);
        let runs: Vec<_> = says_so.map(|seen| self.run(index, seen, level)).collect();
        let better_at = runs.iter().filter_map(|(_, better_at)| *better_at).max();
        let counts = |since: &Timestamp| better_at.is_none_or(|better| since.ms_since(better) > -2_000);
        runs.iter().map(|(since, _)| *since).filter(counts).min().map_or(at, |since| since.min(at))
    }

    /// Since when a location has had this status without a break, and its last better vote before that. A no-data period
    /// breaks it for earlier checks.
    fn run(&self, until: usize, newest: Seen, level: CheckStatus) -> (Timestamp, Option<Timestamp>) {
        let mut run: Vec<(usize, Seen)> = Vec::new();
        for (index, entry) in self.entries[..=until].iter().enumerate() {
            if let Some((_, blind_since)) = self.gaps.iter().find(|(noticed, _)| *noticed == index)
                && run.first().is_some_and(|(_, first)| first.at <= *blind_since)
            {
                run.clear();
            }
            match entry.what {
                What::Attempt(seen) | What::Vote(seen) if seen.slot == newest.slot => {
                    if seen.status >= level { run.push((index, seen)) } else { run.clear() }
                }
                _ => {}
            }
        }
        let Some((first, seen)) = run.first() else { return (newest.at, None) };
        let before = self.votes(*first).rev().map(|(_, seen)| seen).find(|vote| vote.slot == seen.slot);
        (seen.at, before.filter(|vote| vote.status < level).map(|vote| vote.at))
    }

    fn report_change(&mut self, to: MeasuredStatus, cause: ChangeCause, at: Timestamp) {
        let from = self.status();
        if from == to {
            return;
        }
        let before = self.status_changes.iter().rfind(|change| !change.cause.is_about_flapping());
        let at = before.map_or(at, |before| at.max(before.at.plus_ms(1)));
        let was_flapping = self.is_flapping();
        self.status_changes.push(MeasuredStatusChange { at, from, to, cause });
        let limit = usize::from(self.plan.rules.flapping.changes);
        // Transitions that had left the window at a judgement are forgotten, also for a due time that is noticed later.
        let seen = self.transitions(at).min(self.transitions(at.max(self.judged_at)));
        if is_transition(from, to) && limit > 0 && !was_flapping && seen > limit {
            self.report_flapping(ChangeCause::Flapping, at);
        }
    }

    fn report_flapping(&mut self, cause: ChangeCause, at: Timestamp) {
        let status = self.status();
        let before = self.status_changes.iter().rfind(|change| change.cause.is_about_flapping());
        let at = before.map_or(at, |before| at.max(before.at.plus_ms(1)));
        self.status_changes.push(MeasuredStatusChange { at, from: status, to: status, cause });
    }

    fn is_flapping(&self) -> bool {
        let about = self.status_changes.iter().rfind(|change| change.cause.is_about_flapping());
        about.is_some_and(|change| change.cause == ChangeCause::Flapping)
    }

    /// The number of transitions in the window that ends at a moment.
    fn transitions(&self, at: Timestamp) -> usize {
        let window_ms = i64::from(self.plan.rules.flapping.minutes) * 60_000;
        let transitions = self.status_changes.iter().filter(|change| is_transition(change.from, change.to));
        transitions.filter(|change| at.ms_since(change.at) < window_ms).count()
    }

    fn settle(&mut self, now: Timestamp) {
        self.judged_at = now;
        let limit = usize::from(self.plan.rules.flapping.changes);
        if !self.is_flapping() || self.transitions(now) > limit / 2 {
            return;
        }
        // The earliest moment at which enough transitions have left the window.
        let window_ms = i64::from(self.plan.rules.flapping.minutes) * 60_000;
        let transitions = self.status_changes.iter().filter(|change| is_transition(change.from, change.to));
        let ends = transitions.map(|change| change.at.plus_ms(window_ms));
        let at =
            ends.filter(|end| self.transitions(*end) <= limit / 2).min().expect("it flapped after turns");
        self.report_flapping(ChangeCause::Settled, at);
    }
}
