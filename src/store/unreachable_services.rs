//! Services that are unreachable because a service that they depend on is down.

use std::collections::{BTreeSet, HashMap};

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use watchkeeper_entities::service;

use crate::model::dependency::UnreachableState;
use crate::model::outage::Outage;
use crate::model::service::{NamedService, ServiceKey};
use crate::store::error::MainError;
use crate::store::{dependencies, named_services, outages};

/// Number of services per statement, far below the limit of bound values.
const SERVICES_PER_STATEMENT: usize = 1_000;

/// The unreachable services among these, each with the services that cause it.
pub async fn unreachable(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
) -> Result<HashMap<ServiceKey, UnreachableState>, MainError> {
    let mut found = outages::of_services(connection, services).await?;
    found.retain(|outage| outage.unreachable_since.is_some());
    if found.is_empty() {
        return Ok(HashMap::new());
    }
    let children: Vec<ServiceKey> = found.iter().map(|outage| outage.service).collect();
    let graph = dependencies::find_neighbours(connection, &children).await?;
    let parents: BTreeSet<ServiceKey> = children.iter().flat_map(|child| graph.parents_of(*child)).collect();
    let parents: Vec<ServiceKey> = parents.into_iter().collect();
    let mut hiding = outages::of_services(connection, &parents).await?;
    hiding.retain(Outage::hides_others);
    let mut parents: Vec<NamedService> = Vec::new();
    for some in hiding.chunks(SERVICES_PER_STATEMENT) {
        let keys = some.iter().map(|outage| outage.service);
        let query = service::Entity::find().filter(service::Column::Id.is_in(keys));
        parents.extend(named_services::services(connection, query).await?);
    }
    parents.sort_by(|a, b| (&a.name, a.id.as_str()).cmp(&(&b.name, b.id.as_str())));
    let unreachable = found.iter().filter_map(|outage| {
        let own: BTreeSet<ServiceKey> = graph.parents_of(outage.service).collect();
        let because_of = parents.iter().filter(|parent| own.contains(&parent.key)).cloned().collect();
        Some((outage.service, UnreachableState { since: outage.unreachable_since?, because_of }))
    });
    Ok(unreachable.collect())
}
