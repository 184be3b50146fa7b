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

use crate::supervise::exit::{ActorExit, FROZEN_AFTER};
use crate::supervise::fault::InjectedFault;
use crate::supervise::kind::ActorKindCounters;
use crate::supervise::thread_progress;

/// Seconds after which an actor that has not done what it had planned is overdue; more than a busy thread is late.
const OVERDUE_AFTER: u32 = 15;

/// The externally visible state of one life: the last question, the last answer, and whether it is abandoned.
///
/// An actor whose thread is busy with others answers late, and is not frozen. So the time counts from its first turn after
/// the question: an actor that has its turn and does not read its messages is frozen.
#[derive(Debug, Default)]
pub struct ActorLife {
    asked: AtomicU32,
    answered: AtomicU32,
    /// The tick of the first turn after the last question; 0 = it has had none.
    turn: AtomicU32,
    /// The second up to which the actor has planned nothing; its owner decides when the seconds begin.
    idle_until: AtomicU32,
    is_given_up: AtomicBool,
    waker: AtomicWaker,
}

impl ActorLife {
    /// Returns true if the last question is not answered.
    pub(crate) fn is_open(&self) -> bool {
        self.answered.load(Ordering::Acquire) != self.asked.load(Ordering::Acquire)
    }

    /// Asks whether the actor is alive, at this tick: `send` puts the question into the mailbox.
    pub(crate) fn ask(
        self: &Arc<Self>,
        tick: u32,
        fault: Option<InjectedFault>,
        send: impl FnOnce(LivenessQuery),
    ) {
        self.turn.store(0, Ordering::Release);
        send(LivenessQuery { life: Arc::clone(self), tick, fault });
        // Afterwards: a turn that begins before the question is in the mailbox does not count.
        self.asked.store(tick, Ordering::Release);
    }

    /// Notes the second up to which the actor has nothing to do unless a message arrives; with 0 it is overdue.
    pub(crate) fn plan_idle(&self, until: u32) {
        self.idle_until.store(until, Ordering::Relaxed);
    }

    /// Returns true if the actor should have done what it had planned, at this second, but has not.
    pub(crate) fn is_overdue(&self, second: u32) -> bool {
        second.saturating_sub(self.idle_until.load(Ordering::Relaxed)) > OVERDUE_AFTER
    }

    /// Ends the life of an actor that had a turn [`FROZEN_AFTER`] ticks ago and has not answered since. One that has had no
    /// turn gets one as soon as its thread comes to it, and is woken again after [`FROZEN_AFTER`] ticks.
    pub(crate) fn end_if_frozen(&self, tick: u32) {
        if !self.is_open() {
            return;
        }
        match self.turn.load(Ordering::Acquire) {
            0 if tick.wrapping_sub(self.asked()) >= FROZEN_AFTER => self.waker.wake(),
            0 => {}
            turn if tick.wrapping_sub(turn) >= FROZEN_AFTER => self.give_up(),
            _ => {}
        }
    }

    /// Notes that the actor has its turn at this tick.
    fn note_turn(&self, tick: u32) {
        if self.is_open() && self.turn.load(Ordering::Relaxed) == 0 {
            self.turn.store(tick.max(1), Ordering::Release);
        }
    }

    /// Notes the answer to the question of this tick.
    pub(crate) fn note_answer(&self, tick: u32) {
        self.answered.store(tick, Ordering::Release);
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
            None => self.life.note_answer(self.tick),
            Some(InjectedFault::Panic) => panic!("a fault was injected"),
            Some(InjectedFault::Freeze) => context.wait(wrap_future(std::future::pending())),
            Some(InjectedFault::FreezeAfterwards) => {
                self.life.note_answer(self.tick);
                context.wait(wrap_future(std::future::pending()));
            }
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
        self.life.note_turn(self.state.tick());
        thread_progress::note_turn();
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn is_given_up(life: &ActorLife) -> bool {
        life.is_given_up.load(Ordering::Acquire)
    }

    /// Asked at tick 10, with its first turn at another tick; judged at a third one.
    #[rstest]
    #[case::no_turn_yet(None, 10_000, false)]
    #[case::a_turn_at_once(Some(10), 39, false)]
    #[case::frozen(Some(10), 40, true)]
    #[case::a_late_turn(Some(900), 929, false)]
    #[case::frozen_after_a_late_turn(Some(900), 930, true)]
    fn an_actor_is_frozen_30_ticks_after_its_turn(
        #[case] turn: Option<u32>,
        #[case] judged: u32,
        #[case] expected: bool,
    ) {
        let life = Arc::new(ActorLife::default());
        // A turn before the question is in the mailbox does not count.
        life.ask(10, None, |_| life.note_turn(9));
        turn.into_iter().for_each(|tick| life.note_turn(tick));
        life.end_if_frozen(judged);
        assert_eq!(is_given_up(&life), expected);
    }

    #[rstest]
    #[case::before(99, false)]
    #[case::a_little_late(115, false)]
    #[case::overdue(116, true)]
    fn an_actor_is_overdue_15_seconds_after_its_plan(#[case] second: u32, #[case] expected: bool) {
        let life = ActorLife::default();
        life.plan_idle(100);
        assert_eq!(life.is_overdue(second), expected);
    }

    #[test]
    fn an_actor_that_has_answered_is_not_frozen() {
        let life = Arc::new(ActorLife::default());
        life.ask(10, None, drop);
        life.note_turn(10);
        life.note_answer(10);
        life.end_if_frozen(1_000);
        assert!(!life.is_open() && !is_given_up(&life));
    }
}
