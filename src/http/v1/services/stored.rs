//! The stored data of services that clients see: a row with its tags, its maintenances and its pings.

use std::sync::Arc;

use crate::http::kit::error::ApiError;
use crate::model::check::CheckType;
use crate::model::dependency::{Dependency, UnreachableState};
use crate::model::service::{Service, ServiceSettings};
use crate::model::tag::Tag;
use crate::store::heartbeats::StoredHeartbeat;
use crate::store::maintenances::effect::covered;
use crate::store::{StoreConnection, dependencies, heartbeats, tags, unreachable_services};

/// A service with the stored data that belongs to it.
#[derive(Debug)]
pub(super) struct StoredService {
    pub(super) service: Service,
    pub(super) tags: Vec<Tag>,
    pub(super) in_maintenance: bool,
    /// Ping URL and last ping; only for heartbeat services.
    pub(super) heartbeat: Option<StoredHeartbeat>,
    /// Dependencies in the client's order.
    pub(super) depends_on: Vec<Dependency>,
    /// Set while the service fails because a dependency is down, and until its first check after that.
    pub(super) unreachable: Option<UnreachableState>,
}

impl StoredService {
    /// Approximate size in memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let Service { name, target, settings, .. } = &self.service;
        let config = settings.as_ref().map_or(0, ServiceSettings::stored_bytes);
        let tags = self.tags.len() * size_of::<Tag>() * 2;
        let depends_on = self.depends_on.len() * size_of::<Dependency>() * 2;
        // A tree of JSON values takes more memory than its text; long texts in it take little more.
        size_of::<Self>()
            + name.len()
            + target.as_ref().map_or(0, String::len)
            + 2 * config
            + tags
            + depends_on
    }
}

#[derive(Debug)]
pub(super) struct ServicePage {
    pub(super) rows: Vec<Arc<StoredService>>,
    /// Number of services on all pages.
    pub(super) total: u64,
}

/// Reads the stored data that belongs to these services, with one query per table.
pub(super) async fn gather(
    connection: &dyn StoreConnection,
    services: Vec<Service>,
) -> Result<Vec<StoredService>, ApiError> {
    let keys: Vec<_> = services.iter().map(|service| service.key).collect();
    let mut tags = tags::of_services(connection, &keys).await?;
    let in_maintenance = covered(connection, &keys).await?;
    let reporting = services.iter().filter(|service| service.check_type == CheckType::Heartbeat);
    let reporting: Vec<_> = reporting.map(|service| service.key).collect();
    let mut heartbeats = heartbeats::of_services(connection, &reporting).await?;
    let mut depends_on = dependencies::of_services(connection, &keys).await?;
    let mut unreachable = unreachable_services::unreachable(connection, &keys).await?;
    let row = |service: Service| StoredService {
        tags: tags.remove(&service.key).unwrap_or_default(),
        in_maintenance: in_maintenance.contains(&service.key),
        heartbeat: heartbeats.remove(&service.key),
        depends_on: depends_on.remove(&service.key).unwrap_or_default(),
        unreachable: unreachable.remove(&service.key),
        service,
    };
    Ok(services.into_iter().map(row).collect())
}
