//! The services that open incidents of an organisation affect.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _};
use watchkeeper_entities::incident::Column;
use watchkeeper_entities::incident_service;

use crate::model::incident::IncidentKind;
use crate::model::service::ServiceKey;
use crate::store::error::MainError;
use crate::store::incidents::of_organisation;

/// Number of incidents per statement.
const CHUNK: usize = 1_000;

/// The services that open incidents affect, each with true if all of its incidents are acknowledged. Notices, which have no
/// impact, do not count.
pub async fn open_links(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<HashMap<ServiceKey, bool>, MainError> {
    let open: Vec<(i64, Option<i64>)> = of_organisation(organisation)
        .select_only()
        .columns([Column::Id, Column::AcknowledgedAt])
        .filter(Column::ResolvedAt.is_null())
        .filter(Column::Kind.ne(IncidentKind::Notice.as_str()))
        .into_tuple()
        .all(&connection)
        .await?;
    let is_acknowledged: HashMap<i64, bool> =
        open.into_iter().map(|(incident, at)| (incident, at.is_some())).collect();
    let incidents: Vec<i64> = is_acknowledged.keys().copied().collect();
    let mut found: HashMap<ServiceKey, bool> = HashMap::new();
    for some in incidents.chunks(CHUNK) {
        let links: Vec<(i64, ServiceKey)> = incident_service::Entity::find()
            .select_only()
            .columns([incident_service::Column::IncidentId, incident_service::Column::ServiceId])
            .filter(incident_service::Column::IncidentId.is_in(some.iter().copied()))
            .into_tuple()
            .all(&connection)
            .await?;
        for (incident, service) in links {
            *found.entry(service).or_insert(true) &= is_acknowledged[&incident];
        }
    }
    Ok(found)
}
