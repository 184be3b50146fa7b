//! Pings that other nodes have taken and stored, and could not tell the owner of: they are looked up.
//!
//! Nobody is told of a missed ping that has come. A ping that is heard twice counts once.

use std::time::Duration;

use tokio::time::interval;

use crate::announcer::Announcer;
use crate::clock::Timestamp;
use crate::store::MainError;
use crate::store::heartbeats;

/// The time between two looks.
const EVERY: Duration = Duration::from_secs(2);
/// Pings of this time before the last look are looked up again: clocks of nodes differ, and transactions take their time.
const OVERLAP_MS: i64 = 15_000;

/// Looks them up until the future is dropped.
pub async fn run(announcer: Announcer) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut looked_at = announcer.engine.now();
    loop {
        ticks.tick().await;
        let now = announcer.engine.now();
        match look(&announcer, looked_at.plus_ms(-OVERLAP_MS)).await {
            Ok(()) => looked_at = now,
            Err(error) => tracing::debug!(%error, "stored pings cannot be looked up"),
        }
    }
}

async fn look(announcer: &Announcer, since: Timestamp) -> Result<(), MainError> {
    for (service, ping) in heartbeats::pinged_since(announcer.databases.main.reader(), since).await? {
        // One that stops meanwhile is restored with what is stored.
        if announcer.ownership.is_ready(service.key) && announcer.engine.ping(service.id, ping).await.is_err()
        {
            tracing::debug!(service = %service.id, "the engine has stopped");
        }
    }
    Ok(())
}
