//! The fleet of all services: places each on its shard and restarts those that panic or freeze.
//!
//! A message may be lost, a stored definition may not: the owner of the store compares it with the fleet from time to time
//! and applies the differences; applying the same definition twice changes nothing.

mod check_requests;
mod closing;
mod members;
mod memory;
mod messages;
mod open_questions;
mod partitions;
mod review;
mod sweep;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext as _, Addr, AsyncContext, Context, Handler, MailboxError, ResponseFuture};
use tokio::sync::oneshot;

use crate::engine::counters::EngineCounters;
use crate::engine::definition::WatchDefinition;
use crate::engine::fleet::members::MemberSlices;
use crate::engine::fleet::memory::{known_status, memory_from};
pub use crate::engine::fleet::messages::{
    ApplyDefinition, CheckServices, FleetLivenessQuery, PermitPartitions, ReleasePartitions, RetireAll,
    RetireService, TakePing, WatchedService, WatchedServices,
};
use crate::engine::fleet::messages::{RestartService, ServiceExited};
use crate::engine::fleet::open_questions::OpenQuestions;
use crate::engine::messages::ReceivedPing;
use crate::engine::retired_services::RetiredServices;
use crate::engine::service::{EndWatch, RedefineService, ServiceActor};
use crate::engine::shard::{Shard, shard_index};
use crate::id::Id;
use crate::model::history::MeasuredStatus;
use crate::model::partition::{Partition, PartitionSet};
use crate::model::watch::WatchMemory;
use crate::supervise::backoff::Backoff;
use crate::supervise::{
    ActorExit, ActorKind, ActorKindCounters, ActorLife, LivenessQuery, StopActor, SupervisedActor, Supervisor,
};

/// The timeout for an answer of a service actor.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// The actor that knows every service of this process.
pub struct Fleet {
    shards: Arc<[Arc<Shard>]>,
    services: MemberSlices<FleetMember>,
    counters: Arc<EngineCounters>,
    supervisor: Supervisor,
    /// Supervision counters of the service actors.
    actor_counters: Arc<ActorKindCounters>,
    retired: RetiredServices,
    /// Partitions whose services may be watched; a definition of a service that another node has taken may arrive late.
    permitted: PartitionSet,
    /// Number of actors launched so far; each actor gets its own number, even if a service returns under the same id.
    launched: u64,
    /// The address to which service actors report their end.
    address: Option<Arc<Addr<Self>>>,
    /// Seconds counted by the sweep.
    tick: u32,
    /// The services that have not answered the question whether they are alive.
    asked: OpenQuestions,
    /// True while all services end; no service is started then.
    is_closing: bool,
    /// Notified when the last service has ended.
    all_ended: Option<oneshot::Sender<()>>,
}

struct FleetMember {
    address: Arc<Addr<ServiceActor>>,
    life: Arc<ActorLife>,
    definition: Arc<WatchDefinition>,
    /// Distinguishes the current actor from earlier ones of the same service.
    generation: u64,
    /// Backoff of an actor that has died before.
    backoff: Option<Box<Backoff>>,
}

impl FleetMember {
    /// Ends the actor; one that does not answer, or has already ended, is abandoned.
    fn end(self) -> impl Future<Output = ()> {
        let ended = self.address.send(EndWatch);
        async move {
            if !is_answered(ended).await {
                self.life.give_up();
            }
        }
    }
}

/// Waits for an actor's answer for a limited time: the actor may be frozen.
async fn is_answered(answer: impl Future<Output = Result<(), MailboxError>>) -> bool {
    tokio::time::timeout(ANSWER_LIMIT, answer).await.is_ok_and(|answer| answer.is_ok())
}

/// An actor that was just launched.
struct LaunchedActor {
    address: Arc<Addr<ServiceActor>>,
    life: Arc<ActorLife>,
    generation: u64,
}

