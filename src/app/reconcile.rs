//! Compares the engine with the store periodically, since messages may be lost while the store is reliable.
//!
//! The comparison applies definitions that the fleet does not have in their current revision, and retires services that
//! the store no longer has.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use crate::engine::EngineStopped;
use crate::model::partition::Partition;
use crate::model::service::{Service, ServiceAddress, ServiceKey};
use crate::service_router::ServiceRouter;
use crate::store::MainError;
use crate::store::services::definitions::{self, OwnedService};

/// Interval between two comparisons.
const EVERY: Duration = Duration::from_secs(300);
/// Services per page.
const PAGE: u64 = 1_000;

#[derive(Debug, thiserror::Error)]
enum ReconcileError {
    #[error(transparent)]
    Store(#[from] MainError),
    #[error(transparent)]
    Engine(#[from] EngineStopped),
}

/// Compares periodically until the future is dropped.
pub async fn run(router: ServiceRouter) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        if let Err(error) = once(&router).await {
            tracing::warn!(%error, "cannot compare the engine with the stored services; retrying");
        }
    }
}

async fn once(router: &ServiceRouter) -> Result<(), ReconcileError> {
    let ServiceRouter { databases, engine, ownership, .. } = router;
    let ready = ownership.ready();
    let mut running: HashMap<_, _> = engine.watched().await?;
    let mut unreadable = BTreeSet::new();
    let mut after = ServiceKey::MIN;
    loop {
        let page = definitions::page(databases.main.reader(), ready, after, PAGE).await?;
        let Some(last) = page.last else { break };
        after = last;
        unreadable.extend(page.unreadable);
        let mut page = page.services;
        page.retain(|OwnedService { service, .. }| {
            let known = running.remove(&service.id).map(|watched| watched.revision);
            known.is_none_or(|revision| revision < service.revision) && needs_actor(service, known)
        });
        page.iter().for_each(|owned| router.changes.mark(owned.service.address()));
        for definition in router.definitions_of(&page).await? {
            engine.apply(Arc::new(definition)).await?;
        }
    }
    // A service that another node has taken over meanwhile is compared by that node. A service whose row cannot be read is
    // not retired.
    let gone = running.into_iter().filter(|(_, gone)| {
        let is_ours = ready.contains(Partition::of(gone.key)) && ownership.watches(gone.key);
        is_ours && !unreadable.contains(&gone.key)
    });
    for (id, gone) in gone {
        router.changes.mark(ServiceAddress { id, key: gone.key });
        engine.retire(id, gone.key, gone.revision).await?;
    }
    router.unreadable.replace(unreadable);
    Ok(())
}

/// Applies every service again, after a location was added.
pub(super) async fn apply_all(router: &ServiceRouter) -> anyhow::Result<()> {
    let mut after = ServiceKey::MIN;
    loop {
        let main = router.databases.main.reader();
        let page = definitions::page(main, router.ownership.ready(), after, PAGE).await?;
        let Some(last) = page.last else { return Ok(()) };
        after = last;
        for definition in router.definitions_of(&page.services).await? {
            router.engine.apply(Arc::new(definition)).await?;
        }
    }
}

/// Returns false for a service that is not checked and has no actor.
fn needs_actor(service: &Service, known: Option<i64>) -> bool {
    known.is_some() || (service.settings.is_some() && service.pause.is_none())
}
