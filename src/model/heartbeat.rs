//! Heartbeat services (contract 4.3.11), which are not checked but report themselves by pings.
//!
//! [`Heartbeat`] is the pure state machine of one such service, the counterpart of `watch::Watch`: its input is pings and
//! time, its output the same effects. A ping is missed when the interval and the grace pass without a ping; after that,
//! a ping is missed after each further interval. Before the first ping nothing is expected. A period in which no process
//! listened is no data, because its ping may have been lost; the next period starts when a process listens again
//! (`overdue`).

mod overdue;

use crate::clock::{STEP_MS, Timestamp};
use crate::model::check::{CheckFailure, CheckStatus, ErrorCode, Measurement, PhaseTimings};
use crate::model::heartbeat::overdue::{
    AwaitedPeriod, EXCUSED_MAX, ListeningHistory, OverdueDeadlines, PeriodTerms, judge,
};
use crate::model::history::{ChangeCause, MeasuredStatus};
use crate::model::listening_gap::ListeningGap;
use crate::model::service::ServiceSettings;
use crate::model::status_rules::FlappingRule;
use crate::model::status_timeline::MeasuredStatusChange;
use crate::model::status_tracker::StatusTracker;
use crate::model::verdict::Verdict;
use crate::model::watch::{CheckAttempt, FinishedCheck, ResumedMemory, WatchEffect, WatchMemory};

/// Maximum delay, in milliseconds, with which a passed deadline may be noticed. If it is noticed later, the time since
/// the deadline is no data.
const SLACK_MS: i64 = 5_000;
const DEFAULT_GRACE_SECONDS: i64 = 60;

/// A ping as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatPing {
    /// The time at which the ping arrived.
    pub at: Timestamp,
    /// True if the ping reported a failure.
    pub has_failed: bool,
}

/// The stored state of the pings of a service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredPings {
    /// The newest ping; `None` before the first.
    pub last: Option<HeartbeatPing>,
    /// The time at which the service was resumed or changed; deadlines count from this time if it is later than the
    /// newest ping.
    pub counts_from: Option<Timestamp>,
}

impl StoredPings {
    /// Returns the pings with times more than `STEP_MS` in the future replaced by `now`. Such times were stored before
    /// the wall clock was set back.
    fn until(self, now: Timestamp) -> Self {
        let passed = |at: Timestamp| if at.ms_since(now) > STEP_MS { now } else { at };
        let last = self.last.map(|ping| HeartbeatPing { at: passed(ping.at), ..ping });
        Self { last, counts_from: self.counts_from.map(passed) }
    }
}

/// The settings that say when pings of a service are expected, with the pings stored so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatPlan {
    /// Milliseconds between two pings.
    pub interval_ms: i64,
    /// Further milliseconds until a ping that has not come counts as missed.
    pub grace_ms: i64,
    /// The pings that were stored when the plan was made.
    pub stored: StoredPings,
    /// The rule by which flapping is detected.
    pub flapping: FlappingRule,
}

impl HeartbeatPlan {
    /// Returns the plan of these settings.
    #[must_use]
    pub fn new(settings: &ServiceSettings) -> Self {
        let grace = settings.config.get("grace_seconds").and_then(serde_json::Value::as_f64);
        #[expect(clippy::cast_possible_truncation, reason = "a whole number of seconds up to a day")]
        let grace = grace.map_or(DEFAULT_GRACE_SECONDS, |seconds| seconds as i64);
        Self {
            interval_ms: i64::from(settings.interval_seconds) * 1_000,
            grace_ms: grace * 1_000,
            stored: StoredPings::default(),
            flapping: settings.rules.flapping,
        }
    }

