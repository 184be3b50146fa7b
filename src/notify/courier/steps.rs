//! Steps of escalation policies: those that are due are taken, and their messages lie in the outbox.

use std::sync::atomic::Ordering;

use crate::notify::courier::attempt::Courier;
use crate::store::MainError;
use crate::store::escalation_steps::{DueStep, due, take_step};

/// Most steps that are taken at one look.
const STEPS: u64 = 200;

impl Courier {
    /// Takes the steps that are due. One that cannot be taken does not keep the others back.
    pub(super) async fn take_due_steps(&self) -> Result<(), MainError> {
        let now = self.guard.now();
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