impl Fleet {
    pub(super) fn new(
        shards: Arc<[Arc<Shard>]>,
        counters: Arc<EngineCounters>,
        supervisor: Supervisor,
    ) -> Self {
        let actor_counters = supervisor.kind(ServiceActor::KIND);
        Self {
            shards,
            services: MemberSlices::default(),
            counters,
            supervisor,
            actor_counters,
            retired: RetiredServices::default(),
            permitted: PartitionSet::ALL,
            launched: 0,
            address: None,
            tick: 0,
            asked: OpenQuestions::default(),
            is_closing: false,
            all_ended: None,
        }
    }

    fn shard(&self, id: Id) -> &Arc<Shard> {
        &self.shards[shard_index(id, self.shards.len())]
    }

    /// Returns the current actor of a service.
    pub(super) fn address_of(&self, id: Id) -> Option<&Addr<ServiceActor>> {
        self.services.get(&id).map(|member| &*member.address)
    }

    fn launch(
        &mut self,
        definition: &Arc<WatchDefinition>,
        memory: Option<WatchMemory>,
        ctx: &Context<Self>,
    ) -> LaunchedActor {
        self.launched += 1;
        let generation = self.launched;
        let shard = Arc::clone(self.shard(definition.id));
        let fleet = Arc::clone(self.address.get_or_insert_with(|| Arc::new(ctx.address())));
        let (id, memory) = (definition.id, memory.map(Box::new));
        #[expect(
            clippy::disallowed_methods,
            reason = "one for each life, and lost it would leave the service dead"
        )]
        let exited = move |ending| fleet.do_send(ServiceExited { id, generation, ending });
        let make = |address: &Arc<Addr<ServiceActor>>, life: &Arc<ActorLife>| {
            let (address, life) = (Arc::clone(address), Arc::clone(life));
            ServiceActor::new(Arc::clone(definition), Arc::clone(&shard), memory, address, life)
        };
        let (address, life) = self.supervisor.launch(&shard.placement, make, exited);
        LaunchedActor { address, life, generation }
    }
}

/// A restart would lose acknowledged commands: the fleet alone knows every service, so its death ends the process.
impl SupervisedActor for Fleet {
    const KIND: ActorKind = ActorKind::vital("fleet");
}

impl Actor for Fleet {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.arrange_sweep(ctx);
    }
}

impl Handler<LivenessQuery> for Fleet {
    type Result = ();

    fn handle(&mut self, beat: LivenessQuery, ctx: &mut Context<Self>) {
        beat.answer(ctx);
    }
}

impl Handler<FleetLivenessQuery> for Fleet {
    type Result = ();

    fn handle(&mut self, _: FleetLivenessQuery, _: &mut Context<Self>) {}
}

impl Handler<ApplyDefinition> for Fleet {
    type Result = ResponseFuture<()>;

    fn handle(
        &mut self,
        ApplyDefinition { definition, memory }: ApplyDefinition,
        ctx: &mut Context<Self>,
    ) -> ResponseFuture<()> {
        let id = definition.id;
        let is_permitted = self.permitted.contains(Partition::of(definition.key));
        if self.is_closing || !is_permitted || self.retired.covers(id, definition.revision) {
            return Box::pin(std::future::ready(()));
        }
        let now = self.shard(id).clock.now();
        let known = memory.as_ref().map(|memory| known_status(&definition, memory, now));
        self.shard(id).figures.track(&definition, known);
        let redefine = match self.services.get_mut(&id) {
            Some(member) => {
                if member.definition.revision <= definition.revision {
                    member.definition = Arc::clone(&definition);
                }
                Some((member.address.send(RedefineService(definition)), Arc::clone(&member.life)))
            }
            None if !definition.is_watched()
                && memory.as_ref().is_none_or(|m| m.status == MeasuredStatus::Unknown) =>
            {
                None
            }
            None => {
                let LaunchedActor { address, life, generation } = self.launch(&definition, memory, ctx);
                self.services
                    .insert(id, FleetMember { address, life, definition, generation, backoff: None });
                None
            }
        };
        Box::pin(async move {
            if let Some((redefine, life)) = redefine
                && !is_answered(redefine).await
            {
                life.plan_idle(0);
                tracing::debug!(
                    service = %id,
                    "service actor is restarting; it starts with the new definition"
                );
            }
        })
    }
}

