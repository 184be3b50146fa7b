//! Background work on the main database: deletes old idempotency keys, events, sessions and audit entries. The history has `compaction`.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::clock::guard::ClockGuard;
use crate::service_router::ownership::Ownership;
use crate::store::{
    Databases, StoreError, audit_entries, console_sessions, events, idempotency_keys, passkeys,
};

/// Runs the due work at the interval `every`, until the future is dropped. While the wall clock is not trusted, no work
/// is due; in a cluster only one node does it.
pub async fn run(databases: Databases, guard: Arc<ClockGuard>, ownership: Ownership, every: Duration) {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(now) = guard.trusted_now().filter(|_| ownership.leads()) else { continue };
        if let Err(error) = once(&databases, now).await {
            tracing::warn!(%error, "upkeep of the databases failed; retrying");
        }
    }
}

/// Runs the upkeep that is due at `now`, which must be a trusted time.
///
/// # Errors
///
/// When a database fails; work done before that is kept.
pub async fn once(databases: &Databases, now: Timestamp) -> Result<(), StoreError> {
    let transaction = databases.main.begin().await?;
    idempotency_keys::forget_old(&transaction, now).await?;
    events::forget_old(&transaction, now).await?;
    console_sessions::forget_old(&transaction, now).await?;
    passkeys::forget_old_challenges(&transaction, now).await?;
    // More than fit into one transaction are left to the next run.
    audit_entries::forget_old(&transaction, now).await?;
    Ok(transaction.commit().await?)
}
