//! The current state of one service, and its rolling figures.
//!
//! Time is added to the figures when a period of equal status ends. A snapshot also adds the current period, up
//! to the time until which results back the status.

use crate::clock::{DAY_MS, Timestamp};
use crate::model::flapping::{FlappingState, is_transition};
use crate::model::history::{ChangeCause, CheckRecord, MeasuredStatus, StatusChange};
use crate::model::location::LocationCode;
use crate::model::service::{OverrideStatus, ProbeRole};
use crate::model::verdict::{LocationVote, Verdict};
use crate::stats::rolling_stats::{DailyStats, RollingStats};
use crate::stats::uptime::{ClassifiedSpan, UptimeClass, per_day};

/// Pause, maintenance and override of a service: they decide how its time counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ManualDecision {
    /// True while a pause or planned maintenance excludes the time.
    pub(super) is_left_out: bool,
    /// The status that a person has set by hand.
    pub(super) stated: Option<OverrideStatus>,
}

/// The live state of one service.
#[derive(Debug)]
pub(super) struct LiveServiceState {
    verdict: Verdict,
    status: MeasuredStatus,
    decision: ManualDecision,
    /// Revision of the definition that contains the decision.
    revision: i64,
    since: Timestamp,
    last_result_at: Option<Timestamp>,
    measured_until: Timestamp,
    window: RollingStats,
    /// The newest result of each location, for an actor that is restarted without its own memory.
    votes: Vec<(LocationCode, LocationVote)>,
    changed_at: Option<Timestamp>,
    /// Number of good results in a row, while the service is down and needs several of them to be up again.
    good_results: Option<u8>,
    /// Recent status transitions and whether the service flaps; `None` for nearly all services.
    flapping: Option<Box<FlappingState>>,
    /// True while the service fails because one that it depends on is down, and until its next check after
    /// that: this time is excluded from the figures.
    is_unreachable: bool,
    /// Set while past figures have to be recomputed: the clock was set back, or late results have filled a no-data period.
    interim: Option<Box<InterimFigures>>,
}

/// Figures since `from`, which stay valid when the figures of the time before `from` are recomputed.
#[derive(Debug)]
struct InterimFigures {
    from: Timestamp,
    window: RollingStats,
}

/// The last known state of a service, for an actor that is restarted without its own memory.
#[derive(Clone, Debug, Default)]
pub struct LastKnownState {
    /// Measured status that was known last.
    pub status: MeasuredStatus,
    /// The time at which the status began.
    pub status_since: Option<Timestamp>,
    /// The newest result of each location.
    pub votes: Vec<(LocationCode, LocationVote)>,
    /// Recent status transitions, and whether the service flaps.
    pub flapping: FlappingState,
}

/// The current state and figures of a service.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServiceSnapshot {
    /// The verdict of the votes.
    pub verdict: Verdict,
    /// True while the service is flapping.
    pub is_flapping: bool,
    /// Start of the newest finished check.
    pub last_check_at: Option<Timestamp>,
    /// Start of the oldest of the locations' newest counting checks, while most of these checks agree with the
    /// verdict. `None` otherwise, because the verdict is about to change.
    pub sure_since: Option<Timestamp>,
    /// The time until which results back the current status, if no other result comes.
    pub measured_until: Option<Timestamp>,
    /// Number of good results in a row since the service was last seen down; `None` unless it is down and needs several of
    /// them to be up again.
    pub good_results: Option<u8>,
    /// Percent over 30 days, counted as in section 4.7 of the contract.
    pub uptime_30d: Option<f64>,
    /// Mean response time over 30 days in milliseconds, one decimal.
    pub avg_response_ms: Option<f64>,
}

