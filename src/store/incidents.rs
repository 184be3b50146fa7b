//! Incidents with their timelines, the services that they affect and the pages that show them.
//!
//! Submodules: `row_changes` writes, `list` reads lists, `links` reads the rows that belong to an incident, `of_service`
//! handles the deletion of a service, `evidence` that services have failed, `recovery` the measured recovery of services, `excerpt` reads parts of incidents
//! with many services, `open_links` the services that open incidents affect. Finders are scoped by organisation, except those by database key and those of `recovery`.

mod affected;
pub mod automation;
pub mod downtime;
pub mod evidence;
pub mod excerpt;
pub mod group_keys;
mod links;
pub mod list;
pub mod of_service;
pub mod open_links;
pub mod recovery;
pub mod row_changes;
mod rows;

use crate::store::connection::StoreConnection;
pub use links::internal_timeline_size;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, Select};
use watchkeeper_entities::incident::{Column, Entity};

use crate::id::Id;
use crate::model::incident::{Incident, WholeIncident};
use crate::model::timeline_size::TimelineSize;
use crate::model::visibility::Visibility;
use crate::store::error::MainError;
use crate::store::scope_filter::{ScopedResource, narrowed};

fn of_organisation(organisation: i64) -> Select<Entity> {
    Entity::find().filter(Column::OrganisationId.eq(organisation))
}

fn visible_to(visibility: Visibility) -> Select<Entity> {
    narrowed(of_organisation(visibility.organisation()), ScopedResource::Incidents, visibility)
}

/// The visible incident with this id.
pub async fn find(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<Incident>, MainError> {
    let row = visible_to(visibility).filter(Column::PublicId.eq(id.as_str())).one(&connection).await?;
    row.map(rows::from_row).transpose()
}

/// Like [`find`], with everything that belongs to the incident, visible or not. The incident is locked until the
/// transaction ends.
pub async fn find_for_update(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    id: Id,
) -> Result<Option<WholeIncident>, MainError> {
    let query = visible_to(visibility).filter(Column::PublicId.eq(id.as_str())).lock_exclusive();
    match query.one(&connection).await? {
        Some(row) => {
            let everything = Visibility::whole(visibility.organisation());
            Ok(Some(whole(connection, everything, rows::from_row(row)?).await?))
        }
        None => Ok(None),
    }
}

/// Like [`find_for_update`], by database key and for any organisation, for code that handles all organisations.
pub async fn of_key_for_update(
    connection: &dyn StoreConnection,
    key: i64,
) -> Result<Option<WholeIncident>, MainError> {
    match Entity::find_by_id(key).lock_exclusive().one(&connection).await? {
        Some(row) => {
            let incident = rows::from_row(row)?;
            Ok(Some(whole(connection, Visibility::whole(incident.organisation), incident).await?))
        }
        None => Ok(None),
    }
}

/// The incident with everything that belongs to it, restricted to what the caller may see.
pub async fn whole(
    connection: &dyn StoreConnection,
    visibility: Visibility,
    incident: Incident,
) -> Result<WholeIncident, MainError> {
    let mut affected = affected::affected(connection, visibility, &[incident.key]).await?;
    let links::IncidentTimeline { public, internal } =
        links::timeline(connection, visibility, incident.key).await?;
    Ok(WholeIncident {
        services: affected.remove(&incident.key).unwrap_or_default(),
        others: 0,
        statuspages: links::pages(connection, visibility, incident.key).await?,
        updates: public,
        unread_updates: TimelineSize::default(),
        internal_updates: internal,
        automation: automation::find(connection, incident.key).await?,
        incident,
    })
}
