//! The locations whose votes do not count: suspects, those without their network, and earlier results of a blind one.

use crate::engine::service::ServiceActor;
use crate::engine::service::watch_machine::WatchMachine;
use crate::model::check::CheckOutcome;

impl ServiceActor {
    /// Passes to the watch which votes count now. The votes of a single location are never set aside: no other
    /// one contradicts it.
    pub(in crate::engine) fn set_votes_aside(&mut self) {
        let (Some(task), WatchMachine::Checked(watch)) = (&self.definition.task, &mut self.watching) else {
            return;
        };
        let now = self.shard.clock.now();
        for (slot, key) in task.locations.iter().enumerate() {
            let Some(known) = self.shard.roster.get(*key) else { continue };
            watch.set_blind_since(slot, known.blind_since(now));
            if task.locations.len() > 1 {
                // Once the network of a location is back, its results from before its return are outdated.
                let is_old = |since| !watch.has_checked_since(slot, since);
                let is_old = known.recovered_at(now).is_some_and(is_old);
                watch.set_aside(slot, is_old || known.is_set_aside(self.definition.organisation));
            }
        }
    }

    /// Reports to the location how an attempt ended.
    pub(super) fn note_attempt(&self, slot: usize, outcome: &CheckOutcome) {
        let key = self.definition.task.as_ref().and_then(|task| task.locations.get(slot));
        if let Some(known) = key.and_then(|key| self.shard.roster.get(*key)) {
            known.note_attempt(outcome);
        }
    }
}
