//! Services that report themselves: pings reach the actor by message, and its one timer waits for the deadline.
//!
//! All decisions are made by `model::heartbeat`; no location takes part.

use actix::{Context, Handler, Message};

use crate::clock::Timestamp;
use crate::engine::definition::Definition;
use crate::engine::service::ServiceActor;
use crate::engine::service::watching::Watching;
use crate::model::absence::Absence;
use crate::model::check::CheckType;
use crate::model::heartbeat::{Heartbeat, Ping};
use crate::model::watch::Effect;

/// A stored ping of this service.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Pinged(pub Ping);

impl ServiceActor {
    /// Returns the times in which this process did not listen for the pings of this service.
    pub(super) fn absences(&self) -> Vec<Absence> {
        let Definition { check_type, key, .. } = *self.definition;
        if check_type == CheckType::Heartbeat { self.shard.listening.absences(key) } else { Vec::new() }
    }

    /// Reports to `Listening` whether the pings of this service can be judged.
    pub(super) fn note_hearing(&self) {
        if self.definition.check_type == CheckType::Heartbeat {
            let is_unheard =
                matches!(&self.watching, Watching::Reporting(heartbeat) if heartbeat.is_unheard());
            self.shard.listening.note_unheard(self.definition.key, is_unheard);
        }
    }

    /// Continues the heartbeat under the new definition, or ends it.
    pub(super) fn expect_anew(&mut self, mut heartbeat: Heartbeat, now: Timestamp) -> Vec<Effect> {
        let absences = self.absences();
        let Some(plan) = self.definition.heartbeat else {
            return heartbeat.end(self.ending(), now, &absences);
        };
        let effects = heartbeat.expect(plan, now, &absences);
        self.watching = Watching::Reporting(heartbeat);
        effects
    }
}

impl Handler<Pinged> for ServiceActor {
    type Result = ();

    fn handle(&mut self, Pinged(ping): Pinged, ctx: &mut Context<Self>) {
        let now = self.now();
        let has_stood_still = self.has_stood_still();
        let absences = self.absences();
        if let Watching::Reporting(heartbeat) = &mut self.watching {
            if has_stood_still {
                heartbeat.excuse(now);
            }
            let effects: Vec<Effect> = heartbeat.ping(ping, now, &absences);
            self.apply(effects, ctx);
        }
    }
}
