//! Starts and completes maintenances when they are due (contract 4.11.2), after those of series have been created, and publishes
//! reminders of future ones.
//!
//! The timetable sleeps until the next due moment, but never long, so that new windows, clock changes and recovered
//! databases are noticed. After a stop, missed transitions are made once each, at the current time.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use actix::{
    Actor, ActorContext as _, ActorFutureExt as _, AsyncContext as _, Context, Handler, Message,
    ResponseActFuture, WrapFuture as _,
};
use futures_util::FutureExt as _;

use crate::clock::{Clock, Timestamp};
use crate::lifecycle;
use crate::lifecycle::engine_entries;
use crate::model::maintenance::MaintenanceKey;
use crate::model::maintenance::transition::{MaintenanceTransition, OperationContext};
use crate::service_router::ServiceRouter;
use crate::store::maintenances::due;
use crate::store::{MainError, organisations};
use crate::supervise::{ActorKind, LivenessQuery, StopActor, SupervisedActor};
use crate::timetable::maintenance_reminders::ReminderPublisher;
use crate::timetable::maintenance_series::SeriesPlanner;

/// The longest sleep in milliseconds; also the wait after a failure.
const LONGEST_MS: i64 = 1_000;
/// The shortest sleep in milliseconds, after a due moment that could not be handled.
const SHORTEST_MS: i64 = 50;
/// Maximum number of maintenances read at a time.
const PAGE: u64 = 100;

/// Starts and ends maintenances when they are due.
#[derive(Clone, Debug)]
pub struct MaintenanceExecutor {
    /// The router, with the databases of the maintenances and the engine, for services whose time starts or stops to count.
    pub router: ServiceRouter,
    /// Source of the wall time.
    pub clock: Clock,
}

impl MaintenanceExecutor {
    /// Makes every due transition. Returns their number.
    ///
    /// # Errors
    /// When the database fails; finished transitions are kept, and one failing maintenance does not stop the others.
    pub async fn run_due(&self) -> Result<u32, MainError> {
        let (mut done, mut failed) = (0, None);
        // A maintenance whose start and end have both passed takes two rounds.
        loop {
            let before = done;
            let mut after = MaintenanceKey::MIN;
            loop {
                let main = self.router.databases.main.reader();
                let keys = due::at(main, self.clock.now(), after, PAGE).await?;
                let Some(last) = keys.last() else { break };
                after = *last;
                for key in keys {
                    match self.make_transition(key).await {
                        Ok(is_made) => done += u32::from(is_made),
                        Err(error) if error.is_unreachable() => return Err(error),
                        Err(error) => failed = Some(error),
                    }
                }
            }
            if done == before {
                return failed.map_or(Ok(done), Err);
            }
        }
    }

    /// Makes the transition, if it is still due; another process may have made it before.
    async fn make_transition(&self, key: MaintenanceKey) -> Result<bool, MainError> {
        let transaction = self.router.databases.main.begin().await?;
        let Some(stored) = due::claim(&transaction, key).await? else { return Ok(false) };
        let Some(organisation) = organisations::get(&transaction, stored.organisation).await? else {
            return Ok(false);
        };
        let now = self.clock.now();
        let stamp = OperationContext { at: now, locale: &organisation.default_locale };
        let Some(step) = MaintenanceTransition::when_due(&stored, stamp) else { return Ok(false) };
        let touched = lifecycle::maintenances::carry_out(&transaction, &step, now).await?;
        engine_entries::note_maintenance(&transaction, &stored, &step.after, now).await?;
        transaction.commit().await?;
        tracing::info!(
            maintenance = %stored.id,
            status = %step.after.status,
            "maintenance status changed on schedule"
        );
        self.router.announce(&touched, organisation.id).await;
        Ok(true)
    }

    /// Returns the time until the next transition is due.
    async fn pause(&self) -> Result<Duration, MainError> {
        let next = due::next(self.router.databases.main.reader()).await?;
        Ok(wait(next, self.clock.now()))
    }
}

