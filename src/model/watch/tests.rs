//! Invariants of the watch under random scripts, compared after each step with a model that knows only the results.

mod elsewhere;
mod mixed;
mod naive;
mod restart;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use self::naive::{Entry, Seen, What, replay};
use super::*;
use crate::model::check::{CheckStatus, ErrorCode, LocalFault, Measurement, PhaseTimings};
use crate::model::history::MeasuredStatus;
use crate::model::quorum::Quorum;
use crate::model::service::ProbeRole;
use crate::model::status_rules::FlappingRule;
use crate::model::status_rules::StatusRules;

/// A step of a script: time passes, and then an attempt may end.
#[derive(Clone, Copy, Debug)]
struct Step {
    wait_ms: i64,
    /// True if the watch is not woken while the time passes.
    is_stall: bool,
    /// Index of the running attempt that ends; none ends if the index is too high.
    ends: usize,
    /// How the attempt ends: 0 up, 1 degraded, 2 down, 3 a local fault.
    how: i16,
}

/// Plays the actor around a watch, and records what the watch must conclude.
struct Model {
    watch: WatchState,
    plan: WatchPlan,
    start: Timestamp,
    now: Timestamp,
    /// The running attempts, with their starts.
    under_way: Vec<(CheckAttempt, Timestamp)>,
    started: BTreeSet<(usize, Timestamp)>,
    votes: BTreeMap<usize, LocationVote>,
    last_result: Option<Timestamp>,
    status: MeasuredStatus,
    changed_at: Option<Timestamp>,
    missed: u64,
    /// Number of due times that fell into a check that was started between two due times.
    met: u64,
    /// All past events, to which the reported changes are compared.
    happened: Vec<Entry>,
    status_changes: Vec<MeasuredStatusChange>,
}

impl Model {
    fn begin(plan: WatchPlan, start: Timestamp) -> Self {
        let (watch, effects) = WatchState::begin(plan.clone(), WatchMemory::default(), start);
        let mut model = Self {
            watch,
            plan,
            start,
            now: start,
            under_way: Vec::new(),
            started: BTreeSet::new(),
            votes: BTreeMap::new(),
            last_result: None,
            status: MeasuredStatus::Unknown,
            changed_at: None,
            missed: 0,
            met: 0,
            happened: Vec::new(),
            status_changes: Vec::new(),
        };
        model.take(effects);
        model
    }

    fn round(&self, slot: usize) -> &CheckRound {
        self.watch.rounds[slot].as_ref().expect("every location is here")
    }

    fn step(&mut self, step: Step) {
        let until = self.now.plus_ms(step.wait_ms);
        while let Some(at) = self.watch.next_wake().filter(|at| *at <= until && !step.is_stall) {
            self.now = at.max(self.now);
            self.wake();
        }
        self.now = until;
        if step.is_stall {
            self.wake();
        }
        if step.ends < self.under_way.len() {
            self.finish(step.ends, step.how);
        }
    }

    fn wake(&mut self) {
        let effects = self.watch.wake(self.now);
        self.happened.push(Entry { now: self.now, what: What::Judgement });
        self.take(effects);
        assert!(self.watch.next_wake().is_none_or(|at| at > self.now), "nothing is overdue after a wake");
    }

    fn finish(&mut self, index: usize, how: i16) {
        let (attempt, began) = self.under_way.remove(index);
        // No attempt takes longer than its time limit.
        let began = began.max(self.now.plus_ms(-self.plan.timeout_ms));
        let schedule = self.round(attempt.slot).schedule();
        let outcome = match CheckStatus::from_code(how) {
            Some(status) => CheckOutcome::Measured(measurement(status)),
            None => CheckOutcome::Unmeasured(LocalFault::NoPorts),
        };
        let effects = self.watch.finish(attempt, began, outcome, self.now);
        if let Some(status) = CheckStatus::from_code(how) {
            let seen = Seen { slot: attempt.slot, at: began, status };
            let is_vote = effects.iter().any(|effect| matches!(effect, WatchEffect::Record(_)));
            let what = if is_vote { What::Vote(seen) } else { What::Attempt(seen) };
            self.happened.push(Entry { now: self.now, what });
        }
        self.take(effects);
        let is_over = self.round(attempt.slot).retry_at().is_none();
        let is_in_phase = schedule.latest(attempt.scheduled_at) == attempt.scheduled_at;
        if is_over && !is_in_phase && schedule.runs_between(attempt.scheduled_at, self.now) > 0 {
            self.met += 1;
        }
    }

