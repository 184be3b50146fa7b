//! The incidents that affect a service that is about to be deleted, locked until the transaction ends.

use std::collections::HashSet;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Query, SelectStatement};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::incident::Column;
use watchkeeper_entities::incident_service;

use crate::id::Id;
use crate::model::service::ServiceKey;
use crate::store::error::MainError;
use crate::store::incidents::of_organisation;

/// An incident that affects the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkedIncident {
    /// Database key of the incident.
    pub key: i64,
    /// Id of the incident.
    pub id: Id,
    /// True if the incident is resolved.
    pub is_resolved: bool,
    /// True if the incident also affects other services.
    pub is_shared: bool,
}

/// The incidents that affect a service of an organisation, in the order of their keys.
pub async fn linked_for_update(
    connection: &dyn StoreConnection,
    organisation: i64,
    service: ServiceKey,
) -> Result<Vec<LinkedIncident>, MainError> {
    let linked: Vec<(i64, String, Option<i64>)> = of_organisation(organisation)
        .select_only()
        .columns([Column::Id, Column::PublicId, Column::ResolvedAt])
        .filter(Column::Id.in_subquery(incidents_of(service)))
        .order_by_asc(Column::Id)
        .lock_exclusive()
        .into_tuple()
        .all(&connection)
        .await?;
    if linked.is_empty() {
        return Ok(Vec::new());
    }
    let shared = shared_incidents(connection, service).await?;
    let read = |(key, id, resolved_at): (i64, String, Option<i64>)| {
        let id = id.parse().map_err(|_| MainError::corrupt("incident", &key, &"its id is malformed"))?;
        Ok(LinkedIncident { key, id, is_resolved: resolved_at.is_some(), is_shared: shared.contains(&key) })
    };
    linked.into_iter().map(read).collect()
}

fn incidents_of(service: ServiceKey) -> SelectStatement {
    Query::select()
        .column(incident_service::Column::IncidentId)
        .from(incident_service::Entity)
        .and_where(incident_service::Column::ServiceId.eq(service))
        .to_owned()
}

/// Keys of the incidents of this service that also affect other services.
async fn shared_incidents(
    connection: &dyn StoreConnection,
    service: ServiceKey,
) -> Result<HashSet<i64>, MainError> {
    let rows: Vec<i64> = incident_service::Entity::find()
        .select_only()
        .column(incident_service::Column::IncidentId)
        .distinct()
        .filter(incident_service::Column::IncidentId.in_subquery(incidents_of(service)))
        .filter(incident_service::Column::ServiceId.ne(service))
        .into_tuple()
        .all(&connection)
        .await?;
    Ok(rows.into_iter().collect())
}
