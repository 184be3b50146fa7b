//! Runs the watch of the engine on virtual time, with stored results instead of checks and without waiting.
//!
//! This takes the role of the actor around the watch (`engine::service`): it turns effects into checks and into the next
//! moment of virtual time. The recheck budget is unlimited.

use crate::clock::Timestamp;
use crate::model::check::{CheckOutcome, LocalFault, Measurement, PhaseTimings};
use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange};
use crate::model::service::ServiceKey;
use crate::model::simulation::recorded_location::{
    RecordedAnswer, RecordedCadence, RecordedCheck, RecordedLocation, ReplayedCheck,
};
use crate::model::status_timeline::MeasuredStatusChange;
use crate::model::time_range::TimeRange;
use crate::model::verdict::{LocationVote, Verdict};
use crate::model::watch::{CheckAttempt, WatchEffect, WatchMemory, WatchPlan, WatchState};

/// Maximum number of checks of a replay; enough for ten locations that check every half minute for two months.
const CHECKS_MAX: u64 = 2_000_000;

/// The replay would take too many checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {CHECKS_MAX} looks")]
pub struct ReplayLimitExceeded;

/// A moment from which earlier results no longer count, because a pause started or the target changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryBreak {
    /// Results before this time do not count.
    pub at: Timestamp,
    /// Reason for the break.
    pub cause: ChangeCause,
}

/// The status of a service before the range of a replay.
#[derive(Clone, Copy, Debug, Default)]
pub struct PriorStatus {
    /// Last status before the replay.
    pub status: MeasuredStatus,
    /// Start of that status, if known.
    pub since: Option<Timestamp>,
}

/// Stored results of a service, and the plan by which they are judged again.
#[derive(Debug)]
pub struct CheckReplay<'a> {
    /// Database key of the service.
    pub service: ServiceKey,
    /// The plan. Its locations correspond to [`Self::seen`] by index, and the watch keeps their schedules.
    pub plan: WatchPlan,
    /// The cadence with which the results were measured.
    pub rhythm: RecordedCadence,
    /// The results of each location of the plan, in the order of their times.
    pub seen: Vec<&'a [RecordedCheck]>,
    /// The status before the replayed range.
    pub known: PriorStatus,
    /// The breaks, in the order of their times.
    pub breaks: &'a [HistoryBreak],
}

/// A simulated status change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayedChange {
    /// The change, as it would have been recorded.
    pub change: StatusChange,
    /// The time at which the watch would have recorded the change; may be later than the time of the change itself.
    pub known_at: Timestamp,
}

/// The status of a service as it would have been.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayOutcome {
    /// The changes in the order in which they would have been recorded, including start and end of flapping.
    pub status_changes: Vec<ReplayedChange>,
    /// The time until which results support the last status; `None` if no status is known.
    pub measured_until: Option<Timestamp>,
}

impl CheckReplay<'_> {
    /// Replays the results of a range.
    pub fn run(&self, range: TimeRange) -> Result<ReplayOutcome, ReplayLimitExceeded> {
        let timeout_ms = self.plan.timeout_ms;
        let seen = self.seen.iter().copied();
        let locations: Vec<RecordedLocation<'_>> =
            seen.map(|seen| RecordedLocation::new(seen, self.rhythm, timeout_ms)).collect();
        let mut stage = ReplayState {
            service: self.service,
            running: vec![None; locations.len()],
            back_at: vec![None; locations.len()],
            locations,
            now: range.from,
            fast_rechecks_ms: self.plan.uncertain_interval_ms,
            checks: 0,
            done: ReplayOutcome::default(),
        };
        let mut watch = stage.open(&self.plan, self.known);
        for break_ in self.breaks.iter().filter(|one| range.contains(one.at)) {
            stage.advance_to(&mut watch, break_.at)?;
            let effects = watch.end(break_.cause, break_.at);
            stage.carry_out(&mut watch, effects);
            stage.forget();
            let memory = watch.memory().without_votes();
            watch = stage.begin_at_next_result(&self.plan, memory, range.to);
        }
        stage.advance_to(&mut watch, range.to)?;
        let is_known = watch.verdict() != Verdict::Unknown;
        stage.done.measured_until = watch.measured_until().filter(|_| is_known);
        Ok(stage.done)
    }
}

/// A simulated check that is running at a location.
#[derive(Clone, Copy, Debug)]
struct RunningCheck {
    attempt: CheckAttempt,
    /// The check; `None` if it could not be made.
    check: Option<ReplayedCheck>,
    ends_at: Timestamp,
}

struct ReplayState<'a> {
    service: ServiceKey,
    locations: Vec<RecordedLocation<'a>>,
    running: Vec<Option<RunningCheck>>,
    /// The time at which each location that had no result checks again.
    back_at: Vec<Option<Timestamp>>,
    now: Timestamp,
    fast_rechecks_ms: i64,
    checks: u64,
    done: ReplayOutcome,
}