    /// Compares the effects of one call with the model, in their order.
    fn take(&mut self, effects: Vec<WatchEffect>) {
        let last_before = self.last_result;
        for effect in effects {
            match effect {
                WatchEffect::Run(attempt) => self.take_run(attempt),
                WatchEffect::Record(FinishedCheck { attempt, checked_at, measurement }) => {
                    self.votes.insert(attempt.slot, LocationVote { status: measurement.status, checked_at });
                    self.last_result = self.last_result.max(Some(checked_at));
                }
                WatchEffect::Change(change) => self.take_change(change, last_before),
                WatchEffect::Missed(runs) => self.missed += runs,
                WatchEffect::RequestRecheck(request) => panic!("every location is here: {request:?}"),
                WatchEffect::CheckEarly(slot) => self.watch.check_early(slot, self.now),
                WatchEffect::Opinion(opinion) => assert!(opinion.slot < self.plan.locations.len()),
            }
        }
    }

    fn take_run(&mut self, attempt: CheckAttempt) {
        let mut others = self.under_way.iter().map(|(other, _)| other);
        assert!(others.all(|other| other.slot != attempt.slot), "one attempt a location");
        assert!(attempt.scheduled_at <= self.now, "nothing starts before it is due");
        if attempt.attempt == 1 {
            let is_first = self.started.insert((attempt.slot, attempt.scheduled_at));
            assert!(is_first, "one run a due time: {attempt:?}");
        }
        assert!(attempt.attempt <= self.plan.attempts);
        self.under_way.push((attempt, self.now));
    }

    fn take_change(&mut self, change: MeasuredStatusChange, last_before: Option<Timestamp>) {
        self.status_changes.push(change);
        assert_eq!(change.from, self.status, "changes alternate");
        if change.cause.is_about_flapping() {
            return assert_eq!(change.from, change.to);
        }
        assert_ne!(change.from, change.to);
        assert!(self.changed_at.is_none_or(|before| before < change.at), "changes are in order of time");
        if change.to == MeasuredStatus::NoData {
            let last = last_before.expect("a gap follows a result");
            assert_eq!(change.cause, ChangeCause::Gap);
            assert!(self.plan.backed_until(last, self.now) < self.now, "a gap follows a silence");
        }
        (self.status, self.changed_at) = (change.to, Some(change.at));
    }

    /// Lets all attempts end with success, until none is running and no retry is planned.
    fn settle(&mut self) {
        loop {
            while !self.under_way.is_empty() {
                self.finish(0, 0);
            }
            let retries = self.watch.rounds.iter().flatten().filter_map(CheckRound::retry_at);
            let Some(at) = retries.max() else { break };
            self.now = self.now.max(at);
            self.wake();
        }
    }

    /// The number of past due times since the start, and how many of them a check was started for.
    fn due_and_started(&self) -> (u64, u64) {
        let schedules = self.watch.rounds.iter().flatten().map(CheckRound::schedule);
        let due = schedules.clone().map(|schedule| schedule.runs_between(self.start, self.now)).sum();
        let in_phase = |(index, at): &&(usize, Timestamp)| {
            let schedule = self.round(*index).schedule();
            schedule.latest(*at) == *at && *at > self.start
        };
        (due, self.started.iter().filter(in_phase).count() as u64)
    }
}

