//! Steps of escalation policies: those that are due are taken, and their messages lie in the outbox.

use std::sync::atomic::Ordering;

use crate::clock::Timestamp;
use crate::lifecycle::clock_setback::bring_back;
use crate::lifecycle::escalation_steps::take_step;
use crate::notify::courier::attempt::Courier;
use crate::store::MainError;
use crate::store::escalations::{DueStep, due};

/// The time by which a clock must be set back to be noticed, in milliseconds.
const SETBACK_MS: i64 = 5_000;
/// Most steps that are taken at one look.
const STEPS: u64 = 200;

impl Courier {
    /// Takes the steps that are due. One that cannot be taken does not keep the others back. `newest` is the newest time that was seen
    /// here: at the start, and when the clock is set back, what waits for a time that is too far ahead is brought back.
    pub(super) async fn take_due_steps(&self, newest: &mut Option<Timestamp>) -> Result<(), MainError> {
        let now = self.guard.now();
        if newest.is_none_or(|newest| newest.ms_since(now) > SETBACK_MS) {
            let transaction = self.databases.main.begin().await?;
            bring_back(&transaction, now).await?;
            transaction.commit().await?;
            *newest = Some(now);
        }
        *newest = (*newest).max(Some(now));
        for step in due(self.databases.main.reader(), now, STEPS).await? {
            if let Err(error) = self.take(step).await {
                tracing::warn!(%error, incident = step.incident, "a step of an escalation cannot be taken");
            }
        }
        Ok(())
    }

    async fn take(&self, step: DueStep) -> Result<(), MainError> {
        let transaction = self.databases.main.begin().await?;
        take_step(&transaction, step, self.guard.now()).await?;
        transaction.commit().await?;
        self.counters.steps.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}
