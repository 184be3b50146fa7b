//! The evidence that services of an incident have failed, stored as JSON in one column.
//!
//! Evidence that cannot be read is left out, because an incident can be shown without it.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use watchkeeper_entities::incident_service::{Column, Entity};

use crate::model::incident::AffectedService;
use crate::model::outage_evidence::OutageEvidence;
use crate::model::service::ServiceKey;
use crate::store::error::MainError;

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