fn measurement(status: CheckStatus) -> Measurement {
    match status {
        CheckStatus::Down => {
            Measurement::unanswered(ErrorCode::ConnectRefused, "refused", PhaseTimings::default())
        }
        status => Measurement {
            status,
            ..Measurement::unanswered(ErrorCode::ConditionFailed, "slow", PhaseTimings::default())
        },
    }
}

fn rules() -> impl Strategy<Value = StatusRules> {
    let number = (1_u8..5).prop_map(Quorum::AtLeast);
    let quorum =
        prop_oneof![4 => Just(Quorum::Majority), 1 => Just(Quorum::Any), 1 => Just(Quorum::All), 1 => number];
    let flapping = (0_u8..5, 1_u16..30).prop_map(|(changes, minutes)| FlappingRule { changes, minutes });
    let recovery_checks = prop_oneof![2 => Just(1_u8), 1 => 2_u8..5];
    (quorum, recovery_checks, flapping).prop_map(|(quorum, recovery_checks, flapping)| StatusRules {
        quorum,
        recovery_checks,
        flapping,
    })
}

fn plans() -> impl Strategy<Value = WatchPlan> {
    let interval_ms = prop::sample::select(vec![1_000, 5_000, 60_000, 600_000]);
    (any::<u64>(), interval_ms, 1_u8..4, 1_usize..5, rules()).prop_map(
        |(hash, interval_ms, attempts, slots, rules)| WatchPlan {
            hash,
            interval_ms,
            timeout_ms: 10_000,
            attempts,
            backoff_ms: 200,
            backoff_max_ms: 1_000,
            uncertain_interval_ms: 1_000,
            rules,
            locations: vec![HERE; slots].into(),
        },
    )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let wait_ms = prop_oneof![8 => 0_i64..3_000, 4 => 0_i64..90_000, 1 => 0_i64..2_000_000];
    let step = (wait_ms, prop::bool::weighted(0.1), 0_usize..5, 0_i16..4)
        .prop_map(|(wait_ms, is_stall, ends, how)| Step { wait_ms, is_stall, ends, how });
    prop::collection::vec(step, 1..120)
}

const HERE: PlannedLocation = PlannedLocation { role: ProbeRole::Full, round: RoundKeeper::Watch };
const START: i64 = 1_728_000_000_000;

proptest! {
    /// For any events in any order: there is one attempt per location and one check per due time, changes are in order,
    /// no-data periods occur only without results, and the changes are those that follow from the events.
    #[test]
    fn the_invariants_hold_for_any_events(plan in plans(), steps in steps(), start in 0_i64..600_000) {
        let mut model = Model::begin(plan, Timestamp::from_ms(START + start));
        for step in steps {
            model.step(step);
        }
        prop_assert_eq!(&model.status_changes, &replay(&model.plan, &model.happened));
    }

    /// For every due time a check is started, or is running, or is counted as missed.
    #[test]
    fn no_due_time_is_forgotten(plan in plans(), steps in steps(), start in 0_i64..600_000) {
        let mut model = Model::begin(plan, Timestamp::from_ms(START + start));
        for step in steps {
            model.step(step);
        }
        model.settle();
        let (due, started) = model.due_and_started();
        let accounted = started + model.met + model.missed;
        prop_assert!(due <= accounted, "{} of {} due times", accounted, due);
        // A single location checks outside of its due times only at first, and a stall may replace that check by a due
        // time.
        prop_assert!(model.plan.locations.len() > 1 || accounted <= due + 1, "{} for {} due times", accounted, due);
    }

    /// A watch that continues from the memory has the same verdict.
    #[test]
    fn the_verdict_survives_a_restart(plan in plans(), steps in steps()) {
        let mut model = Model::begin(plan.clone(), Timestamp::from_ms(START));
        for step in steps {
            model.step(step);
        }
        model.wake();
        let memory = model.watch.memory();
        prop_assert_eq!(memory.verdict(&plan, model.now), model.watch.verdict());
        let (successor, effects) = WatchState::begin(plan, memory, model.now);
        prop_assert_eq!(successor.verdict(), model.watch.verdict());
        let is_change = |effect: &WatchEffect| matches!(effect, WatchEffect::Change(_));
        prop_assert!(!effects.iter().any(is_change), "nothing has happened: {:?}", effects);
    }

    /// A clock setback starts no check, misses none, and does not change the status.
    #[test]
    fn a_clock_setback_shifts_all_times(plan in plans(), steps in steps(), back_ms in 1_i64..100_000_000) {
        let mut model = Model::begin(plan, Timestamp::from_ms(START));
        for step in steps {
            model.step(step);
        }
        model.wake();
        let (next_wake, verdict) = (model.watch.next_wake(), model.watch.verdict());
        let now = model.now.plus_ms(-back_ms);
        let changes = model.watch.shift(-back_ms, now);
        prop_assert_eq!(model.watch.next_wake(), next_wake.map(|at| at.plus_ms(-back_ms)));
        prop_assert_eq!(model.watch.wake(now), Vec::new());
        let is_closed = model.changed_at.is_some_and(|at| at > now);
        let goes_on = changes.last().map(|change| (change.at, change.to));
        prop_assert_eq!(goes_on, is_closed.then_some((now, model.status)), "the status goes on from now");
        prop_assert_eq!(model.watch.verdict(), verdict);
    }
}

