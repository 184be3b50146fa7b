//! Heartbeat services: pings reach the actor as messages, and its one timer waits for the deadline.
//!
//! All decisions are made by `model::heartbeat`; no location takes part.

use actix::{Context, Handler};

use crate::clock::Timestamp;
use crate::engine::definition::WatchDefinition;
use crate::engine::messages::ReceivedPing;
use crate::engine::service::ServiceActor;
use crate::engine::service::watch_machine::WatchMachine;
use crate::model::check::CheckType;
use crate::model::heartbeat::Heartbeat;
use crate::model::listening_gap::ListeningGap;
use crate::model::watch::WatchEffect;

impl ServiceActor {
    /// Returns the times in which this process did not listen for the pings of this service.
    pub(super) fn absences(&self) -> Vec<ListeningGap> {
        let WatchDefinition { check_type, key, .. } = *self.definition;
        if check_type == CheckType::Heartbeat { self.shard.listening.absences(key) } else { Vec::new() }
    }

    /// Reports to the `ListeningTracker` whether the pings of this service can be judged.
    pub(super) fn report_unheard(&self) {
        if self.definition.check_type == CheckType::Heartbeat {
            let is_unheard =
                matches!(&self.watching, WatchMachine::Reporting(heartbeat) if heartbeat.has_used_excuses());
            self.shard.listening.note_unheard(self.definition.key, is_unheard);
        }
    }

    /// Continues the heartbeat under the new definition, or ends it.
    pub(super) fn continue_heartbeat(
        &mut self,
        mut heartbeat: Heartbeat,
        now: Timestamp,
    ) -> Vec<WatchEffect> {
        let absences = self.absences();
        let Some(plan) = self.definition.heartbeat else {
            return heartbeat.end(self.ending(), now, &absences);
        };
        let effects = heartbeat.change_plan(plan, now, &absences);
        self.watching = WatchMachine::Reporting(heartbeat);
        effects
    }
}

impl Handler<ReceivedPing> for ServiceActor {
    type Result = ();

    fn handle(&mut self, ReceivedPing(ping): ReceivedPing, ctx: &mut Context<Self>) {
        let now = self.now();
        let has_stood_still = self.has_stood_still();
        let absences = self.absences();
        if let WatchMachine::Reporting(heartbeat) = &mut self.watching {
            if has_stood_still {
                heartbeat.excuse_deadline(now);
            }
            let effects: Vec<WatchEffect> = heartbeat.ping(ping, now, &absences);
            self.apply(effects, ctx);
        }
    }
}
