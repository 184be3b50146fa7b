//! One actor per checked service: it owns the watch over the service and nothing else.
//!
//! All decisions are made by `model::watch`; the actor turns their effects into messages and a single timer. A
//! change of the definition raises the sequence number, and answers with an older number are dropped: this one
//! rule removes most races.

mod check_request;
mod excluded_votes;
mod pings;
mod reason;
mod redefinition;
pub(super) mod review;
mod silence;
mod timer;
pub(super) mod watch_machine;

use std::sync::Arc;

use actix::{Actor, ActorContext, Addr, Context, Handler, Message, SpawnHandle};
use tokio::time::Instant;

use crate::clock::{STEP_MS, Timestamp};
use crate::engine::definition::{CompiledChecks, WatchDefinition};
use crate::engine::location::{CheckReply, RunCheck};
use crate::engine::messages::{CheckFinished, CheckListener, SilentAttempt};
use crate::engine::service::reason::{ChangeReason, failing_locations};
use crate::engine::service::redefinition::{carry_memory_over, is_same_watch};
use crate::engine::service::watch_machine::WatchMachine;
use crate::engine::shard::Shard;
use crate::model::check::{CheckOutcome, CheckStatus, CheckType, LocalFault};
use crate::model::history::{ChangeCause, CheckRecord, StatusChange};
use crate::model::location::{LocationCode, LocationKey};
use crate::model::service::ProbeRole;
use crate::model::status_timeline::MeasuredStatusChange;
use crate::model::watch::{
    CheckAttempt, FinishedCheck, LocationOpinion, WatchEffect, WatchMemory, WatchState,
};
use crate::supervise::{ActorKind, ActorLife, LivenessQuery, SupervisedActor};

/// The actor of one service.
pub struct ServiceActor {
    pub(super) definition: Arc<WatchDefinition>,
    pub(super) shard: Arc<Shard>,
    pub(super) watching: WatchMachine,
    /// State to resume from; taken at start, so it is boxed.
    memory: Option<Box<WatchMemory>>,
    sequence: u32,
    timer: Option<SpawnHandle>,
    /// The moment for which the timer was set.
    timer_due: Option<Instant>,
    /// True while the actor still waits although its timer is due, because the process has stood still.
    is_held: bool,
    anchor: (Timestamp, Instant),
    /// The address to which the service's checks answer.
    address: Arc<Addr<Self>>,
    life: Arc<ActorLife>,
}

/// Watch by this definition from now on.
#[derive(Message)]
#[rtype(result = "()")]
pub struct RedefineService(pub Arc<WatchDefinition>);

/// Check now, from every location.
#[derive(Message)]
#[rtype(result = "()")]
pub struct CheckNow;

/// Stop watching the service, and end the actor.
#[derive(Message)]
#[rtype(result = "()")]
pub struct EndWatch;

impl ServiceActor {
    pub(super) fn new(
        definition: Arc<WatchDefinition>,
        shard: Arc<Shard>,
        memory: Option<Box<WatchMemory>>,
        address: Arc<Addr<Self>>,
        life: Arc<ActorLife>,
    ) -> Self {
        let anchor = (shard.clock.now(), Instant::now());
        Self {
            definition,
            shard,
            watching: WatchMachine::Idle,
            memory,
            sequence: 0,
            timer: None,
            timer_due: None,
            is_held: false,
            anchor,
            address,
            life,
        }
    }

    /// Returns the wall time, after accounting for a clock that was set since the last call.
    pub(super) fn now(&mut self) -> Timestamp {
        let (wall, instant) = (self.shard.clock.now(), Instant::now());
        let passed_ms = signed(instant.duration_since(self.anchor.1).as_millis());
        let jump_ms = wall.ms_since(self.anchor.0) - passed_ms;
        self.anchor = (wall, instant);
        if jump_ms.abs() > STEP_MS {
            for change in self.watching.shift(jump_ms, wall) {
                self.report(change, None);
            }
        }
        wall
    }

    fn begin(&mut self, memory: WatchMemory, ctx: &mut Context<Self>) {
        let now = self.now();
        let is_new = memory.votes.is_empty();
        let (watching, effects) = WatchMachine::begin(&self.definition, memory, now, &self.absences());
        self.watching = watching;
        if let (true, WatchMachine::Checked(watch), Some(task)) =
            (is_new, &mut self.watching, &self.definition.task)
        {
            watch.set_first_check(now.plus_ms(self.shard.plan_first_check(task.plan.interval_ms)));
        }
        self.apply(effects, ctx);
    }

    /// Returns the memory with which the next watch may continue. If no measurement is valid any longer, the status ends
    /// at once.
    fn hand_over(
        &mut self,
        before: &WatchDefinition,
        mut watch: WatchState,
        now: Timestamp,
        ctx: &mut Context<Self>,
    ) -> WatchMemory {
        let memory = carry_memory_over(before, &self.definition, watch.memory(), &self.shard.roster);
        if !memory.is_without_votes() {
            return memory;
        }
        let effects = watch.end(self.ending(), now);
        self.apply(effects, ctx);
        watch.memory().without_votes()
    }