    /// Returns the time at which a ping is missed if none comes; `None` before the first ping.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        self.first_period().map(|period| period.deadline)
    }

    /// Returns the period that starts with the newest ping or with `counts_from`; `None` before the first ping.
    fn first_period(&self) -> Option<AwaitedPeriod> {
        let counted = self.stored.last.map(|ping| ping.at).max(self.stored.last.and(self.stored.counts_from));
        counted.map(|from| self.terms().period_from(from))
    }

    /// Returns the time until which the status of an entry at `last` counts as measured, at most `now`.
    #[must_use]
    pub fn backed_until(&self, last: Timestamp, now: Timestamp) -> Timestamp {
        now.min(last.plus_ms(self.interval_ms + self.grace_ms))
    }

    const fn terms(&self) -> PeriodTerms {
        PeriodTerms { interval_ms: self.interval_ms, grace_ms: self.grace_ms }
    }

    /// Returns true if both plans expect pings at the same times, regardless of the pings received.
    fn has_same_times(&self, other: &Self) -> bool {
        let times = |plan: &Self| (plan.interval_ms, plan.grace_ms, plan.stored.counts_from);
        times(self) == times(other)
    }

    /// Returns true if both plans have the same times and the same flapping rule, regardless of the pings received.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.has_same_times(other) && self.flapping == other.flapping
    }
}

/// An entry to record in the history: a ping, or a missed ping.
struct HeartbeatRecord {
    due_at: Timestamp,
    made_at: Timestamp,
    failure: Option<CheckFailure>,
}

/// The state of one heartbeat service.
#[derive(Clone, Debug)]
pub struct Heartbeat {
    plan: HeartbeatPlan,
    /// The period in which the next ping must come; `None` before the first ping and after the end.
    awaited: Option<AwaitedPeriod>,
    /// The time of the newest entry of the history.
    last_entry_at: Option<Timestamp>,
    tracker: StatusTracker,
}

impl Heartbeat {
    /// Starts the heartbeat, or continues where an earlier process stopped. A stored ping that is missing in the history
    /// is recorded, and deadlines that have passed meanwhile are judged. Deadlines before the last absence were judged by
    /// the earlier process, unless that process was killed before the result was stored.
    #[must_use]
    pub fn begin(
        mut plan: HeartbeatPlan,
        memory: WatchMemory,
        now: Timestamp,
        absences: &[ListeningGap],
    ) -> (Self, Vec<WatchEffect>) {
        let ResumedMemory { votes, current, changes, flapping, .. } = memory.resume(None, now);
        let newest = votes.into_iter().map(|(_, vote)| vote).max_by_key(|vote| vote.checked_at);
        // After a panic an actor restarts with outdated stored pings, so a newer ping may be in the history.
        let last_up = newest.filter(|vote| vote.status == CheckStatus::Up);
        let last_up = last_up.map(|vote| HeartbeatPing { at: vote.checked_at, has_failed: false });
        let stored = plan.stored;
        plan.stored = stored.until(now);
        plan.stored.last = newer(plan.stored.last, last_up);
        let last_entry_at = newest.map(|vote| vote.checked_at);
        let tracker = StatusTracker::new(current, flapping, plan.flapping);
        let mut heartbeat = Self { awaited: plan.first_period(), last_entry_at, tracker, plan };
        let mut effects: Vec<WatchEffect> = changes.into_iter().map(WatchEffect::Change).collect();
        let StoredPings { last, counts_from } = plan.stored;
        // A stored ping with a time in the future is not recorded again: the history has it at that time.
        if let Some(ping) = last.filter(|_| last == stored.last)
            && counts_from.is_none_or(|from| from <= ping.at)
            && last_entry_at.is_none_or(|at| at < ping.at)
        {
            heartbeat.record_ping(ping, &mut effects);
        }
        heartbeat.skip_recorded_deadlines();
        let certain = absences.iter().filter(|absence| !absence.is_doubt);
        let judged_until = certain.map(|absence| absence.from).max().filter(|_| !heartbeat.is_unjudged());
        effects.extend(heartbeat.judge_until(now, ListeningHistory { absences, judged_until }));
        (heartbeat, effects)
    }

    /// Replaces the plan; the pings received so far stay.
    pub fn change_plan(
        &mut self,
        plan: HeartbeatPlan,
        now: Timestamp,
        absences: &[ListeningGap],
    ) -> Vec<WatchEffect> {
        let stored = plan.stored.until(now);
        let last = newer(self.plan.stored.last, stored.last);
        let mut effects = self.wake(now, absences);
        let has_same_times = last == self.plan.stored.last && self.plan.has_same_times(&plan);
        self.plan = HeartbeatPlan { stored: StoredPings { last, ..stored }, ..plan };
        self.tracker.judge_by(self.plan.flapping);
        if !has_same_times {
            self.awaited = self.plan.first_period();
        }
        effects.extend(self.wake(now, absences));
        effects
    }

