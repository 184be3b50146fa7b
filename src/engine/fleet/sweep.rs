//! The fleet's own sweep over its services: one slice per second is asked whether its actors are alive.
//!
//! There may be a million services, so there is no timer for each: every second asks a 60th of them and checks the answers of
//! those asked half a minute ago. Only seconds in which this thread ran are counted, see `supervise`.

use std::time::Duration;

use actix::{AsyncContext as _, Context};

use crate::engine::fleet::Fleet;
use crate::engine::fleet::members::SLICES;
use crate::supervise::FROZEN_AFTER;

/// The time between two slices.
const EVERY: Duration = Duration::from_secs(1);
/// Seconds after which an actor has had its turn, unless its thread is overloaded.
const TURN_TAKES: u32 = 2;

impl Fleet {
    pub(super) fn arrange_sweep(&mut self, ctx: &mut Context<Self>) {
        ctx.run_later(EVERY, |fleet, ctx| {
            fleet.sweep();
            fleet.review_locations();
            fleet.arrange_sweep(ctx);
        });
    }

    fn sweep(&mut self) {
        // Starts at 1: 0 means that no question was asked.
        self.tick = self.tick.wrapping_add(1).max(1);
        self.actor_counters.set_tick(self.tick);
        for member in self.services.of_slice(self.tick).filter(|member| !member.life.is_open()) {
            let fault = self.actor_counters.take_fault();
            #[expect(
                clippy::disallowed_methods,
                reason = "one question is open at a time, also to a full mailbox"
            )]
            member.life.ask(self.tick, fault, |query| member.address.do_send(query));
        }
        // A turn may come later than the question, so an actor is judged again with its next slice.
        for age in [FROZEN_AFTER, FROZEN_AFTER + TURN_TAKES, SLICES - 1, SLICES + TURN_TAKES] {
            let judged = self.services.of_slice(self.tick % SLICES + 2 * SLICES - age);
            judged.for_each(|member| member.life.end_if_frozen(self.tick));
        }
    }
}
