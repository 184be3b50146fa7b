//! The sweep: every few seconds each actor is asked whether it is alive, and one that has its turn and does not answer is
//! abandoned.
//!
//! Time is counted in ticks, seconds in which this process ran: the watchdog's thread sleeps a second and counts one,
//! however long that really took. So an actor that could not answer because the whole process was stopped is not frozen.

use crate::supervise::handle::ActorSlot;
use crate::supervise::supervised_actor::SupervisedActor;

/// Seconds between two questions.
const ASKED_EVERY: u32 = 5;

/// An actor that the sweep asks whether it is alive.
pub(super) trait MonitoredActor: Send + Sync {
    /// Asks the actor if a question is due, and abandons it if it has not answered for too long.
    fn check_liveness(&self, tick: u32);
}

impl<A: SupervisedActor> MonitoredActor for ActorSlot<A> {
    fn check_liveness(&self, tick: u32) {
        let life = self.life();
        self.state().set_tick(tick);
        life.end_if_frozen(tick);
        if !life.is_open() && tick.wrapping_sub(life.asked()) >= ASKED_EVERY {
            self.ask(tick);
        }
    }
}