    /// Records a ping. A ping that is already known from the store is ignored.
    pub fn ping(
        &mut self,
        ping: HeartbeatPing,
        now: Timestamp,
        absences: &[ListeningGap],
    ) -> Vec<WatchEffect> {
        if self.plan.stored.last.is_some_and(|known| known.at == ping.at)
            && self.last_entry_at >= Some(ping.at)
        {
            return Vec::new();
        }
        let mut effects = self.wake(now.min(ping.at), absences);
        self.record_ping(ping, &mut effects);
        effects
    }

    /// Judges the deadlines that have passed, taking absences into account.
    pub fn wake(&mut self, now: Timestamp, absences: &[ListeningGap]) -> Vec<WatchEffect> {
        self.judge_until(now, ListeningHistory { absences, judged_until: None })
    }

    fn judge_until(&mut self, now: Timestamp, hearing: ListeningHistory<'_>) -> Vec<WatchEffect> {
        let mut effects: Vec<WatchEffect> =
            self.tracker.settle(now).map(WatchEffect::Change).into_iter().collect();
        let Some(awaited) = self.awaited.filter(|awaited| awaited.deadline <= now) else { return effects };
        let OverdueDeadlines { next, unheard_at, missed_at } =
            judge(self.plan.terms(), awaited, hearing, now);
        self.awaited = Some(next);
        if let Some(unheard_at) = unheard_at {
            self.mark_unknown(unheard_at, &mut effects);
        }
        if let Some(missed_at) = missed_at {
            self.miss(missed_at, now, &mut effects);
        }
        effects
    }

    /// Records that there is no data from `at` on.
    fn mark_unknown(&mut self, at: Timestamp, effects: &mut Vec<WatchEffect>) {
        if self.tracker.status().verdict() != Verdict::Unknown {
            let gap = self.tracker.change_to(MeasuredStatus::NoData, ChangeCause::Gap, at);
            effects.extend(gap.map(WatchEffect::Change));
        }
    }

    fn miss(&mut self, deadline: Timestamp, now: Timestamp, effects: &mut Vec<WatchEffect>) {
        let is_late = now.ms_since(deadline) > SLACK_MS;
        let at = if is_late { now } else { deadline };
        if is_late {
            self.mark_unknown(deadline, effects);
        }
        let failure = CheckFailure::new(ErrorCode::HeartbeatMissed, "No ping came in time.");
        self.record(HeartbeatRecord { due_at: deadline, made_at: at, failure: Some(failure) }, effects);
        effects.extend(
            self.tracker.change_to(MeasuredStatus::Down, ChangeCause::Votes, at).map(WatchEffect::Change),
        );
    }

    /// Ends the heartbeat: earlier reports are no longer valid.
    pub fn end(&mut self, cause: ChangeCause, now: Timestamp, absences: &[ListeningGap]) -> Vec<WatchEffect> {
        let mut effects = self.wake(now, absences);
        self.awaited = None;
        effects.extend(self.tracker.end(cause, now).map(WatchEffect::Change));
        effects
    }

    /// Moves a deadline that has passed to just after `now`. The process was suspended until `now` and has yet to read
    /// the pings that came meanwhile, so the deadline must not count as missed.
    pub fn excuse_deadline(&mut self, now: Timestamp) {
        if let Some(awaited) = &mut self.awaited {
            awaited.deadline = awaited.deadline.max(now.plus_ms(1));
        }
    }

    /// Handles a wall clock that was set ahead by `jump_ms`, or back if negative; `now` is the new time. Deadlines and
    /// the times of pings move along, because a ping left in the future would prevent later pings from counting as the
    /// newest.
    pub fn shift(&mut self, jump_ms: i64, now: Timestamp) -> Vec<MeasuredStatusChange> {
        let shifted = |at: Option<Timestamp>| at.map(|at| at.plus_ms(jump_ms));
        if let Some(AwaitedPeriod { from, deadline, .. }) = &mut self.awaited {
            (*from, *deadline) = (from.plus_ms(jump_ms), deadline.plus_ms(jump_ms));
        }
        self.last_entry_at = shifted(self.last_entry_at);
        let StoredPings { last, counts_from } = &mut self.plan.stored;
        *counts_from = shifted(*counts_from);
        if let Some(ping) = last {
            ping.at = ping.at.plus_ms(jump_ms);
        }
        let before = now.plus_ms(-jump_ms);
        let status = self.tracker.status();
        if jump_ms < 0 {
            return self.tracker.set_back(jump_ms, now);
        }
        if status.verdict() == Verdict::Unknown {
            return Vec::new();
        }
        // No ping could be received in the skipped time.
        let gap = self.tracker.change_to(MeasuredStatus::NoData, ChangeCause::Gap, before);
        gap.chain(self.tracker.change_to(status, ChangeCause::Votes, now)).collect()
    }

