//! The announcer: a stored service becomes a running one, with everything that the engine must know of it.
//!
//! The one place that reads what belongs to a definition beside the row of the service, so that everybody who announces a
//! service (the API, the timetable, a restart, the comparison with the store) announces the same. Whoever has changed a
//! service commits first. What goes wrong afterwards is logged, and mended by the next comparison.

pub mod changes;

use std::collections::HashMap;
use std::sync::Arc;

use crate::announcer::changes::Changes;
use crate::engine::Engine;
use crate::engine::definition::{Definer, Definition};
use crate::id::Id;
use crate::model::check::CheckType;
use crate::model::service::{Service, ServiceAddress, ServiceKey};
use crate::store::heartbeats::{self, StoredHeartbeat};
use crate::store::services::OwnedService;
use crate::store::{Databases, MainError};

/// Tells the engine about stored services. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Announcer {
    /// The databases of services and their heartbeats.
    pub databases: Databases,
    /// The engine that watches them.
    pub engine: Engine,
    /// Makes the engine's definitions.
    pub definer: Definer,
    /// Services whose definitions locations in other places have to get anew.
    pub changes: Changes,
}

impl Announcer {
    /// Tells the engine how these services of one organisation are to be watched from now on. Returns when it is in force.
    pub async fn announce(&self, services: &[Service], organisation: Id) {
        let owned = |service: &Service| OwnedService { service: service.clone(), organisation };
        let owned: Vec<OwnedService> = services.iter().map(owned).collect();
        services.iter().for_each(|service| self.changes.mark(service.address()));
        let definitions = match self.define(&owned).await {
            Ok(definitions) => definitions,
            Err(error) => {
                tracing::error!(%error, services = services.len(), "what belongs to these services cannot be read");
                return;
            }
        };
        for definition in definitions {
            let id = definition.id;
            if self.engine.apply(Arc::new(definition)).await.is_err() {
                tracing::warn!(service = %id, "the engine has stopped");
            }
        }
    }

    /// Tells the engine that a service is gone, whose last revision this was.
    pub async fn retire(&self, service: ServiceAddress, revision: i64) {
        self.changes.mark(service);
        if self.engine.retire(service.id, service.key, revision).await.is_err() {
            tracing::warn!(service = %service.id, "the engine has stopped");
        }
    }

    /// Returns the definitions of these services; one that cannot be watched is logged and left out.
    ///
    /// # Errors
    /// When the main database fails.
    pub async fn define(&self, services: &[OwnedService]) -> Result<Vec<Definition>, MainError> {
        let heartbeats = self.heartbeats_of(services).await?;
        let definition = |owned: &OwnedService| {
            let OwnedService { service, organisation } = owned;
            let defined = self.definer.define(service, *organisation).inspect_err(|error| {
                tracing::error!(service = %service.id, %error, "this service cannot be watched");
            });
            let stored = heartbeats.get(&service.key).map(|stored| stored.heartbeat);
            Some(defined.ok()?.with_heartbeat(stored))
        };
        Ok(services.iter().filter_map(definition).collect())
    }

    async fn heartbeats_of(
        &self,
        services: &[OwnedService],
    ) -> Result<HashMap<ServiceKey, StoredHeartbeat>, MainError> {
        let reporting = services.iter().filter(|owned| owned.service.check_type == CheckType::Heartbeat);
        let keys: Vec<ServiceKey> = reporting.map(|owned| owned.service.key).collect();
        heartbeats::of_services(self.databases.main.reader(), &keys).await
    }
}
