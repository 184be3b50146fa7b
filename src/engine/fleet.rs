//! Which services exist: places each on its shard and starts again what panicked.
//!
//! A message may be lost, the store may not: whoever owns the store compares it with the fleet from time to time and
//! applies what differs; applying the same definition twice changes nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix::{
    Actor, ActorFutureExt as _, Addr, AsyncContext, Context, Handler, Message, ResponseActFuture,
    ResponseFuture, WrapFuture as _,
};
use futures_util::future::join_all;

use crate::config::limits::EngineLimits;
use crate::engine::aggregator::{Present, Recall, Recalled};
use crate::engine::counters::Counters;
use crate::engine::definition::{Definition, Roster};
use crate::engine::retired::Retired;
use crate::engine::service::{End, Pinged, Redefine, ServiceActor};
use crate::engine::shard::{Shard, place};
use crate::engine::supervise::{Ending, address, watched};
use crate::id::Id;
use crate::model::heartbeat::Ping;
use crate::model::history::MeasuredStatus;
use crate::model::location::LocationCode;
use crate::model::watch::Memory;

/// A service that runs this long without a panic starts with the shortest wait again.
const CALM_MS: i64 = 600_000;
/// The restart back-off doubles at most this often.
const BACKOFF_DOUBLINGS: u32 = 6;

/// The actor that knows every service of this process.
pub struct Fleet {
    shards: Arc<[Arc<Shard>]>,
    services: HashMap<Id, Member>,
    limits: EngineLimits,
    counters: Arc<Counters>,
    /// Services that are gone.
    retired: Retired,
    /// Actors launched so far: each has its own number, also when a service comes back under the same id.
    launched: u64,
}

struct Member {
    address: Addr<ServiceActor>,
    definition: Arc<Definition>,
    /// Distinguishes the present actor from earlier ones of the same service.
    generation: u64,
    panics: u32,
    last_panic_ms: i64,
}

/// Watch by this definition.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Apply {
    /// The definition.
    pub definition: Arc<Definition>,
    /// What is known from before this process started.
    pub memory: Option<Memory>,
}

/// A ping of a service that reports itself has come, and is stored.
#[derive(Message)]
#[rtype(result = "()")]
pub struct TakePing {
    /// The service.
    pub id: Id,
    /// The ping.
    pub ping: Ping,
}

/// Stop watching the service: a definition up to its last revision that arrives later changes nothing.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Retire {
    /// The service.
    pub id: Id,
    /// Its last revision.
    pub revision: i64,
}

/// Stop watching all services.
#[derive(Message)]
#[rtype(result = "()")]
pub struct RetireAll;

/// Revision of every service that the fleet knows.
#[derive(Message)]
#[rtype(result = "HashMap<Id, (i64, i64)>")]
pub struct Roll;

/// A service actor has ended.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ServiceExited {
    id: Id,
    generation: u64,
    ending: Ending,
}

/// The wait after a panic is over.
#[derive(Message)]
#[rtype(result = "()")]
struct StartAgain {
    id: Id,
    generation: u64,
}

impl Fleet {
    pub(super) fn new(shards: Arc<[Arc<Shard>]>, limits: EngineLimits, counters: Arc<Counters>) -> Self {
        Self { shards, services: HashMap::new(), limits, counters, retired: Retired::default(), launched: 0 }
    }

    fn shard(&self, id: Id) -> &Arc<Shard> {
        &self.shards[place(id, self.shards.len())]
    }

    fn launch(
        &mut self,
        definition: &Arc<Definition>,
        memory: Option<Memory>,
        ctx: &Context<Self>,
    ) -> (Addr<ServiceActor>, u64) {
        self.launched += 1;
        let generation = self.launched;
        let shard = Arc::clone(self.shard(definition.id));
        let actor = ServiceActor::new(Arc::clone(definition), Arc::clone(&shard), memory);
        let (address, receiver) = address(self.limits.mailbox);
        let (fleet, id) = (ctx.address(), definition.id);
        let launched = shard.arbiter.spawn_fn(move || {
            let exited = move |ending| drop(fleet.try_send(ServiceExited { id, generation, ending }));
            drop(actix::spawn(watched(actor, receiver, exited)));
        });
        if !launched {
            tracing::error!(service = %definition.id, "the shard's thread has ended; the service is not watched");
        }
        (address, generation)
    }
}

impl Actor for Fleet {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.set_mailbox_capacity(self.limits.mailbox);
    }
}

impl Handler<Apply> for Fleet {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, Apply { definition, memory }: Apply, ctx: &mut Context<Self>) -> ResponseFuture<()> {
        let id = definition.id;
        if self.retired.covers(id, definition.revision) {
            return Box::pin(std::future::ready(()));
        }
        let aggregator = self.shard(id).aggregator.clone();
        let now = self.shard(id).clock.now();
        let known = memory.as_ref().map(|memory| {
            let last = memory.last_result_at(now);
            let voted = definition.task.as_ref().map(|task| memory.verdict(task.plan.interval_ms, now));
            let reported = definition.heartbeat.map(|_| memory.status.verdict());
            (memory.status, voted.or(reported).unwrap_or_default(), last)
        });
        let present = aggregator.send(Present { definition: Arc::clone(&definition), known });
        let redefine = match self.services.get_mut(&id) {
            Some(member) => {
                if member.definition.revision <= definition.revision {
                    member.definition = Arc::clone(&definition);
                }
                Some(member.address.send(Redefine(definition)))
            }
            None if !definition.is_watched()
                && memory.as_ref().is_none_or(|m| m.status == MeasuredStatus::Unknown) =>
            {
                None
            }
            None => {
                let (address, generation) = self.launch(&definition, memory, ctx);
                let member = Member { address, definition, generation, panics: 0, last_panic_ms: 0 };
                self.services.insert(id, member);
                None
            }
        };
        Box::pin(async move {
            if let Some(redefine) = redefine
                && redefine.await.is_err()
            {
                tracing::debug!(service = %id, "the actor is restarting; it starts with the new definition");
            }
            if present.await.is_err() {
                tracing::error!(service = %id, "its aggregator has stopped");
            }
        })
    }
}

