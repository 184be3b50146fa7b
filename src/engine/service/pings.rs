//! Services that report themselves: pings reach the actor by message, and its one timer waits for the deadline.
//!
//! The decisions are `model::heartbeat`; no location takes part.

use actix::{Context, Handler, Message};

use crate::clock::Timestamp;
use crate::engine::service::ServiceActor;
use crate::engine::service::watching::Watching;
use crate::model::heartbeat::{Heartbeat, Ping};
use crate::model::watch::Effect;

/// A ping has come, and is stored.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Pinged(pub Ping);

impl ServiceActor {
    /// Goes on with the heartbeat under the new definition, or ends it.
    pub(super) fn expect_anew(&mut self, mut heartbeat: Heartbeat, now: Timestamp) -> Vec<Effect> {
        let Some(plan) = self.definition.heartbeat else { return heartbeat.end(self.ending(), now) };
        let effects = heartbeat.expect(plan, now);
        self.watching = Watching::Reporting(heartbeat);
        effects
    }
}

impl Handler<Pinged> for ServiceActor {
    type Result = ();

    fn handle(&mut self, Pinged(ping): Pinged, ctx: &mut Context<Self>) {
        let now = self.now();
        let has_stood_still = self.has_stood_still();
        if let Watching::Reporting(heartbeat) = &mut self.watching {
            if has_stood_still {
                heartbeat.excuse(now);
            }
            let effects: Vec<Effect> = heartbeat.ping(ping, now);
            self.apply(effects, ctx);
        }
    }
}