    /// Returns the reason why earlier results are no longer valid.
    fn ending(&self) -> ChangeCause {
        if self.definition.is_paused { ChangeCause::Paused } else { ChangeCause::Reconfigured }
    }

    pub(super) fn apply(&mut self, effects: Vec<WatchEffect>, ctx: &mut Context<Self>) {
        self.carry_out(effects);
        self.report_unheard();
        self.set_timer(ctx);
    }

    /// Carries out the effects; the caller then calls [`Self::set_timer`].
    pub(super) fn carry_out(&mut self, effects: Vec<WatchEffect>) {
        let reason = ChangeReason::from_effects(&effects);
        for effect in effects {
            match effect {
                WatchEffect::Run(attempt) => self.run(attempt),
                WatchEffect::Record(finished) => self.record(finished),
                WatchEffect::Change(change) => self.report(change, reason.as_ref()),
                WatchEffect::Missed(runs) => self.shard.counters.missed.add(runs),
                WatchEffect::Opinion(opinion) => self.note(opinion),
                WatchEffect::RequestRecheck(request) => self.request_check(request, self.shard.clock.now()),
                WatchEffect::CheckEarly(slot) => self.schedule_fast_recheck(slot),
            }
        }
        if let Some(good_results) = self.watching.good_results() {
            self.shard.figures.note_good_results(self.definition.key, good_results);
        }
    }

    /// Requests an early check; without recheck budget the location keeps to its fast-recheck interval.
    fn schedule_fast_recheck(&mut self, slot: usize) {
        let Some(task) = &self.definition.task else { return };
        let Some(key) = task.locations.get(slot) else { return };
        if self.shard.take_recheck(*key, task.host_key)
            && let WatchMachine::Checked(watch) = &mut self.watching
        {
            watch.check_early(slot, self.shard.clock.now());
        }
    }

    fn run(&self, attempt: CheckAttempt) {
        let Some(task) = &self.definition.task else { return };
        let Some(queue) = task.locations.get(attempt.slot).and_then(|key| self.shard.queue(*key)) else {
            return;
        };
        let check = RunCheck {
            spec: Arc::clone(&task.spec),
            host_key: task.host_key,
            reply: CheckReply::expected(
                attempt,
                self.sequence,
                Arc::clone(&self.address) as Arc<dyn CheckListener>,
                &self.shard.counters,
            ),
        };
        if let Err(refused) = queue.try_send(check) {
            refused.into_inner().reply.send(Instant::now(), CheckOutcome::Unmeasured(LocalFault::QueueFull));
        }
    }

    fn record(&self, finished: FinishedCheck) {
        let Some((location, role)) = self.source(&finished) else { return };
        let measured_until = self.watching.measured_until();
        let record = CheckRecord {
            service: self.definition.key,
            location,
            role,
            scheduled_at: finished.attempt.scheduled_at,
            checked_at: finished.checked_at,
            attempt: finished.attempt.attempt,
            measurement: finished.measurement,
        };
        self.shard.figures.take_result(record, measured_until);
    }

    /// Returns the location that a result comes from, and its role. The result is counted at that location.
    fn source(&self, finished: &FinishedCheck) -> Option<(LocationCode, ProbeRole)> {
        if self.definition.check_type == CheckType::Heartbeat {
            return Some((LocationCode::push(), ProbeRole::Full));
        }
        let (key, role) = location_of(self.definition.task.as_ref()?, finished.attempt.slot)?;
        let known = self.shard.roster.get(key)?;
        known.finished(self.definition.check_type, finished.measurement.status).add(1);
        Some((known.location.code.clone(), role))
    }

    fn note(&self, opinion: LocationOpinion) {
        let key = self.definition.task.as_ref().and_then(|task| task.locations.get(opinion.slot));
        if let Some(known) = key.and_then(|key| self.shard.roster.get(*key)) {
            let WatchDefinition { organisation, key, .. } = *self.definition;
            known.note_opinion(organisation, key, opinion.contradicts);
        }
    }

    fn report(&self, change: MeasuredStatusChange, reason: Option<&ChangeReason>) {
        let MeasuredStatusChange { at, from, to, cause } = change;
        let verdict = self.watching.verdict();
        let change = StatusChange { service: self.definition.key, at, from, to, cause };
        if cause.is_about_flapping() {
            self.report_flapping(change);
            return self.shard.figures.take_change(change, verdict);
        }
        tracing::info!(
            service = %self.definition.id,
            name = %self.definition.name,
            target = self.definition.task.as_ref().map(|task| task.spec.target_for_log()),
            from = from.as_str(),
            to = to.as_str(),
            cause = cause.as_str(),
            at = %at,
            error_code = reason.map(ChangeReason::error_code),
            error_message = reason.map(ChangeReason::error_message),
            status_code = reason.and_then(ChangeReason::status_code),
            failing_locations = failing_locations(&self.watching, &self.definition, &self.shard.roster),
            "status changed"
        );
        self.shard.figures.take_change(change, verdict);
    }

