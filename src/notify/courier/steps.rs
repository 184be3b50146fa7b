//! Steps of escalation policies: due steps are taken, and their messages are written to the outbox.

use std::sync::atomic::Ordering;

use crate::clock::Timestamp;
use crate::lifecycle::clock_setback::bring_back;
use crate::lifecycle::escalation_steps::take_step;
use crate::notify::courier::attempt::Courier;
use crate::store::MainError;
use crate::store::escalations::{DueStep, due};

/// The smallest setback of the clock that is noticed, in milliseconds.
const SETBACK_MS: i64 = 5_000;
/// Maximum number of steps that are taken at one poll.
const STEPS: u64 = 200;

impl Courier {
    /// Takes the due steps. A failing step does not delay the others. `newest` is the newest time seen here: at the start, and
    /// when the clock is set back, steps that wait for a time too far in the future are rescheduled.
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
                tracing::warn!(
                    incident_key = step.incident,
                    %error,
                    "cannot execute an escalation step; retrying"
                );
            }
        }
        Ok(())
    }

    async fn take(&self, step: DueStep) -> Result<(), MainError> {
        let transaction = self.databases.main.begin().await?;
        take_step(&transaction, step, || self.guard.now()).await?;
        transaction.commit().await?;
        self.counters.steps.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}