impl Handler<TakePing> for Fleet {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, TakePing { id, ping }: TakePing, _: &mut Context<Self>) -> ResponseFuture<()> {
        let member = self.services.get(&id);
        let taken = member.map(|member| (member.address.send(ReceivedPing(ping)), Arc::clone(&member.life)));
        Box::pin(async move {
            if let Some((taken, life)) = taken
                && !is_answered(taken).await
            {
                life.plan_idle(0);
                tracing::debug!(
                    service = %id,
                    "ping stored but not processed yet: the service actor is restarting"
                );
            }
        })
    }
}

impl Handler<RetireService> for Fleet {
    type Result = ResponseFuture<()>;

    fn handle(
        &mut self,
        RetireService { id, revision }: RetireService,
        _: &mut Context<Self>,
    ) -> ResponseFuture<()> {
        self.retired.note(id, revision);
        let ended = self.services.remove(&id).map(FleetMember::end);
        self.note_end_of_all();
        Box::pin(async move {
            if let Some(ended) = ended {
                ended.await;
            }
        })
    }
}

impl Handler<WatchedServices> for Fleet {
    type Result = actix::MessageResult<WatchedServices>;

    fn handle(&mut self, _: WatchedServices, _: &mut Context<Self>) -> Self::Result {
        let watched = |member: &FleetMember| WatchedService {
            key: member.definition.key,
            revision: member.definition.revision,
        };
        actix::MessageResult(self.services.iter().map(|(id, member)| (*id, watched(member))).collect())
    }
}

/// The services have been retired before this message.
impl Handler<StopActor> for Fleet {
    type Result = ();

    fn handle(&mut self, _: StopActor, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}

impl Handler<ServiceExited> for Fleet {
    type Result = ();

    fn handle(&mut self, exited: ServiceExited, ctx: &mut Context<Self>) {
        let ServiceExited { id, generation, ending } = exited;
        let Some(member) = self.services.get_mut(&id).filter(|member| member.generation == generation) else {
            return;
        };
        if ending == ActorExit::Stopped {
            self.services.remove(&id);
            self.note_end_of_all();
            return;
        }
        let problem = self.supervisor.count_death(ServiceActor::KIND, &ending);
        if self.is_closing {
            tracing::error!(service = %id, error = problem, "service actor died while stopping");
            self.services.remove(&id);
            self.note_end_of_all();
            return;
        }
        let wait = member.backoff.get_or_insert_default().next_wait();
        let (wait_seconds, name) = (wait.as_secs_f64(), &member.definition.name);
        tracing::error!(service = %id, %name, error = problem, wait_seconds, "service actor died; restarting it");
        ctx.notify_later(RestartService { id, generation, has_place: false }, wait);
    }
}

impl Handler<RestartService> for Fleet {
    type Result = ();

    fn handle(&mut self, restart: RestartService, ctx: &mut Context<Self>) {
        let RestartService { id, generation, has_place } = restart;
        let Some(member) = self.services.get(&id).filter(|member| member.generation == generation) else {
            return;
        };
        let wait = if has_place { Duration::ZERO } else { self.supervisor.launch_wait() };
        if wait > Duration::ZERO {
            ctx.notify_later(RestartService { id, generation, has_place: true }, wait);
            return;
        }
        let definition = Arc::clone(&member.definition);
        let shard = self.shard(id);
        let memory = memory_from(&definition, &shard.roster, shard.figures.last_known(definition.key));
        let LaunchedActor { address, life, generation } = self.launch(&definition, Some(memory), ctx);
        if let Some(member) = self.services.get_mut(&id) {
            (member.address, member.life, member.generation) = (address, life, generation);
        }
        self.counters.restarts.add(1);
        self.actor_counters.note_restart();
    }
}