impl ReplayState<'_> {
    /// The watch at the start of the range. It continues from the status before, if results support that status.
    fn open(&mut self, plan: &WatchPlan, known: PriorStatus) -> WatchState {
        let memory =
            WatchMemory { status: known.status, status_since: known.since, ..WatchMemory::default() };
        let is_measured = known.status.verdict() != Verdict::Unknown;
        let now = self.now;
        let vote = |(slot, location): (usize, &RecordedLocation<'_>)| {
            let status = location.status_at(now)?;
            Some((slot, LocationVote { status, checked_at: now }))
        };
        let votes: Vec<(usize, LocationVote)> =
            self.locations.iter().enumerate().filter(|_| is_measured).filter_map(vote).collect();
        if votes.is_empty() {
            return self.begin_at_next_result(plan, memory, Timestamp::from_ms(i64::MAX));
        }
        self.begin(plan, WatchMemory { votes, ..memory })
    }

    /// A watch that starts at the next result, because the real watch checked at once at that time.
    fn begin_at_next_result(
        &mut self,
        plan: &WatchPlan,
        memory: WatchMemory,
        latest: Timestamp,
    ) -> WatchState {
        let now = self.now;
        let first = self.locations.iter().filter_map(|location| location.first_since(now)).min();
        self.now = first.map_or(now, |first| first.min(latest)).max(now);
        self.begin(plan, memory)
    }

    fn begin(&mut self, plan: &WatchPlan, memory: WatchMemory) -> WatchState {
        let (mut watch, effects) = WatchState::begin(plan.clone(), memory, self.now);
        self.carry_out(&mut watch, effects);
        watch
    }

    /// Drops running checks, and results that started before now.
    fn forget(&mut self) {
        self.running.fill(None);
        self.back_at.fill(None);
        for location in &mut self.locations {
            location.forget_before(self.now);
        }
    }

    fn advance_to(&mut self, watch: &mut WatchState, until: Timestamp) -> Result<(), ReplayLimitExceeded> {
        loop {
            let ends = self.running.iter().flatten().map(|running| running.ends_at);
            let backs = self.back_at.iter().flatten().copied();
            let next = ends.chain(backs).chain(watch.next_wake()).min();
            let Some(next) = next.map(|next| next.max(self.now)).filter(|next| *next < until) else { break };
            self.now = next;
            self.finish(watch);
            self.bring_back(watch);
            if watch.next_wake().is_some_and(|at| at <= self.now) {
                let effects = watch.wake(self.now);
                self.carry_out(watch, effects);
            }
            if self.checks > CHECKS_MAX {
                return Err(ReplayLimitExceeded);
            }
        }
        self.now = self.now.max(until);
        Ok(())
    }

    /// Ends the checks whose end has been reached.
    fn finish(&mut self, watch: &mut WatchState) {
        for slot in 0..self.running.len() {
            let Some(RunningCheck { attempt, check, .. }) =
                self.running[slot].take_if(|running| running.ends_at <= self.now)
            else {
                continue;
            };
            let (began_at, outcome) = match check {
                Some(check) => (check.began_at, CheckOutcome::Measured(measurement(check))),
                None => (self.now, CheckOutcome::Unmeasured(LocalFault::QueueFull)),
            };
            let effects = watch.finish(attempt, began_at, outcome, self.now);
            self.carry_out(watch, effects);
        }
    }

    /// Lets locations check again that had no result before.
    fn bring_back(&mut self, watch: &mut WatchState) {
        for slot in 0..self.back_at.len() {
            if self.back_at[slot].take_if(|at| *at <= self.now).is_some() {
                watch.check_early(slot, self.now);
            }
        }
    }

    fn carry_out(&mut self, watch: &mut WatchState, effects: Vec<WatchEffect>) {
        for effect in effects {
            match effect {
                WatchEffect::Run(attempt) => self.start_check(attempt),
                WatchEffect::CheckEarly(slot) => watch.check_early(slot, self.now),
                WatchEffect::Change(change) => {
                    let MeasuredStatusChange { at, from, to, cause } = change;
                    let change = StatusChange { service: self.service, at, from, to, cause };
                    self.done.status_changes.push(ReplayedChange { change, known_at: self.now });
                }
                WatchEffect::Record(_)
                | WatchEffect::Missed(_)
                | WatchEffect::Opinion(_)
                | WatchEffect::RequestRecheck(_) => {}
            }
        }
    }

    fn start_check(&mut self, attempt: CheckAttempt) {
        self.checks += 1;
        let answer = self.locations[attempt.slot].ask(self.now);
        let running = match answer {
            RecordedAnswer::Saw(check) => {
                RunningCheck { attempt, check: Some(check), ends_at: check.ended_at }
            }
            RecordedAnswer::Nothing(back_at) => {
                // The watch adds this delay to early checks.
                self.back_at[attempt.slot] = back_at.map(|at| at.plus_ms(-self.fast_rechecks_ms));
                RunningCheck { attempt, check: None, ends_at: self.now }
            }
        };
        self.running[attempt.slot] = Some(running);
    }
}

fn measurement(check: ReplayedCheck) -> Measurement {
    Measurement {
        status: check.status,
        response_time: None,
        timings: PhaseTimings::default(),
        status_code: None,
        failure: None,
    }
}