impl Handler<TakePing> for Fleet {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, TakePing { id, ping }: TakePing, _: &mut Context<Self>) -> ResponseFuture<()> {
        let taken = self.services.get(&id).map(|member| member.address.send(Pinged(ping)));
        Box::pin(async move {
            if let Some(taken) = taken
                && taken.await.is_err()
            {
                tracing::debug!(service = %id, "the actor is restarting; the ping is stored");
            }
        })
    }
}

impl Handler<Retire> for Fleet {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, Retire { id, revision }: Retire, _: &mut Context<Self>) -> ResponseFuture<()> {
        self.retired.note(id, revision);
        let ended = self.services.remove(&id).map(|member| member.address.send(End));
        Box::pin(async move {
            if let Some(ended) = ended {
                // An actor that has ended already needs no ending.
                let _ = ended.await;
            }
        })
    }
}

impl Handler<RetireAll> for Fleet {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: RetireAll, _: &mut Context<Self>) -> ResponseFuture<()> {
        let endings: Vec<_> = self.services.drain().map(|(_, member)| member.address.send(End)).collect();
        Box::pin(async move {
            join_all(endings).await;
        })
    }
}

impl Handler<Roll> for Fleet {
    type Result = actix::MessageResult<Roll>;

    fn handle(&mut self, _: Roll, _: &mut Context<Self>) -> Self::Result {
        let entry = |(id, member): (&Id, &Member)| (*id, (member.definition.key, member.definition.revision));
        actix::MessageResult(self.services.iter().map(entry).collect())
    }
}

impl Handler<ServiceExited> for Fleet {
    type Result = ();

    fn handle(&mut self, exited: ServiceExited, ctx: &mut Context<Self>) {
        let ServiceExited { id, generation, ending } = exited;
        let Some(member) = self.services.get_mut(&id).filter(|member| member.generation == generation) else {
            return;
        };
        if ending == Ending::Stopped {
            self.services.remove(&id);
            return;
        }
        let shard = &self.shards[place(id, self.shards.len())];
        let now_ms = shard.clock.now().ms();
        member.panics = if now_ms - member.last_panic_ms > CALM_MS { 1 } else { member.panics + 1 };
        member.last_panic_ms = now_ms;
        self.counters.restarts.add(1);
        let doublings = (member.panics - 1).min(BACKOFF_DOUBLINGS);
        let jitter_ms = id.stable_hash() % (self.limits.restart_backoff_ms / 2 + 1);
        let wait = Duration::from_millis((self.limits.restart_backoff_ms << doublings) + jitter_ms);
        tracing::error!(service = %id, name = %member.definition.name, wait_ms = wait.as_millis(), "a service actor panicked; it starts again");
        ctx.notify_later(StartAgain { id, generation }, wait);
    }
}

impl Handler<StartAgain> for Fleet {
    type Result = ResponseActFuture<Self, ()>;

    fn handle(&mut self, StartAgain { id, generation }: StartAgain, _: &mut Context<Self>) -> Self::Result {
        let recall = self
            .services
            .get(&id)
            .map(|member| self.shard(id).aggregator.send(Recall(member.definition.key)));
        let recalled = async move {
            match recall {
                Some(recall) => recall.await.unwrap_or_default(),
                None => Recalled::default(),
            }
        };
        Box::pin(recalled.into_actor(self).map(move |recalled, fleet, ctx| {
            let Some(member) = fleet.services.get(&id).filter(|member| member.generation == generation)
            else {
                return;
            };
            let definition = Arc::clone(&member.definition);
            let memory = remember(&definition, &fleet.shard(id).roster, recalled);
            let (address, generation) = fleet.launch(&definition, Some(memory), ctx);
            if let Some(member) = fleet.services.get_mut(&id) {
                member.address = address;
                member.generation = generation;
            }
        }))
    }
}

/// What an actor that starts again goes on with: the panic was ours, and says nothing about the target.
fn remember(definition: &Definition, roster: &Roster, recalled: Recalled) -> Memory {
    let slot = |location: &LocationCode| {
        if definition.heartbeat.is_some() {
            return Some(0);
        }
        let place = roster.place_of(location.as_str())?;
        definition.task.as_ref()?.locations.iter().position(|known| *known == place)
    };
    let votes = recalled.votes.into_iter().filter_map(|(location, vote)| Some((slot(&location)?, vote)));
    Memory { votes: votes.collect(), status: recalled.status, status_since: recalled.status_since }
}
