//! Renews this node's lease, which contains the time since the node last reached the databases.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, interval};

use crate::bus::connection::BusConnection;
use crate::bus::lease_value::LeaseValue;
use crate::bus::leases;
use crate::cluster::database_contact::DatabaseContact;
use crate::service_router::ownership::NodeIdentity;

/// The time between two renewals.
const EVERY: Duration = Duration::from_secs(1);
/// A keeper without a poll for this long is stuck.
const STUCK_AFTER: Duration = Duration::from_secs(60);

/// Renews the lease repeatedly, until the future is dropped.
///
/// The renewal stops while the keeper is stuck, so that other nodes take this node's partitions.
pub async fn run(
    connection: BusConnection,
    member: NodeIdentity,
    contact: DatabaseContact,
    polled_at: watch::Receiver<Instant>,
) {
    let NodeIdentity { name, folder } = member;
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut is_stuck = false;
    loop {
        ticks.tick().await;
        let was_stuck = std::mem::replace(&mut is_stuck, polled_at.borrow().elapsed() > STUCK_AFTER);
        if is_stuck {
            if !was_stuck {
                tracing::error!(
                    seconds = STUCK_AFTER.as_secs(),
                    "this node has not read the leases for a minute; other nodes take over its services"
                );
            }
            continue;
        }
        match leases::folder_of(&connection, &name).await {
            Ok(Some(other)) if other != folder => {
                tracing::error!(
                    node = %name,
                    "another process uses the credentials of this node; create credentials for each node"
                );
                continue;
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(error, "cannot read the lease of this node"),
        }
        let value = LeaseValue { folder, database_age_ms: Some(contact.age_ms()) };
        if let Err(error) = leases::renew_lease(&connection, &name, value).await {
            tracing::debug!(error, "cannot renew the lease of this node");
        }
    }
}
