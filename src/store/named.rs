//! Services as other resources show them: key, id and name, read in one way.

use sea_orm::{ConnectionTrait, QuerySelect as _, Select};
use watchkeeper_entities::service;

use crate::model::service::{NamedService, ServiceKey};
use crate::store::MainError;

/// Reads the services that a query selects, in its order.
///
/// # Errors
/// When the database fails or an id cannot be read.
pub(super) async fn services(
    connection: &impl ConnectionTrait,
    query: Select<service::Entity>,
) -> Result<Vec<NamedService>, MainError> {
    let rows: Vec<(ServiceKey, String, String)> = query
        .select_only()
        .columns([service::Column::Id, service::Column::PublicId, service::Column::Name])
        .into_tuple()
        .all(connection)
        .await?;
    let named = |(key, id, name): (ServiceKey, String, String)| {
        let id = id.parse().map_err(|error| MainError::corrupt("service", &key, &error))?;
        Ok(NamedService { key, id, name })
    };
    rows.into_iter().map(named).collect()
}
