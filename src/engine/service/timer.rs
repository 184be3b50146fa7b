//! The one timer of a service, and the wait before the next check when the process has stood still.

use std::time::Duration;

use actix::{AsyncContext as _, Context};
use tokio::time::Instant;

use super::ServiceActor;
use crate::engine::service::watch_machine::WatchMachine;

/// A timer that is later than this was delayed by a standstill, not by other work.
const STANDSTILL: Duration = Duration::from_secs(1);
/// A node that has stood still for this long may have lost its services to others.
const MAY_BE_LOST: Duration = Duration::from_secs(5);
/// The time in which the node learns that it has lost services.
const LOSS_KNOWN: Duration = Duration::from_secs(1);
/// The time after which a service with running checks is expected to have an answer.
const ANSWER_TAKES: Duration = Duration::from_secs(60);
/// The time in which pings that waited during a standstill arrive.
const CATCH_UP: Duration = Duration::from_secs(5);

impl ServiceActor {
    /// Sets one timer for an absolute due time; a stall makes it late, but it never drifts.
    pub(in crate::engine) fn set_timer(&mut self, ctx: &mut Context<Self>) {
        if let Some(timer) = self.timer.take() {
            ctx.cancel_future(timer);
        }
        let held = self.held();
        (self.timer_due, self.is_held) = (None, false);
        let Some(at) = self.watching.next_wake() else {
            return self.life.plan_idle(self.second_without_timer());
        };
        let wait_us = (at.ms() * 1_000).saturating_sub(self.shard.clock.now_us());
        let wait = Duration::from_micros(u64::try_from(wait_us).unwrap_or(0));
        self.is_held = held > wait;
        let due = Instant::now() + wait.max(held);
        self.timer_due = Some(due);
        self.life.plan_idle(self.shard.second_of(due));
        self.timer = Some(ctx.run_later(wait.max(held), Self::wake_unless_late));
    }

    /// Returns the second up to which a service without a timer is idle: until its checks answer, or for ever.
    fn second_without_timer(&self) -> u32 {
        match self.watching {
            WatchMachine::Checked(_) => self.shard.second_of(Instant::now() + ANSWER_TAKES),
            WatchMachine::Idle | WatchMachine::Reporting(_) => u32::MAX,
        }
    }

    /// Wakes the service, or waits first if the process has stood still.
    fn wake_unless_late(&mut self, ctx: &mut Context<Self>) {
        if !self.is_held && self.wait_after_standstill().is_some() {
            self.set_timer(ctx);
        } else {
            self.wake(ctx);
        }
    }

    /// Returns the wait after a standstill. Pings that arrived during it wait in the accept queue, and are read before a deadline
    /// counts as missed. Services that another node has taken are checked by that node.
    fn wait_after_standstill(&self) -> Option<Duration> {
        match self.watching {
            WatchMachine::Reporting(_) => (self.late() > STANDSTILL).then_some(CATCH_UP),
            _ => (self.late() > MAY_BE_LOST && self.shard.is_clustered()).then_some(LOSS_KNOWN),
        }
    }

    /// Returns the rest of the wait after a standstill, which a message or the timer may have noticed first.
    /// The service waits only once: on a machine that is always late it would otherwise never wake.
    fn held(&self) -> Duration {
        match self.timer_due {
            Some(due) if self.is_held => due.duration_since(Instant::now()),
            _ => self.wait_after_standstill().unwrap_or_default(),
        }
    }

    /// Returns true while the timer is so late that this process cannot have run, until it has woken.
    pub(super) fn has_stood_still(&self) -> bool {
        self.is_held || self.late() > STANDSTILL
    }

    /// Returns how late the timer is.
    fn late(&self) -> Duration {
        self.timer_due.map_or(Duration::ZERO, |due| due.elapsed())
    }

    fn wake(&mut self, ctx: &mut Context<Self>) {
        (self.timer, self.timer_due, self.is_held) = (None, None, false);
        let now = self.now();
        self.set_votes_aside();
        let effects = self.watching.wake(now, &self.absences());
        self.apply(effects, ctx);
    }
}