    fn report_flapping(&self, StatusChange { at, cause, .. }: StatusChange) {
        let (service, name) = (&self.definition.id, &self.definition.name);
        if cause == ChangeCause::Flapping {
            self.shard.counters.flapping.add(1);
            tracing::warn!(%service, %name, %at, "service is flapping");
        } else {
            tracing::info!(%service, %name, %at, "service stopped flapping");
        }
    }

    fn log_trouble(&self, attempt: u8, outcome: &CheckOutcome) {
        match outcome {
            CheckOutcome::Measured(seen) if seen.status == CheckStatus::Up => {}
            CheckOutcome::Measured(_) => {
                tracing::debug!(service = %self.definition.id, attempt, "check attempt failed");
            }
            CheckOutcome::Unmeasured(trouble) => {
                tracing::debug!(
                    service = %self.definition.id,
                    reason = trouble.as_str(),
                    "check could not run"
                );
            }
        }
    }
}

fn signed(count: u128) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn location_of(task: &CompiledChecks, slot: usize) -> Option<(LocationKey, ProbeRole)> {
    Some((*task.locations.get(slot)?, task.plan.locations.get(slot)?.role))
}

impl SupervisedActor for ServiceActor {
    const KIND: ActorKind = ActorKind::restarting("service");
}

impl Handler<LivenessQuery> for ServiceActor {
    type Result = ();

    fn handle(&mut self, beat: LivenessQuery, ctx: &mut Context<Self>) {
        beat.answer(ctx);
    }
}

/// A lost answer does no harm: a deleted service does not need it, and the ticket counts the attempt as
/// dropped. The mailbox of any other service has room for everything that its locations can send.
impl CheckListener for Addr<ServiceActor> {
    fn finished(&self, finished: CheckFinished) {
        drop(self.try_send(finished));
    }

    fn silent(&self, silent: SilentAttempt) {
        drop(self.try_send(silent));
    }
}

impl Actor for ServiceActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        let memory = self.memory.take().unwrap_or_default();
        self.begin(*memory, ctx);
    }
}

impl Handler<RedefineService> for ServiceActor {
    type Result = ();

    fn handle(&mut self, RedefineService(definition): RedefineService, ctx: &mut Context<Self>) {
        if definition.revision < self.definition.revision {
            return;
        }
        let now = self.now();
        let before = std::mem::replace(&mut self.definition, definition);
        if is_same_watch(&before, &self.definition) {
            return;
        }
        self.sequence = self.sequence.wrapping_add(1);
        let memory = match std::mem::take(&mut self.watching) {
            WatchMachine::Idle => WatchMemory::default(),
            WatchMachine::Checked(watch) => self.hand_over(&before, watch, now, ctx),
            WatchMachine::Reporting(heartbeat) => {
                let effects = self.continue_heartbeat(heartbeat, now);
                return self.apply(effects, ctx);
            }
        };
        self.begin(memory, ctx);
    }
}

impl Handler<CheckFinished> for ServiceActor {
    type Result = ();

    fn handle(&mut self, finished: CheckFinished, ctx: &mut Context<Self>) {
        let CheckFinished { attempt, sequence, started, outcome, ticket } = finished;
        if sequence != self.sequence {
            return;
        }
        ticket.settle(&outcome);
        self.log_trouble(attempt.attempt, &outcome);
        self.note_attempt(attempt.slot, &outcome);
        let now = self.now();
        let started_us = self.shard.clock.now_us() - signed(started.elapsed().as_micros());
        self.set_votes_aside();
        let WatchMachine::Checked(watch) = &mut self.watching else { return };
        let attempt = watch.under_way(attempt.slot).unwrap_or(attempt);
        let checked_at = Timestamp::from_ms(started_us.div_euclid(1_000));
        let effects = watch.finish(attempt, checked_at, outcome, now);
        if attempt.attempt == 1 {
            let late_us = started_us - attempt.scheduled_at.ms() * 1_000;
            self.shard.counters.started_late(late_us);
            self.shard.figures.note_lateness(late_us);
        }
        self.apply(effects, ctx);
    }
}

impl Handler<EndWatch> for ServiceActor {
    type Result = ();

    fn handle(&mut self, _: EndWatch, ctx: &mut Context<Self>) {
        self.sequence = self.sequence.wrapping_add(1);
        self.watching = WatchMachine::Idle;
        self.report_unheard();
        ctx.stop();
    }
}