/// A plan with checks on each minute, without retries, for this number of locations.
fn every_minute(locations: usize) -> WatchPlan {
    WatchPlan {
        hash: 0,
        interval_ms: 60_000,
        timeout_ms: 10_000,
        attempts: 1,
        backoff_ms: 200,
        backoff_max_ms: 1_000,
        uncertain_interval_ms: 1_000,
        rules: StatusRules::default(),
        locations: vec![HERE; locations].into(),
    }
}

/// The vote of an excluded location does not count while another location has a vote.
#[test]
fn a_suspect_vote_is_ignored_unless_it_is_the_only_one() {
    let now = Timestamp::from_ms(START);
    let (mut watch, _) = WatchState::begin(every_minute(2), WatchMemory::default(), now);
    watch.wake(now);
    watch.set_aside(1, true);
    let mut see = |slot, status| {
        let attempt = CheckAttempt { slot, scheduled_at: now, attempt: 1 };
        let effects = watch.finish(attempt, now, CheckOutcome::Measured(measurement(status)), now);
        let opinion = effects.into_iter().find_map(|effect| match effect {
            WatchEffect::Opinion(opinion) => Some(opinion.contradicts),
            _ => None,
        });
        (watch.verdict(), opinion)
    };
    assert_eq!(see(1, CheckStatus::Down), (Verdict::Down, None), "nobody else has looked");
    assert_eq!(see(0, CheckStatus::Up), (Verdict::Up, None), "a suspect cannot contradict anybody");
    assert_eq!(see(1, CheckStatus::Down), (Verdict::Up, Some(true)));
    assert_eq!(see(1, CheckStatus::Up), (Verdict::Up, Some(false)));
}

/// A loaded machine wakes the watch a moment late. The check then counts for the due time that has come in the meantime.
#[test]
fn a_late_first_check_misses_no_run() {
    let planned = Timestamp::from_ms(START - 10);
    let (mut watch, _) = WatchState::begin(every_minute(1), WatchMemory::default(), planned);
    let attempt = CheckAttempt { slot: 0, scheduled_at: planned, attempt: 1 };
    assert_eq!(watch.wake(Timestamp::from_ms(START + 5)), vec![WatchEffect::Run(attempt)]);
    let ended = Timestamp::from_ms(START + 20);
    let effects = watch.finish(attempt, ended, CheckOutcome::Measured(measurement(CheckStatus::Up)), ended);
    assert!(!effects.iter().any(|effect| matches!(effect, WatchEffect::Missed(_))), "{effects:?}");
    assert_eq!(watch.next_wake(), Some(Timestamp::from_ms(START + 60_000)));
}
