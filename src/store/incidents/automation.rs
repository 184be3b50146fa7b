//! Incidents that the engine has opened, and the fields of them that members have edited.

use std::collections::{HashMap, HashSet};

use crate::store::connection::StoreConnection;
use sea_orm::{ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};
use watchkeeper_entities::incident_automation::{ActiveModel, Column, Entity};

use crate::model::automation::{AutomationState, EditedFields};
use crate::model::incident::AffectedService;
use crate::store::error::MainError;
use crate::store::incidents::affected;

/// The automation of an incident; `None` if a person opened the incident.
pub(super) async fn find(
    connection: &dyn StoreConnection,
    incident: i64,
) -> Result<Option<AutomationState>, MainError> {
    let row = Entity::find_by_id(incident).one(&connection).await?;
    let automation = |row: watchkeeper_entities::incident_automation::Model| AutomationState {
        policy: row.policy_id,
        edited: EditedFields::from_words(&row.edited.unwrap_or_default()),
    };
    Ok(row.map(automation))
}

/// The incidents among `incidents` that the engine opened and whose title no member has changed.
pub async fn with_own_titles(
    connection: &dyn StoreConnection,
    incidents: &[i64],
) -> Result<HashSet<i64>, MainError> {
    let rows = Entity::find().filter(Column::IncidentId.is_in(incidents.iter().copied()));
    let rows = rows.all(&connection).await?;
    let is_ours = |row: &&watchkeeper_entities::incident_automation::Model| {
        !EditedFields::from_words(row.edited.as_deref().unwrap_or_default()).title
    };
    Ok(rows.iter().filter(is_ours).map(|row| row.incident_id).collect())
}

/// The services that generated titles may name: for each incident that the engine opened and whose title no member has
/// changed, all its services, sorted by name.
pub async fn titled_services(
    connection: &dyn StoreConnection,
    incidents: &[i64],
) -> Result<HashMap<i64, Vec<AffectedService>>, MainError> {
    let ours = with_own_titles(connection, incidents).await?;
    let keys: Vec<i64> = ours.iter().copied().collect();
    let mut found = affected::affected_in_full(connection, &keys).await?;
    Ok(ours.into_iter().map(|key| (key, found.remove(&key).unwrap_or_default())).collect())
}

/// Stores a changed automation; does nothing if `after` is `None` or equals `before`.
pub(super) async fn save(
    connection: &dyn StoreConnection,
    incident: i64,
    before: Option<AutomationState>,
    after: Option<AutomationState>,
) -> Result<(), MainError> {
    let Some(AutomationState { policy, edited }) = after.filter(|_| before != after) else { return Ok(()) };
    let row = ActiveModel {
        incident_id: Set(incident),
        policy_id: Set(policy),
        edited: Set(Some(edited.to_words())),
    };
    if before.is_some() {
        row.update(&connection).await?;
    } else {
        Entity::insert(row).exec_without_returning(&connection).await?;
    }
    Ok(())
}
