//! Looks up pings that other nodes have stored and could not pass on to the owner.
//!
//! So a ping that has arrived is never reported as missed. A ping that is received twice counts once.

use std::time::Duration;

use tokio::time::interval;

use crate::clock::Timestamp;
use crate::service_router::ServiceRouter;
use crate::store::MainError;
use crate::store::heartbeats;

/// The poll interval.
const EVERY: Duration = Duration::from_secs(2);
/// Time before the last poll that is searched again: clocks of nodes differ, and transactions take their time.
const OVERLAP_MS: i64 = 15_000;

/// Looks up such pings repeatedly, until the future is dropped.
pub async fn run(router: ServiceRouter) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut polled_at = router.engine.now();
    loop {
        ticks.tick().await;
        let now = router.engine.now();
        match forward_stored_pings(&router, polled_at.plus_ms(-OVERLAP_MS)).await {
            Ok(()) => polled_at = now,
            Err(error) => tracing::debug!(%error, "cannot read stored pings; retrying"),
        }
    }
}

async fn forward_stored_pings(router: &ServiceRouter, since: Timestamp) -> Result<(), MainError> {
    for (service, ping) in heartbeats::pinged_since(router.databases.main.reader(), since).await? {
        // A node that stops meanwhile restores the ping from the database.
        if router.ownership.is_ready(service.key) && router.engine.ping(service.id, ping).await.is_err() {
            tracing::debug!(service = %service.id, "cannot process a stored ping: the engine has stopped");
        }
    }
    Ok(())
}
