//! Background work on the main database: old idempotency keys are forgotten. What the history needs is `compaction`.

use std::time::Duration;

use crate::clock::{Clock, Timestamp};
use crate::store::{Databases, StoreError, idempotency_keys};

/// Does all work that is due, every `every`, until the future is dropped.
pub async fn run(databases: Databases, clock: Clock, every: Duration) {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = once(&databases, clock.now()).await {
            tracing::warn!(%error, "upkeep is put off");
        }
    }
}

/// Does all work that is due at `now`.
///
/// # Errors
/// When a database fails; what was done stays done.
pub async fn once(databases: &Databases, now: Timestamp) -> Result<(), StoreError> {
    forget_keys(databases, now).await
}

async fn forget_keys(databases: &Databases, now: Timestamp) -> Result<(), StoreError> {
    let transaction = databases.main.begin().await?;
    idempotency_keys::forget_old(&transaction, now).await?;
    Ok(transaction.commit().await?)
}
