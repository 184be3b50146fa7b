//! One life of an actor: it runs until it stops, panics, or is abandoned as frozen.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context as TaskContext, Poll};

use actix::dev::ContextFut;
use actix::dev::channel::AddressReceiver;
use actix::fut::wrap_future;
use actix::{Actor, AsyncContext as _, Context, Message};
use futures_util::task::AtomicWaker;

use crate::supervise::exit::ActorExit;
use crate::supervise::fault::InjectedFault;
use crate::supervise::kind::ActorKindCounters;

/// The externally visible state of one life: the last question, the last answer, and whether it is abandoned.
#[derive(Debug, Default)]
pub struct ActorLife {
    asked: AtomicU32,
    answered: AtomicU32,
    is_given_up: AtomicBool,
    waker: AtomicWaker,
}

impl ActorLife {
    /// Returns the tick of the unanswered question; `None` if every question is answered.
    pub(crate) fn open_since(&self) -> Option<u32> {
        let asked = self.asked.load(Ordering::Acquire);
        (self.answered.load(Ordering::Acquire) != asked).then_some(asked)
    }

    /// Returns the question whether the actor is alive, dated at this tick.
    pub(crate) fn ask(self: &Arc<Self>, tick: u32, fault: Option<InjectedFault>) -> LivenessQuery {
        self.asked.store(tick, Ordering::Release);
        LivenessQuery { life: Arc::clone(self), tick, fault }
    }

    /// Returns the tick at which the last question was asked.
    pub(crate) fn asked(&self) -> u32 {
        self.asked.load(Ordering::Acquire)
    }

    /// Ends this life from outside.
    pub(crate) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Release);
        self.waker.wake();
    }
}

/// The question whether an actor is alive.
#[derive(Message)]
#[rtype(result = "()")]
pub struct LivenessQuery {
    life: Arc<ActorLife>,
    tick: u32,
    fault: Option<InjectedFault>,
}

/// Asks an actor to end. Its handler decides about remaining work, and when it answers.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct StopActor;

impl LivenessQuery {
    /// Answers the question, or carries out the fault that a test requested.
    ///
    /// # Panics
    /// When [`InjectedFault::Panic`] was injected.
    pub fn answer<A: Actor<Context = Context<A>>>(self, context: &mut Context<A>) {
        match self.fault {
            None => self.life.answered.store(self.tick, Ordering::Release),
            Some(InjectedFault::Panic) => panic!("a fault was injected"),
            Some(InjectedFault::Freeze) => context.wait(wrap_future(std::future::pending())),
            Some(InjectedFault::Block) => {
                let (_never, blocked) = std::sync::mpsc::channel::<()>();
                let _ = blocked.recv();
            }
        }
    }
}

/// The future of one life. Written by hand: an `async` block would hold the actor twice, and there are many actors.
pub(super) struct LifeFuture<A: Actor<Context = Context<A>>, E> {
    context: Option<ContextFut<A, Context<A>>>,
    life: Arc<ActorLife>,
    state: Arc<ActorKindCounters>,
    ended: Option<E>,
}

impl<A: Actor<Context = Context<A>>, E: FnOnce(ActorExit) + Unpin> LifeFuture<A, E> {
    pub(super) fn new(
        actor: A,
        receiver: AddressReceiver<A>,
        life: Arc<ActorLife>,
        state: Arc<ActorKindCounters>,
        ended: E,
    ) -> Self {
        state.note_birth();
        let context = Context::with_receiver(receiver).into_future(actor);
        Self { context: Some(context), life, state, ended: Some(ended) }
    }

    fn live(&mut self, task: &mut TaskContext<'_>) -> Poll<ActorExit> {
        let Some(context) = &mut self.context else { return Poll::Ready(ActorExit::Stopped) };
        self.life.waker.register(task.waker());
        if self.life.is_given_up.load(Ordering::Acquire) {
            return Poll::Ready(ActorExit::Frozen);
        }
        match catch_unwind(AssertUnwindSafe(|| Pin::new(context).poll(task))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(())) => Poll::Ready(ActorExit::Stopped),
            Err(panic) => Poll::Ready(ActorExit::Panicked(message(&*panic))),
        }
    }
}

impl<A: Actor<Context = Context<A>>, E: FnOnce(ActorExit) + Unpin> Future for LifeFuture<A, E> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<()> {
        let this = self.get_mut();
        let Poll::Ready(ending) = this.live(task) else { return Poll::Pending };
        let context = this.context.take();
        // An actor that has panicked may panic again when it is dropped.
        drop(catch_unwind(AssertUnwindSafe(|| drop(context))));
        if let Some(ended) = this.ended.take() {
            ended(ending);
        }
        Poll::Ready(())
    }
}

impl<A: Actor<Context = Context<A>>, E> Drop for LifeFuture<A, E> {
    fn drop(&mut self) {
        self.state.note_end();
    }
}

/// Calls `make`; returns the message if it panics.
pub(super) fn catch_panic<T>(make: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(make)).map_err(|panic| message(&*panic))
}

/// Returns the text of a panic.
pub(super) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".into())
}
