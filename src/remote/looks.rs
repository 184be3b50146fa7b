//! Asks locations to look: what the engine wants goes out at once, or not at all.

use actix::{Actor, Context, Handler};
use futures_util::FutureExt as _;

use crate::bus::connection::Connection;
use crate::bus::messages::look::Look;
use crate::bus::reports::ask_to_look;
use crate::engine::roster::Urged;
use crate::supervise::{Beat, Kind, Supervised};

/// Requests in its mailbox; one more is lost, and the location looks when its turn comes.
pub const MAILBOX: usize = 4_096;

/// The actor that passes them on.
#[derive(Debug)]
pub struct Looker(pub Connection);

impl Supervised for Looker {
    const KIND: Kind = Kind::restarting("looker");
}

impl Actor for Looker {
    type Context = Context<Self>;
}

impl Handler<Beat> for Looker {
    type Result = ();

    fn handle(&mut self, beat: Beat, ctx: &mut Context<Self>) {
        beat.answer(ctx);
    }
}

impl Handler<Urged> for Looker {
    type Result = ();

    /// A request that waits for a lost connection would come too late.
    fn handle(&mut self, Urged { location, service, look_now, hurry_ms }: Urged, _: &mut Context<Self>) {
        if !self.0.state().is_connected() {
            return;
        }
        let look = Look { service, look_now, hurry_ms };
        // The client has room for it, or else it is not worth waiting.
        if ask_to_look(&self.0, &location, look).now_or_never().is_none() {
            tracing::debug!(%location, "a request to look now is lost");
        }
    }
}