fn wait(next: Option<Timestamp>, now: Timestamp) -> Duration {
    let ms = next.map_or(LONGEST_MS, |next| next.ms_since(now).clamp(SHORTEST_MS, LONGEST_MS));
    Duration::from_millis(ms.unsigned_abs())
}

/// The actor that plans series, makes transitions and publishes reminders when they are due.
#[derive(Debug)]
pub struct MaintenanceClock {
    planner: SeriesPlanner,
    transitions: MaintenanceExecutor,
    reminders: ReminderPublisher,
    is_failing: bool,
}

impl MaintenanceClock {
    /// Creates the actor with this planner, these transitions and these reminders.
    #[must_use]
    pub const fn new(
        planner: SeriesPlanner,
        transitions: MaintenanceExecutor,
        reminders: ReminderPublisher,
    ) -> Self {
        Self { planner, transitions, reminders, is_failing: false }
    }

    /// Logs when the database fails and when it recovers, not in between; returns the next wait.
    fn note(&mut self, result: Result<Duration, MainError>) -> Duration {
        match result {
            Ok(pause) => {
                if std::mem::take(&mut self.is_failing) {
                    tracing::info!("maintenances start and end on schedule again");
                }
                pause
            }
            Err(error) => {
                if !std::mem::replace(&mut self.is_failing, true) {
                    tracing::warn!(%error, "cannot start or end maintenances on schedule; retrying");
                }
                wait(None, self.transitions.clock.now())
            }
        }
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct MaintenanceTick;

impl SupervisedActor for MaintenanceClock {
    const KIND: ActorKind = ActorKind::restarting("maintenance_clock");
}

impl Handler<LivenessQuery> for MaintenanceClock {
    type Result = ();

    fn handle(&mut self, beat: LivenessQuery, ctx: &mut Context<Self>) {
        beat.answer(ctx);
    }
}

impl Actor for MaintenanceClock {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.notify(MaintenanceTick);
    }
}

impl Handler<MaintenanceTick> for MaintenanceClock {
    type Result = ResponseActFuture<Self, ()>;

    fn handle(&mut self, _: MaintenanceTick, _: &mut Context<Self>) -> Self::Result {
        let (planner, transitions, reminders) =
            (self.planner.clone(), self.transitions.clone(), self.reminders.clone());
        let round = async move {
            if transitions.router.ownership.leads() {
                // A series that cannot be planned must not delay the start of a maintenance, and one that cannot
                // start or end must not delay the reminder of another one.
                let planned = planner.run_due().await;
                let made = transitions.run_due().await;
                let reminded = reminders.run_due().await;
                planned?;
                made?;
                reminded?;
            }
            transitions.pause().await
        };
        // A panic ends this round, not the actor: its transaction is rolled back, and the next round starts again.
        let round = AssertUnwindSafe(round).catch_unwind();
        Box::pin(round.into_actor(self).map(|result, clock, ctx| {
            let pause = match result {
                Ok(result) => clock.note(result),
                Err(_) => {
                    tracing::error!("maintenance clock panicked; continuing");
                    wait(None, clock.transitions.clock.now())
                }
            };
            ctx.notify_later(MaintenanceTick, pause);
        }))
    }
}

/// Stops the actor. A running transition is dropped, and is still due at the next start.
impl Handler<StopActor> for MaintenanceClock {
    type Result = ();

    fn handle(&mut self, _: StopActor, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(None, 1_000)]
    #[case(Some(10_300), 300)]
    #[case(Some(99_000), 1_000)]
    #[case(Some(10_000), 50)]
    #[case(Some(0), 50)]
    fn the_wait_ends_at_the_next_due_time_or_after_a_limit(#[case] next: Option<i64>, #[case] ms: u64) {
        let next = next.map(Timestamp::from_ms);
        assert_eq!(wait(next, Timestamp::from_ms(10_000)), Duration::from_millis(ms));
    }
}
