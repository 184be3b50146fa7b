//! The incidents and maintenances that facts are about, as they are now. Reads those of all organisations: only for messages
//! to subscribers.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::Query;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select};
use watchkeeper_entities::{
    incident, incident_service, incident_update, maintenance, maintenance_service, service,
};

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident::{AffectedService, IncidentKind, IncidentStatus, Severity};
use crate::model::maintenance::MaintenanceStatus;
use crate::model::service::ServiceKey;
use crate::store::announcements::TouchedService;
use crate::store::error::MainError;
use crate::store::incidents::automation::titled_services;

/// An incident as subscribers hear of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentNews {
    /// The id that clients see.
    pub id: Id,
    /// True while visitors see the incident.
    pub is_published: bool,
    /// False for a notice, which has no stages of work.
    pub has_progress: bool,
    /// Severity of the incident.
    pub severity: Severity,
    /// Status of the incident at the timeline entry.
    pub status: IncidentStatus,
    /// The services that a generated title may name; `None` if a person wrote the title.
    pub may_name: Option<Vec<AffectedService>>,
    /// The services of the incident, sorted by name.
    pub services: Vec<TouchedService>,
}

/// A maintenance as subscribers hear of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaintenanceNews {
    /// The id that clients see.
    pub id: Id,
    /// Present status.
    pub status: MaintenanceStatus,
    /// Planned start.
    pub start: Timestamp,
    /// Planned end; `None` = open.
    pub end: Option<Timestamp>,
    /// The services of the maintenance, sorted by name.
    pub services: Vec<TouchedService>,
}

/// The incident with this key, with its status at a timeline entry; `None` if one of them was deleted.
pub async fn incident(
    connection: &dyn StoreConnection,
    key: i64,
    entry: Id,
) -> Result<Option<IncidentNews>, MainError> {
    let Some(row) = incident::Entity::find_by_id(key).one(&connection).await? else { return Ok(None) };
    let written = incident_update::Entity::find()
        .filter(incident_update::Column::PublicId.eq(entry.as_str()))
        .filter(incident_update::Column::IsInternal.eq(false));
    let Some(written) = written.one(&connection).await? else { return Ok(None) };
    let corrupt = |problem: &str| MainError::corrupt("incident", &key, &problem);
    let services =
        service::Entity::find().select_only().columns([service::Column::Id, service::Column::Name]).filter(
            service::Column::Id.in_subquery(
                Query::select()
                    .column(incident_service::Column::ServiceId)
                    .from(incident_service::Entity)
                    .and_where(incident_service::Column::IncidentId.eq(key))
                    .to_owned(),
            ),
        );
    Ok(Some(IncidentNews {
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        is_published: row.is_published,
        has_progress: row.kind != IncidentKind::Notice.as_str(),
        severity: row.severity.parse().map_err(|_| corrupt("unknown severity"))?,
        status: written.status.parse().map_err(|_| corrupt("unknown status"))?,
        may_name: titled_services(connection, &[key]).await?.remove(&key),
        services: named(connection, services).await?,
    }))
}

/// The maintenance with this key; `None` if it was deleted.
pub async fn maintenance(
    connection: &dyn StoreConnection,
    key: i64,
) -> Result<Option<MaintenanceNews>, MainError> {
    let Some(row) = maintenance::Entity::find_by_id(key).one(&connection).await? else { return Ok(None) };
    let id = row.public_id.parse();
    let corrupt = |problem: &str| MainError::corrupt("maintenance", &key, &problem);
    let services =
        service::Entity::find().select_only().columns([service::Column::Id, service::Column::Name]).filter(
            service::Column::Id.in_subquery(
                Query::select()
                    .column(maintenance_service::Column::ServiceId)
                    .from(maintenance_service::Entity)
                    .and_where(maintenance_service::Column::MaintenanceId.eq(key))
                    .to_owned(),
            ),
        );
    Ok(Some(MaintenanceNews {
        id: id.map_err(|_| corrupt("its id is malformed"))?,
        status: row.status.parse().map_err(|_| corrupt("unknown status"))?,
        start: Timestamp::from_ms(row.scheduled_start),
        end: row.scheduled_end.map(Timestamp::from_ms),
        services: named(connection, services).await?,
    }))
}

async fn named(
    connection: &dyn StoreConnection,
    wanted: Select<service::Entity>,
) -> Result<Vec<TouchedService>, MainError> {
    let wanted = wanted.order_by_asc(service::Column::Name).order_by_asc(service::Column::Id);
    let rows: Vec<(ServiceKey, String)> = wanted.into_tuple().all(&connection).await?;
    Ok(rows.into_iter().map(|(key, name)| TouchedService { key, name }).collect())
}
