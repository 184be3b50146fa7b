//! Writes the rows of incidents. Only `lifecycle` may use this module, because it also writes the effects of the change.
//!
//! Changes are written as the difference between two [`WholeIncident`]s, so that the incident need not be read again.

use crate::store::connection::StoreConnection;
use sea_orm::{ActiveModelTrait, ActiveValue::NotSet, ColumnTrait, EntityTrait, QueryFilter};
use watchkeeper_entities::incident::{Column, Entity};

use crate::model::incident::{IncidentTimelineEntry, WholeIncident};
use crate::store::error::MainError;
use crate::store::incidents::links::TimelineAudience;
use crate::store::incidents::{automation, links, rows};

/// Number of incidents per statement, far below the limit of bound values.
const INCIDENTS_PER_STATEMENT: usize = 1_000;

/// Stores a new incident with everything that belongs to it; its `key` is assigned by the database.
pub async fn insert(connection: &dyn StoreConnection, whole: &mut WholeIncident) -> Result<(), MainError> {
    let mut row = rows::to_row(&whole.incident);
    row.id = NotSet;
    let key = Entity::insert(row).exec(&connection).await?.last_insert_id;
    whole.incident.key = key;
    links::add_updates(connection, key, &whole.updates, TimelineAudience::Everybody).await?;
    links::add_updates(connection, key, &whole.internal_updates, TimelineAudience::Members).await?;
    links::add_services(connection, key, whole.services.iter()).await?;
    automation::save(connection, key, None, whole.automation).await?;
    links::set_pages(connection, key, &[], &whole.statuspages).await
}

/// Adds a timeline entry of the engine that names services. Only members who see all services can read it.
pub async fn add_reasons(
    connection: &dyn StoreConnection,
    incident: i64,
    entry: &IncidentTimelineEntry,
) -> Result<(), MainError> {
    links::add_updates(connection, incident, std::slice::from_ref(entry), TimelineAudience::MembersWhoSeeAll)
        .await
}

/// Stores the changes of an incident from `before` to `after`.
pub async fn save(
    connection: &dyn StoreConnection,
    before: &WholeIncident,
    after: &WholeIncident,
) -> Result<(), MainError> {
    if before.incident != after.incident {
        rows::to_row(&after.incident).update(&connection).await?;
    }
    let key = after.incident.key;
    // Entries are only ever added to a timeline.
    let new = after.updates.get(before.updates.len()..).unwrap_or_default();
    links::add_updates(connection, key, new, TimelineAudience::Everybody).await?;
    let new = after.internal_updates.get(before.internal_updates.len()..).unwrap_or_default();
    links::add_updates(connection, key, new, TimelineAudience::Members).await?;
    links::set_services(connection, key, &before.services, &after.services).await?;
    links::change_others(connection, before, after).await?;
    automation::save(connection, key, before.automation, after.automation).await?;
    links::set_pages(connection, key, &before.statuspages, &after.statuspages).await
}

/// Deletes the incidents with these keys, and all rows that belong to them.
pub async fn delete(connection: &dyn StoreConnection, incidents: &[i64]) -> Result<(), MainError> {
    for chunk in incidents.chunks(INCIDENTS_PER_STATEMENT) {
        Entity::delete_many().filter(Column::Id.is_in(chunk.iter().copied())).exec(&connection).await?;
    }
    Ok(())
}
