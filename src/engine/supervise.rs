//! Supervision: an actor's future runs under `catch_unwind`, and whoever is responsible learns how it ended.
//!
//! `actix::Supervisor` does not restart after a panic, so this is our own. It starts nothing again by itself;
//! `Fleet` decides that.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use actix::dev::channel::{AddressReceiver, channel};
use actix::{Actor, Addr, Context};
use futures_util::FutureExt as _;

/// How an actor ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself.
    Stopped,
    /// It panicked.
    Panicked,
}

/// An address and the receiving end that an actor will be started with: the address can be given away before.
#[must_use]
pub fn address<A: Actor<Context = Context<A>>>(mailbox: usize) -> (Addr<A>, AddressReceiver<A>) {
    let (sender, receiver) = channel(mailbox);
    (Addr::new(sender), receiver)
}

/// Runs `actor` to its end on the current thread and then calls `ended`.
pub fn watched<A: Actor<Context = Context<A>>>(
    actor: A,
    receiver: AddressReceiver<A>,
    ended: impl FnOnce(Ending) + 'static,
) -> impl Future<Output = ()> + 'static {
    let life = AssertUnwindSafe(Context::with_receiver(receiver).into_future(actor)).catch_unwind();
    async move {
        let ending = if life.await.is_ok() { Ending::Stopped } else { Ending::Panicked };
        ended(ending);
    }
}
