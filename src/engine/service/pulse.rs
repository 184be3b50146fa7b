//! Services that report themselves: pings reach the actor by message, and its one timer waits for the deadline.
//!
//! The decisions are `model::heartbeat`; no location takes part.

use actix::{Context, Handler, Message};

use crate::clock::Timestamp;
use crate::engine::service::ServiceActor;
use crate::model::heartbeat::Ping;
use crate::model::history::ChangeCause;
use crate::model::watch::Effect;

/// A ping has come, and is stored.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Pinged(pub Ping);

impl ServiceActor {
    /// Goes on with the vigil under the new definition, or ends it; `None` when there was none.
    pub(super) fn expect_anew(&mut self, now: Timestamp) -> Option<Vec<Effect>> {
        let vigil = self.vigil.as_mut()?;
        match &self.definition.pulse {
            Some(pulse) => Some(vigil.expect(*pulse, now)),
            None => {
                let cause =
                    if self.definition.is_paused { ChangeCause::Paused } else { ChangeCause::Reconfigured };
                let effects = vigil.end(cause, now);
                self.vigil = None;
                Some(effects)
            }
        }
    }
}

impl Handler<Pinged> for ServiceActor {
    type Result = ();

    fn handle(&mut self, Pinged(ping): Pinged, ctx: &mut Context<Self>) {
        let now = self.now();
        if let Some(vigil) = self.vigil.as_mut() {
            let effects: Vec<Effect> = vigil.ping(ping, now);
            self.act(effects, ctx);
        }
    }
}
