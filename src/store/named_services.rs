//! Services as other resources show them: database key, id and name.

use std::collections::{BTreeSet, HashMap};

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _, Select};
use watchkeeper_entities::service;

use crate::model::service::{NamedService, ServiceKey};
use crate::store::error::MainError;

/// Number of keys per statement, because the number of bound values is limited.
const KEYS_AT_ONCE: usize = 1_000;

/// Reads the services that a query selects, in the order of the query.
pub(super) async fn services(
    connection: &dyn StoreConnection,
    query: Select<service::Entity>,
) -> Result<Vec<NamedService>, MainError> {
    let rows: Vec<(ServiceKey, String, String)> = query
        .select_only()
        .columns([service::Column::Id, service::Column::PublicId, service::Column::Name])
        .into_tuple()
        .all(&connection)
        .await?;
    let named = |(key, id, name): (ServiceKey, String, String)| {
        let id = id.parse().map_err(|error| MainError::corrupt("service", &key, &error))?;
        Ok(NamedService { key, id, name })
    };
    rows.into_iter().map(named).collect()
}

/// Reads the services with these keys, of any organisation. Services that do not exist are not in the result.
pub async fn by_keys(
    connection: &dyn StoreConnection,
    keys: impl IntoIterator<Item = ServiceKey>,
) -> Result<HashMap<ServiceKey, NamedService>, MainError> {
    let keys: Vec<ServiceKey> = keys.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let mut found = HashMap::with_capacity(keys.len());
    for some in keys.chunks(KEYS_AT_ONCE) {
        let query = service::Entity::find().filter(service::Column::Id.is_in(some.iter().copied()));
        found.extend(services(connection, query).await?.into_iter().map(|service| (service.key, service)));
    }
    Ok(found)
}
