//! The fleet's own sweep over its services: every second it decides which ones are asked whether they are alive.
//!
//! There may be a million services, and a question costs as much as a good part of a check. So there is no timer for each, and a
//! service that keeps to its own plan is seldom asked: every second the sweep reads the plans of a 60th of them, without a
//! message. The answers of those asked are awaited; only seconds in which this thread ran are counted, see `supervise`.

use std::time::Duration;

use actix::{AsyncContext as _, Context};
use tokio::time::Instant;

use crate::engine::fleet::Fleet;
use crate::engine::fleet::members::SLICES;

/// The time between two slices.
const EVERY: Duration = Duration::from_secs(1);
/// Rounds of all slices between two questions to a service that keeps to its plan.
const ROUNDS: u64 = 10;
/// Overdue services asked in a second: where a thread is overloaded, they answer behind its other work.
const OVERDUE_ASKED: usize = 100;

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
        self.ask_slice();
        self.asked.judge(self.tick);
    }

    fn ask_slice(&mut self) {
        let second = self.shards.first().map_or(0, |shard| shard.second_of(Instant::now()));
        let mut turn = QuestionTurn::at(self.tick);
        for member in self.services.of_slice(self.tick).filter(|member| !member.life.is_open()) {
            let fault = self.actor_counters.take_fault();
            let is_asked = turn.includes(member.generation, || member.life.is_overdue(second));
            if !is_asked && fault.is_none() {
                continue;
            }
            #[expect(
                clippy::disallowed_methods,
                reason = "one question is open at a time, also to a full mailbox"
            )]
            member.life.ask(self.tick, fault, |query| member.address.do_send(query));
            self.asked.add(self.tick, &member.life);
        }
    }
}

/// Decides which services of a slice are asked: those whose turn it is, and a limited number of those that are overdue.
struct QuestionTurn {
    round: u64,
    overdue_left: usize,
}

impl QuestionTurn {
    fn at(tick: u32) -> Self {
        Self { round: u64::from(tick / SLICES) % ROUNDS, overdue_left: OVERDUE_ASKED }
    }

    fn includes(&mut self, generation: u64, is_overdue: impl FnOnce() -> bool) -> bool {
        if generation % ROUNDS == self.round {
            return true;
        }
        let is_included = self.overdue_left > 0 && is_overdue();
        self.overdue_left -= usize::from(is_included);
        is_included
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_that_keeps_to_its_plan_is_asked_once_in_ten_rounds() {
        let rounds = (0..20).map(|round| QuestionTurn::at(7 + round * SLICES));
        let asked = rounds.filter_map(|mut turn| turn.includes(123, || false).then_some(turn.round));
        assert_eq!(asked.collect::<Vec<_>>(), [3, 3]);
    }

    #[test]
    fn at_most_100_overdue_services_are_asked_in_a_second() {
        let mut turn = QuestionTurn::at(7);
        let others = (1..1_000).filter(|generation| generation % ROUNDS != 0);
        assert_eq!(others.filter(|generation| turn.includes(*generation, || true)).count(), 100);
        assert!(turn.includes(10, || false), "its turn comes in any case");
    }
}
