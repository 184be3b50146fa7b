//! The evidence that services of incidents have failed, stored as JSON in one column.
//!
//! Evidence that cannot be read is left out, because an incident can be shown without it.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::incident;
use watchkeeper_entities::incident_service::{Column, Entity};

use crate::model::incident::AffectedService;
use crate::model::outage_evidence::OutageEvidence;
use crate::model::service::ServiceKey;
use crate::store::error::MainError;

/// Returns the evidence against each of these services, at most 1,000, in the newest open incident that has evidence.
pub async fn of_open_incidents(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
) -> Result<HashMap<ServiceKey, OutageEvidence>, MainError> {
    let to_incident =
        Entity::belongs_to(incident::Entity).from(Column::IncidentId).to(incident::Column::Id).into();
    let rows: Vec<(ServiceKey, String)> = Entity::find()
        .select_only()
        .columns([Column::ServiceId, Column::Evidence])
        .join(JoinType::InnerJoin, to_incident)
        .filter(Column::ServiceId.is_in(services.iter().copied()))
        .filter(Column::Evidence.is_not_null())
        .filter(incident::Column::ResolvedAt.is_null())
        .order_by_asc(Column::IncidentId)
        .into_tuple()
        .all(&connection)
        .await?;
    let known = rows.into_iter().filter_map(|(service, stored)| Some((service, *from_stored(&stored)?)));
    Ok(known.collect())
}

pub(super) fn from_stored(stored: &str) -> Option<Box<OutageEvidence>> {
    serde_json::from_str(stored).ok()
}

pub(super) fn to_stored(evidence: &OutageEvidence) -> Option<String> {
    serde_json::to_string(evidence).ok()
}

/// Stores changed evidence of services that the incident already affected, with one statement per service. Few services of
/// an incident have evidence.
pub(super) async fn set_of_known(
    connection: &dyn StoreConnection,
    incident: i64,
    known: &HashMap<ServiceKey, &AffectedService>,
    after: &[AffectedService],
) -> Result<(), MainError> {
    let is_new = |row: &&AffectedService| {
        known.get(&row.service).is_some_and(|before| before.evidence != row.evidence)
    };
    for row in after.iter().filter(is_new) {
        Entity::update_many()
            .col_expr(Column::Evidence, Expr::value(row.evidence.as_deref().and_then(to_stored)))
            .filter(Column::IncidentId.eq(incident))
            .filter(Column::ServiceId.eq(row.service))
            .exec(&connection)
            .await?;
    }
    Ok(())
}
