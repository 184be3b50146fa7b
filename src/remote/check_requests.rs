//! Requests of the engine to locations for checks, sent at once or not at all.

use actix::{Actor, Context, Handler};
use futures_util::FutureExt as _;

use crate::bus::connection::BusConnection;
use crate::bus::messages::check_request::RemoteCheckRequest;
use crate::bus::reports::send_check_request;
use crate::engine::registry::LocationCheckRequest;
use crate::supervise::{ActorKind, LivenessQuery, SupervisedActor};

/// Size of the mailbox; a request beyond it is lost, and the location checks at its scheduled time.
pub const MAILBOX: usize = 4_096;

/// The actor that sends the requests.
#[derive(Debug)]
pub struct CheckRequestSender(pub BusConnection);

impl SupervisedActor for CheckRequestSender {
    const KIND: ActorKind = ActorKind::restarting("looker");
}

impl Actor for CheckRequestSender {
    type Context = Context<Self>;
}

impl Handler<LivenessQuery> for CheckRequestSender {
    type Result = ();

    fn handle(&mut self, beat: LivenessQuery, ctx: &mut Context<Self>) {
        beat.answer(ctx);
    }
}

impl Handler<LocationCheckRequest> for CheckRequestSender {
    type Result = ();

    /// Drops requests while the connection is lost: they would arrive too late.
    fn handle(
        &mut self,
        LocationCheckRequest { location, service, check_now, fast_rechecks_ms }: LocationCheckRequest,
        _: &mut Context<Self>,
    ) {
        if !self.0.state().is_connected() {
            return;
        }
        let request = RemoteCheckRequest { service, check_now, fast_rechecks_ms };
        // Sent only if the client has room for the request: waiting is not worth it.
        if send_check_request(&self.0, &location, request).now_or_never().is_none() {
            tracing::debug!(%location, "check request dropped: the NATS client is busy");
        }
    }
}
