//! A handle to an actor, which stays valid across all restarts of the actor.

use std::sync::{Arc, PoisonError, RwLock};

use actix::dev::ToEnvelope;
use actix::dev::channel::{AddressReceiver, channel};
use actix::prelude::{Request, SendError};
use actix::{Actor, Addr, Context, Handler, Message};

use crate::supervise::kind::ActorKindCounters;
use crate::supervise::life::ActorLife;
use crate::supervise::supervised_actor::SupervisedActor;

/// A handle to the current life of an actor. Cheap to clone.
pub struct ActorHandle<A: SupervisedActor>(Arc<ActorSlot<A>>);

/// The current life of an actor.
pub(super) struct ActorSlot<A: SupervisedActor> {
    present: RwLock<CurrentActor<A>>,
    capacity: usize,
    state: Arc<ActorKindCounters>,
}

struct CurrentActor<A: SupervisedActor> {
    address: Addr<A>,
    life: Arc<ActorLife>,
}

impl<A: SupervisedActor> Clone for ActorHandle<A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<A: SupervisedActor> std::fmt::Debug for ActorHandle<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Handle({})", A::KIND.name)
    }
}

impl<A: SupervisedActor> ActorHandle<A> {
    pub(super) const fn new(slot: Arc<ActorSlot<A>>) -> Self {
        Self(slot)
    }

    /// Sends a message even if the mailbox is full; the answer fails when the actor dies before it has answered.
    pub fn send<M>(&self, message: M) -> Request<A, M>
    where
        A: Handler<M>,
        A::Context: ToEnvelope<A, M>,
        M: Message + Send + 'static,
        M::Result: Send,
    {
        self.0.with(|present| present.address.send(message))
    }

    /// Sends a message without waiting for an answer.
    ///
    /// # Errors
    ///
    /// When the mailbox is full or the actor has stopped; the error contains the message.
    pub fn try_send<M>(&self, message: M) -> Result<(), SendError<M>>
    where
        A: Handler<M>,
        A::Context: ToEnvelope<A, M>,
        M: Message + Send + 'static,
        M::Result: Send,
    {
        self.0.with(|present| present.address.try_send(message))
    }

    /// Returns the address of the current actor, valid until that actor ends.
    #[must_use]
    pub fn address(&self) -> Addr<A> {
        self.0.with(|present| present.address.clone())
    }
}

impl<A: SupervisedActor> ActorSlot<A> {
    pub(super) fn new(address: Addr<A>, capacity: usize, state: Arc<ActorKindCounters>) -> Self {
        let present = CurrentActor { address, life: Arc::default() };
        Self { present: RwLock::new(present), capacity, state }
    }

    /// Starts another life: messages go to its mailbox from now on.
    pub(super) fn renew(&self) -> AddressReceiver<A> {
        let (address, receiver) = mailbox(self.capacity);
        let next = CurrentActor { address, life: Arc::default() };
        *self.present.write().unwrap_or_else(PoisonError::into_inner) = next;
        receiver
    }

    pub(super) fn life(&self) -> Arc<ActorLife> {
        self.with(|present| Arc::clone(&present.life))
    }

    pub(super) fn state(&self) -> Arc<ActorKindCounters> {
        Arc::clone(&self.state)
    }

    /// Sends the current actor the question whether it is alive.
    pub(super) fn ask(&self, tick: u32) {
        let fault = self.state.take_fault();
        #[expect(
            clippy::disallowed_methods,
            reason = "one question is open at a time, also to a full mailbox"
        )]
        self.with(|present| present.life.ask(tick, fault, |query| present.address.do_send(query)));
    }

    fn with<T>(&self, view: impl FnOnce(&CurrentActor<A>) -> T) -> T {
        view(&self.present.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Creates an address and the receiving end that an actor is started with: the address can be used before the start.
pub(super) fn mailbox<A: Actor<Context = Context<A>>>(capacity: usize) -> (Addr<A>, AddressReceiver<A>) {
    let (sender, receiver) = channel(capacity);
    (Addr::new(sender), receiver)
}