impl LiveServiceState {
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            verdict: Verdict::Unknown,
            status: MeasuredStatus::Unknown,
            decision: ManualDecision::default(),
            revision: i64::MIN,
            since: now,
            last_result_at: None,
            measured_until: now,
            window: RollingStats::default(),
            votes: Vec::new(),
            changed_at: None,
            good_results: None,
            flapping: None,
            is_unreachable: false,
            interim: None,
        }
    }

    pub(super) const fn verdict(&self) -> Verdict {
        self.verdict
    }

    pub(super) fn last_known(&self) -> LastKnownState {
        LastKnownState {
            status: self.status,
            status_since: self.changed_at,
            votes: self.votes.clone(),
            flapping: self.flapping.as_deref().cloned().unwrap_or_default(),
        }
    }

    /// Continues with the state that an earlier process left.
    pub(super) fn resume(
        &mut self,
        status: MeasuredStatus,
        verdict: Verdict,
        last_result_at: Option<Timestamp>,
        flapping: FlappingState,
    ) {
        self.status = status;
        self.verdict = verdict;
        self.last_result_at = last_result_at;
        self.flapping = (flapping != FlappingState::default()).then(|| Box::new(flapping));
    }

    /// Backs the current status until `deadline`, if no other result comes.
    pub(super) fn extend_coverage(&mut self, deadline: Option<Timestamp>) {
        self.measured_until = deadline.map_or(self.measured_until, |at| at.max(self.measured_until));
    }

    pub(super) fn take_result(&mut self, record: &CheckRecord, measured_until: Option<Timestamp>) {
        self.last_result_at = self.last_result_at.max(Some(record.checked_at));
        self.measured_until = measured_until.unwrap_or(record.checked_at);
        let vote = LocationVote { status: record.measurement.status, checked_at: record.checked_at };
        match self.votes.iter_mut().find(|(location, _)| *location == record.location) {
            Some((_, newest)) => *newest = vote,
            None => {
                // Most services have a single location.
                self.votes.reserve_exact(1);
                self.votes.push((record.location.clone(), vote));
            }
        }
        self.add_response(record);
    }

    /// Records the number of good results in a row of a service that is down.
    pub(super) const fn note_good_results(&mut self, good_results: u8) {
        self.good_results = Some(good_results);
    }

    /// Adds the response time of a result to its day; a late result changes nothing else.
    pub(super) fn add_response(&mut self, record: &CheckRecord) {
        let answered = record.measurement.response_time.filter(|_| record.role == ProbeRole::Full);
        if let Some(response_time) = answered {
            let sum_us = u64::from(response_time.get());
            self.add(record.checked_at.day(), DailyStats { answered: 1, sum_us, ..DailyStats::default() });
        }
    }

    fn add(&mut self, day: i64, figures: DailyStats) {
        let interim = self.interim.as_mut().map(|interim| &mut interim.window);
        for window in [Some(&mut self.window), interim].into_iter().flatten() {
            window.add(day, figures);
        }
    }

    pub(super) fn take_change(&mut self, change: &StatusChange, verdict: Verdict) {
        if change.cause.is_about_flapping() {
            let flapping = self.flapping.get_or_insert_default();
            return flapping.set(change.cause == ChangeCause::Flapping);
        }
        if is_transition(change.from, change.to) {
            self.flapping.get_or_insert_default().remember(change.at);
        }
        // The period has been closed when the clock was set back.
        if change.cause != ChangeCause::Clock {
            self.close_stretch(change.at);
        }
        self.status = change.to;
        self.verdict = verdict;
        self.changed_at = Some(change.at);
        if matches!(change.cause, ChangeCause::Paused | ChangeCause::Reconfigured) {
            self.votes.clear();
        }
    }

    /// Applies a pause, maintenance or override; one of an older revision is ignored.
    pub(super) fn take_decision(&mut self, revision: i64, decision: ManualDecision, now: Timestamp) {
        if revision < self.revision {
            return;
        }
        self.revision = revision;
        if decision != self.decision {
            self.close_stretch(now);
            self.decision = decision;
        }
    }

    pub(super) fn prime(&mut self, before: &RollingStats) {
        self.window.merge(before);
    }

    /// Handles a wall clock that was set back by `-jump_ms` to `now`. The current period is closed at the time
    /// before the jump; the old figures are shown until the figures of the time before `now` are recomputed.
    pub(super) fn set_back(&mut self, jump_ms: i64, now: Timestamp) {
        self.close_stretch(now.plus_ms(-jump_ms));
        self.since = now;
        self.measured_until = self.measured_until.plus_ms(jump_ms);
        self.last_result_at = self.last_result_at.map(|at| at.plus_ms(jump_ms));
        self.changed_at = self.changed_at.map(|at| at.min(now));
        if let Some(flapping) = &mut self.flapping {
            flapping.shift(jump_ms);
        }
        for (_, vote) in &mut self.votes {
            vote.checked_at = vote.checked_at.plus_ms(jump_ms);
        }
        self.interim = Some(Box::new(InterimFigures { from: now, window: RollingStats::default() }));
    }

    /// Requests that the figures of the past are computed again; until that is done the old ones are shown.
    pub(super) fn past_changed(&mut self, now: Timestamp) {
        self.close_stretch(now);
        self.since = now;
        self.interim = Some(Box::new(InterimFigures { from: now, window: RollingStats::default() }));
    }

    /// Records whether a dependency of the service is down. This began before it was noticed, so the past is
    /// recomputed.
    pub(super) fn set_unreachable(&mut self, is_unreachable: bool, now: Timestamp) {
        if !(is_unreachable && self.is_unreachable) {
            self.past_changed(now);
        }
        self.is_unreachable = is_unreachable;
    }

    /// Returns the time up to which figures have to be recomputed; `None` if they are up to date.
    pub(super) fn outdated_until(&self) -> Option<Timestamp> {
        self.interim.as_ref().map(|interim| interim.from)
    }

    /// Takes the figures of the time before `until`, unless the past was marked as outdated again in the
    /// meantime.
    pub(super) fn replace_past(&mut self, until: Timestamp, before: &RollingStats) {
        if let Some(interim) = self.interim.take_if(|interim| interim.from == until) {
            self.window = interim.window;
            self.window.merge(before);
        }
    }

    pub(super) fn snapshot(&self, now: Timestamp) -> ServiceSnapshot {
        let mut figures = self.window.total(now.day());
        let window_start =
            Timestamp::from_ms((now.day() - crate::stats::rolling_stats::WINDOW_DAYS + 1) * DAY_MS);
        if let Some(open) = self.stretch_until(now) {
            let from = open.from.max(window_start);
            figures.availability.add(open.counts, open.to.ms_since(from).max(0));
        }
        ServiceSnapshot {
            verdict: self.verdict,
            is_flapping: self.flapping.as_ref().is_some_and(|flapping| flapping.is_flapping()),
            last_check_at: self.last_result_at,
            sure_since: self.sure_since(now),
            measured_until: self.last_result_at.map(|at| at.max(self.measured_until)),
            good_results: self.good_results.filter(|_| self.verdict == Verdict::Down),
            uptime_30d: figures.availability.percent(),
            avg_response_ms: figures.mean_ms(),
        }
    }

    fn sure_since(&self, now: Timestamp) -> Option<Timestamp> {
        // A result backs the current status until `measured_until`; after that its location is silent or no longer checks.
        let counts_ms = self.measured_until.ms_since(self.last_result_at?);
        let votes = self.votes.iter().map(|(_, vote)| vote);
        let counting = votes.filter(|vote| now.ms_since(vote.checked_at) <= counts_ms);
        let (all, agreeing): (Vec<_>, Vec<_>) =
            counting.map(|vote| (vote.checked_at, Some(vote.status) == self.verdict.as_check())).unzip();
        let agree = agreeing.iter().filter(|agrees| **agrees).count();
        all.iter().min().copied().filter(|_| 2 * agree > agreeing.len())
    }

    /// Returns the class as which the current period counts: an override takes precedence over a pause, planned
    /// maintenance and unreachability, and these over the measurements.
    fn counts(&self) -> UptimeClass {
        match self.decision {
            ManualDecision { stated: Some(stated), .. } => UptimeClass::from(stated),
            ManualDecision { is_left_out, .. } if is_left_out || self.is_unreachable => UptimeClass::Nothing,
            ManualDecision { .. } => UptimeClass::from(self.status),
        }
    }

    fn stretch_until(&self, end: Timestamp) -> Option<ClassifiedSpan> {
        let is_measured = self.decision == ManualDecision::default() && !self.is_unreachable;
        let to = if is_measured { end.min(self.measured_until) } else { end };
        (to > self.since).then(|| ClassifiedSpan { from: self.since, to, counts: self.counts() })
    }

    fn close_stretch(&mut self, end: Timestamp) {
        if let Some(span) = self.stretch_until(end) {
            for (day, availability) in per_day(&[span]) {
                self.add(day, DailyStats { availability, ..DailyStats::default() });
            }
        }
        self.since = self.since.max(end);
    }
}

#[cfg(test)]
mod tests;
