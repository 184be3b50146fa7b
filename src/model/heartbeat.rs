//! Heartbeat services (contract 4.3.11): they are not looked at, they report themselves by pings.
//!
//! [`Vigil`] is the pure state machine over one of them, the counterpart of `watch::Watch`: pings and time go in, the same
//! effects come out. A deadline is missed when the period and the grace pass without a ping; then one is missed every
//! further period. Before the first ping nothing is expected.

use crate::clock::{STEP_MS, Timestamp};
use crate::model::check::{CheckStatus, ErrorCode, Failure, Measurement, Timings};
use crate::model::history::{ChangeCause, MeasuredStatus};
use crate::model::service::Settings;
use crate::model::verdict::Verdict;
use crate::model::watch::{Attempt, Change, Effect, Finished, Memory};

/// A deadline that is noticed later than this was not watched: the time since is no data.
const SLACK_MS: i64 = 5_000;
const DEFAULT_GRACE_SECONDS: i64 = 60;

/// A ping as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// When it came.
    pub at: Timestamp,
    /// Whether it reported a failure.
    pub has_failed: bool,
}

/// What is stored of a heartbeat beside its secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heartbeat {
    /// The newest ping.
    pub last: Option<Ping>,
    /// Deadlines count from here when that is later than the newest ping: the service was resumed or changed.
    pub counts_from: Option<Timestamp>,
}

impl Heartbeat {
    /// The same without moments of the future: they were stored before the wall clock was set back, so they are of now at the
    /// latest.
    fn until(self, now: Timestamp) -> Self {
        let passed = |at: Timestamp| if at.ms_since(now) > STEP_MS { now } else { at };
        let last = self.last.map(|ping| Ping { at: passed(ping.at), ..ping });
        Self { last, counts_from: self.counts_from.map(passed) }
    }
}

/// What is expected of a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulse {
    /// Milliseconds between two pings.
    pub interval_ms: i64,
    /// Further milliseconds before a missing ping counts.
    pub grace_ms: i64,
    /// What was stored when the expectation was made.
    pub stored: Heartbeat,
}

impl Pulse {
    /// What these settings expect.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let grace = settings.config.get("grace_seconds").and_then(serde_json::Value::as_f64);
        #[expect(clippy::cast_possible_truncation, reason = "a whole number of seconds up to a day")]
        let grace = grace.map_or(DEFAULT_GRACE_SECONDS, |seconds| seconds as i64);
        Self {
            interval_ms: i64::from(settings.interval_seconds) * 1_000,
            grace_ms: grace * 1_000,
            stored: Heartbeat::default(),
        }
    }

    /// When a ping is missed at the earliest; `None` before the first one.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        let counted = self.stored.last.map(|ping| ping.at).max(self.stored.last.and(self.stored.counts_from));
        counted.map(|at| at.plus_ms(self.interval_ms + self.grace_ms))
    }

    /// Until when an entry from `last` backs the status that was believed then, seen from `now`.
    #[must_use]
    pub fn backed_until(&self, last: Timestamp, now: Timestamp) -> Timestamp {
        now.min(last.plus_ms(self.interval_ms + self.grace_ms))
    }

    /// Whether both expect the same, whatever came meanwhile.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (self.interval_ms, self.grace_ms, self.stored.counts_from)
            == (other.interval_ms, other.grace_ms, other.stored.counts_from)
    }
}

/// The state of the vigil over one service.
#[derive(Clone, Debug)]
pub struct Vigil {
    pulse: Pulse,
    deadline: Option<Timestamp>,
    /// When the newest entry of the history was made.
    last_entry_at: Option<Timestamp>,
    status: MeasuredStatus,
    status_since: Option<Timestamp>,
}

impl Vigil {
    /// Begins, or goes on where an earlier process stopped: a stored ping that the history has lost is recorded, and so is a
    /// deadline that passed meanwhile.
    #[must_use]
    pub fn begin(mut pulse: Pulse, memory: &Memory, now: Timestamp) -> (Self, Vec<Effect>) {
        let newest = memory.votes.iter().map(|(_, vote)| vote).max_by_key(|vote| vote.checked_at);
        // An actor that starts again after a panic has an old view of the store.
        let told = newest.filter(|vote| vote.status == CheckStatus::Up);
        let told = told.map(|vote| Ping { at: vote.checked_at, has_failed: false });
        pulse.stored.last = newer(pulse.stored.last, told);
        let mut vigil = Self {
            deadline: pulse.deadline(),
            last_entry_at: newest.map(|vote| vote.checked_at),
            status: memory.status,
            status_since: memory.status_since,
            pulse,
        };
        let mut effects = Vec::new();
        let Heartbeat { last, counts_from } = pulse.stored;
        if let Some(ping) = last
            && counts_from.is_none_or(|from| from <= ping.at)
            && vigil.last_entry_at.is_none_or(|at| at < ping.at)
        {
            vigil.record_ping(ping, &mut effects);
        }
        vigil.skip_recorded_deadlines();
        effects.extend(vigil.wake(now));
        (vigil, effects)
    }

    /// Expects something else from now on; what was seen stays.
    pub fn expect(&mut self, pulse: Pulse, now: Timestamp) -> Vec<Effect> {
        let stored = pulse.stored.until(now);
        let last = newer(self.pulse.stored.last, stored.last);
        let mut effects = self.wake(now);
        self.pulse = Pulse { stored: Heartbeat { last, ..stored }, ..pulse };
        self.deadline = self.pulse.deadline();
        effects.extend(self.wake(now));
        effects
    }

