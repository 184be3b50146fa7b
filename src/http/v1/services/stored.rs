//! The stored data of services, as far as clients see it: a row with its tags, its maintenances and its pings.

use crate::http::kit::error::ApiError;
use crate::model::check::CheckType;
use crate::model::dependency::{Dependency, Unreachable};
use crate::model::service::Service;
use crate::model::tag::Tag;
use crate::store::heartbeats::StoredHeartbeat;
use crate::store::maintenances::effect::covered;
use crate::store::{Connection, dependencies, heartbeats, reach, tags};

/// A service with everything that is stored beside it.
#[derive(Debug)]
pub(super) struct StoredService {
    pub(super) service: Service,
    pub(super) tags: Vec<Tag>,
    pub(super) in_maintenance: bool,
    /// Only of services that report themselves.
    pub(super) heartbeat: Option<StoredHeartbeat>,
    /// What it depends on, in the order of the client.
    pub(super) depends_on: Vec<Dependency>,
    /// Set while it fails behind something that is down, and until it has looked after that.
    pub(super) unreachable: Option<Unreachable>,
}

/// Reads what is stored beside these services, one question a table, however many they are.
pub(super) async fn gather(
    connection: &impl Connection,
    services: Vec<Service>,
) -> Result<Vec<StoredService>, ApiError> {
    let keys: Vec<_> = services.iter().map(|service| service.key).collect();
    let mut tags = tags::of_services(connection, &keys).await?;
    let in_maintenance = covered(connection, &keys).await?;
    let reporting = services.iter().filter(|service| service.check_type == CheckType::Heartbeat);
    let reporting: Vec<_> = reporting.map(|service| service.key).collect();
    let mut heartbeats = heartbeats::of_services(connection, &reporting).await?;
    let mut depends_on = dependencies::of_services(connection, &keys).await?;
    let mut unreachable = reach::unreachable(connection, &keys).await?;
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
