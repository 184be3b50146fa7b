//! One life of an actor: it runs until it stops, panics, or is abandoned as frozen.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context as TaskContext, Poll};

use actix::dev::ContextFut;
use actix::dev::channel::AddressReceiver;
use actix::fut::wrap_future;
use actix::{AsyncContext as _, Context, Message};
use futures_util::task::AtomicWaker;

use crate::supervise::{FROZEN_AFTER, Fault, KindState, Supervised};

/// The end of a life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It stopped by itself.
    Stopped,
    /// It panicked, with this message.
    Panicked(String),
    /// It did not answer and was abandoned.
    Frozen,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => f.write_str("it has stopped"),
            Self::Panicked(message) => write!(f, "it panicked: {message}"),
            Self::Frozen => write!(f, "it had not answered for {FROZEN_AFTER} seconds"),
        }
    }
}

/// The externally visible state of one life: the last question, the last answer, and whether it is abandoned.
#[derive(Debug, Default)]
pub struct Life {
    asked: AtomicU32,
    answered: AtomicU32,
    is_given_up: AtomicBool,
    waker: AtomicWaker,
}

impl Life {
    /// Returns the tick of the unanswered question; `None` if every question is answered.
    pub(crate) fn open_since(&self) -> Option<u32> {
        let asked = self.asked.load(Ordering::Acquire);
        (self.answered.load(Ordering::Acquire) != asked).then_some(asked)
    }

    /// Returns the question whether the actor is alive, dated at this tick.
    pub(crate) fn ask(self: &Arc<Self>, tick: u32, fault: Option<Fault>) -> Beat {
        self.asked.store(tick, Ordering::Release);
        Beat { life: Arc::clone(self), tick, fault }
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
pub struct Beat {
    life: Arc<Life>,
    tick: u32,
    fault: Option<Fault>,
}

/// Asks an actor to end. Its handler decides about remaining work, and when it answers.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Stop;

impl Beat {
    /// Answers the question, or carries out the fault that a test requested.
    ///
    /// # Panics
    /// When [`Fault::Panic`] was injected.
    pub fn answer<A: Supervised>(self, context: &mut Context<A>) {
        match self.fault {
            None => self.life.answered.store(self.tick, Ordering::Release),
            Some(Fault::Panic) => panic!("a fault was injected"),
            Some(Fault::Freeze) => context.wait(wrap_future(std::future::pending())),
            Some(Fault::Block) => {
                let (_never, blocked) = std::sync::mpsc::channel::<()>();
                let _ = blocked.recv();
            }
        }
    }
}

/// The future of one life. Written by hand: an `async` block would hold the actor twice, and there are many actors.
pub(super) struct Lifetime<A: Supervised, E> {
    context: Option<ContextFut<A, Context<A>>>,
    life: Arc<Life>,
    state: Arc<KindState>,
    ended: Option<E>,
}

impl<A: Supervised, E: FnOnce(Ending) + Unpin> Lifetime<A, E> {
    pub(super) fn new(
        actor: A,
        receiver: AddressReceiver<A>,
        life: Arc<Life>,
        state: Arc<KindState>,
        ended: E,
    ) -> Self {
        state.note_birth();
        let context = Context::with_receiver(receiver).into_future(actor);
        Self { context: Some(context), life, state, ended: Some(ended) }
    }

    fn live(&mut self, task: &mut TaskContext<'_>) -> Poll<Ending> {
        let Some(context) = &mut self.context else { return Poll::Ready(Ending::Stopped) };
        self.life.waker.register(task.waker());
        if self.life.is_given_up.load(Ordering::Acquire) {
            return Poll::Ready(Ending::Frozen);
        }
        match catch_unwind(AssertUnwindSafe(|| Pin::new(context).poll(task))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(())) => Poll::Ready(Ending::Stopped),
            Err(panic) => Poll::Ready(Ending::Panicked(message(&*panic))),
        }
    }
}

impl<A: Supervised, E: FnOnce(Ending) + Unpin> Future for Lifetime<A, E> {
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

impl<A: Supervised, E> Drop for Lifetime<A, E> {
    fn drop(&mut self) {
        self.state.note_end();
    }
}

/// Calls `make`; returns the message if it panics.
pub(super) fn guarded<T>(make: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(make)).map_err(|panic| message(&*panic))
}

/// Returns the text of a panic.
pub(super) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".into())
}