    /// Returns the time of the next call of [`Self::wake`]: a deadline passes, or flapping is over.
    #[must_use]
    pub fn next_wake(&self) -> Option<Timestamp> {
        [self.deadline(), self.tracker.settles_at()].into_iter().flatten().min()
    }

    /// Returns true if the maximum number of periods in a row were no data, so that the next period is judged even if
    /// its ping may have been lost.
    #[must_use]
    pub fn has_used_excuses(&self) -> bool {
        self.awaited.is_some_and(|awaited| awaited.excused >= EXCUSED_MAX)
    }

    /// Returns the time until which the present status counts as measured if no ping comes.
    #[must_use]
    pub fn measured_until(&self) -> Option<Timestamp> {
        self.deadline()
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.awaited.map(|awaited| awaited.deadline)
    }

    /// Returns the present status as a verdict.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        self.tracker.status().verdict()
    }

    fn record_ping(&mut self, ping: HeartbeatPing, effects: &mut Vec<WatchEffect>) {
        let failure = || CheckFailure::new(ErrorCode::HeartbeatFail, "The ping reported a failure.");
        // A deadline may have been judged between the arrival of the ping and this call; the ping still counts.
        let is_newest = self.plan.stored.last.is_none_or(|known| known.at <= ping.at);
        if is_newest {
            self.plan.stored.last = Some(ping);
            self.awaited = Some(self.plan.terms().period_from(ping.at));
        }
        self.record(
            HeartbeatRecord { due_at: ping.at, made_at: ping.at, failure: ping.has_failed.then(failure) },
            effects,
        );
        if is_newest {
            let verdict = if ping.has_failed { MeasuredStatus::Down } else { MeasuredStatus::Up };
            effects.extend(
                self.tracker.change_to(verdict, ChangeCause::Votes, ping.at).map(WatchEffect::Change),
            );
        }
    }

    fn record(&mut self, entry: HeartbeatRecord, effects: &mut Vec<WatchEffect>) {
        self.last_entry_at = self.last_entry_at.max(Some(entry.made_at));
        let measurement = Measurement {
            status: entry.failure.as_ref().map_or(CheckStatus::Up, |_| CheckStatus::Down),
            response_time: None,
            timings: PhaseTimings::default(),
            status_code: None,
            failure: entry.failure.map(Box::new),
        };
        let attempt = CheckAttempt { slot: 0, scheduled_at: entry.due_at, attempt: 1 };
        effects.push(WatchEffect::Record(FinishedCheck { attempt, checked_at: entry.made_at, measurement }));
    }

    /// Returns true if no result of the current deadline is stored. Used after a restart, when the deadline may have
    /// passed: a stored result would have ended an `up` that started before the deadline.
    fn is_unjudged(&self) -> bool {
        let since = self.tracker.current().since();
        self.verdict() == Verdict::Up && since.is_some_and(|since| Some(since) < self.deadline())
    }

    /// Skips, after a restart, the deadlines up to the newest entry of the history, because they were recorded. The next
    /// deadline is one interval after this entry.
    fn skip_recorded_deadlines(&mut self) {
        if let Some(entry) = self.last_entry_at.filter(|entry| self.deadline() <= Some(*entry))
            && let Some(awaited) = &mut self.awaited
        {
            *awaited = self.plan.terms().period_after(entry, 1);
        }
    }
}

fn newer(one: Option<HeartbeatPing>, other: Option<HeartbeatPing>) -> Option<HeartbeatPing> {
    [one, other].into_iter().flatten().max_by_key(|ping| ping.at)
}

#[cfg(test)]
mod tests;
