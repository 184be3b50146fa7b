//! Background work: finished hours are summed up, histories of deleted services are erased, old keys are forgotten.
//!
//! Both are repeatable: killed half-way, they start over and end in the same rows. An hour is derived once it is
//! older than the slowest check and write should be, and again if results come later still.

use std::time::Duration;

use crate::clock::{Clock, Timestamp};
use crate::store::history::erase;
use crate::store::{Databases, StoreError, idempotency_keys, services};

/// Does all work that is due, every `every`, until the future is dropped.
pub async fn run(databases: Databases, clock: Clock, every: Duration) {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = once(&databases, clock.now()).await {
            tracing::warn!(%error, "upkeep of the history is put off");
        }
    }
}

/// Does all work that is due at `now`.
///
/// # Errors
/// When a database fails; what was done stays done.
pub async fn once(databases: &Databases, now: Timestamp) -> Result<(), StoreError> {
    erase_deleted(databases).await?;
    forget_keys(databases, now).await
}

async fn forget_keys(databases: &Databases, now: Timestamp) -> Result<(), StoreError> {
    let transaction = databases.main.begin().await?;
    idempotency_keys::forget_old(&transaction, now).await?;
    Ok(transaction.commit().await?)
}