    /// Takes in a ping. One that has been taken in from the store is not counted twice.
    pub fn ping(&mut self, ping: Ping, now: Timestamp) -> Vec<Effect> {
        if self.pulse.stored.last.is_some_and(|known| known.at == ping.at)
            && self.last_entry_at >= Some(ping.at)
        {
            return Vec::new();
        }
        let mut effects = self.wake(now.min(ping.at));
        self.record_ping(ping, &mut effects);
        effects
    }

    /// Notices a deadline that has passed. However many have, one entry tells.
    pub fn wake(&mut self, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        let Some(deadline) = self.deadline.filter(|deadline| *deadline <= now) else { return effects };
        let is_late = now.ms_since(deadline) > SLACK_MS;
        let at = if is_late { now } else { deadline };
        if is_late && self.status.verdict() != Verdict::Unknown {
            self.change_to(MeasuredStatus::NoData, ChangeCause::Gap, (deadline, &mut effects));
        }
        let periods = now.ms_since(deadline) / self.pulse.interval_ms + 1;
        self.deadline = Some(deadline.plus_ms(periods * self.pulse.interval_ms));
        let failure = Failure::new(ErrorCode::HeartbeatMissed, "No ping came in time.");
        self.record((deadline, at), (CheckStatus::Down, Some(failure)), &mut effects);
        self.change_to(MeasuredStatus::Down, ChangeCause::Votes, (at, &mut effects));
        effects
    }

    /// Ends the vigil: what was reported holds no longer.
    pub fn end(&mut self, cause: ChangeCause, now: Timestamp) -> Vec<Effect> {
        let mut effects = self.wake(now);
        self.deadline = None;
        self.change_to(MeasuredStatus::Unknown, cause, (now, &mut effects));
        effects
    }

    /// The wall clock was set ahead by `jump_ms`, or back: deadlines move with it, and so does what was seen. A ping that
    /// stayed in the future would keep every later one from counting as the newest.
    pub fn shift(&mut self, jump_ms: i64) {
        let shifted = |at: Option<Timestamp>| at.map(|at| at.plus_ms(jump_ms));
        self.deadline = shifted(self.deadline);
        self.last_entry_at = shifted(self.last_entry_at);
        let Heartbeat { last, counts_from } = &mut self.pulse.stored;
        *counts_from = shifted(*counts_from);
        if let Some(ping) = last {
            ping.at = ping.at.plus_ms(jump_ms);
        }
    }

    /// When [`Self::wake`] is to be called next.
    #[must_use]
    pub const fn next_wake(&self) -> Option<Timestamp> {
        self.deadline
    }

    /// Until when the present status is backed, if no ping comes.
    #[must_use]
    pub const fn measured_until(&self) -> Option<Timestamp> {
        self.deadline
    }

    /// What the pings say now.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        self.status.verdict()
    }

    fn record_ping(&mut self, ping: Ping, effects: &mut Vec<Effect>) {
        let status = if ping.has_failed { CheckStatus::Down } else { CheckStatus::Up };
        let failure = || Failure::new(ErrorCode::HeartbeatFail, "The ping reported a failure.");
        let is_newest = self.last_entry_at.is_none_or(|at| at <= ping.at);
        if is_newest {
            self.pulse.stored.last = Some(ping);
            self.deadline = Some(ping.at.plus_ms(self.pulse.interval_ms + self.pulse.grace_ms));
        }
        self.record((ping.at, ping.at), (status, ping.has_failed.then(failure)), effects);
        if is_newest {
            let verdict = if ping.has_failed { MeasuredStatus::Down } else { MeasuredStatus::Up };
            self.change_to(verdict, ChangeCause::Votes, (ping.at, effects));
        }
    }

    fn record(
        &mut self,
        (scheduled_at, checked_at): (Timestamp, Timestamp),
        (status, failure): (CheckStatus, Option<Failure>),
        effects: &mut Vec<Effect>,
    ) {
        self.last_entry_at = self.last_entry_at.max(Some(checked_at));
        let measurement = Measurement {
            status,
            response_time: None,
            timings: Timings::default(),
            status_code: None,
            failure: failure.map(Box::new),
        };
        let attempt = Attempt { slot: 0, scheduled_at, attempt: 1 };
        effects.push(Effect::Record(Finished { attempt, checked_at, measurement }));
    }

    /// After a restart: deadlines up to the newest entry have been recorded.
    fn skip_recorded_deadlines(&mut self) {
        if let (Some(deadline), Some(entry)) = (self.deadline, self.last_entry_at)
            && deadline <= entry
        {
            let periods = entry.ms_since(deadline) / self.pulse.interval_ms + 1;
            self.deadline = Some(deadline.plus_ms(periods * self.pulse.interval_ms));
        }
    }

    fn change_to(
        &mut self,
        to: MeasuredStatus,
        cause: ChangeCause,
        (at, effects): (Timestamp, &mut Vec<Effect>),
    ) {
        if to == self.status {
            return;
        }
        // Strictly later than the change before, as in `watch`.
        let at = self.status_since.map_or(at, |since| at.max(since.plus_ms(1)));
        effects.push(Effect::Change(Change { at, from: self.status, to, cause }));
        self.status = to;
        self.status_since = Some(at);
    }
}

fn newer(one: Option<Ping>, other: Option<Ping>) -> Option<Ping> {
    [one, other].into_iter().flatten().max_by_key(|ping| ping.at)
}

#[cfg(test)]
mod tests;
