//! Compares the engine with the store on a slow tick: a message may be lost, the store may not.
//!
//! It applies definitions that the fleet does not have in their present revision, and retires services that the store no
//! longer has.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::definition::Definer;
use crate::engine::{Engine, EngineStopped};
use crate::model::service::ServiceKey;
use crate::store::{Databases, StoreError, heartbeats, services};

/// How often.
const EVERY: Duration = Duration::from_secs(300);
/// Services compared at a time.
const PAGE: u64 = 1_000;

#[derive(Debug, thiserror::Error)]
enum ReconcileError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Engine(#[from] EngineStopped),
}

/// Compares for ever, until the future is dropped.
pub async fn run(databases: Databases, engine: Engine, definer: Definer) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        if let Err(error) = once(&databases, &engine, &definer).await {
            tracing::warn!(%error, "the engine could not be compared with the store");
        }
    }
}

async fn once(databases: &Databases, engine: &Engine, definer: &Definer) -> Result<(), ReconcileError> {
    let mut running: HashMap<_, _> = engine.roll().await?;
    let mut after = ServiceKey::MIN;
    loop {
        let page = services::definitions(databases.main.reader(), after, PAGE).await?;
        let Some((last, _)) = page.last() else { break };
        after = last.key;
        let keys: Vec<ServiceKey> = page.iter().map(|(service, _)| service.key).collect();
        let heartbeats = heartbeats::of_services(databases.main.reader(), &keys).await?;
        for (service, organisation) in page {
            let known = running.remove(&service.id).map(|(_, revision)| revision);
            if known.is_some_and(|revision| revision >= service.revision) || !needs_actor(&service, known) {
                continue;
            }
            match definer.define(&service, organisation) {
                Ok(definition) => {
                    let stored = heartbeats.get(&service.key).map(|stored| stored.heartbeat);
                    engine.apply(Arc::new(definition.with_heartbeat(stored))).await?;
                }
                Err(error) => {
                    tracing::error!(service = %service.id, %error, "this service cannot be watched");
                }
            }
        }
    }
    for (id, (key, _)) in running {
        engine.retire(id, key).await?;
    }
    Ok(())
}

/// A service that is not checked needs no actor unless it has one already.
fn needs_actor(service: &crate::model::service::Service, known: Option<i64>) -> bool {
    known.is_some() || (service.settings.is_some() && service.pause.is_none())
}
