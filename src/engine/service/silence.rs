//! A check that lasts long, because its target does not answer or the answer does not end, makes the other
//! locations check before the time-out.

use actix::{Context, Handler};

use crate::clock::Timestamp;
use crate::engine::messages::SilentAttempt;
use crate::engine::service::watch_machine::WatchMachine;
use crate::engine::service::{ServiceActor, signed};

impl Handler<SilentAttempt> for ServiceActor {
    type Result = ();

    fn handle(&mut self, silent: SilentAttempt, ctx: &mut Context<Self>) {
        let SilentAttempt { attempt, sequence, started } = silent;
        let has_others = self.definition.task.as_ref().is_some_and(|task| task.locations.len() > 1);
        if sequence != self.sequence || !has_others {
            return;
        }
        let now = self.now();
        let started_us = self.shard.clock.now_us() - signed(started.elapsed().as_micros());
        if let WatchMachine::Checked(watch) = &mut self.watching {
            watch.note_silence(attempt.slot, Timestamp::from_ms(started_us.div_euclid(1_000)), now);
            self.set_timer(ctx);
        }
    }
}
